//! The machine, the launches and the noise of this run.

use super::engine::Engine;
use super::frame::Frame;
use crate::digest::Digest;
use crate::subjects::{self, CONTROL};
use crate::tags::{self, Tag};
use crate::{numbers, words};
use serde::Serialize;
use suites::record::{self, Control, Gpu, Weather};

#[derive(Serialize)]
struct View {
    lead: String,
    machine: Vec<(&'static str, String)>,
    launches: Vec<Launch>,
    missing: Vec<(String, String)>,
    noise: Vec<(String, String)>,
    weather: Option<Tag>,
    readings: Vec<[String; 4]>,
    cut: Vec<String>,
}

#[derive(Serialize)]
struct Launch {
    subject: String,
    version: String,
    language: String,
    build: String,
    device: String,
    threads: u32,
}

/// Builds the page.
pub fn page(engine: &Engine, digest: &Digest) -> Result<(String, String), String> {
    let view = View {
        lead: lead(digest),
        machine: machine(digest),
        launches: launches(digest),
        missing: missing(digest),
        noise: noise(digest),
        weather: digest.footer.weather.map(|grade| tags::weather(Some(grade))),
        readings: digest.weather.iter().map(|weather| reading(weather)).collect(),
        cut: digest.cut(),
    };
    let description = "The machine, what ran on it, and how noisy it was.";
    let frame = Frame::new(digest, "machine.html".into(), "machine", "Noise and machine".into(), description.into());
    engine.page("machine.html", &frame, &view)
}

fn lead(digest: &Digest) -> String {
    let launches = digest.header.launches.iter().filter(|launch| launch.subject != CONTROL);
    let (ran, missing): (Vec<_>, Vec<_>) = launches.partition(|launch| launch.missing.is_none());
    let weather = match digest.footer.weather {
        Some(grade) => format!("the weather was {grade}"),
        None => "the weather was not graded".into(),
    };
    let missing = match missing.len() {
        0 => String::new(),
        n => format!(", {n} could not"),
    };
    let started = words::plural(ran.len(), "launch started", "launches started");
    format!("{started}{missing}; {weather}.")
}

fn machine(digest: &Digest) -> Vec<(&'static str, String)> {
    let machine = &digest.header.machine;
    let mut rows = vec![
        ("Processor", machine.processor.clone()),
        ("Processors the run may use", machine.processors.to_string()),
        ("Main memory", numbers::bytes(machine.memory_bytes)),
    ];
    rows.extend(machine.last_cache_bytes.map(|bytes| ("Largest cache", numbers::bytes(bytes))));
    rows.extend(machine.gpu.iter().flat_map(gpu));
    rows.push(("System", machine.system.clone()));
    rows.push(("Compiler of the Rust subjects", digest.header.toolchain.clone()));
    rows.push(("Tensormark", digest.header.tensormark.clone()));
    rows.extend(digest.header.commit.clone().map(|commit| ("Commit", commit)));
    rows
}

fn gpu(gpu: &Gpu) -> [(&'static str, String); 5] {
    let clock = |mhz: u32| numbers::megahertz([mhz; 2]);
    let [generation, width] = gpu.link;
    [
        ("GPU", gpu.name.clone()),
        ("Memory of the GPU", numbers::bytes(gpu.memory_bytes)),
        ("Driver of the GPU", gpu.driver.clone()),
        (
            "Highest clocks of the GPU",
            format!("processors {}, memory {}", clock(gpu.processor_mhz), clock(gpu.memory_mhz)),
        ),
        ("Link to the GPU", format!("PCIe {generation}.0, {width} lanes")),
    ]
}

fn launches(digest: &Digest) -> Vec<Launch> {
    let mut launches: Vec<_> =
        digest.header.launches.iter().filter(|l| l.subject != CONTROL && l.missing.is_none()).collect();
    launches.sort_by_key(|launch| (subjects::order(&launch.subject), &launch.device, launch.threads));
    let launches = launches.into_iter().map(|launch| Launch {
        subject: subjects::name(&launch.subject).into(),
        version: launch.version.clone().unwrap_or_else(|| "unknown".into()),
        language: launch.language.clone().unwrap_or_else(|| "unknown".into()),
        build: launch.build.map_or("unknown".into(), |build| format!("{build:?}").to_lowercase()),
        device: launch.device.clone(),
        threads: launch.threads,
    });
    launches.collect()
}

/// Launches that could not start, and workloads that could not run, with the reason.
pub fn missing(digest: &Digest) -> Vec<(String, String)> {
    let mut missing: Vec<_> = digest.header.launches.iter().filter(|launch| launch.subject != CONTROL).collect();
    missing.sort_by_key(|launch| subjects::order(&launch.subject));
    let missing = missing.into_iter().filter_map(|launch| {
        Some((format!("{} {}", subjects::name(&launch.subject), launch.device), launch.missing.clone()?))
    });
    missing.chain(not_run(digest)).collect()
}

/// Workload sizes that this machine lacks something for.
fn not_run(digest: &Digest) -> impl Iterator<Item = (String, String)> {
    record::not_run(digest.measurements.iter().copied()).into_iter().map(|failures| {
        let mut who: Vec<_> = failures.subjects.into_iter().map(subjects::order).collect();
        who.sort_unstable();
        let who: Vec<String> = who.into_iter().map(|(_, subject)| subjects::name(subject).to_owned()).collect();
        let sizes = words::plural(failures.cells, "workload size", "workload sizes");
        (format!("{sizes} on {}", words::list(&who)), failures.why.to_owned())
    })
}

/// What a number of this run can and cannot show.
pub fn noise(digest: &Digest) -> Vec<(String, String)> {
    let mut rows = vec![("Weather".into(), tags::weather(digest.footer.weather).word.to_string())];
    type Reading = fn(&Weather) -> [u64; 2];
    let spreads: [(&str, Reading); 3] = [
        ("Arithmetic", |w| w.arithmetic),
        ("Copy of 16 MiB, warm", |w| w.copy),
        ("First touch of 16 MiB", |w| w.first_touch),
    ];
    for (name, of) in spreads {
        let fastest: Vec<u64> = digest.weather.iter().map(|weather| of(weather)[0]).filter(|ns| *ns > 0).collect();
        if let (Some(low), Some(high)) = (fastest.iter().min(), fastest.iter().max()) {
            let spread = numbers::percent(*high as f64 / *low as f64 - 1.0);
            rows.push((format!("{name}: slowest reading above fastest"), spread));
        }
    }
    if let Some(control) = digest.control {
        let counted = words::control(control.pairs as usize, control.different as usize);
        rows.push(("Reference against itself (A/A), called different".into(), counted));
        rows.extend(false_alarms(control).map(|share| ("False alarms".into(), share)));
    }
    rows
}

/// The share of the control's pairs that our rule calls different.
pub fn false_alarms(control: &Control) -> Option<String> {
    (control.pairs > 0).then(|| numbers::percent(f64::from(control.different) / f64::from(control.pairs)))
}

fn reading(weather: &Weather) -> [String; 4] {
    let range = |ns: [u64; 2]| numbers::times(ns.map(|ns| ns as f64));
    [weather.when.clone(), range(weather.arithmetic), range(weather.copy), range(weather.first_touch)]
}
