//! What a case sees of ndarray, through the same dispatch that serves it.

use crate::VERSION;
use crate::library::NdArray;
use crate::tensor::Tensor;
use std::cell::RefCell;
use subject::{Calls, Checksum, DType, Fail, Handle, Library, Op, Scalar, Table, Value, checksum, dispatch};

#[derive(Default)]
struct Session(RefCell<Table<Tensor>>);

impl Calls for Session {
    type Stop = Fail;

    fn call(&self, op: Op) -> Result<Value, Fail> {
        dispatch(&mut NdArray, &mut self.0.borrow_mut(), &op)
    }

    fn nonsense(&self, op: &'static str, expected: &'static str) -> Fail {
        Fail::error("protocol", format!("{op} gives no {expected}"))
    }
}

impl Session {
    fn counting(&self, shape: [i64; 2]) -> Handle {
        self.view(self.arange(shape[0] * shape[1], DType::F32).unwrap(), shape).unwrap()
    }

    fn floats(&self, a: &Handle) -> Vec<f64> {
        self.values(a).unwrap().into_iter().map(Scalar::as_f64).collect()
    }

    fn checksum(&self, a: &Handle) -> Checksum {
        NdArray.checksum(&self.0.borrow().read(a).unwrap()).unwrap()
    }
}

fn kind<T: std::fmt::Debug>(answer: Result<T, Fail>) -> String {
    match answer.unwrap_err() {
        Fail::Error { kind, .. } => kind,
        Fail::Unsupported(_) => "unsupported".into(),
    }
}

#[test]
fn a_write_to_an_unshared_array_stays_in_place() {
    let s = Session::default();
    let mut a = s.ones([3, 3], DType::F64).unwrap();
    let address = s.data_ptr(&a).unwrap();
    s.add_scalar_(&mut a, 5.0).unwrap();
    s.mul_(&mut a, s.full([3], 2.0, DType::F64).unwrap()).unwrap();
    assert_eq!(s.data_ptr(&a).unwrap(), address);
    assert_eq!(s.floats(&a), [12.0; 9]);
}

