//! Where statistics stand in the list of them all.

/// Where figures stand among the statistics, which come in the order of their names.
pub(super) struct Figures {
    pub names: Vec<String>,
    pub retries: usize,
    pub ooms: usize,
    pub returned: usize,
    pub parts: usize,
    pub parts_made: usize,
    pub parts_taken: usize,
    pub bytes: usize,
    pub bytes_taken: usize,
}

impl Figures {
    pub fn places() -> Figures {
        let mut names: Vec<String> = Vec::new();
        for figure in [
            "allocation",
            "segment",
            "active",
            "inactive_split",
            "allocated_bytes",
            "reserved_bytes",
            "active_bytes",
            "inactive_split_bytes",
            "requested_bytes",
        ] {
            names.extend(by_pool(figure));
        }
        for figure in ["oversize_allocations", "oversize_segments"] {
            names.extend(PARTS.map(|part| format!("{figure}.{part}")));
        }
        let counters = ["alloc_retries", "ooms", "sync_all_streams", "device_alloc", "device_free", "oom_rejections"];
        names.extend(counters.map(|counter| format!("num_{counter}")));
        names.push("max_split_size".into());
        names.sort_unstable();
        let place = |name: &str| names.iter().position(|known| known == name).unwrap_or_default();
        Figures {
            retries: place("num_alloc_retries"),
            ooms: place("num_ooms"),
            returned: place("num_device_free"),
            parts: place("inactive_split.all.current"),
            parts_made: place("inactive_split.all.allocated"),
            parts_taken: place("inactive_split.all.freed"),
            bytes: place("inactive_split_bytes.all.current"),
            bytes_taken: place("inactive_split_bytes.all.freed"),
            names,
        }
    }
}

const PARTS: [&str; 4] = ["current", "peak", "allocated", "freed"];

fn by_pool(figure: &str) -> Vec<String> {
    let pools = ["all", "small_pool", "large_pool"];
    pools.iter().flat_map(|pool| PARTS.map(|part| format!("{figure}.{pool}.{part}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_123_and_found_by_name() {
        let figures = Figures::places();
        assert_eq!(figures.names.len(), 123);
        assert_eq!(figures.names[figures.bytes], "inactive_split_bytes.all.current");
        let mut names = figures.names.clone();
        names.dedup();
        assert_eq!(names.len(), 123);
    }
}
