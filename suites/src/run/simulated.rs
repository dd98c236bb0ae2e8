//! Prepares the installed PyTorch to run over the simulated CUDA device. `docs/simulated-cuda.md` says what that is.
//!
//! PyTorch is linked to CUDA's runtime, to the driver and to a dozen libraries built on them, and does not start unless
//! every name that it uses exists. What the simulated device lacks is generated here from the installed PyTorch itself:
//! one small library for each that it asks for, whose functions answer and do nothing.

use object::Endianness;
use object::elf::{DT_NEEDED, FileHeader64, SHN_UNDEF, SHT_DYNSYM, STB_WEAK};
use object::read::elf::{Dyn, FileHeader, Sym};
use object::read::{ReadCache, StringTable};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARY: &str = "libsimulated_cuda.so";
/// The runtime that the simulated device is, and the other names under which programs look for it.
const RUNTIME: &str = "libcudart.so.13";
const ALIASES: [&str; 2] = ["libcuda.so.1", "libnvidia-ml.so.1"];
/// The generated library with the names of the runtime and the driver that the device lacks.
const REST: &str = "libsimulated_cuda_rest.so";
/// CUDA's own answer for what it does not support.
const NOT_SUPPORTED: i32 = 801;

/// The libraries that PyTorch may be linked to: how their files' and their functions' names begin, and what their
/// functions answer. cuBLAS answers success, although nothing is computed, so that loops run to their end; every call
/// of it is recorded. The others answer that they do not support what was asked, each in its own numbers.
const FAMILIES: [(&str, &str, i32); 17] = [
    ("libcublas.so", "cublas", 0),
    ("libcublasLt.so", "cublasLt", 0),
    ("libcuda.so", "cu", NOT_SUPPORTED),
    ("libcudart.so", "cuda", NOT_SUPPORTED),
    ("libcudart.so", "__cuda", NOT_SUPPORTED),
    ("libcudnn.so", "cudnn", 3000),
    ("libcufft.so", "cufft", 16),
    ("libcufile.so", "cuFile", 5007),
    ("libcupti.so", "cupti", 27),
    ("libcurand.so", "curand", 204),
    ("libcusolver.so", "cusolver", 9),
    ("libcusparse.so", "cusparse", 10),
    ("libcusparseLt.so", "cusparseLt", 10),
    ("libnccl.so", "nccl", 5),
    ("libnvrtc.so", "nvrtc", 11),
    ("libnvshmem_host.so", "nvshmem", 3),
    ("libnvToolsExt.so", "nvtx", NOT_SUPPORTED),
];

/// What stands behind the addresses of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backing {
    /// Memory of this machine, so that copies and fills give values.
    Host,
    /// Nothing: for allocator runs that look at no value.
    Addresses,
}

impl Backing {
    fn variable(self) -> (String, OsString) {
        let backing = if self == Backing::Host { "host" } else { "addresses" };
        ("TENSORMARK_SIMULATED_CUDA_BACKING".into(), backing.into())
    }
}

/// The simulated device and the libraries that complete it for one installed PyTorch.
pub struct Simulation {
    folder: PathBuf,
    preloaded: Vec<PathBuf>,
}

impl Simulation {
    /// The variables that put a process on the simulated device, with `memory` bytes of it. `LD_PRELOAD` may be joined with other libraries by a colon.
    pub fn environment(&self, memory: u64, backing: Backing) -> Vec<(String, OsString)> {
        let paths: Vec<&OsStr> = self.preloaded.iter().map(|path| path.as_os_str()).collect();
        vec![
            ("LD_PRELOAD".into(), paths.join(OsStr::new(":"))),
            // The driver and the management library are loaded by name, when they are needed.
            ("LD_LIBRARY_PATH".into(), self.folder.clone().into()),
            backing.variable(),
            memory_variable(memory),
        ]
    }
}

/// Prepares the simulated device, built into the folder `target`, for the PyTorch of an interpreter. The first time
/// takes seconds; the error says why this PyTorch cannot run over it.
pub fn prepare(target: &Path, python: &Path) -> Result<Simulation, String> {
    let library = built(target)?;
    let torch = Torch::find(python)?;
    let exported = Interface::read(&library)?.defined;
    let parent = library.with_file_name("simulated-cuda");
    let folder = parent.join(format!("{}-{:016x}", torch.version, fingerprint(&library, &exported, &torch)?));
    if library.as_os_str().to_string_lossy().contains([':', ' ']) {
        return Err(format!("the path of {} has a colon or a space, so it cannot be preloaded", library.display()));
    }
    if !folder.is_dir() {
        let told = |error: std::io::Error| format!("cannot write into {}: {error}", parent.display());
        fs::create_dir_all(&parent).map_err(told)?;
        let unfinished = tempfile::Builder::new().prefix("unfinished-").tempdir_in(&parent).map_err(told)?;
        generate(&library, &exported, &torch, unfinished.path())?;
        // Another process may have been faster; then its folder is as good.
        if let Err(error) = fs::rename(unfinished.path(), &folder)
            && !folder.is_dir()
        {
            return Err(told(error));
        }
    }
    let mut preloaded = vec![library];
    preloaded.extend(files(&folder)?.into_iter().filter(|path| !ALIASES.iter().any(|alias| path.ends_with(alias))));
    Ok(Simulation { folder, preloaded })
}

