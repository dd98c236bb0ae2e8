//! The experiment of tutorial 002: tensors of 1 GiB come, move and go, and four quantities are read after each step.

use super::{CUDA, GIB, MIB};
use crate::case::Case;
use crate::cases::figures::in_units;
use crate::probe::{Probe, Reading, Stop};
use std::time::Duration;
use subject::{Calls, DType};

const SECOND: &str = "t002.cpu-vs-gpu.second-cuda-tensor";
const TO_CPU: &str = "t002.caching-allocator.to-cpu-copies";
const REUSE: &str = "t002.caching-allocator.reuse-freed-block";
const SECOND_BLOCK: &str = "t002.caching-allocator.reassign-needs-second-block";
const OLD_C: &str = "t002.caching-allocator.old-c-cached";
const D_REUSES: &str = "t002.caching-allocator.d-reuses";
const DEL: &str = "t002.caching-allocator.del-no-release";
const TO_CUDA: &str = "t002.cpu-release.to-cuda-frees-host";
const SUMMARY: &str = "t002.caching-allocator.summary-not-released";
const CACHES: &str = "t001.cpu-vs-gpu.gpu-caches";

/// The shape of its tensors: 1 GiB of f32.
const SHAPE: [i64; 3] = [256, 1024, 1024];

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    let claims = [SECOND, TO_CPU, REUSE, SECOND_BLOCK, OLD_C, D_REUSES, DEL, TO_CUDA, SUMMARY];
    let mut listing = Case::new("device.experiment", &claims, experiment).reads_process_memory();
    // A step writes a gigabyte, which a slow machine does slowly where the device is simulated.
    listing.limit = Duration::from_secs(300);
    vec![
        listing,
        Case::new("device.experiment-as-its-inline-code-has-it", &[], inline_code).reads_process_memory(),
        Case::new("device.copies-keep-values", &[], copies_keep_values),
        Case::new("device.freed-blocks-are-kept", &[CACHES, SUMMARY], freed_blocks_are_kept),
    ]
}

/// The experiment so far: the last reading, and what each step changes.
struct Experiment<'p, 's> {
    p: &'p Probe<'s>,
    last: Reading,
}

/// What a step changed, in GiB.
struct Change {
    held: f64,
    live: f64,
    /// Nothing where host tensors have no memory behind them.
    host: Option<f64>,
}

impl Experiment<'_, '_> {
    /// Reads the quantities after a line of code, which PyTorch is known to leave at so many MiB live and held.
    fn step(&mut self, code: &str, live: i64, held: i64) -> Result<Change, Stop> {
        let now = self.p.memory_step(code)?;
        self.p.fact(format!("{code}: live, in MiB"), in_units(now.live, MIB)).known(live as f64);
        self.p.fact(format!("{code}: held, in MiB"), in_units(now.held, MIB)).known(held as f64);
        let change = Change {
            held: in_units(now.held - self.last.held, GIB),
            live: in_units(now.live - self.last.live, GIB),
            host: now.host.zip(self.last.host).map(|(now, before)| in_units(now - before, GIB)),
        };
        self.last = now;
        Ok(change)
    }

    /// How the step changed the host's memory: within 8 MiB of what PyTorch is known to do, in GiB.
    fn host(&self, code: &str, change: &Change, known: f64, claim: Option<&str>) {
        let Some(host) = change.host else { return };
        let what = format!("{code}: change of the host's memory, in GiB");
        let fact = self.p.fact(what, host).within(8.0 / 1024.0).known(known);
        if let Some(claim) = claim {
            fact.claimed(claim, known).example();
        }
    }

    fn held(&self, code: &str, change: &Change, known: f64, claim: &str) {
        let fact = self.p.fact(format!("{code}: change of what is held, in GiB"), change.held);
        fact.known(known).claimed(claim, known).example();
    }
}

