//! Views and strided kernels against a naive oracle: a list of positions in the storage, moved about one by one.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen as tests")]

use kernels::{DType, ErrorKind, Scalar, Tensor};
use proptest::prelude::*;

/// A tensor as the oracle sees it: where each element lies, in row-major order.
#[derive(Debug, Clone)]
struct Oracle {
    shape: Vec<usize>,
    positions: Vec<usize>,
}

impl Oracle {
    fn contiguous(shape: &[usize]) -> Oracle {
        Oracle { shape: shape.to_vec(), positions: (0..shape.iter().product()).collect() }
    }

    /// The oracle whose element at an index lies where `source` says.
    fn pick(&self, shape: Vec<usize>, source: impl Fn(Vec<usize>) -> Vec<usize>) -> Oracle {
        let numel: usize = shape.iter().product();
        let positions = (0..numel)
            .map(|mut flat| {
                let mut index = vec![0; shape.len()];
                for dim in (0..shape.len()).rev() {
                    index[dim] = flat % shape[dim];
                    flat /= shape[dim];
                }
                let own = source(index);
                self.positions[own.iter().zip(&self.shape).fold(0, |flat, (i, size)| flat * size + i)]
            })
            .collect();
        Oracle { shape, positions }
    }
}

/// One step of view algebra; numbers are taken modulo what the tensor allows.
#[derive(Debug, Clone)]
enum Step {
    Transpose(usize, usize),
    Narrow(usize, usize, usize),
    Select(usize, usize),
    Expand(usize),
    Chunk(usize, usize, usize),
    Flatten,
    Slice(usize, usize, usize, usize),
    Movedim(usize, usize),
    Unsqueeze(usize),
    Squeeze(usize),
    Diagonal(usize, usize, usize),
    Unfold(usize, usize, usize),
    TensorSplit(usize, usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let n = 0..12_usize;
    let step = prop_oneof![
        (n.clone(), n.clone()).prop_map(|(a, b)| Step::Transpose(a, b)),
        (n.clone(), n.clone(), n.clone()).prop_map(|(d, s, l)| Step::Narrow(d, s, l)),
        (n.clone(), n.clone()).prop_map(|(d, i)| Step::Select(d, i)),
        n.clone().prop_map(Step::Expand),
        (n.clone(), n.clone(), n.clone()).prop_map(|(c, d, i)| Step::Chunk(c, d, i)),
        Just(Step::Flatten),
        (n.clone(), n.clone(), n.clone(), n.clone()).prop_map(|(d, s, e, t)| Step::Slice(d, s, e, t)),
        (n.clone(), n.clone()).prop_map(|(s, d)| Step::Movedim(s, d)),
        n.clone().prop_map(Step::Unsqueeze),
        n.clone().prop_map(Step::Squeeze),
        (n.clone(), n.clone(), n.clone()).prop_map(|(o, a, b)| Step::Diagonal(o, a, b)),
        (n.clone(), n.clone(), n.clone()).prop_map(|(d, s, t)| Step::Unfold(d, s, t)),
        (n.clone(), n.clone(), n.clone()).prop_map(|(c, d, i)| Step::TensorSplit(c, d, i)),
    ];
    prop::collection::vec(step, 0..5)
}

fn shapes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![8 => 1..5_usize, 1 => Just(0_usize)], 0..5)
}

fn signed(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|size| *size as i64).collect()
}