/// The variables that give a process the simulated device as its CUDA driver, with `memory` bytes of it: enough for a
/// program that loads the driver by name. The error says what is missing.
pub fn driver(target: &Path, memory: u64, backing: Backing) -> Result<Vec<(String, OsString)>, String> {
    let library = built(target)?;
    let folder = library.with_file_name("simulated-driver");
    let told = |error: std::io::Error| format!("cannot write into {}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(told)?;
    for alias in ALIASES {
        let link = folder.join(alias);
        // Another process may have been faster; then its link is as good.
        // The link leads to the library beside the folder, wherever both are moved.
        if let Err(error) = std::os::unix::fs::symlink(Path::new("..").join(LIBRARY), &link)
            && !link.exists()
        {
            return Err(told(error));
        }
    }
    Ok(vec![("LD_LIBRARY_PATH".into(), folder.into()), backing.variable(), memory_variable(memory)])
}

fn memory_variable(memory: u64) -> (String, OsString) {
    ("TENSORMARK_SIMULATED_CUDA_MEMORY".into(), memory.to_string().into())
}

/// The simulated device, built into the folder `target`.
fn built(target: &Path) -> Result<PathBuf, String> {
    target.join(LIBRARY).canonicalize().map_err(|_| {
        format!("{} was not built: cargo build --release -p simulated-cuda", target.join(LIBRARY).display())
    })
}

/// An installed PyTorch.
struct Torch {
    version: String,
    libraries: Vec<PathBuf>,
}

impl Torch {
    /// Asks the interpreter, without importing PyTorch.
    fn find(python: &Path) -> Result<Torch, String> {
        let source = "import importlib.metadata as m, importlib.util as u\n\
                      print(m.version('torch'), u.find_spec('torch').submodule_search_locations[0], sep='\\n')";
        let told = |what: &str| format!("{} cannot tell where PyTorch is: {what}", python.display());
        let output = Command::new(python).args(["-c", source]).output().map_err(|error| told(&error.to_string()))?;
        let answer = String::from_utf8_lossy(&output.stdout);
        let [version, folder] = answer.lines().collect::<Vec<_>>()[..] else {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(told(errors.lines().last().unwrap_or("no answer")));
        };
        let libraries = files(&Path::new(folder).join("lib"))?;
        Ok(Torch { version: version.into(), libraries })
    }
}

/// The shared libraries in a folder, in order of their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let told = |error| format!("cannot read {}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        if path.is_file() && path.file_name().is_some_and(|name| name.to_string_lossy().contains(".so")) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Changes when anything changes that the generated libraries depend on.
fn fingerprint(library: &Path, exported: &BTreeSet<String>, torch: &Torch) -> Result<u64, String> {
    let mut hasher = DefaultHasher::new();
    (include_str!("simulated.rs"), library, exported).hash(&mut hasher);
    for path in &torch.libraries {
        let found = fs::metadata(path).and_then(|found| Ok((found.len(), found.modified()?)));
        (path, found.map_err(|error| format!("cannot look at {}: {error}", path.display()))?).hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// What a shared library exports and asks for.
#[derive(Default)]
struct Interface {
    needed: Vec<String>,
    defined: BTreeSet<String>,
    /// Names that must be found elsewhere, with the library that each shall come from, where that is written.
    undefined: BTreeMap<String, Option<String>>,
}

impl Interface {
    fn read(path: &Path) -> Result<Interface, String> {
        let told = |error: &dyn std::fmt::Display| format!("cannot read the symbols of {}: {error}", path.display());
        let file = File::open(path).map_err(|error| told(&error))?;
        Interface::parse(&ReadCache::new(file)).map_err(|error| told(&error))
    }

    fn parse(file: &ReadCache<File>) -> Result<Interface, object::Error> {
        let mut interface = Interface::default();
        let header = FileHeader64::<Endianness>::parse(file)?;
        let endian = header.endian()?;
        let sections = header.sections(endian, file)?;
        if let Some((entries, link)) = sections.dynamic(endian, file)? {
            let strings: StringTable<'_, &ReadCache<File>> = sections.strings(endian, file, link)?;
            for entry in entries.iter().filter(|entry| entry.tag(endian) == DT_NEEDED) {
                interface.needed.push(text(entry.string(endian, strings)?));
            }
        }
        let symbols = sections.symbols(endian, file, SHT_DYNSYM)?;
        let versions = sections.versions(endian, file)?;
        for (index, symbol) in symbols.enumerate() {
            if symbol.st_shndx(endian) != SHN_UNDEF {
                interface.defined.insert(text(symbols.symbol_name(endian, symbol)?));
            } else if symbol.st_bind() != STB_WEAK {
                let version = match &versions {
                    Some(versions) => versions.version(versions.version_index(endian, index))?,
                    None => None,
                };
                let name = text(symbols.symbol_name(endian, symbol)?);
                interface.undefined.insert(name, version.and_then(|version| version.file()).map(text));
            }
        }
        Ok(interface)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Writes the libraries that PyTorch needs beside the simulated device.
fn generate(library: &Path, exported: &BTreeSet<String>, torch: &Torch, folder: &Path) -> Result<(), String> {
    let mut sources = sources(torch, exported)?;
    for alias in ALIASES {
        let told = |error| format!("cannot link {alias} in {}: {error}", folder.display());
        std::os::unix::fs::symlink(library, folder.join(alias)).map_err(told)?;
    }
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let share = sources.len().div_ceil(workers);
    std::thread::scope(|scope| {
        let mut started = Vec::new();
        while !sources.is_empty() {
            let part = sources.split_off(sources.len().saturating_sub(share));
            started.push(scope.spawn(move || part.iter().try_for_each(|(source, file)| compile(folder, file, source))));
        }
        let told = |_| Err("a generated library could not be compiled".to_owned());
        started.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(told))
    })
}

/// The source and the file's name of each library to be generated.
fn sources(torch: &Torch, exported: &BTreeSet<String>) -> Result<Vec<(String, String)>, String> {
    let (mut wanted, mut unknown) = (BTreeMap::<String, BTreeSet<String>>::new(), BTreeSet::new());
    let mut names = BTreeMap::new();
    for path in &torch.libraries {
        let interface = Interface::read(path)?;
        for needed in interface.needed.into_iter().filter(|needed| from_nvidia(needed)) {
            wanted.entry(needed).or_default();
        }
        names.extend(interface.undefined.into_iter().filter(|(name, file)| match file {
            Some(file) => from_nvidia(file),
            None => ["cu", "__cu", "nv", "nccl"].iter().any(|start| name.starts_with(start)),
        }));
    }
    let runtimes: Vec<&str> =
        wanted.keys().map(String::as_str).filter(|name| name.starts_with("libcudart.so")).collect();
    match runtimes[..] {
        [RUNTIME] => {}
        [] => return Err(format!("PyTorch {} is built without CUDA", torch.version)),
        _ => {
            let found = runtimes.join(", ");
            return Err(format!("PyTorch {} needs {found}; the simulated device is {RUNTIME}", torch.version));
        }
    }
    for (name, file) in names {
        let owner = file.or_else(|| {
            let (start, ..) = family_of(&name)?;
            wanted.keys().find(|owner| owner.starts_with(start)).cloned()
        });
        match owner.and_then(|owner| wanted.get_mut(&owner)) {
            Some(names) => names.insert(name),
            None => unknown.insert(name),
        };
    }
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.into_iter().collect();
        return Err(format!("PyTorch {} needs names of no known library: {}", torch.version, names.join(" ")));
    }
    let modelled = [RUNTIME, ALIASES[0]].map(|name| wanted.remove(name).unwrap_or_default());
    let lacking = modelled.iter().flatten().filter(|name| !exported.contains(*name)).cloned().collect();
    wanted.insert(REST.into(), lacking);
    Ok(wanted.into_iter().map(|(file, names)| (stubs(&file, &names), file)).collect())
}

fn from_nvidia(file: &str) -> bool {
    FAMILIES.iter().any(|(start, ..)| file.starts_with(start))
}

/// The family whose names begin most like this one.
fn family_of(name: &str) -> Option<&'static (&'static str, &'static str, i32)> {
    let begins = FAMILIES.iter().filter(|(_, start, _)| name.starts_with(start));
    begins.max_by_key(|(_, start, _)| start.len())
}

/// The source of a library whose functions only say that they were called. Texts are answered as such: a program would
/// follow a number as a pointer. Each library asks for one versioned name of the C library, because glibc
/// does not look for versioned names, which PyTorch asks for, in a library that knows no versions at all.
fn stubs(file: &str, names: &BTreeSet<String>) -> String {
    let answer = FAMILIES.iter().find(|(start, ..)| file.starts_with(start)).map_or(NOT_SUPPORTED, |family| family.2);
    let mut source = format!(
        "#![no_std]\n#![allow(non_snake_case)]\n\
         #[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {{ loop {{}} }}\n\
         unsafe extern \"C\" {{ fn simulated_cuda_stubbed(name: *const u8, answer: i32, computes: i32) -> i32; }}\n\
         #[link(name = \"c\")] unsafe extern \"C\" {{ fn getpid() -> i32; }}\n\
         #[used] static VERSIONED: unsafe extern \"C\" fn() -> i32 = getpid;\n\
         macro_rules! stubs {{ ($($name:ident)*) => {{$(\n\
         #[unsafe(no_mangle)] extern \"C\" fn $name() -> i32 {{\n\
         unsafe {{ simulated_cuda_stubbed(concat!(stringify!($name), \"\\0\").as_ptr(), {answer}, {computes}) }} }}\n\
         )*}} }}\n",
        computes = i32::from(answer == 0),
    );
    for name in names {
        source += &if name.ends_with("ErrorString") || name == "ncclGetLastError" {
            let text = "c\"not modelled by the simulated CUDA device\".as_ptr().cast()";
            format!("#[unsafe(no_mangle)] extern \"C\" fn {name}() -> *const u8 {{ {text} }}\n")
        } else {
            format!("stubs! {{ {name} }}\n")
        };
    }
    source
}

/// Compiles a generated library; its file's name is the name by which it is asked for.
fn compile(folder: &Path, file: &str, source: &str) -> Result<(), String> {
    let told = |what: &dyn std::fmt::Display| format!("cannot compile the generated {file}: {what}");
    let path = folder.join(file).with_extension("rs");
    fs::write(&path, source).map_err(|error| told(&error))?;
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(&compiler)
        .args(["--edition=2024", "--crate-name=stubs", "--crate-type=cdylib", "-Cpanic=abort", "-Copt-level=1"])
        .args([format!("-Clink-arg=-Wl,-soname,{file}").as_ref(), "-o".as_ref(), folder.join(file).as_os_str()])
        .arg(&path)
        .output()
        .map_err(|error| told(&format!("{}: {error}", compiler.display())))?;
    if output.status.success() {
        fs::remove_file(&path).map_err(|error| told(&error))
    } else {
        Err(told(&String::from_utf8_lossy(&output.stderr)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Interface, compile, family_of, prepare, stubs};
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn a_name_belongs_to_the_library_that_it_names_best() {
        let file = |name| family_of(name).map(|family| family.0);
        assert_eq!(file("cublasLtMatmul"), Some("libcublasLt.so"));
        assert_eq!(file("cuFileRead"), Some("libcufile.so"));
        assert_eq!(file("__cudaRegisterVar"), Some("libcudart.so"));
        assert_eq!(file("cuModuleLoad"), Some("libcuda.so"));
        assert_eq!(file("nvmlInit"), None);
    }

    #[test]
    fn a_generated_library_has_its_names_and_asks_the_device() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["cudnnCreate", "cudnnGetErrorString"].map(String::from).into();
        compile(folder.path(), "libcudnn.so.9", &stubs("libcudnn.so.9", &names)).unwrap();
        let interface = Interface::read(&folder.path().join("libcudnn.so.9")).unwrap();
        assert!(names.is_subset(&interface.defined), "{:?}", interface.defined);
        assert_eq!(interface.undefined.get("simulated_cuda_stubbed"), Some(&None));
        let versioned = interface.undefined.values().flatten().collect::<BTreeSet<_>>();
        assert!(versioned.into_iter().any(|file| file.starts_with("libc.so")), "glibc needs one versioned name");
    }

    #[test]
    fn what_is_missing_is_said() {
        let empty = tempfile::tempdir().unwrap();
        let told = prepare(empty.path(), Path::new("python3")).map(|_| ()).unwrap_err();
        assert!(told.ends_with("was not built: cargo build --release -p simulated-cuda"), "{told}");
        std::fs::write(empty.path().join(super::LIBRARY), "").unwrap();
        let told = prepare(empty.path(), &empty.path().join("no-python")).map(|_| ()).unwrap_err();
        assert!(told.contains("cannot tell where PyTorch is"), "{told}");
    }
}
