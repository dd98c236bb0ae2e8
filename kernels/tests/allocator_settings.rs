//! Settings: PyTorch's grammar, with its oddities, and its words.
#![allow(clippy::unwrap_used, reason = "a test fails where it is wrong")]

use kernels::memory::{Reserve, Settings, SettingsErrorKind, TorchVersion};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

fn version(text: &str) -> TorchVersion {
    text.parse().unwrap()
}

fn parsed(text: &str) -> Settings {
    Settings::parse(text, version("2.13")).unwrap()
}

fn refusal(text: &str, of: &str) -> String {
    Settings::parse(text, version(of)).unwrap_err().message
}

#[test]
fn a_string_of_many_settings_is_read() {
    let all = parsed(
        " max_split_size_mb : 40, max_non_split_rounding_mb:30,garbage_collection_threshold:0.5,\
         roundup_power2_divisions:[64:8,128:2,256:4,512:2,1024:4,>:1],expandable_segments:True,\
         pinned_use_background_threads:True,pinned_num_register_threads:8,per_process_memory_fraction:0.25",
    );
    assert_eq!((all.max_split_size, all.max_non_split_rounding, all.large_segment), (40 * MIB, 30 * MIB, 20 * MIB));
    assert_eq!((all.garbage_collection_threshold, all.per_process_memory_fraction), (0.5, 0.25));
    assert_eq!(all.roundup_power2_divisions, [8, 8, 8, 8, 8, 8, 8, 2, 4, 2, 4, 1, 1, 1, 1, 1]);
    assert!(all.expandable_segments && all.pinned.use_background_threads);
    assert_eq!(all.pinned.num_register_threads, 8);
    assert_eq!(parsed(""), Settings::new(version("2.13")));
}

