//! `cargo xtask ptx`: the device kernels, compiled.

use crate::console::{Failure, put};
use crate::nvrtc::{Nvrtc, Output, Source};
use crate::places::{find_python, root};
use std::ffi::c_int;
use std::fs;
use std::path::{Path, PathBuf};

/// Compile the device kernels of the reference engine to PTX; needs no GPU and no toolkit
#[derive(clap::Args)]
#[command(after_help = "Needs NVRTC, which PyTorch's packages for CUDA bring. Makes the PTX for compute \
    capability 7.5, which newer cards load as well, and proves that the sources compile for every newer one that NVRTC \
    knows. Exit status 3 where NVRTC is missing.")]
pub struct Args {
    /// Write nothing; fail where the PTX is not what the sources give
    #[arg(long)]
    check: bool,
    /// Python whose packages bring NVRTC [default: the active environment, else the one that `setup` made, else python3]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
}

/// Where the sources and the PTX are, seen from the root.
const FOLDER: &str = "kernels/cuda";
/// What every source includes.
const HEADER: &str = "common.cuh";
/// The oldest cards that the kernels run on: compute capability 7.5.
const OLDEST: c_int = 75;
/// The version of the PTX language that the PTX says it needs: the first that knows 7.5. NVRTC would name its own, which
/// older drivers refuse whatever stands in the text; the kernels use nothing newer.
const LANGUAGE: &str = "6.3";

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let nvrtc = Nvrtc::find(&find_python(args.python.as_deref())?)?;
    let kernels = Kernels::read(&root().join(FOLDER))?;
    if args.check {
        kernels.check(&nvrtc)?;
    } else {
        kernels.write(&nvrtc)?;
        put(&format!("the PTX of {} sources is written to {FOLDER}", kernels.sources.len()));
    }
    let capabilities = kernels.assemble(&nvrtc)?;
    put(&format!("the kernels compile for {}", capabilities.join(", ")));
    Ok(())
}

/// The sources of a folder.
struct Kernels {
    folder: PathBuf,
    header: Source,
    sources: Vec<Source>,
}

impl Kernels {
    fn read(folder: &Path) -> Result<Kernels, Failure> {
        let told = |error: std::io::Error| Failure::Failed(format!("{}: {error}", folder.display()));
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(told)? {
            names.push(entry.map_err(told)?.file_name().to_string_lossy().into_owned());
        }
        names.retain(|name| name.ends_with(".cu"));
        names.sort();
        let read = |name: String| Ok::<_, Failure>(Source { text: read(&folder.join(&name))?, name });
        Ok(Kernels {
            folder: folder.to_owned(),
            header: read(HEADER.to_owned())?,
            sources: names.into_iter().map(read).collect::<Result<_, _>>()?,
        })
    }

    /// Writes the PTX of every source beside it.
    fn write(&self, nvrtc: &Nvrtc) -> Result<(), Failure> {
        for source in &self.sources {
            let (path, ptx) = (self.ptx_path(source), self.ptx(nvrtc, source)?);
            fs::write(&path, ptx).map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
        }
        Ok(())
    }

    /// Compares the PTX of every source with the file beside it.
    fn check(&self, nvrtc: &Nvrtc) -> Result<(), Failure> {
        let version = nvrtc.version()?;
        let mut stale = Vec::new();
        for source in &self.sources {
            let path = self.ptx_path(source);
            let found = read(&path)?;
            if found == self.ptx(nvrtc, source)? {
                continue;
            }
            let first = found.lines().next().unwrap_or_default();
            let other = first.strip_prefix(&made_from(source)).and_then(|rest| rest.strip_suffix(MADE_BY));
            if let Some(other) = other.filter(|other| *other != version) {
                return Err(Failure::Missing(format!(
                    "{} was made by NVRTC {other}, and the one found here is {version}, which words PTX in another way: \
                     check with {other} (`cargo xtask setup` installs the project's), or make the PTX again",
                    path.display()
                )));
            }
            stale.push(path.display().to_string());
        }
        if stale.is_empty() {
            return Ok(());
        }
        Err(Failure::Failed(format!(
            "{}: not what the sources give; `cargo xtask ptx` makes it again",
            stale.join(", ")
        )))
    }