#[test]
fn an_operator_gives_a_new_array() {
    let s = Session::default();
    let a = s.counting([2, 3]);
    let sum = s.add(&a, s.tensor([10.0, 20.0, 30.0].map(Scalar::Float), [3], DType::F32).unwrap()).unwrap();
    assert_ne!(s.data_ptr(&sum).unwrap(), s.data_ptr(&a).unwrap());
    assert_eq!(s.floats(&sum), [10.0, 21.0, 32.0, 13.0, 24.0, 35.0]);
    assert_eq!(s.floats(&a), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn a_view_shares_its_elements_until_it_is_written() {
    let s = Session::default();
    let a = s.counting([2, 3]);
    let mut row = s.select(&a, 0, -1).unwrap();
    assert_eq!(s.data_ptr(&row).unwrap() - s.data_ptr(&a).unwrap(), 12);
    s.fill_(&mut row, 9).unwrap();
    assert_eq!(s.floats(&row), [9.0; 3]);
    assert_eq!(s.floats(&a), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn views_have_the_shapes_and_strides_of_the_protocol() {
    let s = Session::default();
    let a = s.counting([2, 3]);
    let turned = s.transpose(&a, 0, -1).unwrap();
    assert_eq!((s.shape(&turned).unwrap(), s.stride(&turned).unwrap()), (vec![3, 2], vec![1, 3]));
    assert_eq!(s.floats(&s.contiguous(&turned).unwrap()), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    assert_eq!(s.floats(&s.narrow(&a, 1, -2, 2).unwrap()), [1.0, 2.0, 4.0, 5.0]);
    assert_eq!(s.floats(&s.slice(&a, 1, 0, 3, 2).unwrap()), [0.0, 2.0, 3.0, 5.0]);
    assert_eq!(s.floats(&s.diagonal(&a, 1, 0, 1).unwrap()), [1.0, 5.0]);
    assert_eq!(s.floats(&s.diagonal(&a, -1, 1, 0).unwrap()), s.floats(&s.diagonal(&a, 1, 0, 1).unwrap()));
    let cube = s.unsqueeze(&a, -1).unwrap();
    assert_eq!(s.shape(&cube).unwrap(), [2, 3, 1]);
    assert_eq!(s.shape(s.movedim(&cube, 2, 0).unwrap()).unwrap(), [1, 2, 3]);
    assert_eq!(s.shape(s.permute(&cube, [1, 2, 0]).unwrap()).unwrap(), [3, 1, 2]);
    assert_eq!(s.shape(s.squeeze(&cube, 2).unwrap()).unwrap(), [2, 3]);
    assert_eq!(s.shape(s.flatten(&cube, 0, 1).unwrap()).unwrap(), [6, 1]);
}

#[test]
fn chunks_share_and_join_to_the_whole() {
    let s = Session::default();
    let a = s.counting([5, 2]);
    let parts = s.chunk(&a, 3, 0).unwrap();
    let rows: Vec<i64> = parts.iter().map(|part| s.shape(part).unwrap()[0]).collect();
    assert_eq!(rows, [2, 2, 1]);
    assert_eq!(s.data_ptr(&parts[1]).unwrap() - s.data_ptr(&a).unwrap(), 16);
    assert!(s.equal(s.cat(parts.clone(), 0).unwrap(), &a).unwrap());
    assert_eq!(s.shape(s.stack(parts[..2].to_vec(), 2).unwrap()).unwrap(), [2, 2, 2]);
    assert_eq!(kind(s.chunk(&a, 0, 0)), "other");
    assert_eq!(kind(s.cat([parts[0].clone(), s.ones([2, 3], DType::F32).unwrap()], 0)), "shape");
    assert_eq!(kind(s.cat(Vec::new(), 0)), "other");
}

#[test]
fn refusals_have_the_kind_of_what_ndarray_says() {
    let s = Session::default();
    let mut a = s.counting([2, 3]);
    assert_eq!(kind(s.add_(&mut a, s.ones([2], DType::F32).unwrap())), "shape");
    assert_eq!(kind(s.add(&a, s.ones([2], DType::F32).unwrap())), "shape");
    assert_eq!(kind(s.matmul(&a, &a)), "shape");
    assert_eq!(kind(s.view(&a, [7])), "shape");
    assert_eq!(kind(s.view(s.transpose(&a, 0, 1).unwrap(), [6])), "shape");
    assert_eq!(kind(s.select(&a, 0, 2)), "index");
    assert_eq!(kind(s.narrow(&a, 0, 1, 2)), "index");
    assert_eq!(kind(s.narrow(&a, 0, -3, 1)), "index");
    assert_eq!(kind(s.sum_dim(&a, 2)), "index");
    assert_eq!(kind(s.permute(&a, [0, 0])), "index");
    assert_eq!(kind(s.zeros([i64::MAX, 2], DType::U8)), "out-of-memory");
    assert_eq!(s.floats(&a), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn what_a_program_over_ndarray_cannot_say_is_unsupported() {
    let s = Session::default();
    let whole = s.ones([2], DType::I32).unwrap();
    assert_eq!(kind(s.add_scalar(&whole, 1.5)), "unsupported");
    assert_eq!(kind(s.add(&whole, s.ones([2], DType::I64).unwrap())), "unsupported");
    assert_eq!(kind(s.full([1], 300, DType::U8)), "unsupported");
    assert_eq!(kind(s.neg(s.ones([1], DType::U8).unwrap())), "unsupported");
    assert_eq!(kind(s.sum(s.ones([1], DType::Bool).unwrap())), "unsupported");
    assert_eq!(kind(s.ones([1], DType::F16)), "unsupported");
    assert_eq!(kind(s.to(&whole, DType::Bf16)), "unsupported");
    assert_eq!(kind(s.version(&whole)), "unsupported");
}

#[test]
fn results_keep_the_element_type() {
    let s = Session::default();
    let a = s.tensor([7, 2].map(Scalar::Int), [2], DType::I16).unwrap();
    let values = |a: Handle| s.values(a).unwrap();
    assert_eq!(values(s.sum(&a).unwrap()), [Scalar::Int(9)]);
    assert_eq!(values(s.mean(&a).unwrap()), [Scalar::Int(4)]);
    assert_eq!(values(s.div(&a, s.full([2], 2, DType::I16).unwrap()).unwrap()), [Scalar::Int(3), Scalar::Int(1)]);
    assert_eq!(values(s.to(&a, DType::F32).unwrap()), [Scalar::Float(7.0), Scalar::Float(2.0)]);
    let large = s.lt(s.full([], 3, DType::I16).unwrap(), &a);
    assert_eq!(kind(large), "shape", "Zip broadcasts the second operand alone");
    let small = s.lt(&a, s.full([], 3, DType::I16).unwrap()).unwrap();
    assert_eq!(values(small.clone()), [Scalar::Bool(false), Scalar::Bool(true)]);
    assert_eq!(values(s.where_else(small, &a, s.neg(&a).unwrap()).unwrap()), [Scalar::Int(-7), Scalar::Int(2)]);
}

#[test]
fn checksums_are_the_protocols() {
    let s = Session::default();
    for dtype in DType::ALL {
        let Ok(a) = s.tensor([1, 0, 1, 1].map(Scalar::Int), [2, 2], dtype) else { continue };
        for a in [s.transpose(&a, 0, 1).unwrap(), a] {
            assert_eq!(s.checksum(&a), checksum(&s.values(&a).unwrap(), dtype), "{dtype}");
        }
    }
}

#[test]
fn the_version_is_the_one_that_is_built_in() {
    let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../Cargo.lock")).unwrap();
    assert!(lock.contains(&format!("name = \"ndarray\"\nversion = \"{VERSION}\"\n")), "ndarray is not {VERSION}");
}
