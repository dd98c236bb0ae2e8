//! Random chains of views.

use super::pair::{Pair, Stop};
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use subject::{Calls, DType, Handle};

/// No tensor gets more elements than this, so that every value can be compared.
const MOST: i64 = 256;
/// No tensor gets more dimensions than this.
const RANK: usize = 6;
const DTYPES: [DType; 5] = [DType::I16, DType::I32, DType::I64, DType::F32, DType::F64];

/// A view op with what it takes.
struct Move {
    /// Whether every library lets its view be written.
    writes: bool,
    /// Whether several elements of its view may share a place.
    shares: bool,
    /// Whether it can be asked of a tensor of this shape.
    fits: fn(&[i64]) -> bool,
    /// Asks for a random view.
    make: fn(&Pair, &At, &mut StdRng) -> Result<Handle, Stop>,
}

/// Where a chain has come to.
struct At {
    view: Handle,
    shape: Vec<i64>,
}

fn any(_: &[i64]) -> bool {
    true
}

fn has_dimension(shape: &[i64]) -> bool {
    !shape.is_empty()
}

fn has_room(shape: &[i64]) -> bool {
    shape.len() < RANK
}

const fn plain(fits: fn(&[i64]) -> bool, make: fn(&Pair, &At, &mut StdRng) -> Result<Handle, Stop>) -> Move {
    Move { writes: true, shares: false, fits, make }
}

const MOVES: [Move; 18] = [
    plain(any, |pair, at, rng| {
        let shape = other_shape(at.numel(), rng);
        match pair.view(&at.view, shape.clone()) {
            Err(Stop::Refused) => pair.reshape(&at.view, shape),
            made => made,
        }
    }),
    plain(any, |pair, at, rng| pair.reshape(&at.view, other_shape(at.numel(), rng))),
    plain(has_dimension, |pair, at, rng| {
        let (dim, size) = at.dim(rng);
        let start = rng.random_range(0..=size);
        let length = rng.random_range(0..=size - start);
        let wrapped = if start < size && rng.random() { start - size } else { start };
        pair.narrow(&at.view, dim, wrapped, length)
    }),
    plain(
        |shape| shape.iter().any(|size| *size > 0),
        |pair, at, rng| {
            let (dim, size) = at.dim_of(rng, |size| size > 0);
            pair.select(&at.view, dim, rng.random_range(-size..size))
        },
    ),
    plain(has_dimension, |pair, at, rng| pair.transpose(&at.view, at.dim(rng).0, at.dim(rng).0)),
    plain(any, |pair, at, rng| {
        let mut dims: Vec<i64> = (0..at.shape.len() as i64).collect();
        dims.shuffle(rng);
        pair.permute(&at.view, dims)
    }),
    plain(has_dimension, |pair, at, rng| pair.movedim(&at.view, at.dim(rng).0, at.dim(rng).0)),
    plain(has_dimension, |pair, at, rng| {
        let (dim, size) = at.dim(rng);
        let [start, end] = [0; 2].map(|_: i64| rng.random_range(-size - 2..=size + 2));
        pair.slice(&at.view, dim, start, end, rng.random_range(1..=3))
    }),
    Move {
        writes: false,
        shares: true,
        fits: any,
        make: |pair, at, rng| {
            let mut shape = at.shape.clone();
            while shape.len() < RANK && rng.random_ratio(1, 3) {
                shape.insert(0, 1);
            }
            for dim in 0..shape.len() {
                if shape[dim] == 1 && rng.random_ratio(2, 3) {
                    shape[dim] = rng.random_range(0..=4.min(MOST / shape.iter().product::<i64>().max(1)));
                }
            }
            pair.expand(&at.view, shape)
        },
    },
    plain(|shape| shape.contains(&1), |pair, at, rng| pair.squeeze(&at.view, at.dim_of(rng, |size| size == 1).0)),
    plain(has_room, |pair, at, rng| {
        let rank = at.shape.len() as i64;
        pair.unsqueeze(&at.view, rng.random_range(-rank - 1..=rank))
    }),
    plain(any, |pair, at, rng| {
        let rank = at.shape.len().max(1) as i64;
        let start = rng.random_range(0..rank);
        let end = rng.random_range(start..rank);
        pair.flatten(&at.view, start, if rng.random() { end } else { end - rank })
    }),
    Move {
        writes: true,
        shares: true,
        fits: |shape| has_dimension(shape) && has_room(shape) && shape.iter().product::<i64>() <= MOST / 4,
        make: |pair, at, rng| {
            let (dim, size) = at.dim(rng);
            pair.unfold(&at.view, dim, rng.random_range(0..=size.min(4)), rng.random_range(1..=3))
        },
    },
    Move { writes: true, shares: true, fits: any, make: strided },
    Move {
        writes: false,
        shares: false,
        fits: |shape| shape.len() > 1,
        make: |pair, at, rng| {
            let (dim0, _) = at.dim(rng);
            let rank = at.shape.len() as i64;
            let dim1 = (dim0 + rng.random_range(1..rank)).rem_euclid(rank);
            pair.diagonal(&at.view, rng.random_range(-4..=4), dim0, dim1)
        },
    },
    plain(has_dimension, |pair, at, rng| {
        let pieces = pair.chunk(&at.view, rng.random_range(1..=4), at.dim(rng).0)?;
        piece(pair, &pieces, rng)
    }),
    plain(has_dimension, |pair, at, rng| {
        let (dim, size) = at.dim(rng);
        let pieces = pair.split(&at.view, rng.random_range(1..=size.max(1)), dim)?;
        piece(pair, &pieces, rng)
    }),
    plain(has_dimension, |pair, at, rng| {
        let pieces = pair.tensor_split(&at.view, rng.random_range(1..=4), at.dim(rng).0)?;
        piece(pair, &pieces, rng)
    }),
];

