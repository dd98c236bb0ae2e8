//! The values that travel between the runner and a subject.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::borrow::Cow;
use std::fmt;

/// A tensor that a subject keeps for the runner; also a slot of a [`crate::Program`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Handle(pub u64);

impl From<&Handle> for Handle {
    fn from(handle: &Handle) -> Self {
        handle.clone()
    }
}

impl From<&mut Handle> for Handle {
    fn from(handle: &mut Handle) -> Self {
        handle.clone()
    }
}

/// An element type. The names are the ones that travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// One byte, false or true.
    Bool,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 8-bit integer.
    I8,
    /// Signed 16-bit integer.
    I16,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// IEEE binary16.
    F16,
    /// The upper half of a binary32.
    Bf16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl DType {
    /// Every element type, in the order of the table in `docs/protocol.md`.
    pub const ALL: [DType; 10] = [
        DType::Bool,
        DType::U8,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::F16,
        DType::Bf16,
        DType::F32,
        DType::F64,
    ];

    /// The name that travels, such as `bf16`.
    pub fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::U8 => "u8",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::F16 => "f16",
            DType::Bf16 => "bf16",
            DType::F32 => "f32",
            DType::F64 => "f64",
        }
    }

    /// PyTorch's name, such as `torch.bfloat16`.
    pub fn torch(self) -> &'static str {
        match self {
            DType::Bool => "torch.bool",
            DType::U8 => "torch.uint8",
            DType::I8 => "torch.int8",
            DType::I16 => "torch.int16",
            DType::I32 => "torch.int32",
            DType::I64 => "torch.int64",
            DType::F16 => "torch.float16",
            DType::Bf16 => "torch.bfloat16",
            DType::F32 => "torch.float32",
            DType::F64 => "torch.float64",
        }
    }

    /// Bytes of one element.
    pub fn size(self) -> i64 {
        match self {
            DType::Bool | DType::U8 | DType::I8 => 1,
            DType::I16 | DType::F16 | DType::Bf16 => 2,
            DType::I32 | DType::F32 => 4,
            DType::I64 | DType::F64 => 8,
        }
    }

    /// The element type of this wire name.
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|dtype| dtype.name() == name)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One number as an argument: whether it is whole decides the result's dtype, as in Python.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A floating-point number.
    Float(f64),
}

impl Scalar {
    /// The number as a float, rounding integers beyond 2^53.
    pub fn as_f64(self) -> f64 {
        match self {
            Scalar::Bool(b) => f64::from(u8::from(b)),
            Scalar::Int(i) => i as f64,
            Scalar::Float(f) => f,
        }
    }
}

impl From<bool> for Scalar {
    fn from(value: bool) -> Self {
        Scalar::Bool(value)
    }
}

impl From<i32> for Scalar {
    fn from(value: i32) -> Self {
        Scalar::Int(value.into())
    }
}

impl From<i64> for Scalar {
    fn from(value: i64) -> Self {
        Scalar::Int(value)
    }
}

impl From<f64> for Scalar {
    fn from(value: f64) -> Self {
        Scalar::Float(value)
    }
}

impl From<Scalar> for Value {
    fn from(value: Scalar) -> Self {
        match value {
            Scalar::Bool(b) => Value::Bool(b),
            Scalar::Int(i) => Value::Int(i),
            Scalar::Float(f) => Value::Float(f),
        }
    }
}

impl Serialize for Scalar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::from(*self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Bool(b) => Ok(Scalar::Bool(b)),
            Value::Int(i) => Ok(Scalar::Int(i)),
            Value::Float(f) => Ok(Scalar::Float(f)),
            other => Err(D::Error::custom(format!("expected a number, found {other}"))),
        }
    }
}

impl JsonSchema for Scalar {
    fn schema_name() -> Cow<'static, str> {
        "Scalar".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"type": ["boolean", "integer", "number"]}, non_finite()]})
    }
}

/// A value that an op answers and that a fact holds.
///
/// In JSON a value is itself (`null`, `true`, `6`, `6.0`, `"text"`, a list), and two kinds are objects: a tensor
/// (`{"tensor": 3}`) and a float that is not finite (`{"float": "NaN"}`, `"inf"`, `"-inf"`).
#[derive(Debug, Clone)]
pub enum Value {
    /// Nothing.
    None,
    /// True or false.
    Bool(bool),
    /// A whole number, always within 64 bits.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Text(String),
    /// Several values in order.
    List(Vec<Value>),
    /// A tensor that the subject keeps.
    Tensor(Handle),
}

/// Equal as facts are compared: NaN equals NaN, and an integer never equals a float.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::None, Value::None) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::List(a), Value::List(b)) => a == b,
            (Value::Tensor(a), Value::Tensor(b)) => a == b,
            _ => false,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::None => f.write_str("None"),
            Value::Bool(true) => f.write_str("True"),
            Value::Bool(false) => f.write_str("False"),
            Value::Int(i) => write!(f, "{i}"),
            Value::Float(v) if v.is_finite() => write!(f, "{v:?}"),
            Value::Float(v) => f.write_str(float_name(*v)),
            Value::Text(s) => write!(f, "{s:?}"),
            Value::List(list) => {
                f.write_str("[")?;
                for (i, v) in list.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{v}")?;
                }
                f.write_str("]")
            }
            Value::Tensor(h) => write!(f, "t{}", h.0),
        }
    }
}

fn float_name(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "inf"
    } else {
        "-inf"
    }
}

