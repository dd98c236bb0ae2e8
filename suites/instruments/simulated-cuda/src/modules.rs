//! Modules of the driver, and launches of their functions.

use crate::engine;
use crate::errors::Error;
use crate::kernels::{before_launch, launched, spin};
use crate::ptx::entries;
use crate::state::state;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;

const FIRST: u64 = 0x2000_0000;
const STEP: u64 = 0x10;

/// All modules, and the functions that were asked of them.
#[derive(Default)]
pub struct Modules {
    created: u64,
    modules: BTreeMap<u64, BTreeSet<String>>,
    functions: BTreeMap<u64, Function>,
}

struct Function {
    module: u64,
    name: String,
}

impl Modules {
    /// A module of a PTX text.
    pub fn load(&mut self, text: &str) -> Result<u64, Error> {
        let names = entries(text)?;
        let handle = self.next_handle();
        self.modules.insert(handle, names);
        Ok(handle)
    }

    /// Forgets a module and its functions.
    pub fn unload(&mut self, module: u64) -> Result<(), Error> {
        self.modules.remove(&module).ok_or(Error::INVALID_RESOURCE_HANDLE)?;
        self.functions.retain(|_, function| function.module != module);
        Ok(())
    }

    /// The function of a name; the same one each time.
    pub fn function(&mut self, module: u64, name: &str) -> Result<u64, Error> {
        let names = self.modules.get(&module).ok_or(Error::INVALID_RESOURCE_HANDLE)?;
        if !names.contains(name) {
            return Err(Error::NOT_FOUND);
        }
        let known = self.functions.iter().find(|(_, known)| known.module == module && known.name == name);
        if let Some((&handle, _)) = known {
            return Ok(handle);
        }
        let handle = self.next_handle();
        self.functions.insert(handle, Function { module, name: name.to_owned() });
        Ok(handle)
    }

    /// How many modules there are.
    pub fn count(&self) -> u64 {
        self.modules.len() as u64
    }

    fn next_handle(&mut self) -> u64 {
        self.created += 1;
        FIRST + STEP * self.created
    }
}

/// Launches a function of a module.
///
/// # Safety
/// `arguments` are those of the function.
pub unsafe fn launch(function: u64, arguments: *const *const c_void, stream: u64) -> Result<(), Error> {
    let name = {
        let state = state();
        state.streams.check(stream)?;
        let function = state.modules.functions.get(&function).ok_or(Error::INVALID_RESOURCE_HANDLE)?;
        function.name.clone()
    };
    if name == engine::GATE {
        return if arguments.is_null() { Err(Error::INVALID_VALUE) } else { spin(&name, stream) };
    }
    let computes = before_launch(&mut state(), stream)?;
    let kernel = if computes { engine::recognise(&name) } else { None };
    if let Some(kernel) = &kernel {
        if arguments.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: the name says what the arguments are.
        unsafe { engine::compute(kernel, arguments) }?;
    }
    launched(&name, kernel.is_some());
    Ok(())
}
