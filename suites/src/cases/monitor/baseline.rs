//! What importing the library costs.

use crate::case::Case;
use crate::probe::{Probe, Stop};

const BASELINE: &str = "t002.monitor.import-baseline";

/// The cases of this theme.
pub fn cases() -> Vec<Case> {
    vec![Case::pytorch("monitor.import-is-not-free", &[BASELINE], import_is_not_free).reads_process_memory()]
}

/// Importing PyTorch adds hundreds of MiB to a fresh process and leaves the GPU alone.
fn import_is_not_free(p: &Probe) -> Result<(), Stop> {
    let source = r#"
import subprocess
program = '''
def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
before = resident()
import torch
print(resident() - before, torch.cuda.is_initialized())
'''
ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
kib, initialized = ran.stdout.split()
answer = [int(kib) >= 100 << 10, initialized == "True"]
"#;
    let [grown, gpu] = p.python_list(source, &[])?;
    p.fact("importing adds 100 MiB or more to the process", grown).known(true).claimed(BASELINE, true);
    p.fact("importing takes hold of the GPU", gpu).known(false).claimed(BASELINE, true);
    Ok(())
}
