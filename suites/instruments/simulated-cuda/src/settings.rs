//! What the environment asks for.

use crate::ending::tell_at_end;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::sync::OnceLock;

const MEMORY: &str = "TENSORMARK_SIMULATED_CUDA_MEMORY";
const BACKING: &str = "TENSORMARK_SIMULATED_CUDA_BACKING";
const LOG: &str = "TENSORMARK_SIMULATED_CUDA_LOG";
const ENDED: &str = "TENSORMARK_SIMULATED_CUDA_ENDED";
const FAIL: &str = "TENSORMARK_SIMULATED_CUDA_FAIL";

const USUAL_MEMORY: u64 = 80 << 30;
const LARGEST_MEMORY: u64 = 1 << 40;
const SMALLEST_MEMORY: u64 = 2 << 20;

/// What stands behind the addresses of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backing {
    /// Memory of this machine: copies and the computed kernels give values.
    Host,
    /// Nothing: copies with the device do nothing.
    Addresses,
}

/// The settings of this process.
pub struct Settings {
    /// Memory of the device, in bytes.
    pub memory: u64,
    pub backing: Backing,
    /// Where each call is written.
    pub log: Option<File>,
    /// Where it is written at the end which call failed and what is left.
    pub ended: Option<File>,
    /// Which call of the driver fails, counted from 1.
    pub fail: Option<u64>,
}

/// The settings, read at the first call. A wrong value ends the process.
pub fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let settings = read(|name| std::env::var_os(name)).unwrap_or_else(|message| refuse(&message));
        if settings.ended.is_some() {
            tell_at_end();
        }
        settings
    })
}

/// Ends the process: a program must not go on over a device other than the one asked for.
pub fn refuse(message: &str) -> ! {
    eprintln!("simulated CUDA device: {message}");
    // SAFETY: ends the process at once. The usual exit would run destructors that may call back into this library.
    unsafe { libc::_exit(4) }
}

fn read(variable: impl Fn(&str) -> Option<OsString>) -> Result<Settings, String> {
    Ok(Settings {
        memory: variable(MEMORY).map_or(Ok(USUAL_MEMORY), memory)?,
        backing: variable(BACKING).map_or(Ok(Backing::Host), backing)?,
        log: variable(LOG).map(|value| file(LOG, value)).transpose()?,
        ended: variable(ENDED).map(|value| file(ENDED, value)).transpose()?,
        fail: variable(FAIL).map(fail).transpose()?,
    })
}

fn memory(value: OsString) -> Result<u64, String> {
    let bytes = value.to_str().and_then(|text| text.parse().ok());
    bytes.filter(|bytes| (SMALLEST_MEMORY..=LARGEST_MEMORY).contains(bytes)).ok_or_else(|| {
        format!("{MEMORY} is {value:?}; allowed are bytes, a whole number from {SMALLEST_MEMORY} to {LARGEST_MEMORY}")
    })
}

fn backing(value: OsString) -> Result<Backing, String> {
    match value.to_str() {
        Some("host") => Ok(Backing::Host),
        Some("addresses") => Ok(Backing::Addresses),
        _ => Err(format!("{BACKING} is {value:?}; allowed are \"host\" and \"addresses\"")),
    }
}

fn file(name: &str, value: OsString) -> Result<File, String> {
    let file = OpenOptions::new().append(true).create(true).open(&value);
    file.map_err(|error| format!("{name} is {value:?}; allowed is a file that can be written: {error}"))
}

fn fail(value: OsString) -> Result<u64, String> {
    let number = value.to_str().and_then(|text| text.parse().ok()).filter(|number| *number > 0);
    number.ok_or_else(|| format!("{FAIL} is {value:?}; allowed is the number of a call of the driver, from 1"))
}

#[cfg(test)]
mod tests {
    use super::{Backing, read};

    fn with(name: &'static str, value: &'static str) -> Result<super::Settings, String> {
        read(|asked| (asked == name).then(|| value.into()))
    }

    #[test]
    fn nothing_set_is_an_80_gib_device_with_values() {
        let usual = read(|_| None).unwrap();
        assert_eq!((usual.memory, usual.backing, usual.log.is_none()), (85_899_345_920, Backing::Host, true));
    }

    #[test]
    fn a_wrong_value_is_named_with_what_is_allowed() {
        assert_eq!(with("TENSORMARK_SIMULATED_CUDA_MEMORY", "4294967296").unwrap().memory, 4 << 30);
        let told = with("TENSORMARK_SIMULATED_CUDA_MEMORY", "4G").map(|_| ()).unwrap_err();
        assert!(told.contains("TENSORMARK_SIMULATED_CUDA_MEMORY is \"4G\"; allowed are bytes"), "{told}");
        let told = with("TENSORMARK_SIMULATED_CUDA_BACKING", "none").map(|_| ()).unwrap_err();
        assert!(told.contains("is \"none\"; allowed are \"host\" and \"addresses\""), "{told}");
        let told = with("TENSORMARK_SIMULATED_CUDA_LOG", "/").map(|_| ()).unwrap_err();
        assert!(told.contains("TENSORMARK_SIMULATED_CUDA_LOG is \"/\""), "{told}");
        assert_eq!(with("TENSORMARK_SIMULATED_CUDA_FAIL", "12").unwrap().fail, Some(12));
        let told = with("TENSORMARK_SIMULATED_CUDA_FAIL", "0").map(|_| ()).unwrap_err();
        assert!(told.contains("TENSORMARK_SIMULATED_CUDA_FAIL is \"0\"; allowed is the number"), "{told}");
    }
}