fn apply(tensor: Tensor, oracle: Oracle, step: &Step) -> (Tensor, Oracle) {
    let ndim = oracle.shape.len();
    if ndim == 0 {
        return (tensor, oracle);
    }
    let dim_of = |dim: usize| (dim % ndim, dim as i64 % ndim as i64 - ndim as i64);
    let shape = oracle.shape.clone();
    match *step {
        Step::Transpose(a, b) => {
            let ((a, a_asked), (b, b_asked)) = (dim_of(a), dim_of(b));
            let mut swapped = shape;
            swapped.swap(a, b);
            let view = oracle.pick(swapped, |mut index| {
                index.swap(a, b);
                index
            });
            (tensor.transpose(a_asked, b_asked).unwrap(), view)
        }
        Step::Narrow(dim, start, length) => {
            let (dim, asked) = dim_of(dim);
            let start = start % (shape[dim] + 1);
            let length = length % (shape[dim] - start + 1);
            let mut narrowed = shape;
            narrowed[dim] = length;
            let view = oracle.pick(narrowed, |mut index| {
                index[dim] += start;
                index
            });
            (tensor.narrow(asked, start as i64, length as i64).unwrap(), view)
        }
        Step::Select(dim, index) => {
            let (dim, asked) = dim_of(dim);
            if shape[dim] == 0 {
                assert_eq!(tensor.select(asked, 0).unwrap_err().kind, ErrorKind::Index);
                return (tensor, oracle);
            }
            let at = index % shape[dim];
            let mut selected = shape.clone();
            selected.remove(dim);
            let view = oracle.pick(selected, |mut index| {
                index.insert(dim, at);
                index
            });
            (tensor.select(asked, at as i64 - shape[dim] as i64).unwrap(), view)
        }
        Step::Expand(size) => {
            let sizes: Vec<usize> = std::iter::once(size % 3)
                .chain(shape.iter().map(|own| if *own == 1 { size % 4 } else { *own }))
                .collect();
            let view = oracle.pick(sizes.clone(), |index| {
                index[1..].iter().zip(&shape).map(|(i, own)| if *own == 1 { 0 } else { *i }).collect()
            });
            (tensor.expand(&signed(&sizes)).unwrap(), view)
        }
        Step::Chunk(chunks, dim, which) => {
            let (dim, asked) = dim_of(dim);
            let wanted = chunks + 1;
            let views = tensor.chunk(wanted as i64, asked).unwrap();
            let step = shape[dim].div_ceil(wanted);
            assert_eq!(views.len(), if step == 0 { wanted } else { shape[dim].div_ceil(step) });
            let which = which % views.len();
            let mut chunked = shape.clone();
            chunked[dim] = step.min(shape[dim] - which * step);
            let view = oracle.pick(chunked, |mut index| {
                index[dim] += which * step;
                index
            });
            (views.into_iter().nth(which).unwrap(), view)
        }
        Step::Slice(dim, start, end, step) => {
            let (dim, asked) = dim_of(dim);
            let size = shape[dim];
            let (start, end, step) = (start % (size + 1), end % (size + 3), step % 3 + 1);
            let mut sliced = shape;
            sliced[dim] = (start..end.min(size)).step_by(step).count();
            let view = oracle.pick(sliced, |mut index| {
                index[dim] = start + index[dim] * step;
                index
            });
            (tensor.slice(asked, start as i64, end as i64, step as i64).unwrap(), view)
        }
        Step::Movedim(source, destination) => {
            let ((source, _), (destination, asked)) = (dim_of(source), dim_of(destination));
            let mut moved = shape;
            let size = moved.remove(source);
            moved.insert(destination, size);
            let view = oracle.pick(moved, |mut index| {
                let own = index.remove(destination);
                index.insert(source, own);
                index
            });
            let mut order: Vec<i64> = (0..ndim as i64).collect();
            let own = order.remove(source);
            order.insert(destination, own);
            let permuted = tensor.permute(&order).unwrap();
            let moved = tensor.movedim(source as i64, asked).unwrap();
            assert_eq!(moved.layout(), permuted.layout());
            (moved, view)
        }
        Step::Unsqueeze(dim) => {
            let dim = dim % (ndim + 1);
            let mut grown = shape;
            grown.insert(dim, 1);
            let view = oracle.pick(grown, |mut index| {
                index.remove(dim);
                index
            });
            (tensor.unsqueeze(dim as i64 - ndim as i64 - 1).unwrap(), view)
        }
        Step::Squeeze(dim) => {
            let (dim, asked) = dim_of(dim);
            let mut kept = shape.clone();
            if shape[dim] == 1 {
                kept.remove(dim);
            }
            let view = oracle.pick(kept, |mut index| {
                if shape[dim] == 1 {
                    index.insert(dim, 0);
                }
                index
            });
            (tensor.squeeze(asked).unwrap(), view)
        }
        Step::Diagonal(offset, rows, columns) => {
            let ((rows, rows_asked), (columns, columns_asked)) = (dim_of(rows), dim_of(columns));
            let offset = offset as i64 % 7 - 3;
            if rows == columns {
                let refused = tensor.diagonal(offset, rows_asked, columns_asked).unwrap_err();
                assert_eq!(refused.kind, ErrorKind::Index);
                return (tensor, oracle);
            }
            let at = |k: i64| (k - offset.min(0), k + offset.max(0));
            let inside = |(row, column)| row < shape[rows] as i64 && column < shape[columns] as i64;
            let length = (0..).take_while(|k| inside(at(*k))).count();
            let mut sizes: Vec<usize> =
                (0..ndim).filter(|dim| ![rows, columns].contains(dim)).map(|dim| shape[dim]).collect();
            sizes.push(length);
            let view = oracle.pick(sizes, |index| {
                let (row, column) = at(index[index.len() - 1] as i64);
                let mut rest = index.iter();
                let own = |dim| match dim {
                    _ if dim == rows => row as usize,
                    _ if dim == columns => column as usize,
                    _ => *rest.next().unwrap(),
                };
                (0..ndim).map(own).collect()
            });
            (tensor.diagonal(offset, rows_asked, columns_asked).unwrap(), view)
        }
        Step::Unfold(dim, size, step) => {
            let (dim, asked) = dim_of(dim);
            let (size, step) = (size % (shape[dim] + 1), step % 3 + 1);
            let mut sizes = shape.clone();
            sizes[dim] = (0..=shape[dim] - size).step_by(step).count();
            sizes.push(size);
            let view = oracle.pick(sizes, |mut index| {
                let within = index.pop().unwrap();
                index[dim] = index[dim] * step + within;
                index
            });
            (tensor.unfold(asked, size as i64, step as i64).unwrap(), view)
        }
        Step::TensorSplit(sections, dim, which) => {
            let (dim, asked) = dim_of(dim);
            let (sections, which) = (sections + 1, which % (sections + 1));
            let views = tensor.tensor_split(sections as i64, asked).unwrap();
            assert_eq!(views.len(), sections);
            let lengths: Vec<usize> = (0..sections).map(|k| (k..shape[dim]).step_by(sections).count()).collect();
            let start: usize = lengths[..which].iter().sum();
            let mut sizes = shape;
            sizes[dim] = lengths[which];
            let view = oracle.pick(sizes, |mut index| {
                index[dim] += start;
                index
            });
            (views.into_iter().nth(which).unwrap(), view)
        }
        Step::Flatten => {
            let flat = vec![oracle.positions.len()];
            match tensor.view(&[flat[0] as i64]) {
                Ok(view) => (view, Oracle { shape: flat, positions: oracle.positions }),
                Err(error) => {
                    assert_eq!(error.kind, ErrorKind::Shape);
                    (tensor, oracle)
                }
            }
        }
    }
}

