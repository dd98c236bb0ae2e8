// Conversion between any two dtypes; of a dtype to itself, a copy of bits.

#include "common.cuh"

#define CONVERT(S, D) \
    KERNEL convert_##S##_##D(D* out, const S* in, u64 n) { each(convert<D, S>, n, out, in); } \
    KERNEL convert_##S##_##D##_strided(D* out, const S* in, const __grid_constant__ Walk walk) { \
        each(convert<D, S>, walk, out, in); \
    }

// A macro does not expand inside itself, so the targets of each source are written out.
#define CONVERT_FROM(S) \
    CONVERT(S, f32) CONVERT(S, f16) CONVERT(S, bf16) CONVERT(S, f64) CONVERT(S, i32) CONVERT(S, i64)

DTYPES(CONVERT_FROM)
