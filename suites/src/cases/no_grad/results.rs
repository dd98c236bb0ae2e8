//! The results of operations that run under `no_grad`.

use super::graph::{SAVED, flags, forward, tracked};
use super::listing::listing;
use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::Calls;

/// The cases of this theme.
pub fn cases() -> Vec<Case> {
    vec![
        listing(
            "no-grad.printed-flags",
            PRINTED,
            &[
                ("t004.no-grad.printed-L27", "y.requires_grad = True | y.grad_fn = MulBackward0"),
                ("t004.no-grad.printed-L28", "z.requires_grad = False | z.grad_fn = None"),
            ],
        ),
        Case::new(
            "no-grad.same-operation-other-flags",
            &[
                "t000.no-grad.no-graph",
                "t004.no-grad.disables-block",
                "t004.no-grad.same-op-other-status",
                "t004.no-grad.same-value",
                "t004.no-grad.history-absent",
                "t004.no-grad.table-result",
            ],
            same_operation_other_flags,
        ),
        Case::new("no-grad.result-has-no-backward", &["t004.no-grad.history-absent"], result_has_no_backward),
        Case::new(
            "no-grad.only-the-output-stays-live",
            &["t000.no-grad.no-graph", "t004.no-grad.params-intact", "t004.no-grad.table-result"],
            only_the_output_stays_live,
        )
        .counts_heap(),
        Case::pytorch(
            "no-grad.nothing-saved-for-backward",
            &["t000.no-grad.no-graph", "t004.no-grad.params-intact", "t004.no-grad.table-result"],
            nothing_saved_for_backward,
        ),
        Case::pytorch("no-grad.linear-and-convolution-same-bits", &["t004.no-grad.same-value"], same_bits),
        Case::pytorch("no-grad.transformer-layer-other-bits", &["t004.no-grad.same-value"], other_bits),
    ]
}

const PRINTED: &str = r#"
w = torch.full((), 2.0, requires_grad=True)
text = io.StringIO()
with contextlib.redirect_stdout(text):
    y = w * 3
    print(f"y.requires_grad = {y.requires_grad} | y.grad_fn = {type(y.grad_fn).__name__}")
    with torch.no_grad():
        z = w * 3
    print(f"z.requires_grad = {z.requires_grad} | z.grad_fn = {z.grad_fn}")
answer = text.getvalue().splitlines()
"#;

/// One product before and one under `no_grad`: equal values, and flags that differ in everything.
fn same_operation_other_flags(p: &Probe) -> Result<(), Stop> {
    let w = tracked(p, [])?;
    let y = p.mul_scalar(&w, 3.0)?;
    p.set_grad_enabled(false)?;
    let z = p.mul_scalar(&w, 3.0)?;
    let (recorded, unrecorded) = (flags(p, &y)?, flags(p, &z)?);
    p.fact("flags of the product before", recorded).known([true, true, false]);
    p.fact("flags of the product under no_grad", unrecorded).known([false, false, true]);
    p.fact("the flags differ", recorded != unrecorded)
        .known(true)
        .claimed("t004.no-grad.same-op-other-status", true)
        .example();
    p.fact("requires_grad under no_grad", unrecorded[0]).known(false).claimed("t004.no-grad.disables-block", false);
    p.fact("has a grad_fn under no_grad", unrecorded[1])
        .known(false)
        .claimed("t000.no-grad.no-graph", false)
        .claimed("t004.no-grad.history-absent", false)
        .claimed("t004.no-grad.table-result", false);
    p.fact("equal values", p.equal(&y, &z)?).known(true).claimed("t004.no-grad.same-value", true);
    Ok(())
}

/// The result of an operation under `no_grad` has no history for backward, also after the block.
fn result_has_no_backward(p: &Probe) -> Result<(), Stop> {
    let w = tracked(p, [])?;
    p.set_grad_enabled(false)?;
    let z = p.mul_scalar(&w, 3.0)?;
    p.set_grad_enabled(true)?;
    p.fact("kind of error of backward()", p.kind_of(p.backward(&z))?)
        .known("no-graph")
        .claimed("t004.no-grad.history-absent", "no-graph");
    Ok(())
}

