// Sums, in two steps: every block adds up its elements, then one block adds up what the blocks found.
//
// Which elements a thread adds, and in which order, follows from their number and the grid alone, neither from alignment
// nor from strides: the same elements have the same sum in every run and in every layout.

#include "common.cuh"

// The type in which a sum is built up; unsigned for integers, because only those may wrap.
template <class T> using Total = Compute<Wide<T>>;

template <class T> struct Contiguous {
    static constexpr unsigned N = PACK<T>;
    const T* in;
    bool packed = aligned<N>(in);

    __device__ T element(u64 i) const { return in[i]; }
    __device__ Pack<T, N> pack(u64 i) const {
        if (packed) return load<N>(in + i);
        Pack<T, N> pack;
        #pragma unroll
        for (unsigned k = 0; k < N; k++) pack.at[k] = in[i + k];
        return pack;
    }
};

template <class T> struct Strided {
    static constexpr unsigned N = PACK<T>;
    const T* in;
    const Walk& walk;

    __device__ T element(u64 i) const {
        const T* at = in;
        move<1>(walk, i, at);
        return *at;
    }
    __device__ Pack<T, N> pack(u64 i) const {
        Pack<T, N> pack;
        for (unsigned k = 0; k < N; k++) pack.at[k] = element(i + k);
        return pack;
    }
};

// The sum over the threads of a block, in thread 0. Halves are folded onto each other: always the same tree.
template <class A> __device__ A fold(A mine) {
    __shared__ A all[BLOCK];
    all[threadIdx.x] = mine;
    for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) all[threadIdx.x] += all[threadIdx.x + half];
    }
    return all[threadIdx.x];
}

template <class T, class From> __device__ void sum(Wide<T>* partial, From from, u64 n) {
    constexpr unsigned N = PACK<T>;
    const u64 packed = n / N * N;
    Total<T> total = 0;
    #pragma unroll 1
    for (u64 i = first() * N; i < packed; i += stride() * N) {
        Pack<T, N> pack = from.pack(i);
        #pragma unroll
        for (unsigned k = 0; k < N; k++) total += convert<Wide<T>>(pack.at[k]);
    }
    #pragma unroll 1
    for (u64 i = packed + first(); i < n; i += stride()) total += convert<Wide<T>>(from.element(i));
    total = fold(total);
    if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

template <class T, class R> __device__ void finish(R* out, const Wide<T>* partial, u64 blocks) {
    Total<T> total = 0;
    #pragma unroll 1
    for (u64 b = threadIdx.x; b < blocks; b += BLOCK) total += partial[b];
    total = fold(total);
    if (threadIdx.x == 0) *out = convert<R>((Wide<T>)total);
}

#define SUM(T) \
    KERNEL sum_##T(Wide<T>* partial, const T* in, u64 n) { sum<T>(partial, Contiguous<T>{in}, n); } \
    KERNEL sum_##T##_strided(Wide<T>* partial, const T* in, const __grid_constant__ Walk walk) { \
        sum<T>(partial, Strided<T>{in, walk}, walk.numel); \
    }

#define FINISH(T, R) \
    KERNEL finish_##T(R* out, const Wide<T>* partial, u64 blocks) { finish<T>(out, partial, blocks); }

DTYPES(SUM)
// Sums of integers are i64.
FINISH(f32, f32) FINISH(f16, f16) FINISH(bf16, bf16) FINISH(f64, f64) FINISH(i32, i64) FINISH(i64, i64)
