//! Results of operations that bring several tensors or many elements together.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen as tests")]

use kernels::{DType, ErrorKind, Scalar, Tensor};
use proptest::prelude::*;

fn ints(values: &[i64], shape: &[i64], dtype: DType) -> Tensor {
    let values: Vec<Scalar> = values.iter().copied().map(Scalar::Int).collect();
    Tensor::from_values(&values, shape, dtype).unwrap()
}

fn floats(values: &[f64], dtype: DType) -> Tensor {
    let scalars: Vec<Scalar> = values.iter().copied().map(Scalar::Float).collect();
    Tensor::from_values(&scalars, &[values.len() as i64], dtype).unwrap()
}

fn read(tensor: &Tensor) -> Vec<f64> {
    tensor.values().unwrap().into_iter().map(Scalar::as_f64).collect()
}

const NUMBERS: [DType; 9] =
    [DType::U8, DType::I8, DType::I16, DType::I32, DType::I64, DType::F16, DType::Bf16, DType::F32, DType::F64];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_matrix_product_is_the_sum_of_products(
        rows in 0..10_usize, depth in 0..10_usize, columns in 0..20_usize, turned in any::<(bool, bool)>(), which in 0..9_usize,
    ) {
        let dtype = NUMBERS[which];
        let matrix = |rows: usize, columns: usize, turned: bool, seed: usize| {
            let at = move |i: usize, j: usize| ((i * 5 + j * 3 + seed) % 4) as i64;
            let (first, second) = if turned { (columns, rows) } else { (rows, columns) };
            let values: Vec<i64> =
                (0..first * second).map(|k| (k / second, k % second)).map(|(i, j)| if turned { at(j, i) } else { at(i, j) }).collect();
            let tensor = ints(&values, &[first as i64, second as i64], dtype);
            (if turned { tensor.transpose(0, 1).unwrap() } else { tensor }, at)
        };
        let ((a, at_a), (b, at_b)) = (matrix(rows, depth, turned.0, 0), matrix(depth, columns, turned.1, 1));
        let product = a.matmul(&b).unwrap();
        prop_assert_eq!(product.shape(), [rows, columns]);
        prop_assert_eq!(product.dtype(), dtype);
        let sum = |i, j| (0..depth).map(|k| at_a(i, k) * at_b(k, j)).sum::<i64>() as f64;
        let known: Vec<f64> = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| sum(i, j)).collect();
        prop_assert_eq!(read(&product), known);
    }

    #[test]
    fn comparisons_and_choices_are_made_element_by_element(
        pairs in prop::collection::vec((0..5_i64, 0..5_i64), 0..300), first in 0..9_usize, second in 0..9_usize,
    ) {
        let (x, y): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
        let length = [pairs.len() as i64];
        let (a, b) = (ints(&x, &length, NUMBERS[first]), ints(&y, &length, NUMBERS[second]));
        let known = |holds: fn(i64, i64) -> bool| pairs.iter().map(|(x, y)| Scalar::Bool(holds(*x, *y))).collect::<Vec<_>>();
        let less = a.lt(&b).unwrap();
        prop_assert_eq!(less.dtype(), DType::Bool);
        prop_assert_eq!(less.values().unwrap(), known(|x, y| x < y));
        prop_assert_eq!(a.le(&b).unwrap().values().unwrap(), known(|x, y| x <= y));
        prop_assert_eq!(a.eq(&b).unwrap().values().unwrap(), known(|x, y| x == y));
        prop_assert_eq!(a.ne(&b).unwrap().values().unwrap(), known(|x, y| x != y));
        let least = Tensor::where_else(&less, &a, &b).unwrap();
        prop_assert_eq!(least.dtype(), DType::promote(NUMBERS[first], NUMBERS[second]));
        prop_assert_eq!(read(&least), pairs.iter().map(|(x, y)| *x.min(y) as f64).collect::<Vec<_>>());
    }

    #[test]
    fn reductions_agree_with_a_plain_loop(values in prop::collection::vec(0..100_i64, 1..700), which in 0..9_usize, step in 1..4_i64) {
        let dtype = NUMBERS[which];
        let tensor = ints(&values, &[values.len() as i64], dtype).slice(0, 0, i64::MAX, step).unwrap();
        let seen: Vec<i64> = values.iter().copied().step_by(step as usize).collect();
        let total: i64 = seen.iter().sum();
        prop_assert_eq!(tensor.max().unwrap().values().unwrap()[0].as_f64(), *seen.iter().max().unwrap() as f64);
        prop_assert_eq!(tensor.min().unwrap().values().unwrap()[0].as_f64(), *seen.iter().min().unwrap() as f64);
        let rounded = Tensor::full(&[], total, DType::I64).unwrap().to(tensor.sum().unwrap().dtype()).unwrap();
        prop_assert!(tensor.sum().unwrap().equal(&rounded).unwrap());
        if dtype.is_floating() {
            let mean = Tensor::full(&[], total as f64 / seen.len() as f64, DType::F64).unwrap().to(dtype).unwrap();
            prop_assert!(tensor.mean().unwrap().equal(&mean).unwrap());
        }
    }

    #[test]
    fn half_precision_runs_of_any_length_are_the_same_as_element_by_element(
        values in prop::collection::vec(-100.0..100.0_f64, 1..700), brain in any::<bool>(),
    ) {
        let dtype = if brain { DType::Bf16 } else { DType::F16 };
        let a = floats(&values, dtype);
        let b = a.neg().unwrap().mul(0.3).unwrap();
        let apart = |tensor: &Tensor| {
            let scattered = Tensor::empty(&[values.len() as i64, 2], dtype).unwrap().select(1, 0).unwrap();
            scattered.copy_(tensor).unwrap();
            scattered
        };
        let (far_a, far_b) = (apart(&a), apart(&b));
        for (dense, scattered) in [
            (a.add(&b).unwrap(), far_a.add(&far_b).unwrap()),
            (a.div(&b).unwrap(), far_a.div(&far_b).unwrap()),
            (a.mul(1.7).unwrap(), far_a.mul(1.7).unwrap()),
            (a.lt(&b).unwrap(), far_a.lt(&far_b).unwrap()),
            (a.to(DType::F32).unwrap(), far_a.to(DType::F32).unwrap()),
            (a.to(DType::I32).unwrap(), far_a.to(DType::I32).unwrap()),
        ] {
            prop_assert!(dense.equal(&scattered).unwrap());
        }
    }
}

