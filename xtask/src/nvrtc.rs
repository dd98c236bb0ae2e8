//! NVRTC, NVIDIA's compiler of CUDA C: a library that is loaded where it is found and never linked.

use crate::console::Failure;
use libloading::Library;
use std::error::Error;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::ptr::null_mut;

/// A loaded NVRTC.
pub struct Nvrtc {
    library: Library,
    /// NVRTC asks for its built-in declarations by bare name, which finds only what is on the library path or loaded already.
    _builtins: Option<Library>,
}

/// A text with the name that messages call it by.
pub struct Source {
    /// Name of the file.
    pub name: String,
    /// What stands in it.
    pub text: String,
}

/// What NVRTC makes of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// PTX that cards of this compute capability and newer ones load; 75 is 7.5.
    Ptx(c_int),
    /// Machine code for this compute capability alone, assembled as the driver would.
    Machine(c_int),
}

type Program = *mut c_void;
type Length = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Text = unsafe extern "C" fn(Program, *mut c_char) -> c_int;

/// Prints the libraries that Python packages bring, newest first.
const LOOK: &str = "import glob, os, sys\n\
    found = [path for folder in sys.path for path in glob.glob(os.path.join(folder, 'nvidia/*/lib/libnvrtc.so.*'))]\n\
    print(*sorted(found, key=lambda path: int(path.rsplit('.', 1)[1]), reverse=True), sep='\\n')";

/// Names on the library path, newest first.
const NAMES: [&str; 3] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];

impl Nvrtc {
    /// The NVRTC of this Python's packages, else one on the library path.
    ///
    /// # Errors
    /// [`Failure::Missing`] when there is none.
    pub fn find(python: &Path) -> Result<Nvrtc, Failure> {
        let asked = Command::new(python).args(["-c", LOOK]).stdin(Stdio::null()).stderr(Stdio::null()).output();
        let packaged = asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let packaged = packaged.lines().filter(|line| !line.is_empty()).map(PathBuf::from);
        Nvrtc::load(packaged.chain(NAMES.map(PathBuf::from)))
    }

    /// The first of these libraries that can be loaded.
    fn load(candidates: impl Iterator<Item = PathBuf>) -> Result<Nvrtc, Failure> {
        let mut refused = Vec::new();
        for path in candidates {
            // SAFETY: loading runs the initialisers of NVIDIA's library, which ask nothing of their caller.
            match unsafe { Library::new(&path) } {
                Ok(library) => return Ok(Nvrtc { library, _builtins: builtins(&path) }),
                Err(error) => refused.push(error.source().map_or_else(|| error.to_string(), ToString::to_string)),
            }
        }
        Err(Failure::Missing(format!(
            "NVRTC, which compiles the device kernels, is not installed: `cargo xtask setup` installs it with PyTorch, \
             `pip install nvidia-cuda-nvrtc` by itself; or put libnvrtc on the library path ({})",
            refused.join("; ")
        )))
    }

    /// Its version, such as `13.0`: NVRTC does not tell the patch.
    pub fn version(&self) -> Result<String, Failure> {
        let version = self.function::<unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int>(c"nvrtcVersion")?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both numbers outlive the call.
        self.check(unsafe { version(&mut major, &mut minor) })?;
        Ok(format!("{major}.{minor}"))
    }

    /// The compute capabilities that it compiles for; 75 is 7.5.
    pub fn capabilities(&self) -> Result<Vec<c_int>, Failure> {
        type Numbers = unsafe extern "C" fn(*mut c_int) -> c_int;
        let count = self.function::<Numbers>(c"nvrtcGetNumSupportedArchs")?;
        let list = self.function::<Numbers>(c"nvrtcGetSupportedArchs")?;
        let mut many = 0;
        // SAFETY: the number outlives the call.
        self.check(unsafe { count(&mut many) })?;
        let mut capabilities = vec![0; usize::try_from(many).unwrap_or(0)];
        // SAFETY: there is room for as many numbers as NVRTC said that it has.
        self.check(unsafe { list(capabilities.as_mut_ptr()) })?;
        Ok(capabilities)
    }

    /// Compiles a source that may include `header` by its name, and gives the PTX; machine code is made and dropped.
    ///
    /// # Errors
    /// [`Failure::Failed`] with the compiler's messages.
    pub fn compile(&self, source: &Source, header: &Source, output: Output) -> Result<String, Failure> {
        type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
        let target = match output {
            Output::Ptx(capability) => format!("compute_{capability}"),
            Output::Machine(capability) => format!("sm_{capability}"),
        };
        let program = Handle::new(self, source, header)?;
        let option = c_string(&format!("--gpu-architecture={target}"))?;
        let compile = self.function::<Compile>(c"nvrtcCompileProgram")?;
        // SAFETY: the program is live, and so is the one option while the call lasts.
        let status = unsafe { compile(program.raw, 1, &option.as_ptr()) };
        if status != 0 {
            let log = program.text(c"nvrtcGetProgramLogSize", c"nvrtcGetProgramLog")?;
            return Err(Failure::Failed(format!("{} does not compile for {target}:\n{log}", source.name)));
        }
        program.text(c"nvrtcGetPTXSize", c"nvrtcGetPTX")
    }

