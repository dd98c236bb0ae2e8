//! Every snapshot replays as it was recorded, and predicts what other settings would have cost.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen as tests")]

mod support;

use replay::{Options, Report, Why, replay};
use serde_json::Value;
use support::{packed, place};

const GIB: u64 = 1 << 30;

fn run(name: &str, options: &Options) -> Report {
    replay(&place(&format!("snapshots/{name}.pickle.gz")), options, &|_, _, _| {}).unwrap()
}

/// Replays and checks a snapshot, and holds its figures against those that its own process read at the end.
fn agrees(name: &str, device_memory: Option<u64>) -> Report {
    let report = run(name, &Options { check: true, device_memory, ..Options::default() });
    if let Some(difference) = report.difference {
        panic!("{name}: {} differences\n{difference}", report.summary.differences);
    }
    let stats: Value = serde_json::from_slice(&packed(&format!("snapshots/{name}.stats.json.gz"))).unwrap();
    let recorded = |key: &str| stats[key].as_u64().unwrap();
    let summary = report.summary;
    assert_eq!(summary.peak_live, recorded("allocated_bytes.all.peak"), "{name}");
    assert_eq!(summary.peak_held, recorded("reserved_bytes.all.peak"), "{name}");
    assert_eq!(summary.device_mallocs, recorded("num_device_alloc"), "{name}");
    assert_eq!(summary.device_frees, recorded("num_device_free"), "{name}");
    assert_eq!(summary.retries, recorded("num_alloc_retries"), "{name}");
    assert_eq!(summary.ooms, recorded("num_ooms"), "{name}");
    report
}

#[test]
fn every_snapshot_agrees() {
    for name in
        ["gpt", "gpt_amp_var", "gpt_amp_var_expandable", "gpt_amp_var_split64_div4", "gpt_foreach", "mlp", "streams"]
    {
        assert_eq!(agrees(name, None).parts[0].device_memory, None);
    }
}

#[test]
fn a_request_that_was_repeated_agrees_on_its_card() {
    assert_eq!(agrees("gen", Some(16 * GIB)).summary.retries, 1);
}

#[test]
fn a_request_that_failed_agrees_on_the_card_that_it_shows() {
    let report = agrees("gpt_amp_var_oom", None);
    assert_eq!(report.summary.ooms, 1);
    assert_eq!(report.parts[0].device_memory, Some(1_400_000_000));
    let failed = &report.parts[0].failed;
    assert_eq!((failed.count, failed.recorded, failed.first.len()), (1, 1, 1));
    let first = &failed.first[0];
    let Why::OutOfMemory { segment, free, limit } = first.why else { panic!("{first:?}") };
    assert_eq!(free + first.held, 1_400_000_000);
    assert!(first.recorded && limit.is_none() && segment > free && first.live <= first.held);
    let more = run("gpt_amp_var_oom", &Options { device_memory: Some(4 * GIB), ..Options::default() });
    assert_eq!(more.summary.ooms, 0);
}

#[test]
fn where_memory_runs_out_on_a_smaller_card_is_told() {
    let options = Options { device_memory: Some(GIB), ..Options::default() };
    let report = run("gpt", &options);
    let failed = &report.parts[0].failed;
    assert_eq!(failed.count, report.summary.ooms);
    assert_eq!((failed.recorded, failed.first.len()), (0, 3));
    assert!(failed.first.is_sorted_by_key(|request| request.event));
    assert!(failed.first.iter().all(|request| request.live <= request.held && request.held <= GIB));

    let half = Options { settings: Some("per_process_memory_fraction:0.5".to_owned()), ..options.clone() };
    let limits = run("gpt", &half).parts[0].failed.first.iter().map(|request| request.why).collect::<Vec<_>>();
    assert!(limits.iter().all(|why| matches!(why, Why::OutOfMemory { limit: Some(limit), .. } if *limit == GIB / 2)));

    let early = Options { settings: Some("throw_on_cudamalloc_oom:True".to_owned()), ..options };
    let report = run("gpt", &early);
    assert!(
        report.summary.ooms == 0 && report.parts[0].failed.first.iter().all(|request| request.why == Why::Rejected)
    );
    assert!(report.parts[0].failed.count > 0);
}

#[test]
fn an_emptied_cache_is_emptied_on_a_smaller_card_too() {
    let recorded = run("streams", &Options::default()).summary;
    let small = Options { device_memory: Some(recorded.peak_held - (2 << 20)), ..Options::default() };
    let summary = run("streams", &small).summary;
    assert!(summary.device_frees >= recorded.device_frees);
    assert!(summary.retries > 0 && summary.peak_held < recorded.peak_held);
}

#[test]
fn other_settings_cost_what_they_cost_in_a_real_run() {
    for (settings, real) in [
        ("expandable_segments:True", "gpt_amp_var_expandable"),
        ("max_split_size_mb:64,roundup_power2_divisions:4", "gpt_amp_var_split64_div4"),
    ] {
        let predicted = run("gpt_amp_var", &Options { settings: Some(settings.to_owned()), ..Options::default() });
        let ran = run(real, &Options::default());
        assert_eq!(predicted.summary.peak_live, ran.summary.peak_live);
        assert_eq!(predicted.summary.peak_held, ran.summary.peak_held);
        assert_eq!(predicted.summary.device_mallocs, ran.summary.device_mallocs);
    }
    let held = |settings: &str| {
        run("gpt_amp_var", &Options { settings: Some(settings.to_owned()), ..Options::default() }).summary.peak_held
    };
    assert_eq!(held("expandable_segments:True"), 3_001_024_512);
    assert_eq!(held("max_split_size_mb:64,roundup_power2_divisions:4"), 5_546_967_040);
}