/// A recorded forward pass keeps the tensors between for backward; under `no_grad` only the output stays.
fn only_the_output_stays_live(p: &Probe) -> Result<(), Stop> {
    const ELEMENTS: i64 = 1 << 16;
    const BYTES: i64 = ELEMENTS * 4;
    let w = tracked(p, [ELEMENTS])?;
    let (output, recorded) = p.account(|p| forward(p, &w))?;
    p.release(output)?;
    p.set_grad_enabled(false)?;
    let (_output, unrecorded) = p.account(|p| forward(p, &w))?;
    p.fact("bytes live after a recorded pass", recorded.kept_bytes).known(3 * BYTES);
    p.fact("bytes live after a pass under no_grad", unrecorded.kept_bytes)
        .known(BYTES)
        .claimed("t000.no-grad.no-graph", BYTES)
        .claimed("t004.no-grad.params-intact", BYTES)
        .claimed("t004.no-grad.table-result", BYTES);
    Ok(())
}

/// Autograd saves tensors in training mode and, all the same, in evaluation mode; under `no_grad` and in inference
/// mode it saves none.
fn nothing_saved_for_backward(p: &Probe) -> Result<(), Stop> {
    let source = format!(
        "{SAVED}{}",
        r"
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
x = torch.ones(5, 8)
recorded = saved(lambda: model(x))
with torch.no_grad():
    unrecorded = saved(lambda: model(x))
with torch.inference_mode():
    inferred = saved(lambda: model(x))
model.eval()
answer = [recorded > 0, unrecorded, inferred, saved(lambda: model(x)) == recorded]
"
    );
    let [recorded, unrecorded, inferred, evaluated] = p.python_list(&source, &[])?;
    p.fact("tensors are saved with recording on", recorded).known(true);
    p.fact("tensors saved under no_grad", unrecorded)
        .known(0)
        .claimed("t000.no-grad.no-graph", 0)
        .claimed("t004.no-grad.params-intact", 0)
        .claimed("t004.no-grad.table-result", 0);
    p.fact("tensors saved in inference mode", inferred).known(0);
    p.fact("eval() alone saves as many as before", evaluated).known(true);
    Ok(())
}

/// A linear layer and a convolution compute the same bits with and without recording.
fn same_bits(p: &Probe) -> Result<(), Stop> {
    for (layer, input) in
        [("nn.Linear(16, 8)", "torch.randn(4, 16)"), ("nn.Conv2d(3, 4, 3)", "torch.randn(2, 3, 8, 8)")]
    {
        p.fact(format!("{layer} computes the same values"), same_with_and_without_recording(p, layer, input)?)
            .known(true)
            .claimed("t004.no-grad.same-value", true);
    }
    Ok(())
}

/// In eval mode `TransformerEncoderLayer` takes a fused path when nothing is recorded, and rounds otherwise there.
fn other_bits(p: &Probe) -> Result<(), Stop> {
    let layer = "nn.TransformerEncoderLayer(64, 4, batch_first=True)";
    p.fact(
        format!("{layer} computes the same values"),
        same_with_and_without_recording(p, layer, "torch.randn(8, 32, 64)")?,
    )
    .known(false)
    .claimed("t004.no-grad.same-value", true);
    Ok(())
}

fn same_with_and_without_recording(p: &Probe, layer: &str, input: &str) -> Result<crate::record::Value, Stop> {
    let source = format!(
        "torch.manual_seed(0)
layer = {layer}.eval()
x = {input}
recorded = layer(x)
with torch.no_grad():
    unrecorded = layer(x)
answer = torch.equal(recorded, unrecorded)"
    );
    p.python(&source, &[])
}