    /// Assembles every source for every architecture that the kernels are for and NVRTC knows, and names them.
    fn assemble(&self, nvrtc: &Nvrtc) -> Result<Vec<String>, Failure> {
        let mut capabilities = nvrtc.capabilities()?;
        capabilities.retain(|capability| *capability >= OLDEST);
        for source in &self.sources {
            for capability in &capabilities {
                nvrtc.compile(source, &self.header, Output::Machine(*capability))?;
            }
        }
        Ok(capabilities.iter().map(|capability| format!("{}.{}", capability / 10, capability % 10)).collect())
    }

    fn ptx_path(&self, source: &Source) -> PathBuf {
        self.folder.join(&source.name).with_extension("ptx")
    }

    /// What the file beside a source shall hold.
    fn ptx(&self, nvrtc: &Nvrtc, source: &Source) -> Result<String, Failure> {
        let made = nvrtc.compile(source, &self.header, Output::Ptx(OLDEST))?;
        // Before the version stand comments that name NVRTC's build: another build of a version makes the same code.
        let body = made.split_once(".version ").and_then(|(_, rest)| rest.split_once('\n'));
        let Some((_, body)) = body else {
            return Err(Failure::Failed(format!("{}: NVRTC made a PTX without a version", source.name)));
        };
        let version = nvrtc.version()?;
        Ok(format!("{}{version}{MADE_BY}\n.version {LANGUAGE}\n{body}", made_from(source)))
    }
}

/// The first line of a PTX is this, the version of NVRTC, and [`MADE_BY`].
fn made_from(source: &Source) -> String {
    format!("// Made from {} by NVRTC ", source.name)
}

const MADE_BY: &str = ": `cargo xtask ptx` makes it again.";

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NVRTC of the tests' Python, which has it as a part of PyTorch.
    fn nvrtc() -> Nvrtc {
        let python = std::env::var_os("TENSORMARK_PYTHON").map(PathBuf::from);
        Nvrtc::find(&find_python(python.as_deref()).unwrap()).unwrap()
    }

    #[test]
    fn the_ptx_is_what_the_sources_give() {
        let nvrtc = nvrtc();
        Kernels::read(&root().join(FOLDER)).unwrap().check(&nvrtc).unwrap();
    }

    #[test]
    fn a_changed_source_a_changed_header_and_another_compiler_are_told_apart() {
        let nvrtc = nvrtc();
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let check = || Kernels::read(folder.path()).unwrap().check(&nvrtc);
        put(HEADER, "#define VALUE 1\n");
        let source = "#include \"common.cuh\"\nextern \"C\" __global__ void one(int* out) { *out = VALUE; }\n";
        put("one.cu", source);
        Kernels::read(folder.path()).unwrap().write(&nvrtc).unwrap();
        check().unwrap();

        put(HEADER, "#define VALUE 2\n");
        let Err(Failure::Failed(text)) = check() else { panic!("a changed header went unseen") };
        assert!(text.contains("one.ptx"), "{text}");

        put(HEADER, "#define VALUE 1\n");
        put("one.cu", &source.replace("one(", "two("));
        assert!(matches!(check(), Err(Failure::Failed(text)) if text.contains("one.ptx")));

        put("one.cu", source);
        let made = fs::read_to_string(folder.path().join("one.ptx")).unwrap();
        put("one.ptx", &made.replacen(&format!("NVRTC {}", nvrtc.version().unwrap()), "NVRTC 1.2", 1));
        assert!(matches!(check(), Err(Failure::Missing(text)) if text.contains("NVRTC 1.2")));
    }

    #[test]
    fn a_source_that_does_not_compile_is_named_with_its_line() {
        let nvrtc = nvrtc();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(HEADER), "").unwrap();
        fs::write(folder.path().join("bad.cu"), "\nextern \"C\" __global__ void bad() { nothing(); }\n").unwrap();
        let Err(Failure::Failed(text)) = Kernels::read(folder.path()).unwrap().write(&nvrtc) else {
            panic!("compiled")
        };
        assert!(text.contains("bad.cu(2)") && text.contains("compute_75"), "{text}");
    }
}
