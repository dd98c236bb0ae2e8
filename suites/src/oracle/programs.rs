//! Random programs of ops that compute.

use super::pair::{Pair, Stop};
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use subject::{Calls, DType, Handle, Scalar};

/// What the sides have in common beside the ops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// PyTorch's: all dtypes, mixed at will.
    PyTorch,
    /// What NumPy does as PyTorch does: operands of one dtype, and none that is promoted by another rule.
    NumPy,
}

/// A tensor of a program.
#[derive(Clone)]
struct Slot {
    handle: Handle,
    dtype: DType,
    shape: Vec<i64>,
    /// Least and greatest value of floats that have not changed since they were made.
    range: Option<(f64, f64)>,
    /// Tensors of one number share a storage.
    storage: u64,
}

struct Writer<'p, 's, 'r> {
    pair: &'p Pair<'s>,
    rng: &'r mut StdRng,
    dialect: Dialect,
    /// All tensors broadcast to this shape, but for a few strangers.
    shape: Vec<i64>,
    slots: Vec<Slot>,
}

type Done = Result<(), Stop>;

/// Two tensors and two to four ops on them and on what they give. Of each tensor made, dtype, shape and values are
/// compared.
///
/// # Errors
/// Where the sides differ.
pub fn program(pair: &Pair, rng: &mut StdRng, dialect: Dialect) -> Done {
    let rank = rng.random_range(0..=3);
    let shape = (0..rank).map(|_| if rng.random_ratio(1, 20) { 0 } else { rng.random_range(1..=4) }).collect();
    let mut writer = Writer { pair, rng, dialect, shape, slots: Vec::new() };
    let ops = [
        Writer::convert,
        Writer::scalar,
        Writer::binary,
        Writer::binary,
        Writer::negate,
        Writer::compare,
        Writer::choose,
        Writer::reduce,
        Writer::matmul,
        Writer::join,
        Writer::write_scalar,
        Writer::write,
        Writer::write,
        Writer::turn,
    ];
    writer.create()?;
    writer.create()?;
    for _ in 0..writer.rng.random_range(2..=4) {
        let Some(op) = ops.choose(writer.rng) else { break };
        match op(&mut writer) {
            // A refusal in which both agree: the program goes on without its tensor.
            Ok(()) | Err(Stop::Refused) => {}
            differs => return differs,
        }
    }
    Ok(())
}