/// A base of up to six dimensions, two to eight views on top of each other, and a look at the last one. In half of the
/// chains the last view is written, where no stride of zero forbids it, and the base is looked at too.
///
/// # Errors
/// Where the sides differ.
pub fn chain(pair: &Pair, rng: &mut StdRng) -> Result<(), Stop> {
    let shape = base_shape(rng);
    let dtype = *DTYPES.choose(rng).unwrap_or(&DType::F32);
    let base = pair.arange(shape.iter().product::<i64>(), dtype)?;
    let view = pair.reshape(&base, shape.clone())?;
    let mut at = At { view, shape };
    let writes: bool = rng.random();
    let mut shares = false;
    for _ in 0..rng.random_range(2..=8) {
        let moves: Vec<&Move> =
            MOVES.iter().filter(|each| (each.fits)(&at.shape) && (each.writes || !writes)).collect();
        let Some(chosen) = moves.choose(rng) else { break };
        at.view = (chosen.make)(pair, &at, rng)?;
        at.shape = pair.shape(&at.view)?;
        shares |= chosen.shares;
    }
    let strides = pair.stride(&at.view)?;
    pair.is_contiguous(&at.view)?;
    pair.values(&at.view)?;
    let repeats = strides.iter().zip(&at.shape).any(|(stride, size)| *stride == 0 && *size > 1);
    if writes && !repeats {
        // Where elements share a place, a sum is written to it an unknown number of times.
        if shares || rng.random() {
            pair.fill_(&at.view, -7)?
        } else {
            pair.add_scalar_(&at.view, 1000)?
        }
        pair.values(&at.view)?;
        pair.values(&base)?;
    }
    Ok(())
}

impl At {
    fn numel(&self) -> i64 {
        self.shape.iter().product()
    }

    /// A dimension, counted from either end, and its size.
    fn dim(&self, rng: &mut StdRng) -> (i64, i64) {
        self.dim_of(rng, |_| true)
    }

    /// A dimension of such a size, of which there is one.
    fn dim_of(&self, rng: &mut StdRng, fits: fn(i64) -> bool) -> (i64, i64) {
        let dims: Vec<usize> = (0..self.shape.len()).filter(|dim| fits(self.shape[*dim])).collect();
        let dim = dims.choose(rng).copied().unwrap_or_default();
        let back = if rng.random() { self.shape.len() as i64 } else { 0 };
        (dim as i64 - back, self.shape[dim])
    }
}

/// Sizes of up to six dimensions; in a fifth of the shapes some are 0 or 1.
fn base_shape(rng: &mut StdRng) -> Vec<i64> {
    let edge = rng.random_ratio(1, 5);
    let rank = rng.random_range(0..=RANK);
    let mut room = MOST;
    let mut size = |_| {
        let most = 5.min(room);
        let size = if edge && rng.random_ratio(1, 2) {
            i64::from(rng.random_ratio(2, 3))
        } else {
            rng.random_range(2.min(most)..=most)
        };
        room /= size.max(1);
        size
    };
    (0..rank).map(&mut size).collect()
}

/// Another shape of as many elements, one size of which may be -1.
fn other_shape(numel: i64, rng: &mut StdRng) -> Vec<i64> {
    let mut shape = Vec::new();
    let mut rest = numel;
    while rest > 1 {
        let factors: Vec<i64> = (2..=rest).filter(|factor| rest % factor == 0).collect();
        // A prime as often as all that is left.
        let factor = if shape.len() + 2 < RANK && rng.random() { factors.first() } else { factors.choose(rng) };
        shape.push(factor.copied().unwrap_or(rest));
        rest /= shape[shape.len() - 1];
        if shape.len() + 1 == RANK {
            shape.push(rest);
            rest = 1;
        }
    }
    while shape.len() < RANK && rng.random_ratio(1, 4) {
        shape.insert(rng.random_range(0..=shape.len()), 1);
    }
    shape.shuffle(rng);
    if numel == 0 {
        shape.insert(rng.random_range(0..=shape.len()), 0);
    } else if !shape.is_empty() && rng.random_ratio(1, 4) {
        let open = rng.random_range(0..shape.len());
        shape[open] = -1;
    }
    shape
}

/// Any view of the storage that stays inside of it.
fn strided(pair: &Pair, at: &At, rng: &mut StdRng) -> Result<Handle, Stop> {
    let room = pair.storage_bytes(&at.view)? / pair.element_size(&at.view)?;
    let shape: Vec<i64> = (0..rng.random_range(0..=3)).map(|_| rng.random_range(0..=4)).collect();
    let mut last = 0;
    let mut strides = Vec::new();
    for size in &shape {
        let steps = (size - 1).max(0);
        let most = if steps == 0 { 5 } else { ((room - 1 - last) / steps).clamp(0, 9) };
        let stride = rng.random_range(0..=most);
        last += steps * stride;
        strides.push(stride);
    }
    let inside = last < room;
    let (shape, strides) = if inside { (shape, strides) } else { (vec![0], vec![1]) };
    let offset = if inside { rng.random_range(0..room - last) } else { 0 };
    pair.as_strided(&at.view, shape, strides, offset)
}

/// One of several views, all of whose shapes are compared.
fn piece(pair: &Pair, pieces: &[Handle], rng: &mut StdRng) -> Result<Handle, Stop> {
    for each in pieces {
        pair.shape(each)?;
    }
    pieces.choose(rng).cloned().ok_or(Stop::Refused)
}