#[test]
fn nan_is_the_least_and_the_greatest_and_equals_nothing() {
    for dtype in [DType::F16, DType::Bf16, DType::F32, DType::F64] {
        for at in 0..20 {
            let mut values = vec![1.0; 20];
            values[at] = f64::NAN;
            let tensor = floats(&values, dtype);
            assert!(read(&tensor.min().unwrap())[0].is_nan(), "{dtype} {at}");
            assert!(read(&tensor.max().unwrap())[0].is_nan(), "{dtype} {at}");
            assert_eq!(read(&tensor.eq(&tensor).unwrap()).iter().sum::<f64>(), 19.0);
            assert_eq!(read(&tensor.ne(&tensor).unwrap()).iter().sum::<f64>(), 1.0);
        }
    }
}

#[test]
fn what_has_no_answer_is_refused() {
    let none = Tensor::empty(&[2, 0], DType::F32).unwrap();
    assert_eq!(none.min().unwrap_err().kind, ErrorKind::Shape);
    assert_eq!(none.max().unwrap_err().kind, ErrorKind::Shape);
    assert!(read(&none.mean().unwrap())[0].is_nan());
    let whole = ints(&[1, 2], &[2], DType::I64);
    assert_eq!(whole.mean().unwrap_err().kind, ErrorKind::DType);
    assert_eq!(Tensor::where_else(&whole, &whole, &whole).unwrap_err().kind, ErrorKind::DType);
    assert_eq!(whole.matmul(&whole).unwrap_err().kind, ErrorKind::Shape);
    let square = ints(&[1, 2, 3, 4], &[2, 2], DType::I64);
    assert_eq!(square.matmul(&square.to(DType::F32).unwrap()).unwrap_err().kind, ErrorKind::DType);
    assert_eq!(square.matmul(&ints(&[1, 2, 3], &[3, 1], DType::I64)).unwrap_err().kind, ErrorKind::Shape);
    let truth = square.eq(&square).unwrap();
    assert_eq!(truth.matmul(&truth).unwrap_err().kind, ErrorKind::DType);
    assert_eq!(whole.sub(true).unwrap_err().kind, ErrorKind::DType);
    assert_eq!(Tensor::arange(0.into(), 2.into(), 1.into(), Some(DType::Bool)).unwrap_err().kind, ErrorKind::DType);
}