/// A tensor whose every element is its own position, after some steps, with its oracle.
fn viewed(shape: &[usize], steps: &[Step]) -> (Tensor, Oracle) {
    let numel: usize = shape.iter().product();
    let base = Tensor::arange(0.into(), (numel as i64).into(), 1.into(), None).unwrap().view(&signed(shape)).unwrap();
    steps.iter().fold((base, Oracle::contiguous(shape)), |(tensor, oracle), step| apply(tensor, oracle, step))
}

fn ints(tensor: &Tensor) -> Vec<i64> {
    let values = tensor.values().unwrap();
    values
        .into_iter()
        .map(|value| if let Scalar::Int(i) = value { i } else { panic!("{value} is no integer") })
        .collect()
}

fn expected(oracle: &Oracle, f: impl Fn(i64) -> i64) -> Vec<i64> {
    oracle.positions.iter().map(|position| f(*position as i64)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn views_read_where_the_oracle_says(shape in shapes(), steps in steps()) {
        let (view, oracle) = viewed(&shape, &steps);
        prop_assert_eq!(view.shape(), &oracle.shape);
        prop_assert_eq!(ints(&view), expected(&oracle, |x| x));
        let sequential = oracle.positions.windows(2).all(|pair| pair[1] == pair[0] + 1);
        prop_assert_eq!(view.is_contiguous(), sequential);
    }

    #[test]
    fn a_view_is_refused_only_where_no_strides_could_say_it(shape in shapes(), steps in steps()) {
        let (view, oracle) = viewed(&shape, &steps);
        let even = oracle.positions.windows(3).all(|three| three[1] - three[0] == three[2].wrapping_sub(three[1]));
        let negative = oracle.positions.windows(2).any(|pair| pair[1] < pair[0]);
        let flat = view.view(&[-1, 1]);
        if !oracle.positions.is_empty() {
            prop_assert_eq!(flat.is_ok(), even && !negative);
        }
        let copied = view.reshape(&[oracle.positions.len() as i64]).unwrap();
        prop_assert_eq!(ints(&copied), expected(&oracle, |x| x));
        if !oracle.positions.is_empty() {
            prop_assert_eq!(copied.shares_storage(&view), even && !negative);
        }
    }

    #[test]
    fn kernels_compute_over_any_strides(shape in shapes(), steps in steps(), narrow in any::<bool>()) {
        let (view, oracle) = viewed(&shape, &steps);
        let view = if narrow { view.to(DType::I32).unwrap() } else { view };
        let copy = view.contiguous().unwrap();
        prop_assert_eq!(ints(&view.add(&copy).unwrap()), expected(&oracle, |x| 2 * x));
        prop_assert_eq!(ints(&copy.mul(&view).unwrap()), expected(&oracle, |x| x * x));
        prop_assert_eq!(ints(&view.sub(1).unwrap()), expected(&oracle, |x| x - 1));
        prop_assert_eq!(ints(&view.neg().unwrap()), expected(&oracle, |x| -x));
        prop_assert_eq!(ints(&view.clone_data().unwrap()), expected(&oracle, |x| x));
        prop_assert!(view.equal(&copy).unwrap());
        let total: i64 = expected(&oracle, |x| x).iter().sum();
        prop_assert_eq!(ints(&view.sum().unwrap()), [total]);
        for dim in 0..view.layout().ndim() as i64 {
            let by_select = (0..view.shape()[dim as usize] as i64).map(|i| ints(&view.select(dim, i).unwrap()));
            let sums = ints(&view.sum_over(&[dim]).unwrap());
            let columns = by_select.fold(vec![0; sums.len()], |acc, row| acc.iter().zip(row).map(|(a, b)| a + b).collect());
            prop_assert_eq!(sums, columns);
        }
    }

    #[test]
    fn writes_reach_the_elements_of_the_view_and_no_other(shape in shapes(), steps in steps()) {
        let numel: usize = shape.iter().product();
        let base = Tensor::zeros(&signed(&shape), DType::F32).unwrap();
        let (mut view, mut oracle) = (base.share(), Oracle::contiguous(&shape));
        // Windows may overlap in ways that are too hard to say, and then writes are not refused.
        for step in steps.iter().filter(|step| !matches!(step, Step::Unfold(..))) {
            (view, oracle) = apply(view, oracle, step);
        }
        let mut known = vec![0.0; numel];
        let mut sorted = oracle.positions.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let repeats = sorted.len() < oracle.positions.len();
        match view.add_(&Tensor::ones(&[], DType::F32).unwrap()) {
            Ok(()) => oracle.positions.iter().for_each(|position| known[*position] += 1.0),
            Err(error) => prop_assert_eq!(error.kind, ErrorKind::Overlap),
        }
        prop_assert_eq!(base.version() == 0, repeats);
        let known: Vec<Scalar> = known.into_iter().map(Scalar::Float).collect();
        prop_assert_eq!(base.values().unwrap(), known);
    }

    #[test]
    fn what_is_chunked_is_joined_again(shape in shapes(), steps in steps(), chunks in 1..6_i64, dim in 0..4_usize) {
        let (view, oracle) = viewed(&shape, &steps);
        if view.layout().ndim() > 0 {
            let dim = (dim % view.layout().ndim()) as i64;
            let parts = view.chunk(chunks, dim).unwrap();
            let joined = Tensor::cat(&parts.iter().collect::<Vec<_>>(), dim).unwrap();
            prop_assert!(joined.is_contiguous());
            prop_assert_eq!(ints(&joined), expected(&oracle, |x| x));
        }
    }

    #[test]
    fn copies_convert_between_any_two_dtypes(from in 1..10_usize, to in 1..10_usize, values in prop::collection::vec(0..100_i64, 1..20)) {
        let scalars: Vec<Scalar> = values.iter().copied().map(Scalar::Int).collect();
        let source = Tensor::from_values(&scalars, &[values.len() as i64], DType::ALL[from]).unwrap();
        let target = Tensor::empty(&[2, values.len() as i64], DType::ALL[to]).unwrap();
        target.copy_(&source).unwrap();
        let twice = Tensor::from_values(&scalars, &[values.len() as i64], DType::I64).unwrap();
        prop_assert!(target.select(0, 0).unwrap().equal(&twice).unwrap());
        prop_assert!(target.select(0, 1).unwrap().equal(&twice).unwrap());
    }
}
