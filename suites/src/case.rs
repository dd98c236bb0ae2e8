//! What a conformance case is.

use crate::claims::Need;
use crate::probe::{Probe, Stop};
use crate::record::CPU;
use std::time::Duration;

type Run = Box<dyn Fn(&Probe) -> Result<(), Stop> + Send + Sync>;

/// A name, the claims it bears on, what it needs, and a closure that establishes facts through a probe.
pub struct Case {
    /// `topic.what-it-shows`.
    pub name: String,
    /// The claims that its facts may speak to.
    pub claims: Vec<String>,
    /// What it needs.
    pub needs: Vec<Need>,
    /// Whether it is about PyTorch's own classes, so that no other subject can run it.
    pub pytorch_only: bool,
    /// Whether it counts heap blocks.
    pub ledger: bool,
    /// Whether it needs a process of its own: it may kill it, or depends on a state that a process has once.
    pub alone: bool,
    /// How long one request may take.
    pub limit: Duration,
    /// Establishes the facts.
    pub run: Run,
}

impl Case {
    /// A case for every subject, through ops.
    pub fn new(
        name: impl Into<String>,
        claims: &[&str],
        run: impl Fn(&Probe) -> Result<(), Stop> + Send + Sync + 'static,
    ) -> Case {
        Case {
            name: name.into(),
            claims: claims.iter().map(|claim| (*claim).to_owned()).collect(),
            needs: Vec::new(),
            pytorch_only: false,
            ledger: false,
            alone: false,
            limit: Duration::from_secs(60),
            run: Box::new(run),
        }
    }

    /// A case about Python or PyTorch's own classes.
    pub fn pytorch(
        name: impl Into<String>,
        claims: &[&str],
        run: impl Fn(&Probe) -> Result<(), Stop> + Send + Sync + 'static,
    ) -> Case {
        Case { needs: vec![Need::Python], pytorch_only: true, ..Case::new(name, claims, run) }
    }

    /// It reads the operating system's figures of the subject's process.
    pub fn reads_process_memory(mut self) -> Case {
        self.needs.push(Need::ProcessMemory);
        self
    }

    /// It looks at device memory, so that it runs on a CUDA device; a simulated one will do.
    pub fn uses_device_memory(mut self) -> Case {
        self.needs.push(Need::GpuMemory);
        self
    }

    /// Whether a launch on this device is the one that runs it for a subject with these devices.
    pub fn runs_on(&self, device: &str, devices: &[String]) -> bool {
        // A subject without device memory says so on the device that it has.
        let on_a_gpu = self.needs.contains(&Need::GpuMemory) && devices.iter().any(|device| device != CPU);
        on_a_gpu == (device != CPU)
    }

    /// It counts heap blocks with [`Probe::account`].
    pub fn counts_heap(mut self) -> Case {
        self.ledger = true;
        self
    }

    /// It gets a process of its own.
    pub fn alone(mut self) -> Case {
        self.alone = true;
        self
    }
}