impl Writer<'_, '_, '_> {
    fn numpy(&self) -> bool {
        self.dialect == Dialect::NumPy
    }

    /// Some dtype.
    fn dtype(&mut self) -> DType {
        let known: Vec<DType> = DType::ALL.into_iter().filter(|dtype| !self.numpy() || *dtype != DType::Bf16).collect();
        known.choose(self.rng).copied().unwrap_or(DType::F32)
    }

    fn create(&mut self) -> Done {
        let dtype = self.dtype();
        self.create_as(dtype).map(drop)
    }

    /// A new tensor of this dtype.
    fn create_as(&mut self, dtype: DType) -> Result<Slot, Stop> {
        let mut shape = self.shape.clone();
        if self.rng.random_ratio(1, 30) {
            shape = vec![self.rng.random_range(1..=5); 2];
        }
        if self.rng.random() {
            shape.drain(..self.rng.random_range(0..=shape.len()));
        }
        for size in &mut shape {
            if self.rng.random_ratio(1, 4) {
                *size = 1;
            }
        }
        self.create_shaped(dtype, shape)
    }

    fn create_shaped(&mut self, dtype: DType, shape: Vec<i64>) -> Result<Slot, Stop> {
        let special = self.rng.random_ratio(1, 8);
        let values: Vec<Scalar> = (0..shape.iter().product()).map(|_| value(dtype, special, self.rng)).collect();
        let floats: Vec<f64> = values.iter().map(|value| value.as_f64()).collect();
        // Python holds doubles: half precision is rounded from single in every library, but not from double.
        let half = matches!(dtype, DType::F16 | DType::Bf16);
        let made = self.pair.tensor(values, shape.clone(), if half { DType::F32 } else { dtype })?;
        let handle = if half { self.pair.to(&made, dtype)? } else { made };
        self.pair.values(&handle)?;
        let range = floats.iter().all(|float| float.is_finite()).then(|| {
            floats
                .iter()
                .fold((0.0, 0.0), |(least, greatest): (f64, f64), float| (least.min(*float), greatest.max(*float)))
        });
        let slot = Slot { storage: handle.0, handle, dtype, shape, range };
        self.slots.push(slot.clone());
        Ok(slot)
    }

    /// Compares a tensor that was made and keeps it as an operand.
    fn keep(&mut self, handle: Handle, range: Option<(f64, f64)>, storage: Option<u64>) -> Result<Slot, Stop> {
        let (dtype, shape) = self.look(&handle)?;
        let slot = Slot { storage: storage.unwrap_or(handle.0), handle, dtype, shape, range };
        if slot.shape.iter().product::<i64>() <= 200 {
            self.slots.push(slot.clone());
        }
        Ok(slot)
    }

    /// Compares a tensor.
    fn look(&mut self, handle: &Handle) -> Result<(DType, Vec<i64>), Stop> {
        let (dtype, shape) = (self.pair.dtype(handle)?, self.pair.shape(handle)?);
        self.pair.values(handle)?;
        Ok((dtype, shape))
    }

    fn made(&mut self, handle: Handle) -> Done {
        self.keep(handle, None, None).map(drop)
    }

    /// A tensor of an earlier op.
    fn some(&mut self) -> Result<Slot, Stop> {
        self.slots.choose(self.rng).cloned().ok_or(Stop::Refused)
    }

    /// A tensor of an earlier op, as this dtype: itself, or converted where the language of C says what that gives.
    fn some_as(&mut self, dtype: DType) -> Result<Slot, Stop> {
        let slot = self.some()?;
        self.converted(&slot, dtype)
    }

    fn converted(&mut self, slot: &Slot, dtype: DType) -> Result<Slot, Stop> {
        if slot.dtype == dtype {
            return Ok(slot.clone());
        }
        if !converts(slot, dtype) {
            return self.create_as(dtype);
        }
        // NumPy rounds double to half at once, PyTorch by way of single.
        let source = if self.numpy() && slot.dtype == DType::F64 && dtype == DType::F16 {
            self.pair.to(&slot.handle, DType::F32)?
        } else {
            slot.handle.clone()
        };
        let made = self.pair.to(&source, dtype)?;
        self.keep(made, None, None)
    }

    /// Two operands: of one dtype where the dialect asks for it.
    fn two(&mut self) -> Result<(Slot, Slot), Stop> {
        let a = self.some()?;
        let b = if self.numpy() { self.some_as(a.dtype)? } else { self.some()? };
        Ok((a, b))
    }

    fn convert(&mut self) -> Done {
        let dtype = self.dtype();
        self.some_as(dtype).map(drop)
    }

    /// A number that every library takes as an operand beside this dtype.
    fn number(&mut self, dtype: DType) -> Scalar {
        if is_float(dtype) && self.rng.random() || !self.numpy() && self.rng.random_ratio(1, 4) {
            // NumPy rounds the number to half precision before it computes, PyTorch does not.
            let float = if self.numpy() {
                self.rng.random_range(-8..=8) as f64 / 4.0
            } else {
                self.rng.random_range(-2.0..2.0)
            };
            return Scalar::Float(float);
        }
        let least = if matches!(dtype, DType::U8 | DType::Bool) { 0 } else { -3 };
        Scalar::Int(self.rng.random_range(least..=3))
    }

    fn scalar(&mut self) -> Done {
        let a = self.some()?;
        let number = self.number(a.dtype);
        let multiplies: bool = self.rng.random();
        let made = if multiplies {
            self.pair.mul_scalar(&a.handle, number)?
        } else {
            self.pair.add_scalar(&a.handle, number)?
        };
        self.made(made)
    }

    fn binary(&mut self) -> Done {
        let (mut a, mut b) = self.two()?;
        let kind = self.rng.random_range(0..4);
        if kind == 3 && self.numpy() && !is_float(a.dtype) {
            // NumPy divides whole numbers in a precision that depends on their size.
            (a, b) = (self.converted(&a, DType::F64)?, self.converted(&b, DType::F64)?);
        }
        let (a, b) = (&a.handle, &b.handle);
        let made = match kind {
            0 => self.pair.add(a, b)?,
            1 => self.pair.sub(a, b)?,
            2 => self.pair.mul(a, b)?,
            _ => self.pair.div(a, b)?,
        };
        self.made(made)
    }

    fn negate(&mut self) -> Done {
        let a = self.some()?;
        let made = self.pair.neg(&a.handle)?;
        self.made(made)
    }

    fn compare(&mut self) -> Done {
        let (a, b) = self.two()?;
        let (a, b) = (&a.handle, &b.handle);
        let made = match self.rng.random_range(0..4) {
            0 => self.pair.eq(a, b)?,
            1 => self.pair.ne(a, b)?,
            2 => self.pair.lt(a, b)?,
            _ => self.pair.le(a, b)?,
        };
        self.made(made)
    }

    fn choose(&mut self) -> Done {
        let condition = self.some_as(DType::Bool)?;
        let (a, b) = self.two()?;
        let made = self.pair.where_else(&condition.handle, &a.handle, &b.handle)?;
        self.made(made)
    }

    fn reduce(&mut self) -> Done {
        let mut a = self.some()?;
        let kind = self.rng.random_range(0..5);
        if self.numpy() && kind < 2 && a.dtype == DType::U8 {
            // NumPy adds them up in a dtype that PyTorch lacks.
            a = self.converted(&a, DType::I64)?;
        }
        if self.numpy() && (kind == 2 && !is_float(a.dtype) || kind == 1 && a.shape.is_empty()) {
            return Ok(());
        }
        let pair = self.pair;
        let made = match kind {
            0 => pair.sum(&a.handle)?,
            1 => pair.sum_dim(&a.handle, self.dim(a.shape.len().max(1)))?,
            2 => pair.mean(&a.handle)?,
            3 => pair.min(&a.handle)?,
            _ => pair.max(&a.handle)?,
        };
        self.added_up(made, kind < 3)
    }

    fn matmul(&mut self) -> Done {
        let mut dtype = self.dtype();
        if dtype == DType::Bool {
            // PyTorch lacks it, NumPy means another sum by it.
            dtype = DType::I64;
        }
        let [rows, terms, columns] = [(); 3].map(|()| self.rng.random_range(0..=5));
        let a = self.create_shaped(dtype, vec![rows, terms])?;
        let b = self.create_shaped(dtype, vec![terms, columns])?;
        let made = self.pair.matmul(&a.handle, &b.handle)?;
        self.added_up(made, true)
    }

    /// Compares what was made; floats that were added up may differ in their last bits and are no operands any more.
    fn added_up(&mut self, made: Handle, sum: bool) -> Done {
        let (dtype, _) = self.look(&made)?;
        if sum && is_float(dtype) { Ok(()) } else { self.made(made) }
    }

    fn join(&mut self) -> Done {
        let a = self.some()?;
        let mut parts = vec![a.handle.clone()];
        for _ in 0..self.rng.random_range(0..3) {
            let dtype = if self.numpy() { a.dtype } else { self.dtype() };
            parts.push(self.create_shaped(dtype, a.shape.clone())?.handle);
        }
        let rank = a.shape.len();
        let made = if self.rng.random() {
            self.pair.stack(parts, self.dim(rank + 1))?
        } else {
            self.pair.cat(parts, self.dim(rank.max(1)))?
        };
        self.made(made)
    }

    fn write_scalar(&mut self) -> Done {
        let a = self.some()?;
        let number = self.number(a.dtype);
        self.wrote(&a);
        match self.rng.random_range(0..5) {
            0 => self.pair.add_scalar_(&a.handle, number)?,
            1 => self.pair.mul_scalar_(&a.handle, number)?,
            2 => self.pair.fill_(&a.handle, Scalar::Int(self.rng.random_range(0..=1)))?,
            3 => self.pair.zero_(&a.handle)?,
            _ => self.pair.neg_(&a.handle)?,
        }
        self.look(&a.handle).map(drop)
    }

    fn write(&mut self) -> Done {
        let (a, mut b) = self.two()?;
        if self.rng.random() {
            b = self.create_shaped(b.dtype, a.shape.clone())?;
        }
        let kind = self.rng.random_range(0..5);
        // A write that reads its own target is about overlap, and a conversion must be one that C defines.
        if a.storage == b.storage || kind == 4 && b.dtype != a.dtype && !converts(&b, a.dtype) {
            return Ok(());
        }
        self.wrote(&a);
        match kind {
            0 => self.pair.add_(&a.handle, &b.handle)?,
            1 => self.pair.sub_(&a.handle, &b.handle)?,
            2 => self.pair.mul_(&a.handle, &b.handle)?,
            // Which of two refusals comes first is each library's own.
            3 if self.numpy() && !is_float(a.dtype) => {}
            3 => self.pair.div_(&a.handle, &b.handle)?,
            // NumPy assigns what has more dimensions when they are of size one.
            4 if self.numpy() && b.shape.len() > a.shape.len() => {}
            _ => self.pair.copy_(&a.handle, &b.handle)?,
        }
        self.look(&a.handle).map(drop)
    }

    /// Nothing is known any more of the values of this tensor and of those on its storage.
    fn wrote(&mut self, a: &Slot) {
        self.slots.iter_mut().filter(|slot| slot.storage == a.storage).for_each(|slot| slot.range = None);
    }

    /// A view whose elements do not follow each other.
    fn turn(&mut self) -> Done {
        let a = self.some()?;
        if a.shape.len() < 2 {
            return Ok(());
        }
        let rank = a.shape.len();
        let made = self.pair.transpose(&a.handle, self.dim(rank), self.dim(rank))?;
        self.keep(made, a.range, Some(a.storage)).map(drop)
    }

    /// A dimension, counted from either end.
    fn dim(&mut self, rank: usize) -> i64 {
        self.rng.random_range(-(rank as i64)..rank as i64)
    }
}

fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::Bf16 | DType::F32 | DType::F64)
}

/// Whether C says what the conversion gives: a float beyond the whole numbers of the dtype may become anything.
fn converts(slot: &Slot, dtype: DType) -> bool {
    let bits = 8 * dtype.size() as i32;
    let (least, limit) = match dtype {
        DType::U8 => (-1.0, 256.0),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1)),
        _ => return true,
    };
    !is_float(slot.dtype) || slot.range.is_some_and(|(lowest, highest)| least < lowest && highest < limit)
}

/// A value of this dtype; where it shall be special, perhaps one at an end of what the dtype holds.
fn value(dtype: DType, special: bool, rng: &mut StdRng) -> Scalar {
    let extreme = special && rng.random_ratio(1, 3);
    let bits = 8 * dtype.size() as u32 - 1;
    match dtype {
        DType::Bool => rng.random::<bool>().into(),
        DType::U8 => Scalar::Int(if extreme { 255 } else { rng.random_range(0..=9) }),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 if extreme => {
            Scalar::Int(if rng.random() { i64::MAX >> (63 - bits) } else { i64::MIN >> (63 - bits) })
        }
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => Scalar::Int(rng.random_range(-9..=9)),
        _ if extreme => {
            let ends = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 65504.0, 6e-8, 1e-40, 3e38];
            Scalar::Float(ends.choose(rng).copied().unwrap_or_default())
        }
        _ if rng.random() => Scalar::Float(f64::from(rng.random_range(-24..=24)) / 8.0),
        _ => Scalar::Float(rng.random_range(-4.0..4.0)),
    }
}
