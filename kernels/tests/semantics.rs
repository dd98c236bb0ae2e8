//! What a user of PyTorch relies on, on this engine.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen as tests")]

use kernels::{DType, ErrorKind, Scalar, Tensor};

fn floats<const N: usize>(values: [f64; N]) -> [Scalar; N] {
    values.map(Scalar::Float)
}

fn range(end: i64, dtype: DType) -> Tensor {
    Tensor::arange(0.into(), end.into(), 1.into(), Some(dtype)).unwrap()
}

fn values(tensor: &Tensor) -> Vec<Scalar> {
    tensor.values().unwrap()
}

#[test]
fn a_handle_is_one_word() {
    assert_eq!(size_of::<Tensor>(), 8);
    assert_eq!(size_of::<Option<Tensor>>(), 8);
}

#[test]
fn an_in_place_write_keeps_the_address_and_shows_through_views() {
    let base = Tensor::ones(&[3, 3], DType::F32).unwrap();
    let (row, before) = (base.select(0, 1).unwrap(), base.data_ptr());
    base.add_(5.0).unwrap();
    assert_eq!(base.data_ptr(), before);
    assert_eq!(values(&row), floats([6.0; 3]));
    assert_eq!(row.data_ptr(), before + 12);
    assert_eq!(row.storage_ptr(), before);
    assert_eq!(row.storage_bytes(), 36);
    assert_ne!(base.add(1.0).unwrap().data_ptr(), before);
}

#[test]
fn views_share_the_version_counter_and_data_has_its_own() {
    let base = Tensor::zeros(&[4], DType::F32).unwrap();
    assert_eq!(base.version(), 0);
    let (view, detached, data) = (base.narrow(0, 0, 2).unwrap(), base.detach(), base.data());
    base.add_(1.0).unwrap();
    view.mul_(2.0).unwrap();
    detached.zero_().unwrap();
    assert_eq!([base.version(), view.version(), detached.version()], [3, 3, 3]);
    data.fill_(7).unwrap();
    assert_eq!([base.version(), data.version(), data.select(0, 0).unwrap().version()], [3, 1, 1]);
    assert_eq!(values(&base), floats([7.0; 4]));
    assert!(base.shares_storage(&data) && !base.is_same(&data) && base.is_same(&base.share()));
    assert!(base.add_(&Tensor::ones(&[5], DType::F32).unwrap()).is_err());
    assert_eq!(base.version(), 3);
}

#[test]
fn no_elements_have_no_address() {
    let none = Tensor::empty(&[2, 0], DType::F32).unwrap();
    assert_eq!([none.data_ptr(), none.storage_ptr(), none.storage_bytes()], [0, 0, 0]);
    none.add_(1.0).unwrap();
    assert_eq!(none.version(), 1);
    assert_eq!(values(&none.sum().unwrap()), floats([0.0]));
    assert_eq!(values(&none.sum_over(&[1]).unwrap()), floats([0.0, 0.0]));
    let end = Tensor::zeros(&[2], DType::F32).unwrap().narrow(0, 2, 0).unwrap();
    assert_eq!(end.data_ptr(), 0);
    assert_ne!(end.storage_ptr(), 0);
}

#[test]
fn a_write_into_repeated_elements_is_refused_but_filling_is_not() {
    let base = Tensor::zeros(&[1], DType::F32).unwrap();
    let repeated = base.expand(&[4]).unwrap();
    for result in [repeated.add_(1.0), repeated.mul_(2.0), repeated.neg_(), repeated.copy_(&range(4, DType::F32))] {
        assert_eq!(result.unwrap_err().kind, ErrorKind::Overlap);
    }
    assert_eq!(base.version(), 0);
    repeated.fill_(1).unwrap();
    assert_eq!(values(&repeated), floats([1.0; 4]));
    repeated.zero_().unwrap();
    assert_eq!(values(&base), floats([0.0]));
}

