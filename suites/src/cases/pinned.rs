//! Host memory that is pinned for transfers.

use crate::case::Case;
use crate::cases::monitor::without_gpu;
use crate::probe::{Probe, Stop};

const PROGRAM: &str = "t001.pinned.program";

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![Case::pytorch("pinned.needs-a-driver", &[PROGRAM], needs_a_driver)]
}

/// `ones` takes `pin_memory`, and where there is no GPU to transfer to it refuses to pin.
fn needs_a_driver(p: &Probe) -> Result<(), Stop> {
    without_gpu(p)?;
    let error = |source: &str| p.kind_of(p.python(source, &[]));
    p.fact("ones with pin_memory=False: error", error("torch.ones(1000, 1000, pin_memory=False)")?)
        .known(())
        .claimed(PROGRAM, ());
    p.fact("ones with pin_memory=True: error", error("torch.ones(1000, 1000, pin_memory=True)")?)
        .known("RuntimeError")
        .claimed(PROGRAM, ());
    p.fact("a tensor to('cuda'): error", error("torch.ones(1000, 1000).to('cuda')")?)
        .known("RuntimeError")
        .claimed(PROGRAM, ());
    p.fact("a plain tensor is pinned", p.python("torch.ones(3).is_pinned()", &[])?).known(false);
    Ok(())
}
