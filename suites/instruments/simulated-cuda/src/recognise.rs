//! The few kernels whose values are computed, known by their names.
//!
//! They are PyTorch's elementwise kernels over contiguous tensors, launched with a number of elements, a functor and
//! the addresses of the tensors, the result first.

/// The type of the elements, where it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    F32,
    F64,
    I32,
    I64,
}

/// What a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Computation {
    /// Every element becomes the functor's value, `width` bytes.
    Fill { width: usize },
    /// `first + alpha * second`; the functor is `alpha`.
    Add(Number),
    /// `first + alpha * other`; the functor is `other`, `alpha`.
    AddScalar(Number),
    /// `first * second`.
    Multiply(Number),
    /// `first * factor`; the functor is an empty function object, then `factor`.
    MultiplyScalar(Number),
}

const KERNELS: [&str; 5] = [
    "_ZN2at6native29vectorized_elementwise_kernelILi2ENS0_",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_",
    "_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_",
    "_ZN2at6native29vectorized_elementwise_kernelILi16ENS0_",
    "_ZN2at6native27unrolled_elementwise_kernelINS0_",
];

/// What a kernel computes, by its mangled name; nothing where its values are not computed here.
pub fn recognise(name: &str) -> Option<Computation> {
    let rest = KERNELS.iter().find_map(|kernel| name.strip_prefix(kernel))?;
    let (functor, rest) = rest.split_once("ESt5arrayIPcLm")?;
    let tensors = rest.chars().next()?;
    if rest.contains("OffsetCalculator") && !(rest.contains("LoadWithoutCast") && rest.contains("StoreWithoutCast")) {
        return None;
    }
    match tensors {
        '1' => fill(functor),
        '2' => scalar(functor),
        '3' => pair(functor),
        _ => None,
    }
}

/// Whether this is the kernel of `torch.cuda._sleep`, which only spins.
pub fn spins(name: &str) -> bool {
    name.starts_with("_ZN2at4cuda") && name.ends_with("11spin_kernelEl")
}

fn fill(functor: &str) -> Option<Computation> {
    let width = match functor.strip_prefix("11FillFunctorI")?.strip_suffix('E')? {
        "b" | "h" | "a" => 1,
        "s" | "t" | "N3c104HalfE" | "N3c108BFloat16E" => 2,
        "i" | "j" | "f" => 4,
        "l" | "m" | "d" => 8,
        _ => return None,
    };
    Some(Computation::Fill { width })
}

fn scalar(functor: &str) -> Option<Computation> {
    if let Some(name) = functor.strip_prefix("21CUDAFunctorOnSelf_addI") {
        return number(name.strip_suffix('E')?).map(Computation::AddScalar);
    }
    let name = functor.strip_prefix("13AUnaryFunctorI").or_else(|| functor.strip_prefix("13BUnaryFunctorI"))?;
    multiplied(name).map(Computation::MultiplyScalar)
}

fn pair(functor: &str) -> Option<Computation> {
    if let Some(name) = functor.strip_prefix("15CUDAFunctor_addI") {
        return number(name.strip_suffix('E')?).map(Computation::Add);
    }
    multiplied(functor.strip_prefix("13BinaryFunctorI")?).map(Computation::Multiply)
}

/// Result, both arguments and the multiplication must be of one type.
fn multiplied(arguments: &str) -> Option<Number> {
    let (types, rest) = arguments.split_once("NS0_15binary_internal10MulFunctorI")?;
    let kind = rest.strip_suffix("EEE")?;
    (types == kind.repeat(3)).then(|| number(kind)).flatten()
}

fn number(kind: &str) -> Option<Number> {
    match kind {
        "f" => Some(Number::F32),
        "d" => Some(Number::F64),
        "i" => Some(Number::I32),
        "l" => Some(Number::I64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Computation, Number, recognise, spins};

    fn vectorized(functor: &str, tensors: u32) -> Option<Computation> {
        let name = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_";
        recognise(&format!("{name}{functor}ESt5arrayIPcLm{tensors}EEEEviT0_T1_"))
    }

    #[test]
    fn fills_are_known_by_the_width_of_their_elements() {
        let widths = [("b", 1), ("N3c108BFloat16E", 2), ("f", 4), ("l", 8)];
        for (kind, width) in widths {
            assert_eq!(vectorized(&format!("11FillFunctorI{kind}E"), 1), Some(Computation::Fill { width }), "{kind}");
        }
        assert_eq!(vectorized("11FillFunctorIN3c107complexIfEEE", 1), None);
    }

    #[test]
    fn sums_and_products_of_one_type_are_known() {
        assert_eq!(vectorized("15CUDAFunctor_addIfE", 3), Some(Computation::Add(Number::F32)));
        assert_eq!(vectorized("21CUDAFunctorOnSelf_addIlE", 2), Some(Computation::AddScalar(Number::I64)));
        let product = |name: &str| format!("13{name}FunctorIdddNS0_15binary_internal10MulFunctorIdEEE");
        assert_eq!(vectorized(&product("Binary"), 3), Some(Computation::Multiply(Number::F64)));
        assert_eq!(vectorized(&product("AUnary"), 2), Some(Computation::MultiplyScalar(Number::F64)));
        assert_eq!(vectorized(&product("BUnary"), 2), Some(Computation::MultiplyScalar(Number::F64)));
        let mixed = "13BinaryFunctorIN3c104HalfES3_S3_NS0_15binary_internal10MulFunctorIfEEE";
        assert_eq!(vectorized(mixed, 3), None);
    }

    #[test]
    fn the_kernel_that_spins_is_known_in_whatever_namespace_it_stands() {
        assert!(spins("_ZN2at4cuda40_GLOBAL__N__b51f33dc_8_Sleep_cu_088d913f11spin_kernelEl"));
        assert!(!spins("_ZN2at4cuda40_GLOBAL__N__b51f33dc_8_Sleep_cu_088d913f11spun_kernelEl"));
    }

    #[test]
    fn kernels_that_convert_or_stride_are_not_known() {
        let unrolled = |load: &str| {
            let name = "_ZN2at6native27unrolled_elementwise_kernelINS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EELi4E";
            recognise(&format!("{name}23TrivialOffsetCalculatorILi2EjES7_ILi1EjENS0_6memory{load}EEEviT_T0_T2_"))
        };
        assert_eq!(unrolled("15LoadWithoutCastENSA_16StoreWithoutCastE"), Some(Computation::Add(Number::F32)));
        assert_eq!(unrolled("12LoadWithCastILi2EEENSA_13StoreWithCastILi1EEE"), None);
        let strided =
            "_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastINS0_11FillFunctorIfEEEE";
        assert_eq!(recognise(strided), None);
    }
}