#[test]
fn an_operand_that_overlaps_the_target_in_part_is_refused() {
    let x = range(4, DType::F32);
    let (head, tail) = (x.narrow(0, 0, 3).unwrap(), x.narrow(0, 1, 3).unwrap());
    assert_eq!(tail.add_(&head).unwrap_err().kind, ErrorKind::Overlap);
    assert_eq!(tail.copy_(&head).unwrap_err().kind, ErrorKind::Overlap);
    let m = x.view(&[2, 2]).unwrap();
    assert_eq!(m.add_(&m.transpose(0, 1).unwrap()).unwrap_err().kind, ErrorKind::Overlap);
    assert_eq!(m.copy_(&m.transpose(0, 1).unwrap()).unwrap_err().kind, ErrorKind::Overlap);
    assert_eq!(values(&x), floats([0.0, 1.0, 2.0, 3.0]));
    x.narrow(0, 0, 2).unwrap().add_(&x.narrow(0, 2, 2).unwrap()).unwrap();
    assert_eq!(values(&x), floats([2.0, 4.0, 2.0, 3.0]));
    x.add_(&x).unwrap();
    x.mul_(&x.detach()).unwrap();
    assert_eq!(values(&x), floats([16.0, 64.0, 16.0, 36.0]));
}

#[test]
fn a_tensor_and_a_number_meet_as_in_python() {
    let ints = range(3, DType::I32);
    assert_eq!(ints.add(1).unwrap().dtype(), DType::I32);
    assert_eq!(ints.add(1.5).unwrap().dtype(), DType::F32);
    assert_eq!(ints.div(2).unwrap().dtype(), DType::F32);
    assert_eq!(values(&ints.div(2).unwrap()), floats([0.0, 0.5, 1.0]));
    assert_eq!(ints.add(&Tensor::ones(&[], DType::F64).unwrap()).unwrap().dtype(), DType::F64);
    assert_eq!(ints.sum().unwrap().dtype(), DType::I64);
    for result in [ints.add_(1.5), ints.div_(2), ints.to(DType::Bool).unwrap().add_(1)] {
        assert_eq!(result.unwrap_err().kind, ErrorKind::DType);
    }
    let bytes = Tensor::full(&[1], 250, DType::U8).unwrap();
    bytes.add_(10).unwrap();
    assert_eq!(values(&bytes), [Scalar::Int(4)]);
    let single = Tensor::ones(&[1], DType::F32).unwrap();
    single.add_(&Tensor::full(&[1], 1e-9, DType::F64).unwrap()).unwrap();
    assert_eq!((single.dtype(), values(&single)), (DType::F32, floats([1.0]).to_vec()));
}

#[test]
fn bools_are_ored_and_anded_and_not_subtracted() {
    let a = Tensor::from_values(&[true.into(), false.into()], &[2], DType::Bool).unwrap();
    let b = Tensor::ones(&[2], DType::Bool).unwrap();
    assert_eq!(values(&a.add(&b).unwrap()), [true, true].map(Scalar::Bool));
    assert_eq!(values(&a.mul(&b).unwrap()), [true, false].map(Scalar::Bool));
    assert_eq!(a.sub(&b).unwrap_err().kind, ErrorKind::DType);
    assert_eq!(a.neg().unwrap_err().kind, ErrorKind::DType);
    assert_eq!(values(&b.sum().unwrap()), [Scalar::Int(2)]);
}

#[test]
fn sixteen_bit_floats_are_computed_wider_and_rounded_once() {
    // 0.1 is not an f16; were it rounded first, the product would be 204.75 and so 204.75 again.
    let half = Tensor::full(&[3], 2048, DType::F16).unwrap();
    assert_eq!(values(&half.add(1).unwrap()), floats([2048.0; 3]));
    assert_eq!(values(&half.add(3).unwrap()), floats([2052.0; 3]));
    assert_eq!(values(&half.mul(0.1).unwrap()), floats([204.75; 3]));
    let third = Tensor::ones(&[1], DType::F16).unwrap().div(3).unwrap();
    assert_eq!(values(&third), floats([0.333_251_953_125]));
    let brain = Tensor::full(&[1], 256, DType::Bf16).unwrap();
    assert_eq!(values(&brain.add(1).unwrap()), floats([256.0]));
    assert_eq!(values(&brain.add(3).unwrap()), floats([260.0]));
    // The number itself is not rounded to f16: 1e-8 is below its smallest value.
    let large = Tensor::full(&[1], 60000, DType::F16).unwrap();
    assert_eq!(values(&large.mul(1e-8).unwrap()), floats([f64::from(half::f16::from_f32(60000.0 * 1e-8))]));
    let many = Tensor::ones(&[4096], DType::F16).unwrap();
    assert_eq!(values(&many.sum().unwrap()), floats([4096.0]));
    assert_eq!(values(&many.mul(100).unwrap().sum().unwrap()), floats([f64::INFINITY]));
}

