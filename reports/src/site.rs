//! Writing the site: into a folder beside the old one, then renamed, so that a reader never finds half of it.

use crate::digest::Digest;
use crate::{RunLog, pages};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use suites::claims::Catalogue;

const STYLE: &str = include_str!("../templates/style.css");
const FILTER: &str = include_str!("../templates/filter.js");

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The pages, the overview first.
    pub pages: Vec<Page>,
    /// Bytes of everything, the run log included.
    pub bytes: u64,
}

/// One page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its path from the site's root, with slashes.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Why no site was written. The earlier one, if there is one, stands as it was.
#[derive(Debug)]
pub enum RenderError {
    /// A page could not be made: the page and the cause.
    Page(String),
    /// A file or folder could not be written.
    Write {
        /// Where.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// The place asked for holds something that is no site of ours.
    Occupied(PathBuf),
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page(cause) => write!(f, "a page could not be made: {cause}"),
            Self::Write { path, cause } => {
                write!(f, "{}: cannot be written: {cause}; an earlier report is untouched", path.display())
            }
            Self::Occupied(path) => write!(
                f,
                "{}: is there and is no report of ours (no run.jsonl and index.html in it): name another folder, or remove it",
                path.display()
            ),
        }
    }
}

impl std::error::Error for RenderError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Write { cause, .. } = self { Some(cause) } else { None }
    }
}

fn write_error(path: &Path) -> impl FnOnce(io::Error) -> RenderError + '_ {
    move |cause| RenderError::Write { path: path.into(), cause }
}

/// Writes the site that shows a run log into the folder `out`, in place of an earlier site there. What needs a device is
/// also shown from the first of the imported runs of other machines that has it.
///
/// Everything is first written into a folder beside `out`; on any failure that folder is removed and `out` is left alone.
pub fn render(log: &RunLog, imported: &[RunLog], catalogue: &Catalogue, out: &Path) -> Result<Site, RenderError> {
    check_place(out)?;
    let imported: Vec<Digest> = imported.iter().map(|log| Digest::new(log, catalogue)).collect();
    let pages = pages::all(&Digest::new(log, catalogue), &imported).map_err(RenderError::Page)?;
    let parent = match out.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(write_error(parent))?;
    let fresh = tempfile::Builder::new().prefix(".report-").tempdir_in(parent).map_err(write_error(parent))?;
    let mut site = Site { pages: Vec::new(), bytes: 0 };
    for (path, html) in pages {
        site.bytes += put(fresh.path(), &path, html.as_bytes(), out)?;
        site.pages.push(Page { path, bytes: html.len() as u64 });
    }
    for (path, content) in
        [("style.css", STYLE.as_bytes()), ("filter.js", FILTER.as_bytes()), ("run.jsonl", &log.bytes)]
    {
        site.bytes += put(fresh.path(), path, content, out)?;
    }
    exchange(fresh, out)?;
    Ok(site)
}

/// Refuses a place that holds anything but a site, so that a long run need not find out at its end.
///
/// # Errors
/// [`RenderError::Occupied`] when something else is there.
pub fn check_place(out: &Path) -> Result<(), RenderError> {
    let ours = || out.join("run.jsonl").is_file() && out.join("index.html").is_file();
    let empty = || fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_none());
    if fs::symlink_metadata(out).is_err() || ours() || empty() {
        Ok(())
    } else {
        Err(RenderError::Occupied(out.into()))
    }
}

/// Writes one file; an error names the place where it would have lain.
fn put(fresh: &Path, path: &str, content: &[u8], out: &Path) -> Result<u64, RenderError> {
    let target = fresh.join(path);
    let write = || {
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&target, content)
    };
    write().map_err(write_error(&out.join(path)))?;
    Ok(content.len() as u64)
}

/// Puts the fresh folder in the place of `out`. Renaming cannot replace a folder that is not empty, so the old one steps
/// aside first and comes back if the second rename fails.
fn exchange(fresh: tempfile::TempDir, out: &Path) -> Result<(), RenderError> {
    open_to_readers(fresh.path()).map_err(write_error(out))?;
    if fs::symlink_metadata(out).is_err() {
        fs::rename(fresh.path(), out).map_err(write_error(out))?;
        let _moved = fresh.keep();
        return Ok(());
    }
    let parent = fresh.path().parent().unwrap_or(Path::new("."));
    let aside = tempfile::Builder::new().prefix(".report-old-").tempdir_in(parent).map_err(write_error(parent))?;
    let old = aside.path().join("site");
    fs::rename(out, &old).map_err(write_error(out))?;
    if let Err(cause) = fs::rename(fresh.path(), out) {
        let cause = match fs::rename(&old, out) {
            Ok(()) => cause,
            Err(_) => {
                io::Error::new(cause.kind(), format!("{cause}; the earlier report lies in {}", aside.keep().display()))
            }
        };
        return Err(RenderError::Write { path: out.into(), cause });
    }
    let _moved = fresh.keep();
    Ok(())
}

/// A temporary folder is private; a site is read by a web server.
#[cfg(unix)]
fn open_to_readers(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn open_to_readers(_: &Path) -> io::Result<()> {
    Ok(())
}
