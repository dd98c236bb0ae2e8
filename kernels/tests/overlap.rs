//! Writes that are refused because memory would be read or written twice, and those that are not.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen as tests")]

use kernels::{DType, ErrorKind, Result, Scalar, Tensor};

fn range(end: i64) -> Tensor {
    Tensor::arange(0.into(), end.into(), 1.into(), Some(DType::F32)).unwrap()
}

fn ones(shape: &[i64]) -> Tensor {
    Tensor::ones(shape, DType::F32).unwrap()
}

/// The write, and what it must leave as it was.
type Refused = (&'static str, fn(&Tensor) -> Result<()>);

/// On a vector of 6, of which the write may take any part; PyTorch refuses all of them.
const REFUSED: [Refused; 13] = [
    ("a number added to one element seen four times", |x| x.narrow(0, 0, 1)?.expand(&[4])?.add_(1)),
    ("a number multiplied into it", |x| x.narrow(0, 0, 1)?.expand(&[4])?.mul_(2)),
    ("a tensor added to it", |x| x.narrow(0, 0, 1)?.expand(&[4])?.add_(&ones(&[4]))),
    ("a tensor subtracted from it", |x| x.narrow(0, 0, 1)?.expand(&[4])?.sub_(&ones(&[4]))),
    ("its negative", |x| x.narrow(0, 0, 1)?.expand(&[4])?.neg_()),
    ("a tensor copied into it", |x| x.narrow(0, 0, 1)?.expand(&[4])?.copy_(&ones(&[4]))),
    ("the elements before added", |x| x.narrow(0, 1, 5)?.add_(&x.narrow(0, 0, 5)?)),
    ("the elements after subtracted", |x| x.narrow(0, 0, 5)?.sub_(&x.narrow(0, 1, 5)?)),
    ("the elements before copied", |x| x.narrow(0, 1, 5)?.copy_(&x.narrow(0, 0, 5)?)),
    ("divided by one of its elements", |x| x.div_(&x.select(0, 1)?)),
    ("a matrix multiplied by one of its rows", |x| x.view(&[2, 3])?.mul_(&x.narrow(0, 0, 3)?)),
    ("the transposed matrix added", |x| {
        let square = x.as_strided(&[2, 2], &[2, 1], 0)?;
        square.add_(&square.transpose(0, 1)?)
    }),
    ("the transposed matrix copied", |x| {
        let square = x.as_strided(&[2, 2], &[2, 1], 0)?;
        square.copy_(&square.transpose(0, 1)?)
    }),
];

#[test]
fn thirteen_writes_are_refused_and_leave_everything_as_it_was() {
    for (what, write) in REFUSED {
        let x = range(6);
        assert_eq!(write(&x).unwrap_err().kind, ErrorKind::Overlap, "{what}");
        assert_eq!(x.version(), 0, "{what}");
        assert!(x.equal(&range(6)).unwrap(), "{what}");
    }
}

#[test]
fn writes_are_allowed_where_no_element_meets_another_or_it_is_too_hard_to_say() {
    let writes: [Refused; 10] = [
        ("one value for an element seen four times", |x| x.narrow(0, 0, 1)?.expand(&[4])?.fill_(1)),
        ("zero for it", |x| x.narrow(0, 0, 1)?.expand(&[4])?.zero_()),
        ("it copied into itself", |x| {
            let repeated = x.narrow(0, 0, 1)?.expand(&[4])?;
            repeated.copy_(&repeated.detach())
        }),
        ("a tensor added to itself", |x| x.add_(x)),
        ("a tensor multiplied by a view of all of it", |x| x.mul_(&x.view(&[6])?)),
        ("one half added to the other", |x| x.narrow(0, 0, 3)?.add_(&x.narrow(0, 3, 3)?)),
        ("odd positions added to even ones", |x| x.slice(0, 0, 6, 2)?.add_(&x.slice(0, 1, 6, 2)?)),
        ("a column added to another", |x| {
            let square = x.as_strided(&[2, 2], &[2, 1], 0)?;
            square.select(1, 0)?.add_(&square.select(1, 1)?)
        }),
        ("windows that overlap", |x| x.unfold(0, 2, 1)?.add_(1)),
        ("no elements at all", |x| x.narrow(0, 0, 0)?.unsqueeze(0)?.expand(&[4, 0])?.add_(1)),
    ];
    for (what, write) in writes {
        let x = range(6);
        write(&x).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(x.version(), 1, "{what}");
    }
}

#[test]
fn an_operand_that_is_the_target_is_read_before_it_is_written() {
    for dtype in [DType::F16, DType::Bf16, DType::F32, DType::I64] {
        let x = Tensor::arange(0.into(), 1000.into(), 1.into(), Some(DType::I64)).unwrap().to(dtype).unwrap();
        let twice = x.mul(2).unwrap();
        x.add_(&x.detach()).unwrap();
        assert!(x.equal(&twice).unwrap(), "{dtype}");
        x.sub_(&x.detach()).unwrap();
        assert_eq!(x.max().unwrap().to(DType::F32).unwrap().values().unwrap(), [Scalar::Float(0.0)], "{dtype}");
    }
}