#[test]
fn equality_is_of_shape_and_values() {
    let a = range(3, DType::F32);
    assert!(a.equal(&range(3, DType::I64)).unwrap());
    assert!(!a.equal(&a.view(&[3, 1]).unwrap()).unwrap());
    let nan = Tensor::full(&[1], f64::NAN, DType::F32).unwrap();
    assert!(!nan.equal(&nan).unwrap());
    assert!(nan.neg().unwrap().to(DType::Bool).unwrap().equal(&Tensor::ones(&[1], DType::I32).unwrap()).unwrap());
}

#[test]
fn conversions_wrap_and_cut() {
    let source = Tensor::from_values(&floats([-1.0, 300.7, -0.5]), &[3], DType::F64).unwrap();
    assert_eq!(values(&source.to(DType::U8).unwrap()), [255, 44, 0].map(Scalar::Int));
    assert_eq!(values(&source.to(DType::Bool).unwrap()), [true; 3].map(Scalar::Bool));
    assert!(source.to(DType::F64).unwrap().is_same(&source));
    let wide = Tensor::from_values(&[((1 << 24) + 1).into()], &[1], DType::I64).unwrap();
    assert_eq!(values(&wide.to(DType::F32).unwrap()), floats([16_777_216.0]));
}

#[test]
fn results_and_clones_keep_the_order_of_dimensions() {
    let t = range(6, DType::F32).view(&[2, 3]).unwrap().transpose(0, 1).unwrap();
    assert_eq!(t.add(1.0).unwrap().strides(), [1, 3]);
    assert_eq!(t.clone_data().unwrap().strides(), [1, 3]);
    assert_eq!(t.to(DType::F64).unwrap().strides(), [1, 3]);
    assert_eq!(t.contiguous().unwrap().strides(), [2, 1]);
    assert!(t.transpose(0, 1).unwrap().contiguous().unwrap().shares_storage(&t));
}

#[test]
fn shapes_that_do_not_meet_are_refused() {
    let (a, b) = (range(3, DType::F32), range(4, DType::F32));
    assert_eq!(a.add(&b).unwrap_err().kind, ErrorKind::Shape);
    let wide = Tensor::ones(&[2, 3], DType::F32).unwrap();
    assert_eq!(values(&wide.add(&a).unwrap()), floats([1.0, 2.0, 3.0, 1.0, 2.0, 3.0]));
    wide.add_(&a).unwrap();
    assert_eq!(a.add_(&wide).unwrap_err().kind, ErrorKind::Shape);
    assert_eq!(a.copy_(&wide).unwrap_err().kind, ErrorKind::Shape);
    assert_eq!(Tensor::cat(&[&a, &wide], 0).unwrap_err().kind, ErrorKind::Shape);
    assert_eq!(Tensor::cat(&[], 0).unwrap_err().kind, ErrorKind::Value);
}

#[test]
fn cat_promotes_and_passes_over_empty_vectors() {
    let (ints, halves) = (range(2, DType::I64), Tensor::ones(&[1], DType::F16).unwrap());
    let joined = Tensor::cat(&[&Tensor::empty(&[0], DType::F16).unwrap(), &ints, &halves], -1).unwrap();
    assert_eq!((joined.dtype(), values(&joined)), (DType::F16, floats([0.0, 1.0, 1.0]).to_vec()));
}