/// The listing, step by step. `c` is bound twice, and `d` deleted.
fn experiment(p: &Probe) -> Result<(), Stop> {
    // The first use of the device starts threads and loads tables, which are no step of the experiment.
    let warm = p.zeros_on([1 << 20], DType::F32, CUDA)?;
    let down = p.to_device(&warm, "cpu", false)?;
    p.release(p.to_device(&down, CUDA, false)?)?;
    p.release(warm)?;
    p.release(down)?;
    p.empty_cache()?;
    let mut so_far = Experiment { p, last: p.memory_step("import torch")? };

    let a = p.zeros_on(SHAPE, DType::F32, CUDA)?;
    let change = so_far.step("a = zeros", 1024, 1024)?;
    so_far.host("a = zeros", &change, 0.0, None);

    let b = p.zeros_on(SHAPE, DType::F32, CUDA)?;
    let change = so_far.step("b = zeros", 2048, 2048)?;
    so_far.held("b = zeros", &change, 1.0, SECOND);
    so_far.host("b = zeros", &change, 0.0, Some(SECOND));

    let place_of_b = p.data_ptr(&b)?;
    let moved = p.to_device(&b, "cpu", false)?;
    p.release(b)?;
    let change = so_far.step("b = b.to('cpu')", 1024, 2048)?;
    so_far.host("b = b.to('cpu')", &change, 1.0, Some(TO_CPU));
    p.fact("b = b.to('cpu'): the old block stays with the allocator", change.held == 0.0)
        .known(true)
        .claimed(TO_CPU, true)
        .example();

    let c = p.zeros_on(SHAPE, DType::F32, CUDA)?;
    let change = so_far.step("c = zeros", 2048, 2048)?;
    let place_of_c = p.data_ptr(&c)?;
    so_far.host("c = zeros", &change, 0.0, None);
    p.fact("c lies where b lay", place_of_c == place_of_b).known(true).claimed(REUSE, true).example();
    p.fact("c takes nothing more from the device", change.held == 0.0).known(true).claimed(REUSE, true);

    let again = p.zeros_on(SHAPE, DType::F32, CUDA)?;
    p.release(c)?;
    let change = so_far.step("c = zeros, again", 2048, 3072)?;
    so_far.host("c = zeros, again", &change, 0.0, None);
    so_far.held("c = zeros, again", &change, 1.0, SECOND_BLOCK);
    p.fact("held and not live afterwards, in GiB", in_units(so_far.last.held - so_far.last.live, GIB))
        .known(1.0)
        .claimed(OLD_C, 1.0)
        .example();

    let d = p.zeros_on(SHAPE, DType::F32, CUDA)?;
    let change = so_far.step("d = zeros", 3072, 3072)?;
    so_far.host("d = zeros", &change, 0.0, None);
    so_far.held("d = zeros", &change, 0.0, D_REUSES);
    let place_of_d = p.data_ptr(&d)?;
    p.fact("d lies where the old c lay", place_of_d == place_of_c).known(true).claimed(D_REUSES, true).example();
    p.segment_map(
        "four tensors of 1 GiB were made on the device, and d took the old c's place",
        &[("a", &a), ("c", &again), ("d", &d)],
    )?;

    p.release(d)?;
    let change = so_far.step("del d", 2048, 3072)?;
    so_far.host("del d", &change, 0.0, None);
    so_far.held("del d", &change, 0.0, DEL);
    p.fact("del d: change of what is live, in GiB", change.live).known(-1.0);

    let e = p.zeros_on(SHAPE, DType::F32, "cpu")?;
    let change = so_far.step("e = zeros on the host", 2048, 3072)?;
    so_far.host("e = zeros on the host", &change, 1.0, None);

    let up = p.to_device(&e, CUDA, false)?;
    p.release(e)?;
    let change = so_far.step("e = e.to('cuda')", 3072, 3072)?;
    so_far.host("e = e.to('cuda')", &change, -1.0, Some(TO_CUDA));
    so_far.held("e = e.to('cuda')", &change, 0.0, TO_CUDA);
    p.fact("e lies where d lay", p.data_ptr(&up)? == place_of_d)
        .known(true)
        .claimed(TO_CUDA, true)
        .claimed(SUMMARY, true)
        .example();

    p.empty_cache()?;
    so_far.step("torch.cuda.empty_cache()", 3072, 3072)?;
    p.release(up)?;
    so_far.step("del e", 2048, 3072)?;
    p.empty_cache()?;
    so_far.step("torch.cuda.empty_cache(), again", 2048, 2048)?;
    p.release(moved)?;
    p.release(a)?;
    p.release(again)
}

