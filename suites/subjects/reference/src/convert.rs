//! The engine's types and the protocol's, one for one.

use kernels::ErrorKind;
use subject::Fail;

/// Turns a result of the engine into an answer of the protocol.
pub(crate) trait Answer<T> {
    fn answer(self) -> Result<T, Fail>;
}

impl<T> Answer<T> for kernels::Result<T> {
    fn answer(self) -> Result<T, Fail> {
        self.map_err(|error| {
            if error.kind == ErrorKind::Unsupported {
                return Fail::unsupported(error.message);
            }
            let kind = match error.kind {
                // The protocol has no kind of its own for arguments whose value makes no sense.
                ErrorKind::Value => "other",
                kind => kind.name(),
            };
            Fail::error(kind, error.message)
        })
    }
}

macro_rules! dtypes {
    ($($name:ident),*) => {
        /// The engine's dtype.
        pub(crate) fn dtype_to(dtype: subject::DType) -> kernels::DType {
            match dtype { $(subject::DType::$name => kernels::DType::$name),* }
        }

        /// The protocol's dtype.
        pub(crate) fn dtype_from(dtype: kernels::DType) -> subject::DType {
            match dtype { $(kernels::DType::$name => subject::DType::$name),* }
        }
    };
}

dtypes!(Bool, U8, I8, I16, I32, I64, F16, Bf16, F32, F64);

macro_rules! scalars {
    ($($variant:ident),*) => {
        /// The engine's number.
        pub(crate) fn scalar_to(scalar: subject::Scalar) -> kernels::Scalar {
            match scalar { $(subject::Scalar::$variant(value) => kernels::Scalar::$variant(value)),* }
        }

        /// The protocol's number.
        pub(crate) fn scalar_from(scalar: kernels::Scalar) -> subject::Scalar {
            match scalar { $(kernels::Scalar::$variant(value) => subject::Scalar::$variant(value)),* }
        }
    };
}

scalars!(Bool, Int, Float);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dtypes_keep_their_names_and_sizes() {
        for dtype in subject::DType::ALL {
            let engine = dtype_to(dtype);
            assert_eq!(engine.name(), dtype.name());
            assert_eq!(engine.element_size() as i64, dtype.size());
            assert_eq!(dtype_from(engine), dtype);
        }
    }
}
