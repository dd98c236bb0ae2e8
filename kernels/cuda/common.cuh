// What all device kernels share: dtypes, conversions, packs of 16 bytes, strided walks.
//
// CUDA C without includes: NVRTC compiles it with no toolkit at hand, and so there are no headers for floats of 16 bits.
// One PTX is for compute capability 7.5 and newer, which have instructions for f16; those for bf16 came later.

typedef unsigned long long u64;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;
struct f16 { unsigned short bits; };
struct bf16 { unsigned short bits; };

#define DTYPES(X) X(f32) X(f16) X(bf16) X(f64) X(i32) X(i64)

// Threads a block, in every launch: the tree of a sum is built for it.
enum : unsigned { BLOCK = 256 };

#define KERNEL extern "C" __global__ void __launch_bounds__(BLOCK)

// Compute: the type in which elements are added and multiplied, unsigned for integers, because only those may wrap.
// Wide: of numbers among a kernel's parameters, and of sums.
template <class T> struct Dtype;
template <> struct Dtype<f32> { typedef f32 Compute; typedef f64 Wide; };
template <> struct Dtype<f16> { typedef f32 Compute; typedef f64 Wide; };
template <> struct Dtype<bf16> { typedef f32 Compute; typedef f64 Wide; };
template <> struct Dtype<f64> { typedef f64 Compute; typedef f64 Wide; };
template <> struct Dtype<i32> { typedef unsigned Compute; typedef i64 Wide; };
template <> struct Dtype<i64> { typedef u64 Compute; typedef i64 Wide; };
template <class T> using Compute = typename Dtype<T>::Compute;
template <class T> using Wide = typename Dtype<T>::Wide;

template <class A, class B> constexpr bool same = false;
template <class A> constexpr bool same<A, A> = true;

// ---- Conversions ----

__device__ inline f16 to_f16(f32 x) { f16 y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); return y; }

// To nearest, ties to even. A NaN keeps its sign and upper bits and becomes quiet: rounded, it could become an infinity.
__device__ inline bf16 to_bf16(f32 x) {
    unsigned bits = __float_as_uint(x);
    if ((bits & 0x7fffffff) > 0x7f800000) return bf16{(unsigned short)(bits >> 16 | 0x40)};
    return bf16{(unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

__device__ inline f32 to_f32(f16 x) { f32 y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return y; }
__device__ inline f32 to_f32(bf16 x) { return __uint_as_float((unsigned)x.bits << 16); }

// Floats are rounded to nearest even, those of 16 bits by way of f32, as PyTorch does it. Between integers the upper bits
// fall away. From float to integer the fraction
// falls away; what does not fit becomes the nearest integer that does, as the instruction has it.
template <class D, class S> __device__ D convert(S x) {
    if constexpr (same<D, S>) return x;
    else if constexpr (same<S, f16> || same<S, bf16>) return convert<D>(to_f32(x));
    else if constexpr (same<D, f16>) return to_f16((f32)x);
    else if constexpr (same<D, bf16>) return to_bf16((f32)x);
    else return (D)x;
}

// ---- Contiguous elements ----

// A grid-stride loop runs from `first` in strides of `stride`, so that any grid covers any number of elements.
__device__ inline u64 first() { return (u64)blockIdx.x * BLOCK + threadIdx.x; }
__device__ inline u64 stride() { return (u64)gridDim.x * BLOCK; }

template <unsigned A, unsigned... MORE> constexpr unsigned widest = A > widest<MORE...> ? A : widest<MORE...>;
template <unsigned A> constexpr unsigned widest<A> = A;

// Elements that move in one instruction: 16 bytes of the widest operand.
template <class... T> constexpr unsigned PACK = 16 / widest<sizeof(T)...>;

template <unsigned BYTES> struct Words;
template <> struct Words<4> { typedef unsigned Type; };
template <> struct Words<8> { typedef u64 Type; };
template <> struct Words<16> { typedef uint4 Type; };

template <class T, unsigned N> union Pack {
    typename Words<sizeof(T) * N>::Type words;
    T at[N];
};

template <unsigned N, class T> __device__ bool aligned(const T* p) { return (u64)p % (sizeof(T) * N) == 0; }

template <unsigned N, class T> __device__ Pack<T, N> load(const T* p) {
    Pack<T, N> pack;
    pack.words = *(const typename Words<sizeof(T) * N>::Type*)p;
    return pack;
}

template <unsigned N, class T> __device__ void store(T* p, Pack<T, N> pack) {
    *(typename Words<sizeof(T) * N>::Type*)p = pack.words;
}

// Element `i` of `out` becomes `f` of the elements `i` of all inputs.
template <class F, class D, class... S> __device__ void each(F f, u64 n, D* out, const S*... in) {
    constexpr unsigned N = PACK<D, S...>;
    u64 done = 0;
    if ((aligned<N>(out) && ... && aligned<N>(in))) {
        done = n / N * N;
        #pragma unroll 1
        for (u64 i = first() * N; i < done; i += stride() * N) {
            auto pack = [f](Pack<S, N>... from) {
                Pack<D, N> to;
                #pragma unroll
                for (unsigned k = 0; k < N; k++) to.at[k] = f(from.at[k]...);
                return to;
            }(load<N>(in + i)...);
            store<N>(out + i, pack);
        }
    }
    #pragma unroll 1
    for (u64 i = done + first(); i < n; i += stride()) out[i] = f(in[i]...);
}

// ---- Strided elements ----

// Where the elements of up to three operands of one shape lie, in row-major order. Strides are in elements and may be 0
// or negative: [0] of the output, [1] and [2] of the inputs.
struct Walk {
    unsigned rank;
    unsigned padding;
    u64 numel;
    u64 size[8];
    i64 stride[3][8];
};
static_assert(sizeof(Walk) == 272, "the host has the same layout");

// Moves pointers from element 0 to element `i`; the first of them is operand `FIRST` of the walk.
template <unsigned FIRST, class... T> __device__ void move(const Walk& walk, u64 i, T*&... at) {
    #pragma unroll 1
    for (unsigned d = walk.rank; d-- > 0;) {
        i64 coordinate = i % walk.size[d];
        i /= walk.size[d];
        unsigned operand = FIRST;
        ((at += coordinate * walk.stride[operand++][d]), ...);
    }
}

template <class F, class D, class... S> __device__ void one(F f, const Walk& walk, u64 i, D* out, const S*... in) {
    move<0>(walk, i, out, in...);
    *out = f(*in...);
}

// Element `i` of `out` becomes `f` of the elements `i` of all inputs.
template <class F, class D, class... S> __device__ void each(F f, const Walk& walk, D* out, const S*... in) {
    for (u64 i = first(); i < walk.numel; i += stride()) one(f, walk, i, out, in...);
}
