//! Launches of kernels: a few are computed, all others are recorded.

use crate::backing::Backing;
use crate::copies::fill;
use crate::errors::Error;
use crate::log;
use crate::recognise::{Computation, Number, recognise, spins};
use crate::state::{State, state};
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::{Add, Mul};
use std::ptr::with_exposed_provenance;

/// What programs registered, and what was launched without being computed.
#[derive(Default)]
pub struct Kernels {
    /// The name of each registered function, by the address that stands for it in the program. The name's text belongs
    /// to the program.
    names: HashMap<u64, u64>,
    variables: HashMap<u64, Variable>,
    recorded: u64,
    last: String,
}

#[derive(Clone, Copy)]
struct Variable {
    bytes: u64,
    address: Option<u64>,
}

impl Kernels {
    /// A later registration of the same function replaces the earlier one: its library was loaded again.
    pub fn register(&mut self, function: u64, name: *const c_char) {
        self.names.insert(function, name.expose_provenance() as u64);
    }

    pub fn register_variable(&mut self, variable: u64, bytes: u64) {
        self.variables.insert(variable, Variable { bytes, address: None });
    }

    pub fn is_registered(&self, function: u64) -> bool {
        self.names.contains_key(&function)
    }

    /// Counts a launch whose values are not computed.
    pub fn record(&mut self, name: &str) {
        self.recorded += 1;
        self.last.clear();
        self.last.push_str(name);
    }

    /// How many launches were recorded, and the name of the last one.
    pub fn recorded(&self) -> (u64, &str) {
        (self.recorded, &self.last)
    }
}

/// Address and size of a variable of the device.
pub fn variable(symbol: u64) -> Result<(u64, u64), Error> {
    let state = &mut *state();
    let variable = state.kernels.variables.get_mut(&symbol).ok_or(Error::INVALID_SYMBOL)?;
    let address = match variable.address {
        Some(address) => address,
        None => state.memory.allocate_pinned(variable.bytes)?,
    };
    variable.address = Some(address);
    Ok((address, variable.bytes))
}

/// Launches a registered function.
///
/// # Safety
/// `arguments` are those of the kernel that was registered.
pub unsafe fn launch(function: u64, arguments: *const *const c_void, stream: u64) -> Result<(), Error> {
    let name = {
        let state = state();
        state.streams.check(stream)?;
        *state.kernels.names.get(&function).ok_or(Error::INVALID_DEVICE_FUNCTION)?
    };
    // SAFETY: the text that the program registered, which stays while its function can be launched.
    let name = unsafe { CStr::from_ptr(with_exposed_provenance(name as usize)) }.to_string_lossy();
    if spins(&name) {
        return spin(&name, stream);
    }
    let computes = before_launch(&mut state(), stream)?;
    let computation = if computes { recognise(&name) } else { None };
    // SAFETY: the name says what the arguments are.
    let computed = computation.is_some_and(|computation| unsafe { compute(computation, arguments) }.is_ok());
    launched(&name, computed);
    Ok(())
}

/// Prepares a launch on a stream: whether values can be computed.
pub fn before_launch(state: &mut State, stream: u64) -> Result<bool, Error> {
    if state.graphs.captured(stream) {
        return Ok(false);
    }
    state.before_work(stream)?;
    Ok(matches!(state.memory.backing(), Backing::Host(_)))
}

/// Launches a kernel that only spins. It has no values, so it is as good as computed.
pub fn spin(name: &str, stream: u64) -> Result<(), Error> {
    let shut = state().gate(stream)?;
    launched(name, shut);
    Ok(())
}

/// Notes a launch.
pub fn launched(name: &str, computed: bool) {
    if !computed {
        state().kernels.record(name);
    }
    log::launch(name, computed);
}