/// The inline code says `device='cpu'` where the listing says `cuda`: then `b` is on the host from the start, and
/// nothing is copied.
fn inline_code(p: &Probe) -> Result<(), Stop> {
    let before = p.memory_step("import torch")?;
    let a = p.zeros_on(SHAPE, DType::F32, "cpu")?;
    let with_a = p.memory_step("a = zeros on the host")?;
    let b = p.zeros_on(SHAPE, DType::F32, "cpu")?;
    let with_b = p.memory_step("b = zeros on the host")?;
    let moved = p.to_device(&b, "cpu", false)?;
    p.fact("b.to('cpu') has b's address", p.data_ptr(&moved)? == p.data_ptr(&b)?).known(true);
    p.release(b)?;
    let after = p.memory_step("b = b.to('cpu')")?;
    p.fact("live on the device", after.live).known(before.live);
    for (what, from, to, known) in
        [("a", before, with_a, 1.0), ("b", with_a, with_b, 1.0), ("b.to('cpu')", with_b, after, 0.0)]
    {
        if let (Some(from), Some(to)) = (from.host, to.host) {
            p.fact(format!("{what}: change of the host's memory, in GiB"), in_units(to - from, GIB))
                .within(8.0 / 1024.0)
                .known(known);
        }
    }
    p.release(a)?;
    p.release(moved)
}

/// What goes down comes up again, and a fill on the device is seen on the host.
fn copies_keep_values(p: &Probe) -> Result<(), Stop> {
    let numbers = p.arange(100_000, DType::F32)?;
    let up = p.to_device(&numbers, CUDA, false)?;
    let down = p.to_device(&up, "cpu", false)?;
    p.fact("100,000 numbers that went up and came down are equal", p.equal(&numbers, &down)?).known(true);
    let mut filled = p.zeros_on([1 << 20], DType::F32, CUDA)?;
    p.fill_(&mut filled, 3.5)?;
    let seen = p.to_device(&filled, "cpu", false)?;
    let expected = p.full([1 << 20], 3.5, DType::F32)?;
    p.fact("a fill on the device is seen on the host", p.equal(&seen, &expected)?).known(true);
    let sum = p.add(&filled, &filled)?;
    let seen = p.to_device(&sum, "cpu", false)?;
    let expected = p.full([1 << 20], 7.0, DType::F32)?;
    p.fact("a sum on the device is seen on the host", p.equal(&seen, &expected)?).known(true);
    Ok(())
}

/// The allocator keeps a freed block, hands it out again, and returns it when it is told to.
fn freed_blocks_are_kept(p: &Probe) -> Result<(), Stop> {
    let start = p.memory()?;
    let tensor = p.zeros_on([16 << 20], DType::F32, CUDA)?;
    let place = p.data_ptr(&tensor)?;
    p.release(tensor)?;
    let after = p.memory()?;
    p.fact("live after del, in MiB", in_units(after.live - start.live, MIB)).known(0.0);
    p.fact("held after del, in MiB", in_units(after.held - start.held, MIB)).known(64.0).claimed(CACHES, 64.0);
    let calls = p.memory_stat("num_device_alloc")?;
    let next = p.zeros_on([16 << 20], DType::F32, CUDA)?;
    p.fact("the next tensor of that size lies there", p.data_ptr(&next)? == place)
        .known(true)
        .claimed(CACHES, true)
        .claimed(SUMMARY, true);
    p.fact("calls of the device for it", p.memory_stat("num_device_alloc")? - calls).known(0);
    p.release(next)?;
    p.empty_cache()?;
    p.fact("held after empty_cache(), in MiB", in_units(p.memory()?.held - start.held, MIB)).known(0.0);
    Ok(())
}