#[test]
fn parts_are_stacked_along_a_new_dimension() {
    let (a, b) = (ints(&[1, 2], &[2], DType::I32), floats(&[0.5, 1.5], DType::F16));
    let columns = Tensor::stack(&[&a, &b], -1).unwrap();
    assert_eq!((columns.shape(), columns.dtype()), (&[2, 2][..], DType::F16));
    assert_eq!(read(&columns), [1.0, 0.5, 2.0, 1.5]);
    let point = Tensor::ones(&[], DType::F32).unwrap();
    assert_eq!(Tensor::stack(&[&point, &point], 0).unwrap().shape(), [2]);
    assert_eq!(Tensor::stack(&[&a, &a], 2).unwrap_err().kind, ErrorKind::Index);
    assert_eq!(Tensor::stack(&[&a, &point], 0).unwrap_err().kind, ErrorKind::Shape);
    assert_eq!(Tensor::stack(&[], 0).unwrap_err().kind, ErrorKind::Value);
}

/// Enough elements that several threads share the work where there are several.
#[test]
fn many_elements_give_what_few_give() {
    let (rows, columns) = (500_i64, 1000_i64);
    let line = Tensor::arange(0.into(), (rows * columns).into(), 1.into(), Some(DType::I64)).unwrap();
    let matrix = line.view(&[rows, columns]).unwrap();
    let turned = matrix.transpose(0, 1).unwrap();
    let total = (rows * columns) * (rows * columns - 1) / 2;
    assert_eq!(matrix.sum().unwrap().values().unwrap(), [Scalar::Int(total)]);
    assert_eq!(
        turned.to(DType::F64).unwrap().mean().unwrap().values().unwrap()[0].as_f64(),
        (rows * columns - 1) as f64 / 2.0
    );
    assert_eq!(turned.max().unwrap().values().unwrap(), [Scalar::Int(rows * columns - 1)]);
    let (twice, sums) = (turned.add(&turned).unwrap(), turned.contiguous().unwrap().sum_over(&[0]).unwrap());
    let copied = turned.reshape(&[-1]).unwrap().view(&[columns, rows]).unwrap();
    assert!(copied.add(&copied).unwrap().equal(&twice).unwrap());
    assert!(matrix.sum_over(&[1]).unwrap().equal(&sums).unwrap());
    for row in [0, 7, rows - 1] {
        let alone = matrix.select(0, row).unwrap();
        assert!(twice.select(1, row).unwrap().equal(&alone.mul(2).unwrap()).unwrap());
        assert!(sums.select(0, row).unwrap().equal(&alone.sum().unwrap()).unwrap());
    }
    let chosen = Tensor::where_else(&turned.lt(&twice).unwrap(), &turned, &twice).unwrap();
    assert!(chosen.equal(&turned).unwrap());
    line.fill_(3).unwrap();
    line.add_(&line.detach()).unwrap();
    assert!(line.eq(6).unwrap().min().unwrap().equal(&Tensor::ones(&[], DType::Bool).unwrap()).unwrap());
}

#[test]
fn every_operation_takes_no_elements_and_no_dimensions() {
    for dtype in DType::ALL {
        for shape in [&[][..], &[0], &[2, 0, 3], &[1, 1]] {
            let a = Tensor::ones(shape, dtype).unwrap();
            let same = |result: &Tensor| assert_eq!(result.shape(), a.shape(), "{dtype}");
            same(&a.add(&a).unwrap());
            same(&a.mul(&a).unwrap());
            same(&a.div(&a).unwrap());
            same(&a.eq(&a).unwrap());
            same(&a.le(1.5).unwrap());
            same(&Tensor::where_else(&a.eq(&a).unwrap(), &a, &a).unwrap());
            same(&a.clone_data().unwrap());
            same(&a.contiguous().unwrap());
            same(&a.to(DType::F64).unwrap());
            assert_eq!(Tensor::stack(&[&a, &a], 0).unwrap().numel(), 2 * a.numel());
            assert_eq!(read(&a.sum().unwrap()), [a.numel() as f64], "{dtype}");
            a.fill_(0).unwrap();
            a.mul_(&a.detach()).unwrap();
            assert_eq!(read(&a.sum().unwrap()), [0.0], "{dtype}");
        }
    }
}