/// # Safety
/// `arguments` are the number of elements, the functor, and the addresses of as many tensors as the computation has.
unsafe fn compute(computation: Computation, arguments: *const *const c_void) -> Result<(), Error> {
    // SAFETY: as the caller promised.
    let (count, functor, tensors) =
        unsafe { (*(*arguments).cast::<c_int>(), *arguments.add(1), (*arguments.add(2)).cast::<u64>()) };
    let count = u64::try_from(count).map_err(|_| Error::INVALID_VALUE)?;
    // SAFETY: as the caller promised: each computation reads its own functor and tensors.
    unsafe {
        match computation {
            Computation::Fill { width } => {
                let (address, bytes) = (*tensors, count * width as u64);
                state().memory.pieces(address, bytes)?;
                fill(address, std::slice::from_raw_parts(functor.cast(), width), bytes);
                Ok(())
            }
            Computation::Add(number) => arithmetic(number, Rule::Add, count, functor, tensors),
            Computation::AddScalar(number) => arithmetic(number, Rule::AddScalar, count, functor, tensors),
            Computation::Multiply(number) => arithmetic(number, Rule::Multiply, count, functor, tensors),
            Computation::MultiplyScalar(number) => arithmetic(number, Rule::MultiplyScalar, count, functor, tensors),
        }
    }
}

#[derive(Clone, Copy)]
enum Rule {
    Add,
    AddScalar,
    Multiply,
    MultiplyScalar,
}

/// # Safety
/// As for `compute`.
unsafe fn arithmetic(
    number: Number,
    rule: Rule,
    count: u64,
    functor: *const c_void,
    tensors: *const u64,
) -> Result<(), Error> {
    // SAFETY: the number's type is that of the tensors and of the functor.
    unsafe {
        match number {
            Number::F32 => elementwise::<f32>(rule, count, functor.cast(), tensors),
            Number::F64 => elementwise::<f64>(rule, count, functor.cast(), tensors),
            Number::I32 => elementwise::<std::num::Wrapping<i32>>(rule, count, functor.cast(), tensors),
            Number::I64 => elementwise::<std::num::Wrapping<i64>>(rule, count, functor.cast(), tensors),
        }
    }
}

/// # Safety
/// As for `compute`, with functor and tensors of `T`.
unsafe fn elementwise<T: Copy + Add<Output = T> + Mul<Output = T>>(
    rule: Rule,
    count: u64,
    functor: *const T,
    tensors: *const u64,
) -> Result<(), Error> {
    let inputs = if matches!(rule, Rule::Add | Rule::Multiply) { 2 } else { 1 };
    {
        let state = state();
        for tensor in 0..=inputs {
            // SAFETY: the result and its inputs.
            state.memory.pieces(unsafe { *tensors.add(tensor) }, count * size_of::<T>() as u64)?;
        }
    }
    // SAFETY: as above; a second tensor is read only where the rule has one.
    let (to, first) = unsafe { (pointer::<T>(*tensors), pointer::<T>(*tensors.add(1))) };
    // SAFETY: as above.
    let second = if inputs == 2 { pointer::<T>(unsafe { *tensors.add(2) }) } else { first };
    // SAFETY: the functor of each rule, and tensors of `count` elements. The result may be one of the inputs, so no
    // slices are made of them.
    unsafe {
        match rule {
            Rule::Add => {
                let alpha = *functor;
                each(count, |at| to.add(at).write(*first.add(at) + alpha * *second.add(at)));
            }
            Rule::AddScalar => {
                let addend = *functor * *functor.add(1);
                each(count, |at| to.add(at).write(*first.add(at) + addend));
            }
            Rule::Multiply => each(count, |at| to.add(at).write(*first.add(at) * *second.add(at))),
            Rule::MultiplyScalar => {
                let factor = *functor.add(1);
                each(count, |at| to.add(at).write(*first.add(at) * factor));
            }
        }
    }
    Ok(())
}

fn each(count: u64, mut write: impl FnMut(usize)) {
    let mut at = 0;
    while at < count as usize {
        write(at);
        at += 1;
    }
}

fn pointer<T>(address: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(address as usize)
}
