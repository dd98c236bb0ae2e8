//! Models under `no_grad`: parameters, buffers and eval mode.

use super::listing::listing;
use crate::case::Case;
use crate::probe::{Probe, Stop};

/// The cases of this theme.
pub fn cases() -> Vec<Case> {
    vec![
        listing(
            "no-grad.printed-model",
            PRINTED,
            &[
                ("t004.no-grad.printed-L53", "shape = (4, 1)"),
                ("t004.no-grad.printed-L54", "y.requires_grad = False"),
                ("t004.no-grad.printed-L55", "y.grad_fn = None"),
                ("t004.no-grad.printed-L56", "model.weight.requires_grad = True"),
            ],
        ),
        Case::pytorch(
            "no-grad.parameters-as-before",
            &["t004.no-grad.weight-keeps-flag", "t004.no-grad.params-intact"],
            parameters_as_before,
        ),
        Case::pytorch("no-grad.buffers-are-written", &[], buffers_are_written),
        Case::pytorch("no-grad.eval-mode-is-another-thing", &["t004.no-grad.eval-complements"], eval_mode),
    ]
}

const PRINTED: &str = r#"
torch.manual_seed(0)
model = nn.Linear(2, 1)
with torch.no_grad():
    y = model(torch.randn(4, 2))
text = io.StringIO()
with contextlib.redirect_stdout(text):
    print("shape =", tuple(y.shape))
    print("y.requires_grad =", y.requires_grad)
    print("y.grad_fn =", y.grad_fn)
    print("model.weight.requires_grad =", model.weight.requires_grad)
answer = text.getvalue().splitlines()
"#;

/// A pass under `no_grad` leaves values, flags and gradients of the parameters alone.
fn parameters_as_before(p: &Probe) -> Result<(), Stop> {
    let source = r"
model = nn.Linear(2, 1)
before = [parameter.detach().clone() for parameter in model.parameters()]
with torch.no_grad():
    model(torch.ones(4, 2))
    inside = model.weight.requires_grad
answer = [
    inside,
    model.weight.requires_grad,
    all(torch.equal(a, b) for a, b in zip(before, model.parameters())),
    all(parameter.grad is None for parameter in model.parameters()),
]
";
    let [inside, after, same, no_gradients] = p.python_list(source, &[])?;
    let flag = "t004.no-grad.weight-keeps-flag";
    p.fact("the weight requires grad inside", inside).known(true).claimed(flag, true).example();
    p.fact("the weight requires grad afterwards", after).known(true).claimed(flag, true).example();
    p.fact("the parameters have the same values", same).known(true).claimed("t004.no-grad.params-intact", true);
    p.fact("no parameter has a gradient", no_gradients).known(true).claimed("t004.no-grad.params-intact", true);
    Ok(())
}

/// `no_grad` protects no buffers: batch normalisation in training mode writes its running statistics.
fn buffers_are_written(p: &Probe) -> Result<(), Stop> {
    let source = r"
def moves_statistics(layer):
    before = layer.running_mean.clone()
    with torch.no_grad():
        layer(torch.ones(4, 3))
    return not torch.equal(before, layer.running_mean)
answer = [moves_statistics(nn.BatchNorm1d(3)), moves_statistics(nn.BatchNorm1d(3).eval())]
";
    let [training, evaluating] = p.python_list(source, &[])?;
    p.fact("running statistics change in training mode", training).known(true);
    p.fact("running statistics change in eval mode", evaluating).known(false);
    Ok(())
}

/// `eval()` switches dropout off and leaves recording on; `no_grad` switches recording off and leaves dropout on.
fn eval_mode(p: &Probe) -> Result<(), Stop> {
    let source = r"
torch.manual_seed(0)
w = torch.ones(1000, requires_grad=True)
layer = nn.Dropout(0.5)
with torch.no_grad():
    y = layer(w)
layer.eval()
z = layer(w) * 1
answer = [bool((y == 0).any()), y.requires_grad, bool((z == 0).any()), z.requires_grad, torch.is_grad_enabled()]
";
    let [drops_unrecorded, recorded_unrecorded, drops_evaluating, recorded_evaluating, enabled] =
        p.python_list(source, &[])?;
    let claim = "t004.no-grad.eval-complements";
    p.fact("dropout drops under no_grad", drops_unrecorded).known(true).claimed(claim, true);
    p.fact("a result under no_grad requires grad", recorded_unrecorded).known(false).claimed(claim, false);
    p.fact("dropout drops in eval mode", drops_evaluating).known(false).claimed(claim, false);
    p.fact("a result in eval mode requires grad", recorded_evaluating).known(true).claimed(claim, true);
    p.fact("recording is on after eval()", enabled).known(true).claimed(claim, true);
    Ok(())
}