fn non_finite() -> Schema {
    json_schema!({
        "type": "object",
        "properties": {"float": {"enum": ["NaN", "inf", "-inf"]}},
        "required": ["float"],
        "additionalProperties": false
    })
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        match self {
            Value::None => serializer.serialize_unit(),
            Value::Bool(b) => serializer.serialize_bool(*b),
            Value::Int(i) => serializer.serialize_i64(*i),
            Value::Float(v) if v.is_finite() => serializer.serialize_f64(*v),
            Value::Float(v) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("float", float_name(*v))?;
                map.end()
            }
            Value::Text(s) => serializer.serialize_str(s),
            Value::List(list) => serializer.collect_seq(list),
            Value::Tensor(h) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("tensor", &h.0)?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_json(serde_json::Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

fn from_json(json: serde_json::Value) -> Result<Value, String> {
    use serde_json::Value as Json;
    Ok(match json {
        Json::Null => Value::None,
        Json::Bool(b) => Value::Bool(b),
        Json::String(s) => Value::Text(s),
        Json::Array(list) => Value::List(list.into_iter().map(from_json).collect::<Result<_, _>>()?),
        Json::Number(n) if n.is_i64() => Value::Int(n.as_i64().unwrap_or_default()),
        Json::Number(n) if n.is_f64() => Value::Float(n.as_f64().unwrap_or_default()),
        Json::Number(n) => return Err(format!("integer {n} does not fit 64 bits with a sign")),
        Json::Object(map) => {
            let mut entries = map.into_iter();
            match (entries.next(), entries.next()) {
                (Some((key, Json::Number(n))), None) if key == "tensor" => {
                    let n = n.as_u64().ok_or_else(|| format!("tensor {n} is not a handle"))?;
                    Value::Tensor(Handle(n))
                }
                (Some((key, Json::String(s))), None) if key == "float" => Value::Float(match s.as_str() {
                    "NaN" => f64::NAN,
                    "inf" => f64::INFINITY,
                    "-inf" => f64::NEG_INFINITY,
                    other => return Err(format!("float {other:?} is none of NaN, inf, -inf")),
                }),
                (found, _) => {
                    let key = found.map_or_else(|| "{}".into(), |(key, _)| key);
                    return Err(format!("an object value holds \"tensor\" or \"float\", found {key:?}"));
                }
            }
        }
    })
}

impl JsonSchema for Value {
    fn schema_name() -> Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let each = generator.subschema_for::<Value>();
        json_schema!({"anyOf": [
            {"type": ["null", "boolean", "integer", "number", "string"]},
            {"type": "array", "items": each},
            {"type": "object", "properties": {"tensor": {"type": "integer", "minimum": 0}}, "required": ["tensor"], "additionalProperties": false},
            non_finite(),
        ]})
    }
}

macro_rules! value_from {
    ($($type:ty, $name:ident => $make:expr;)*) => { $(
        impl From<$type> for Value {
            fn from($name: $type) -> Self {
                $make
            }
        }
    )* };
}

value_from! {
    (), _nothing => Value::None;
    bool, b => Value::Bool(b);
    i32, i => Value::Int(i.into());
    i64, i => Value::Int(i);
    f64, f => Value::Float(f);
    &str, s => Value::Text(s.into());
    String, s => Value::Text(s);
    DType, d => Value::Text(d.name().into());
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(list: Vec<T>) -> Self {
        Value::List(list.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>, const N: usize> From<[T; N]> for Value {
    fn from(list: [T; N]) -> Self {
        Value::List(list.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::None, Into::into)
    }
}

/// Why an op gave no value.
#[derive(Debug, Clone, PartialEq)]
pub enum Fail {
    /// The library lacks the API; the text names it.
    Unsupported(String),
    /// The library refused.
    Error {
        /// What kind of refusal, from the list in `docs/protocol.md` (`shape`, `leaf`, `version` and so on).
        kind: String,
        /// The library's own words.
        message: String,
    },
}

impl std::fmt::Display for Fail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fail::Unsupported(what) => write!(f, "unsupported: {what}"),
            Fail::Error { kind, message } => write!(f, "{kind}: {message}"),
        }
    }
}

impl Fail {
    /// The library has no such API.
    pub fn unsupported(what: impl Into<String>) -> Self {
        Fail::Unsupported(what.into())
    }

    /// The library refused, in its own words.
    pub fn error(kind: &str, message: impl Into<String>) -> Self {
        Fail::Error { kind: kind.into(), message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_travel_as_themselves() {
        let value = Value::List(vec![
            Value::None,
            true.into(),
            6.into(),
            6.0.into(),
            "x".into(),
            Value::Tensor(Handle(3)),
            f64::NAN.into(),
            f64::NEG_INFINITY.into(),
        ]);
        let json = serde_json::to_string(&value).unwrap();
        assert_eq!(json, r#"[null,true,6,6.0,"x",{"tensor":3},{"float":"NaN"},{"float":"-inf"}]"#);
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value);
    }

    #[test]
    fn integers_keep_all_64_bits() {
        for i in [i64::MIN, i64::MAX, (1 << 53) + 1] {
            let json = serde_json::to_string(&Value::Int(i)).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), Value::Int(i));
        }
        assert!(serde_json::from_str::<Value>("18446744073709551615").is_err());
    }

    #[test]
    fn foreign_objects_are_refused() {
        for json in [r#"{"tensor":-1}"#, r#"{"float":"nan"}"#, r#"{"x":1}"#, r#"{"tensor":1,"y":2}"#, "{}"] {
            assert!(serde_json::from_str::<Value>(json).is_err(), "{json}");
        }
    }
}