    /// A function of the library.
    fn function<F: Copy>(&self, name: &CStr) -> Result<F, Failure> {
        // SAFETY: every caller names the type that NVRTC's header declares for the function, unchanged since CUDA 11.2.
        let found = unsafe { self.library.get::<F>(name) };
        found.map(|function| *function).map_err(|error| Failure::Missing(format!("this NVRTC is too old: {error}")))
    }

    fn check(&self, status: c_int) -> Result<(), Failure> {
        if status == 0 {
            return Ok(());
        }
        let text = self.function::<unsafe extern "C" fn(c_int) -> *const c_char>(c"nvrtcGetErrorString")?;
        // SAFETY: NVRTC answers any number with a static string.
        let text = unsafe { CStr::from_ptr(text(status)) };
        Err(Failure::Failed(format!("NVRTC: {}", text.to_string_lossy())))
    }
}

/// The library of built-in declarations beside an NVRTC that was named with its folder.
fn builtins(nvrtc: &Path) -> Option<Library> {
    let folder = nvrtc.parent()?.read_dir().ok()?;
    let mut files = folder.filter_map(Result::ok);
    let beside = files.find(|file| file.file_name().to_string_lossy().starts_with("libnvrtc-builtins.so."))?;
    // SAFETY: the library holds data; loading it runs nothing that asks anything of its caller.
    unsafe { Library::new(beside.path()) }.ok()
}

/// A program of NVRTC, given back when dropped.
struct Handle<'a> {
    nvrtc: &'a Nvrtc,
    raw: Program,
}

impl Handle<'_> {
    fn new<'a>(nvrtc: &'a Nvrtc, source: &Source, header: &Source) -> Result<Handle<'a>, Failure> {
        type Strings = *const *const c_char;
        type Create =
            unsafe extern "C" fn(*mut Program, *const c_char, *const c_char, c_int, Strings, Strings) -> c_int;
        let (text, name) = (c_string(&source.text)?, c_string(&source.name)?);
        let (included, include_name) = (c_string(&header.text)?, c_string(&header.name)?);
        let create = nvrtc.function::<Create>(c"nvrtcCreateProgram")?;
        let mut raw = null_mut();
        // SAFETY: the strings end in zero and outlive the call, which copies them; there is one header with one name.
        let status =
            unsafe { create(&mut raw, text.as_ptr(), name.as_ptr(), 1, &included.as_ptr(), &include_name.as_ptr()) };
        nvrtc.check(status)?;
        Ok(Handle { nvrtc, raw })
    }

    /// A text that the program has, by the functions that give its length, with the zero at its end, and itself.
    fn text(&self, length: &CStr, text: &CStr) -> Result<String, Failure> {
        let (length, text) = (self.nvrtc.function::<Length>(length)?, self.nvrtc.function::<Text>(text)?);
        let mut bytes = 0;
        // SAFETY: the program is live and the number outlives the call.
        self.nvrtc.check(unsafe { length(self.raw, &mut bytes) })?;
        let mut buffer = vec![0_u8; bytes];
        // SAFETY: the program is live and the buffer has the length that NVRTC asked for.
        self.nvrtc.check(unsafe { text(self.raw, buffer.as_mut_ptr().cast()) })?;
        buffer.truncate(bytes.saturating_sub(1));
        Ok(String::from_utf8_lossy(&buffer).into_owned())
    }
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        if let Ok(destroy) = self.nvrtc.function::<unsafe extern "C" fn(*mut Program) -> c_int>(c"nvrtcDestroyProgram")
        {
            // SAFETY: the program is live and nothing uses it after this.
            unsafe { destroy(&mut self.raw) };
        }
    }
}

fn c_string(text: &str) -> Result<CString, Failure> {
    CString::new(text).map_err(|error| Failure::Failed(format!("a source with a zero byte in it: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_nvrtc_the_message_says_what_installs_it() {
        let found = Nvrtc::load([PathBuf::from("no-such-folder/libnvrtc.so.13")].into_iter());
        let Err(Failure::Missing(text)) = found.map(drop) else { panic!("a library that is not there was loaded") };
        assert!(text.contains("cargo xtask setup") && text.contains("no-such-folder"), "{text}");
    }
}
