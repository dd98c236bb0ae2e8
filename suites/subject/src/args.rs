//! What may stand in the table of ops as an argument or an answer, and its three forms: on the wire, in the library's
//! method, and in a case.

use crate::{DType, Fail, Handle, Scalar, Table, Value};
use std::cell::{Ref, RefMut};

/// A type as an argument.
pub trait Arg {
    /// What travels.
    type Wire: Clone + 'static;
    /// What dispatch holds while the op runs.
    type Held<'t, T: 't>;
    /// What the library's method gets.
    type Face<'h, T: 'h>;
    /// Finds the argument; an error when a handle holds no tensor.
    fn hold<'t, T>(wire: &'t Self::Wire, table: &'t Table<T>) -> Result<Self::Held<'t, T>, Fail>;
    /// Lends what is held to the library.
    fn face<'h, 't: 'h, T: 't>(held: &'h mut Self::Held<'t, T>) -> Self::Face<'h, T>;
    /// The tensors that it names.
    fn handles(_: &Self::Wire) -> Vec<Handle> {
        Vec::new()
    }
    /// The argument as a line of Python spells it.
    fn python(wire: &Self::Wire) -> String;
    /// Its name in `ops.json`.
    const NAME: &'static str;
}

/// A type as an answer.
pub trait Ret {
    /// What the library's method gives.
    type Given<T>;
    /// What a case sees.
    type Seen;
    /// Turns the answer into what travels, keeping its tensors.
    fn wire<T>(given: Self::Given<T>, table: &mut Table<T>) -> Value;
    /// Turns what travelled into what a case sees; `None` when it has another type.
    fn seen(value: Value) -> Option<Self::Seen>;
    /// The tensors in the answer, for programs, which name the slots themselves.
    fn tensors<T>(given: Self::Given<T>) -> Vec<T>;
    /// Its name in `ops.json`.
    const NAME: &'static str;
}

/// Marks a tensor that an op reads, or gives.
pub struct Tensor;
/// Marks the tensor that a write op changes.
pub struct Target;
/// Marks several tensors.
pub struct Tensors;

impl Arg for Tensor {
    type Wire = Handle;
    type Held<'t, T: 't> = Ref<'t, T>;
    type Face<'h, T: 'h> = &'h T;
    fn hold<'t, T>(wire: &'t Handle, table: &'t Table<T>) -> Result<Ref<'t, T>, Fail> {
        table.read(wire)
    }
    fn face<'h, 't: 'h, T: 't>(held: &'h mut Ref<'t, T>) -> &'h T {
        held
    }
    fn handles(wire: &Handle) -> Vec<Handle> {
        vec![wire.clone()]
    }
    fn python(wire: &Handle) -> String {
        format!("t{}", wire.0)
    }
    const NAME: &'static str = "tensor";
}

impl Arg for Target {
    type Wire = Handle;
    type Held<'t, T: 't> = RefMut<'t, T>;
    type Face<'h, T: 'h> = &'h mut T;
    fn hold<'t, T>(wire: &'t Handle, table: &'t Table<T>) -> Result<RefMut<'t, T>, Fail> {
        table.write(wire)
    }
    fn face<'h, 't: 'h, T: 't>(held: &'h mut RefMut<'t, T>) -> &'h mut T {
        held
    }
    fn handles(wire: &Handle) -> Vec<Handle> {
        Tensor::handles(wire)
    }
    fn python(wire: &Handle) -> String {
        Tensor::python(wire)
    }
    const NAME: &'static str = "target";
}

impl Arg for Tensors {
    type Wire = Vec<Handle>;
    type Held<'t, T: 't> = Vec<Ref<'t, T>>;
    type Face<'h, T: 'h> = Vec<&'h T>;
    fn hold<'t, T>(wire: &'t Vec<Handle>, table: &'t Table<T>) -> Result<Vec<Ref<'t, T>>, Fail> {
        wire.iter().map(|handle| table.read(handle)).collect()
    }
    fn face<'h, 't: 'h, T: 't>(held: &'h mut Vec<Ref<'t, T>>) -> Vec<&'h T> {
        held.iter().map(|tensor| &**tensor).collect()
    }
    fn handles(wire: &Vec<Handle>) -> Vec<Handle> {
        wire.clone()
    }
    fn python(wire: &Vec<Handle>) -> String {
        format!("[{}]", wire.iter().map(Tensor::python).collect::<Vec<_>>().join(", "))
    }
    const NAME: &'static str = "tensors";
}

