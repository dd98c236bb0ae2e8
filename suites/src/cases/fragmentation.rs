//! How the caching allocator is told to split less.

use crate::case::Case;
use crate::probe::{Probe, Stop};

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![Case::pytorch("fragmentation.no-such-function", &["t001.fragmentation.api"], no_such_function)]
}

/// PyTorch has no function of the name that the tutorial calls, there or elsewhere.
fn no_such_function(p: &Probe) -> Result<(), Stop> {
    let called = p.python("torch.backends.cuda.caching_allocator_init(max_split_size_mb=128)", &[]);
    p.fact("the error of the call", p.kind_of(called)?)
        .known("AttributeError")
        .claimed("t001.fragmentation.api", ())
        .example();
    let elsewhere = p.python(
        r#"
places = (torch, torch.cuda, torch.cuda.memory, torch.backends.cuda, torch._C)
answer = [name for place in places for name in dir(place) if "caching_allocator_init" in name]
"#,
        &[],
    )?;
    p.fact("functions of this name elsewhere", elsewhere).known(Vec::<String>::new());
    Ok(())
}
