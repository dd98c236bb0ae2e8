//! Training loops on the device: what the monitor of a tutorial prints, and what its leak detector finds.
//!
//! Products compute nothing on a simulated device; tensors come and go as on a real one.

use super::MIB;
use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, Value};

/// A model, its optimizer and a step of training.
const TRAINING: &str = r#"
torch.backends.cudnn.enabled = False
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
inputs, targets = torch.randn(64, 256), torch.randint(10, (64,))
def step():
    outputs = model(inputs.cuda())
    loss = F.cross_entropy(outputs, targets.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss
"#;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![
        Case::pytorch("device.training-monitor", &[], monitor).alone(),
        Case::pytorch("device.leak-detector", &[], leak_detector).alone(),
    ]
}

/// The counter grows in the first epoch by gradients and momentum, and by nothing in later ones.
fn monitor(p: &Probe) -> Result<(), Stop> {
    let source = format!(
        r#"{TRAINING}
parameters = sum(parameter.numel() for parameter in model.parameters()) * 4
grown = []
for epoch in range(3):
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    for batch in range(4):
        step()
    torch.cuda.synchronize()
    grown.append(torch.cuda.memory_allocated() - before)
    torch.cuda.empty_cache()
    gc.collect()
state = sum(entry.nbytes for entries in optimizer.state.values() for entry in entries.values())
answer = [parameters, state, grown[1:], grown[0] >= parameters + state, torch.cuda.max_memory_allocated() > torch.cuda.memory_allocated()]
"#
    );
    let [parameters, state, later, first, peak] = p.python_list(&source, &[])?;
    p.fact("bytes of the parameters", parameters).known(136_714 * 4);
    p.fact("bytes of momentum after the first epoch", state).known(136_714 * 4);
    p.fact("growth in the second and third epoch, in bytes", later).known([0, 0]);
    p.fact("the first epoch grows by at least gradients and momentum", first).known(true);
    p.fact("the peak within an epoch is above what the monitor prints", peak).known(true);
    Ok(())
}

/// The detector sees a list that keeps losses, and nothing where they are let go.
fn leak_detector(p: &Probe) -> Result<(), Stop> {
    for (what, keep, leaks) in [("losses let go", "pass", false), ("losses kept in a list", "kept.append(loss)", true)]
    {
        let source = format!(
            r#"{TRAINING}
kept = []
step()
gc.collect()
before = torch.cuda.memory_allocated()
for i in range(10):
    loss = step()
    {keep}
del loss
torch.cuda.empty_cache()
gc.collect()
answer = [torch.cuda.memory_allocated() > before, torch.cuda.memory_allocated() - before]
"#
        );
        let [found, grown] = p.python_list(&source, &[])?;
        p.fact(format!("{what}: the detector reports a leak"), found).known(leaks);
        if !leaks {
            p.fact(format!("{what}: growth, in bytes"), grown).known(0);
        } else if let Value::Int(grown) = grown {
            p.fact(format!("{what}: it grows by less than 1 MiB a step"), grown < 10 * MIB).known(true);
        }
    }
    p.synchronize()
}
