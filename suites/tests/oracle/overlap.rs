//! Whether two views share memory: the engine's solver against NumPy's, which is exact too.

use crate::common::launch;
use kernels::{Layout, Sharing, sharing};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeMap;
use std::time::Duration;
use subject::{Reply, Request, Value};
use suites::run::{Instruments, Session};

const REQUESTS: u64 = 20;
const PAIRS: usize = 1000;

/// Answers a list of pairs of views of one block, each as shape, strides, offset and bytes of an element.
const SOURCE: &str = "
block = np.zeros(1 << 16, np.uint8)

def array(shape, strides, offset, size):
    return np.ndarray(shape, f'V{size}', block, offset * size, [stride * size for stride in strides])

answer = [np.shares_memory(array(*a), array(*b)) for a, b in pairs]
";

/// A view of a block, in elements of `size` bytes.
struct Strided {
    layout: Layout,
    size: usize,
}

impl Strided {
    /// Up to four dimensions, whose strides often have a common divisor, so that there are gaps.
    fn random(rng: &mut StdRng) -> Strided {
        let rank = rng.random_range(0..=4);
        let least = usize::from(!rng.random_ratio(1, 20));
        let divisor = rng.random_range(1..=8);
        let shape: Vec<usize> = (0..rank).map(|_| rng.random_range(least..=6)).collect();
        let strides: Vec<usize> = (0..rank).map(|_| divisor * rng.random_range(0..=40 / divisor)).collect();
        let layout = Layout::new(&shape, &strides, rng.random_range(0..=60)).unwrap();
        Strided { layout, size: 1 << rng.random_range(0..=3) }
    }

    fn python(&self) -> String {
        let Strided { layout, size } = self;
        format!("({:?}, {:?}, {}, {size})", layout.shape(), layout.strides(), layout.offset())
    }
}

#[test]
fn views_share_memory_where_numpy_says_so() {
    let mut session = Session::start(&launch("numpy"), Instruments::None).unwrap_or_else(|missing| panic!("{missing}"));
    let (mut shared, mut apart) = (0, 0);
    for seed in 0..REQUESTS {
        let rng = &mut StdRng::seed_from_u64(seed);
        let pairs: Vec<_> = (0..PAIRS).map(|_| (Strided::random(rng), Strided::random(rng))).collect();
        let lines: Vec<String> = pairs.iter().map(|(a, b)| format!("({}, {})", a.python(), b.python())).collect();
        let source = format!("pairs = [{}]\n{SOURCE}", lines.join(", "));
        let request = Request::Python { source, names: BTreeMap::new() };
        let answers = match session.ask(&request, Duration::from_secs(120)) {
            Ok(Reply::Value(Value::List(answers))) => answers,
            other => panic!("expected a list, got {other:?}"),
        };
        assert_eq!(answers.len(), PAIRS);
        for ((a, b), (answer, line)) in pairs.iter().zip(answers.iter().zip(&lines)) {
            let known = if *answer == Value::Bool(true) { Sharing::Shared } else { Sharing::Apart };
            assert_eq!(sharing(&a.layout, a.size, &b.layout, b.size), known, "seed {seed}: {line}");
            // Only where the ranges cross there is something to solve.
            let (from, to) = (|v: &Strided| v.layout.offset() * v.size, |v: &Strided| v.layout.end() * v.size);
            match known {
                Sharing::Shared => shared += 1,
                _ if from(a) < to(b) && from(b) < to(a) => apart += 1,
                _ => {}
            }
        }
    }
    assert!(shared > 2000 && apart > 2000, "{shared} pairs share, {apart} do not though their ranges cross");
}
