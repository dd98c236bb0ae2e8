//! An array of whichever element type, and the choice of the expression that fits it.

use crate::element::Element;
use ndarray::{ArcArray, ArrayD, ArrayViewD, IxDyn};
use subject::{DType, Fail};

/// An array whose elements others may share, of any number of dimensions.
pub(crate) type Shared<T> = ArcArray<T, IxDyn>;

macro_rules! tensor {
    ($($variant:ident $type:ty),*) => {
        /// An array of one of the element types.
        pub(crate) enum Tensor {
            $($variant(Shared<$type>),)*
        }

        impl Tensor {
            /// The element type.
            pub(crate) fn dtype(&self) -> DType {
                match self { $(Tensor::$variant(_) => <$type>::DTYPE,)* }
            }
        }

        $(
            impl From<Shared<$type>> for Tensor {
                fn from(array: Shared<$type>) -> Tensor {
                    Tensor::$variant(array)
                }
            }

            impl From<ArrayD<$type>> for Tensor {
                fn from(array: ArrayD<$type>) -> Tensor {
                    Tensor::$variant(array.into_shared())
                }
            }

            impl<'a> TryFrom<&'a Tensor> for &'a Shared<$type> {
                type Error = Fail;

                fn try_from(tensor: &'a Tensor) -> Result<Self, Fail> {
                    match tensor {
                        Tensor::$variant(array) => Ok(array),
                        other => Err(mixed(<$type>::DTYPE, other.dtype())),
                    }
                }
            }
        )*
    };
}

tensor!(Bool bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F32 f32, F64 f64);

/// An expression over the array of a tensor, for these element types; unsupported for the others.
macro_rules! one_of {
    ([$($variant:ident),*] $tensor:expr, $array:ident => $do:expr) => {{
        use $crate::tensor::Tensor;
        match $tensor {
            $(Tensor::$variant($array) => $do,)*
            #[allow(unreachable_patterns, reason = "some lists are complete")]
            other => Err($crate::tensor::no_operator(other.dtype())),
        }
    }};
}

/// An expression over an array of any element type.
macro_rules! any {
    ($($rest:tt)*) => { $crate::tensor::one_of!([Bool, U8, I8, I16, I32, I64, F32, F64] $($rest)*) };
}

/// An expression over an array of numbers.
macro_rules! number {
    ($($rest:tt)*) => { $crate::tensor::one_of!([U8, I8, I16, I32, I64, F32, F64] $($rest)*) };
}

/// An expression over an array of numbers with a sign.
macro_rules! signed {
    ($($rest:tt)*) => { $crate::tensor::one_of!([I8, I16, I32, I64, F32, F64] $($rest)*) };
}

/// An expression with a type that stands for a dtype.
macro_rules! typed {
    ($dtype:expr, $type:ident => $do:expr) => {
        $crate::tensor::typed!(@ $dtype, $type => $do,
            Bool bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F32 f32, F64 f64)
    };
    (@ $dtype:expr, $type:ident => $do:expr, $($variant:ident $element:ty),*) => {
        match $dtype {
            $(DType::$variant => { type $type = $element; $do })*
            DType::F16 | DType::Bf16 => Err($crate::tensor::no_half($dtype)),
        }
    };
}

pub(crate) use {any, number, one_of, signed, typed};

/// The second operand of an array, of the same element type; unsupported where it has another.
pub(crate) fn like<'a, T>(_: &Shared<T>, other: &'a Tensor) -> Result<&'a Shared<T>, Fail>
where
    &'a Shared<T>: TryFrom<&'a Tensor, Error = Fail>,
{
    other.try_into()
}

/// The views of all parts of a whole, of the element type of the first.
pub(crate) fn views<'a, T>(first: &Shared<T>, parts: &[&'a Tensor]) -> Result<Vec<ArrayViewD<'a, T>>, Fail>
where
    &'a Shared<T>: TryFrom<&'a Tensor, Error = Fail>,
{
    parts.iter().map(|part| Ok(like(first, part)?.view())).collect()
}

/// What a dtype of 16-bit floats lacks.
pub(crate) fn no_half(dtype: DType) -> Fail {
    Fail::unsupported(format!("ndarray has no {dtype}: half's types are no ScalarOperand of ndarray"))
}

/// What an element type lacks whose operators Rust does not have.
pub(crate) fn no_operator(dtype: DType) -> Fail {
    Fail::unsupported(format!("ndarray computes with the operators of its elements, and Rust's {dtype} lacks this one"))
}

fn mixed(a: DType, b: DType) -> Fail {
    Fail::unsupported(format!("ndarray has no promotion: operands have one element type, found {a} and {b}"))
}