macro_rules! plain_args {
    ($($type:ty => $face:ty, $name:literal, $lend:expr, $python:expr;)*) => { $(
        impl Arg for $type {
            type Wire = $type;
            type Held<'t, T: 't> = &'t $type;
            type Face<'h, T: 'h> = $face;
            fn hold<'t, T>(wire: &'t $type, _: &'t Table<T>) -> Result<&'t $type, Fail> {
                Ok(wire)
            }
            fn face<'h, 't: 'h, T: 't>(held: &'h mut &'t $type) -> $face {
                let lend: fn(&'h $type) -> $face = $lend;
                lend(held)
            }
            fn python(wire: &$type) -> String {
                let python: fn(&$type) -> String = $python;
                python(wire)
            }
            const NAME: &'static str = $name;
        }
    )* };
}

plain_args! {
    bool => bool, "bool", |b| *b, |b| Value::Bool(*b).to_string();
    i64 => i64, "int", |i| *i, |i| i.to_string();
    Scalar => Scalar, "scalar", |s| *s, |s| python_scalar(*s);
    DType => DType, "dtype", |d| *d, |d| d.torch().into();
    String => &'h str, "text", |s| s, |s| format!("{s:?}");
    Vec<i64> => &'h [i64], "ints", |v| v, |v| format!("{v:?}");
    Vec<Scalar> => &'h [Scalar], "scalars", |v| v, |v| format!("[{}]", v.iter().map(|s| python_scalar(*s)).collect::<Vec<_>>().join(", "));
}

fn python_scalar(scalar: Scalar) -> String {
    match scalar {
        Scalar::Float(f) if !f.is_finite() => format!("float('{f}')"),
        other => Value::from(other).to_string(),
    }
}

impl Ret for Tensor {
    type Given<T> = T;
    type Seen = Handle;
    fn wire<T>(given: T, table: &mut Table<T>) -> Value {
        Value::Tensor(table.insert(given))
    }
    fn seen(value: Value) -> Option<Handle> {
        if let Value::Tensor(handle) = value { Some(handle) } else { None }
    }
    fn tensors<T>(given: T) -> Vec<T> {
        vec![given]
    }
    const NAME: &'static str = "tensor";
}

impl Ret for Tensors {
    type Given<T> = Vec<T>;
    type Seen = Vec<Handle>;
    fn wire<T>(given: Vec<T>, table: &mut Table<T>) -> Value {
        Value::List(given.into_iter().map(|tensor| Value::Tensor(table.insert(tensor))).collect())
    }
    fn seen(value: Value) -> Option<Vec<Handle>> {
        if let Value::List(list) = value { list.into_iter().map(Tensor::seen).collect() } else { None }
    }
    fn tensors<T>(given: Vec<T>) -> Vec<T> {
        given
    }
    const NAME: &'static str = "tensors";
}

macro_rules! plain_rets {
    ($($type:ty, $name:literal, $pattern:pat => $seen:expr, $make:expr;)*) => { $(
        impl Ret for $type {
            type Given<T> = $type;
            type Seen = $type;
            fn wire<T>(given: $type, _: &mut Table<T>) -> Value {
                let make: fn($type) -> Value = $make;
                make(given)
            }
            fn seen(value: Value) -> Option<$type> {
                match value {
                    $pattern => $seen,
                    _ => None,
                }
            }
            fn tensors<T>(_: $type) -> Vec<T> {
                Vec::new()
            }
            const NAME: &'static str = $name;
        }
    )* };
}

plain_rets! {
    (), "none", Value::None => Some(()), |()| Value::None;
    bool, "bool", Value::Bool(b) => Some(b), Value::Bool;
    i64, "int", Value::Int(i) => Some(i), Value::Int;
    String, "text", Value::Text(text) => Some(text), Value::Text;
    DType, "dtype", Value::Text(name) => DType::from_name(&name), |dtype| Value::Text(dtype.name().into());
    Vec<i64>, "ints", Value::List(list) => list.into_iter().map(i64::seen).collect(), |list| list.into();
    Vec<Scalar>, "scalars", Value::List(list) => list.into_iter().map(scalar_seen).collect(), |list| list.into();
}

fn scalar_seen(value: Value) -> Option<Scalar> {
    match value {
        Value::Bool(b) => Some(Scalar::Bool(b)),
        Value::Int(i) => Some(Scalar::Int(i)),
        Value::Float(f) => Some(Scalar::Float(f)),
        _ => None,
    }
}
