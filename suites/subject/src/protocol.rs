//! The wire: one JSON object a line each way, one reply a request.

use crate::{Checksum, Fail, Handle, Op, Program, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the runner asks.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "ask", content = "with", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Who are you? Answered by [`Reply::Hello`].
    Hello {},
    /// One op. Answered by [`Reply::Value`].
    Call(Op),
    /// A piece of Python, for subjects of that language. Answered by [`Reply::Value`].
    Python {
        /// An expression, or statements that leave their answer in the variable `answer`.
        source: String,
        /// Tensors that the source sees under these names.
        names: BTreeMap<String, Handle>,
    },
    /// Forget a tensor. Answered by [`Reply::Value`] with nothing in it.
    Drop {
        /// Which one.
        handle: Handle,
    },
    /// Forget all tensors and programs and restore defaults. Answered by [`Reply::Value`] with nothing in it.
    Reset {},
    /// Make a program ready and run its setup. Answered by [`Reply::Prepared`].
    Prepare(Program),
    /// Run the body of a program once. Answered by [`Reply::Value`] with nothing in it. The runner reads the heap ledger before and after.
    Account {
        /// Which program.
        program: u64,
    },
    /// Run the body in a timed loop. Answered by [`Reply::Sample`].
    Measure {
        /// Which program.
        program: u64,
        /// How often the body runs.
        iterations: u64,
    },
    /// Run the body once more, outside any clock, and describe its result. Answered by [`Reply::Checksum`].
    Checksum {
        /// Which program.
        program: u64,
    },
}

/// What the subject answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Reply {
    /// Who the subject is.
    Hello(Hello),
    /// The value of an op or of a piece of Python.
    Value(Value),
    /// The library refused.
    Error {
        /// The kind of refusal.
        kind: String,
        /// The library's own words.
        message: String,
    },
    /// The library lacks the API that the text names.
    Unsupported(String),
    /// The program is ready under this number.
    Prepared {
        /// The number.
        program: u64,
    },
    /// How long the loop took.
    Sample {
        /// Nanoseconds of the whole loop, by the clock that the program names.
        nanoseconds: u64,
    },
    /// What the result of a program is.
    Checksum(Checksum),
}

/// Who a subject is. The version is the proof that it is built and runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The library's name.
    pub name: String,
    /// The library's version.
    pub version: String,
    /// The language that the subject is written in, with its version where it matters (`python 3.11.7`).
    pub language: String,
    /// How the subject was built.
    pub build: Build,
    /// The devices it can run on.
    pub devices: Vec<String>,
}

/// How a subject was built. A debug build is refused for `measure`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Build {
    /// Without optimisation.
    Debug,
    /// Optimised.
    Release,
    /// Run by an interpreter over a library as its makers ship it.
    Shipped,
}

impl From<Fail> for Reply {
    fn from(fail: Fail) -> Self {
        match fail {
            Fail::Unsupported(what) => Reply::Unsupported(what),
            Fail::Error { kind, message } => Reply::Error { kind, message },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    #[test]
    fn requests_are_tagged_and_refuse_what_they_do_not_know() {
        let call = Request::Call(Op::AddScalar_ { a: Handle(3), value: 5.0.into() });
        let json = serde_json::to_string(&call).unwrap();
        assert_eq!(json, r#"{"ask":"call","with":{"op":"add_scalar_","args":{"a":3,"value":5.0}}}"#);
        let ones = Op::Ones { shape: vec![3, 3], dtype: DType::F32 };
        assert_eq!(ones.torch(), "torch.ones([3, 3], dtype=torch.float32)");
        for bad in [
            r#"{"ask":"call","with":{"op":"add_scalar_","args":{"a":3,"value":5.0,"b":1}}}"#,
            r#"{"ask":"call","with":{"op":"no_such_op","args":{}}}"#,
            r#"{"ask":"hello","with":{},"more":1}"#,
            r#"{"ask":"measure","with":{"program":1}}"#,
        ] {
            assert!(serde_json::from_str::<Request>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_name_of_every_op_is_its_tag() {
        let schema = serde_json::to_string(&schemars::schema_for!(Op)).unwrap();
        for op in crate::OPS {
            assert!(schema.contains(&format!("\"const\":\"{}\"", op.name)), "{}", op.name);
        }
    }
}
