// Fill, addition and multiplication, with a tensor or a number.

#include "common.cuh"

template <class T> __device__ T add(Compute<T> a, Compute<T> b) { return convert<T>(a + b); }
template <class T> __device__ T mul(Compute<T> a, Compute<T> b) { return convert<T>(a * b); }

// A number is converted once, to the type that it is used in.
template <class T> __device__ auto constant(Wide<T> value) {
    return [to = convert<T>(value)]() { return to; };
}

#define TWO(OP, T) [](T a, T b) { return OP<T>(convert<Compute<T>>(a), convert<Compute<T>>(b)); }
#define WITH_NUMBER(OP, T) \
    [number = convert<Compute<T>>(value)](T a) { return OP<T>(convert<Compute<T>>(a), number); }

#define OPERATION(OP, T) \
    KERNEL OP##_##T(T* out, const T* a, const T* b, u64 n) { each(TWO(OP, T), n, out, a, b); } \
    KERNEL OP##_scalar_##T(T* out, const T* a, u64 n, Wide<T> value) { each(WITH_NUMBER(OP, T), n, out, a); } \
    KERNEL OP##_##T##_strided(T* out, const T* a, const T* b, const __grid_constant__ Walk walk) { \
        each(TWO(OP, T), walk, out, a, b); \
    } \
    KERNEL OP##_scalar_##T##_strided(T* out, const T* a, const __grid_constant__ Walk walk, Wide<T> value) { \
        each(WITH_NUMBER(OP, T), walk, out, a); \
    }

#define ELEMENTWISE(T) \
    KERNEL fill_##T(T* out, u64 n, Wide<T> value) { each(constant<T>(value), n, out); } \
    KERNEL fill_##T##_strided(T* out, const __grid_constant__ Walk walk, Wide<T> value) { \
        each(constant<T>(value), walk, out); \
    } \
    OPERATION(add, T) \
    OPERATION(mul, T)

DTYPES(ELEMENTWISE)
