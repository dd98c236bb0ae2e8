//! Reading settings, and saying which of them is refused.

use kernels::memory::{Settings, SettingsError, SettingsErrorKind, TorchVersion};

/// The settings of a string; an error names the one at fault before PyTorch's words.
pub(super) fn read(text: &str, torch: TorchVersion) -> Result<Settings, String> {
    Settings::parse(text, torch).map_err(|error| {
        let setting = at_fault(text, torch, &error).trim().trim_end_matches(':');
        let why = match error.kind {
            SettingsErrorKind::Value => "PyTorch refuses it: ",
            SettingsErrorKind::Internal if !setting.contains(':') => "there is no value: ",
            SettingsErrorKind::Internal => "",
        };
        format!("{setting}: {why}{error}")
    })
}

/// The last setting of the shortest beginning that is refused for the same reason.
fn at_fault<'t>(text: &'t str, torch: TorchVersion, error: &SettingsError) -> &'t str {
    let mut depth = 0_i64;
    let mut commas = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => commas.push(at),
            _ => {}
        }
    }
    let passes = |end: &usize| Settings::parse(&text[..*end], torch).err().as_ref() != Some(error);
    let fault = commas.partition_point(passes);
    let begin = fault.checked_sub(1).map_or(0, |before| commas[before] + 1);
    &text[begin..commas.get(fault).copied().unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_setting_and_keeps_the_words_of_pytorch() {
        let said = |text: &str| read(text, TorchVersion::DEFAULT).unwrap_err();
        let many = "9".repeat(30);
        assert_eq!(
            said(&format!("expandable_segments:True, max_split_size_mb:{many},backend:native")),
            format!("max_split_size_mb:{many}: PyTorch refuses it: stoull")
        );
        let ended = "expandable_segments: there is no value: Index out of bounds in ConfigTokenizer";
        assert_eq!([said("expandable_segments:"), said("expandable_segments")], [ended, ended]);
        assert!(
            said("backend:native,roundup_power2_divisions:[256:1,512:3]")
                .starts_with("roundup_power2_divisions:[256:1,512:3]: PyTorch refuses it: For roundups")
        );
        assert!(
            said("backend:cudaMallocAsync").starts_with("backend:cudaMallocAsync: backend:cudaMallocAsync is chosen")
        );
    }

    #[test]
    fn a_setting_that_a_later_one_allows_is_not_at_fault() {
        let said = read("max_split_size_mb:15,large_segment_size_mb:11,what:1", TorchVersion::DEFAULT).unwrap_err();
        assert!(said.starts_with("what:1: PyTorch refuses it"), "{said}");
    }
}
