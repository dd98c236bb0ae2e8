//! Chains of views.

use crate::agreement;
use suites::oracle::chain;

#[test]
fn chains_of_views_lead_to_the_elements_that_numpy_finds() {
    let campaign = agreement("reference", "numpy", chain);
    assert_eq!(campaign.programs, 10_000);
    for op in [
        "view",
        "reshape",
        "narrow",
        "select",
        "transpose",
        "permute",
        "movedim",
        "slice",
        "expand",
        "squeeze",
        "unsqueeze",
        "flatten",
        "unfold",
        "as_strided",
        "diagonal",
        "chunk",
        "split",
        "tensor_split",
    ] {
        let uses = campaign.uses.get(op).copied().unwrap_or_default();
        assert!(uses >= 300, "{op} was carried out {uses} times: {:?}", campaign.uses);
    }
}
