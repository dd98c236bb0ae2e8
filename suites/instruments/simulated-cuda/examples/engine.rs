//! Uses the reference engine on the simulated device from opening it to closing it, for the test that lets one driver
//! call after the other fail: prints what came of it, and what is left on the device. Its argument says what is done:
//! `steps`, a little of everything, or `training`, the requests of a recorded training loop.
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

use kernels::cuda::Cuda;
use kernels::memory::{Settings, TorchVersion};
use kernels::{DType, Device, Error, ErrorKind, Result, Scalar, Tensor};
use std::ffi::{CStr, c_char};
use std::time::Duration;

/// The requests of the case `device.recorded-training-loop`.
const TRAINING: &str = include_str!("../../../src/cases/device/training.txt");

fn main() {
    let done = match std::env::args().nth(1).as_deref() {
        Some("steps") => on_a_device(steps),
        Some("training") => on_a_device(training),
        other => panic!("{other:?} asked; there are \"steps\" and \"training\""),
    };
    match done {
        Ok(()) => println!("ok"),
        Err(error) => println!("error: {error}"),
    }
    let (failed, left) = simulation();
    println!("failed: {failed}");
    println!("left: {left:?}");
}

fn on_a_device(work: impl FnOnce(&Cuda) -> Result<()>) -> Result<()> {
    let cuda = Cuda::open(0, Settings::new(TorchVersion::DEFAULT))?;
    // What a step leaves goes before the device is closed, also where it failed.
    let done = work(&cuda);
    let closed = cuda.close();
    done.and(closed)
}

fn steps(cuda: &Cuda) -> Result<()> {
    computing(cuda)?;
    copies(cuda)?;
    streams(cuda)?;
    clock(cuda)?;
    past_the_allocator(cuda)?;
    expandable(cuda)
}

fn check(what: &str, seen: &Tensor, known: f64) -> Result<()> {
    let values = seen.values()?;
    assert!(values.iter().all(|value| *value == Scalar::Float(known)), "{what}: {values:?}, not {known}");
    Ok(())
}

fn computing(cuda: &Cuda) -> Result<()> {
    let device = Device::Cuda(cuda.clone());
    let a = Tensor::full_on(&[6, 100], 3.5, DType::F32, &device)?;
    a.add_(1.0)?;
    check("a + 1", &a, 4.5)?;
    let sum = a.add(&a.transpose(0, 1)?.contiguous()?.transpose(0, 1)?)?;
    check("a + a", &sum, 9.0)?;
    let column = a.narrow(1, 3, 2)?;
    column.mul_(2.0)?;
    check("a column doubled", &column, 9.0)?;
    check("its neighbour", &a.narrow(1, 5, 1)?, 4.5)?;
    let half = Tensor::full_on(&[7], 0.5, DType::F16, &device)?;
    check("a half squared", &half.mul(&half)?, 0.25)
}

fn copies(cuda: &Cuda) -> Result<()> {
    let device = Device::Cuda(cuda.clone());
    let host = Tensor::full(&[5000], 2.5, DType::F64)?;
    let up = host.to_device(&device, true)?;
    host.fill_(0.0)?;
    check("pageable memory was staged", &up, 2.5)?;
    let pinned = up.to_device(&Device::Cpu, false)?.pin_memory(cuda)?;
    let up = pinned.to_device(&device, true)?;
    let down = up.to_device(&Device::Cpu, true)?;
    cuda.synchronize()?;
    check("up and down", &down, 2.5)?;
    host.register(cuda)?;
    up.copy_from(&host, true)?;
    cuda.synchronize()?;
    check("registered", &up, 0.0)?;
    up.fill_(1.5)?;
    host.copy_from(&up, true)?;
    host.unregister()?;
    check("into registered memory", &host, 1.5)
}

fn streams(cuda: &Cuda) -> Result<()> {
    let device = Device::Cuda(cuda.clone());
    cuda.set_stream(1)?;
    let a = Tensor::full_on(&[100], 1.0, DType::F32, &device)?;
    cuda.set_stream(0)?;
    a.record_stream(0)?;
    drop(a);
    cuda.synchronize()?;
    Tensor::empty_on(&[100], DType::F32, &device)?;
    cuda.empty_caches()
}

/// Everything of the clock but the time, which a simulated device does not have.
fn clock(cuda: &Cuda) -> Result<()> {
    let a = Tensor::empty_on(&[100], DType::F32, &Device::Cuda(cuda.clone()))?;
    cuda.start_clock(Duration::from_micros(50))?;
    a.fill_(2.0)?;
    match cuda.stop_clock() {
        Ok(lap) => panic!("a simulated device told a time: {lap:?}"),
        Err(error) if error.to_string().contains("not supported") => check("behind the gate", &a, 2.0),
        Err(error) => Err(error),
    }
}

fn past_the_allocator(cuda: &Cuda) -> Result<()> {
    cuda.take_and_give_back(1 << 20)
}

fn expandable(cuda: &Cuda) -> Result<()> {
    set(cuda, "expandable_segments:True")?;
    let a = Tensor::full_on(&[3 << 20], 1.0, DType::F32, &Device::Cuda(cuda.clone()))?;
    check("in an expandable segment", &a.narrow(0, 0, 3)?, 1.0)?;
    drop(a);
    cuda.empty_caches()
}

fn set(cuda: &Cuda, settings: &str) -> Result<()> {
    cuda.caching().apply_settings(settings).map_err(|error| Error::new(ErrorKind::Value, error.message))
}

/// A line is the bytes of a request, or, with a minus, the number of the earlier request that is given back.
fn training(cuda: &Cuda) -> Result<()> {
    let device = Device::Cuda(cuda.clone());
    for settings in ["", "max_split_size_mb:128", "expandable_segments:True"] {
        cuda.empty_caches()?;
        set(cuda, settings)?;
        let mut tensors = Vec::new();
        for line in TRAINING.lines() {
            match line.parse::<i64>().expect("a number") {
                bytes @ 1.. => tensors.push(Some(Tensor::empty_on(&[bytes], DType::U8, &device)?)),
                number => drop(tensors[number.unsigned_abs() as usize - 1].take()),
            }
        }
    }
    cuda.synchronize()
}

/// The call that failed, and what is left on the device: bytes, pinned bytes, registrations, streams, events, modules.
fn simulation() -> (String, [u64; 6]) {
    let mut left = [0; 6];
    let mut name = [0 as c_char; 128];
    // SAFETY: the library is the simulated device; its functions have these types, and the arrays have this room.
    unsafe {
        let library = libloading::Library::new("libcuda.so.1").expect("the simulated device");
        let counts: libloading::Symbol<extern "C" fn(*mut u64)> = library.get(b"simulated_cuda_left").expect("counts");
        counts(left.as_mut_ptr());
        let call: libloading::Symbol<extern "C" fn(*mut c_char, usize) -> usize> =
            library.get(b"simulated_cuda_failed_call").expect("the call");
        call(name.as_mut_ptr(), name.len());
        let text = CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned();
        (text, left)
    }
}