#[test]
fn a_list_fills_what_lies_below_its_first_and_above_its_last() {
    let table = |text: &str| parsed(&format!("roundup_power2_divisions:{text}")).roundup_power2_divisions;
    assert_eq!(table("[256:1,512:2,1024:4,>:8]"), [1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8]);
    assert_eq!(table("[4:2,64:4]"), [2, 2, 2, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(table("4"), [4; 16]);
}

#[test]
fn refusals_have_pytorchs_words() {
    for (text, words) in [
        ("max_split_size_mb:2", "CachingAllocator option max_split_size_mb too small, must be >= 20"),
        ("large_segment_size_mb:10", "CachingAllocator option large_segment_size_mb must be > 10 MB"),
        ("garbage_collection_threshold:1.2", "garbage_collect_threshold is invalid, set it in (0.0, 1.0)"),
        ("garbage_collection_threshold:x", "stod"),
        ("roundup_power2_divisions:3", "For roundups, the divisions has to be power of 2 "),
        ("roundup_power2_divisions:0", "For roundups, the divisions has to be power of 2 "),
        ("roundup_power2_divisions:[3:4]", "For roundups, the intervals have to be power of 2 "),
        ("roundup_power2_divisions:[4:3]", "For roundups, the divisions has to be power of 2 or 0 to disable roundup "),
        ("expandable_segments:true", "Expected 'True' or 'False' at index 2 in ConfigTokenizer but got 'true'"),
        ("release_lock_on_cudamalloc:none", "Expected 'True' or 'False' at index 2 in ConfigTokenizer but got 'none'"),
        ("pinned_num_register_threads:none", "stoull"),
        (
            "pinned_num_register_threads:1024",
            "Number of register threads should be less than or equal to 128, got 1024",
        ),
        ("pinned_num_register_threads:3", "Number of register threads has to be power of 2, got 3"),
        ("pinned_reserve_segment_size_mb:0", "Pinned reserve segment size has to be greater than 0"),
        ("per_process_memory_fraction:1.1", "per_process_memory_fraction is invalid, set it in [0.0, 1.0]"),
        ("backend:other", "Unknown allocator backend, options are native and cudaMallocAsync"),
        ("foo:1", "Unrecognized key 'foo' in Accelerator allocator config."),
        ("max_split_size_mb=40", "Unrecognized key 'max_split_size_mb=40' in Accelerator allocator config."),
        ("max_split_size_mb:", "Index out of bounds in ConfigTokenizer"),
        ("max_split_size_mb", "Index out of bounds in ConfigTokenizer"),
        ("roundup_power2_divisions:[4:2", "Index out of bounds in ConfigTokenizer"),
    ] {
        assert_eq!(refusal(text, "2.13"), words, "{text}");
    }
    assert_eq!(refusal("foo:1", "2.9"), "Unrecognized CachingAllocator option: foo");
    assert!(refusal("max_split_size_mb,40", "2.9").contains("expected :"));
    assert!(refusal("max_split_size_mb:20", "2.9").contains("must be > 20"));
    let ended = Settings::parse("max_split_size_mb", version("2.13")).unwrap_err();
    assert_eq!(ended.kind, SettingsErrorKind::Internal);
}

/// The parser skips what should be a colon or a comma without a look, and numbers end where digits end.
#[test]
fn the_grammar_is_as_loose_as_pytorchs() {
    assert_eq!(parsed("garbage_collection_threshold,0.6").garbage_collection_threshold, 0.6);
    assert_eq!(parsed("garbage_collection_threshold:0.8x").garbage_collection_threshold, 0.8);
    assert_eq!(parsed("max_split_size_mb:40abc").max_split_size, 40 * MIB);
    assert_eq!(parsed("max_split_size_mb:-1").max_split_size, u64::MAX);
    assert_eq!(parsed("max_split_size_mb:40,").max_split_size, 40 * MIB);
}

#[test]
fn some_settings_stay_until_they_are_named_again() {
    let mut settings = parsed("max_split_size_mb:64,expandable_segments:True,large_segment_size_mb:40");
    settings.apply("roundup_power2_divisions:4").unwrap();
    assert_eq!(settings.max_split_size, u64::MAX);
    assert!(settings.expandable_segments);
    assert_eq!((settings.large_segment, settings.max_non_split_rounding), (40 * MIB, 40 * MIB));
    assert_eq!(settings.text(), "roundup_power2_divisions:4");
    assert!(settings.apply("expandable_segments:False,foo:1").is_err());
    assert!(!settings.expandable_segments, "what stood before the fault is in force");
}

#[test]
fn keys_are_known_from_their_version_on() {
    for (text, since, before) in [
        ("large_segment_size_mb:40", "2.12", "2.10"),
        ("throw_on_cudamalloc_oom:True", "2.12", "2.10"),
        ("per_process_memory_fraction:0.5", "2.10", "2.9"),
        ("pinned_max_cached_size_mb:5", "2.13", "2.12"),
        ("expandable_segments_reserve:0.5", "2.15", "2.14"),
    ] {
        assert!(Settings::parse(text, version(since)).is_ok(), "{text}");
        assert!(refusal(text, before).contains("Unrecognized"), "{text}");
    }
    let reserve = Settings::parse("expandable_segments_reserve:40G", version("2.15")).unwrap();
    assert_eq!(reserve.expandable_segments_reserve, Some(Reserve::Bytes(40 << 30)));
    let odd = Settings::parse("expandable_segments_reserve:many", version("2.15")).unwrap();
    assert_eq!((odd.expandable_segments_reserve, odd.warnings.len()), (None, 1));
}

#[test]
fn versions_are_read_from_what_pytorch_calls_itself() {
    assert_eq!(version("2.13.0+cu130"), TorchVersion { major: 2, minor: 13 });
    assert_eq!(version("2.9"), TorchVersion { major: 2, minor: 9 });
    assert!("torch".parse::<TorchVersion>().unwrap_err().contains("is no version of PyTorch"));
}

proptest! {
    /// Whatever the string, there are settings or a refusal.
    #[test]
    fn no_string_breaks_the_parser(text in "[a-z_:,\\[\\]0-9>. -]{0,60}", known in 0usize..4) {
        let keys = ["roundup_power2_divisions:", "max_split_size_mb:", "garbage_collection_threshold:", ""];
        for of in ["2.9", "2.13", "2.15"] {
            let _ = Settings::parse(&format!("{}{text}", keys[known]), version(of));
        }
    }
}
