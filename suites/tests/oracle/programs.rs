//! Programs of ops that compute.

use crate::agreement;
use suites::oracle::{Campaign, Dialect, program};

#[test]
fn programs_compute_what_numpy_computes() {
    every_op_is_used(&agreement("reference", "numpy", |pair, rng| program(pair, rng, Dialect::NumPy)));
}

#[test]
fn programs_promote_round_and_refuse_as_pytorch_does() {
    every_op_is_used(&agreement("reference", "pytorch", |pair, rng| program(pair, rng, Dialect::PyTorch)));
}

fn every_op_is_used(campaign: &Campaign) {
    assert_eq!(campaign.programs, 10_000);
    for op in [
        "tensor",
        "to",
        "add_scalar",
        "mul_scalar",
        "add",
        "sub",
        "mul",
        "div",
        "neg",
        "eq",
        "ne",
        "lt",
        "le",
        "where_else",
        "sum",
        "sum_dim",
        "mean",
        "min",
        "max",
        "matmul",
        "cat",
        "stack",
        "add_scalar_",
        "mul_scalar_",
        "add_",
        "sub_",
        "mul_",
        "div_",
        "neg_",
        "fill_",
        "zero_",
        "copy_",
    ] {
        let uses = campaign.uses.get(op).copied().unwrap_or_default();
        assert!(uses >= 100, "{op} was carried out {uses} times: {:?}", campaign.uses);
    }
}
