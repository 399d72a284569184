/*+++
[[launch]]
kernel = "rms_norm"
grid = ["ceil_div(rows, max(1, BLOCK // min(512, 32 * ceil_div(cols + 7 * (cols % 8 > 0), 256 * LOADS))))"]
block = ["min(512, 32 * ceil_div(cols + 7 * (cols % 8 > 0), 256 * LOADS))", "max(1, BLOCK // min(512, 32 * ceil_div(cols + 7 * (cols % 8 > 0), 256 * LOADS)))"]
args = ["x", "w", "y", "rows", "cols", "eps"]

[tunables]
LOADS = [4, 2, 8]           # packs of 16 bytes that a lane keeps of its row: a row of 1024 has one warp, of 16384 sixteen
BLOCK = [64, 128, 256, 512] # lanes a block should have where rows are short
HOLDS = [2, 3, 4]           # blocks of 512 lanes a multiprocessor holds: bounds the registers
EARLY = [1, 0]              # weights are fetched before the sums meet
CACHE = [0, 3, 1, 2]        # 1: rows are read past the caches, 2: and written so
+++*/
#include <hip/hip_runtime.h>

// As many warps a row as keep it in their registers: memory sees it once, in whole 16-byte packs wherever it starts.
typedef unsigned int Pack __attribute__((ext_vector_type(4)));  // eight bf16

__device__ __forceinline__ float low(unsigned word) { return __builtin_bit_cast(float, word << 16); }
__device__ __forceinline__ float high(unsigned word) { return __builtin_bit_cast(float, word & 0xffff0000u); }

__device__ __forceinline__ unsigned narrow(float value) {  // to nearest, ties to even
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}

__device__ __forceinline__ unsigned narrow2(float first, float second) {
#ifdef __HIP_PLATFORM_NVIDIA__
    unsigned word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
    return word;
#else
    return narrow(first) | narrow(second) << 16;
#endif
}

__device__ __forceinline__ Pack read(const Pack* from) {
#if CACHE % 2
    return __builtin_nontemporal_load(from);
#else
    return *from;
#endif
}

__device__ __forceinline__ void write(Pack value, Pack* to) {
#if CACHE / 2
    __builtin_nontemporal_store(value, to);
#else
    *to = value;
#endif
}

__device__ __forceinline__ float squares(Pack v) {
    float sum = 0.0f;
#pragma unroll
    for (int e = 0; e < 4; ++e) sum += low(v[e]) * low(v[e]) + high(v[e]) * high(v[e]);
    return sum;
}

// Elements first to last - 1 of a pack one by one: at the ends of rows and buffers only.
__device__ __forceinline__ Pack some(const unsigned short* from, int first, int last) {
    unsigned long long half[2] = {0, 0};
#pragma unroll 1
    for (int e = first; e < last; ++e) {
        const unsigned long long bits = (unsigned long long)from[e] << 16 * (e & 3);
        half[0] |= e < 4 ? bits : 0;
        half[1] |= e < 4 ? 0 : bits;
    }
    return Pack{(unsigned)half[0], (unsigned)(half[0] >> 32), (unsigned)half[1], (unsigned)(half[1] >> 32)};
}

// The pack of w whose first element is 8 q; zeros beyond both ends.
__device__ __forceinline__ Pack aligned_weights(const unsigned short* w, int q, int cols) {
    if (q < 0) return Pack{0, 0, 0, 0};
    return 8 * q + 8 <= cols ? *(const Pack*)(w + 8 * q) : some(w + 8 * q, 0, cols - 8 * q);
}

// Weights 8 p - shift and the next seven: out of two aligned packs, moved by whole words and then by half a word.
template <bool ALIGNED> __device__ __forceinline__ Pack weights(const unsigned short* w, int p, int shift, int cols) {
    if (ALIGNED) return *(const Pack*)(w + 8 * p);
    const Pack right = aligned_weights(w, p, cols);
    if (shift == 0) return right;
    const Pack left = aligned_weights(w, p - 1, cols);
    const int by = 8 - shift;
    unsigned word[8] = {left[0], left[1], left[2], left[3], right[0], right[1], right[2], right[3]};
    if (by & 4) {
#pragma unroll
        for (int i = 0; i < 6; ++i) word[i] = word[i + 2];
    }
    if (by & 2) {
#pragma unroll
        for (int i = 0; i < 5; ++i) word[i] = word[i + 1];
    }
    Pack result = {word[0], word[1], word[2], word[3]};
    if (by & 1) {
#pragma unroll
        for (int i = 0; i < 4; ++i) result[i] = word[i] >> 16 | word[i + 1] << 16;
    }
    return result;
}

// One row in packs of 16 bytes at aligned addresses: unless rows are ALIGNED, the first and the last reach into others.
template <bool ALIGNED> struct Row {
    const unsigned short* x;
    unsigned short* y;
    int shift, packs, cols;

    __device__ __forceinline__ Row(const unsigned short* of_x, unsigned short* of_y, int row, int of_cols) {
        const long start = (long)row * of_cols;
        shift = ALIGNED ? 0 : (int)(start & 7);
        x = of_x + (start - shift);
        y = of_y + (start - shift);
        cols = of_cols;
        packs = (shift + cols + 7) / 8;
    }

    __device__ __forceinline__ bool whole(int p) const {
        return ALIGNED || (8 * p >= shift && 8 * p + 8 <= shift + cols);
    }

    // Elements of other rows become zeros.
    __device__ __forceinline__ Pack load(int p) const {
        if (whole(p)) return read((const Pack*)x + p);
        return some(x + 8 * p, max(shift - 8 * p, 0), min(shift + cols - 8 * p, 8));
    }

    __device__ __forceinline__ void store(int p, Pack v, Pack w, float scale) const {
        Pack result;
#pragma unroll
        for (int e = 0; e < 4; ++e)
            result[e] = narrow2(low(v[e]) * scale * low(w[e]), high(v[e]) * scale * high(w[e]));
        if (whole(p)) {
            write(result, (Pack*)y + p);
            return;
        }
        const int last = min(shift + cols - 8 * p, 8);
#pragma unroll 1
        for (int e = max(shift - 8 * p, 0); e < last; ++e) {
            const unsigned word = e < 4 ? (e < 2 ? result[0] : result[1]) : (e < 6 ? result[2] : result[3]);
            y[8 * p + e] = (unsigned short)(word >> 16 * (e % 2));
        }
    }
};

// One sum for each row of the block; a row's lanes are whole warps.
__device__ __forceinline__ float sum_over_row(float value, float (&partial)[64]) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor(value, step);
    const int warps = blockDim.x / 32;
    if (warps == 1) return value;
    float* mine = partial + threadIdx.y * warps;
    if (threadIdx.x % 32 == 0) mine[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x % 32 < warps ? mine[threadIdx.x % 32] : 0.0f;
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor(value, step);
    return value;
}

template <bool ALIGNED>
__device__ __forceinline__ void normalise(const unsigned short* __restrict__ x, const unsigned short* __restrict__ w,
                                          unsigned short* __restrict__ y, int rows, int cols, float eps) {
    __shared__ float partial[64];
    const int lane = threadIdx.x, lanes = blockDim.x;
    const int place = blockIdx.x * blockDim.y + threadIdx.y;
    const bool present = place < rows;
    const Row<ALIGNED> row(x, y, min(place, rows - 1), cols);

    Pack kept[LOADS], weight[LOADS];
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        kept[i] = Pack{0, 0, 0, 0};
        if (lane + i * lanes < row.packs) kept[i] = row.load(lane + i * lanes);
    }
    if (ALIGNED && EARLY) {  // the others need the registers
#pragma unroll
        for (int i = 0; i < LOADS; ++i)
            if (lane + i * lanes < row.packs) weight[i] = weights<ALIGNED>(w, lane + i * lanes, row.shift, cols);
    }
#pragma unroll
    for (int i = 0; i < LOADS; ++i) sum += squares(kept[i]);
    for (int p = lane + LOADS * lanes; p < row.packs; p += lanes) sum += squares(row.load(p));
    const float scale = 1.0f / sqrtf(sum_over_row(sum, partial) / cols + eps);
    if (!present) return;

#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        const int p = lane + i * lanes;
        if (p >= row.packs) continue;
        if (!ALIGNED || !EARLY) weight[i] = weights<ALIGNED>(w, p, row.shift, cols);
        row.store(p, kept[i], weight[i], scale);
    }
    for (int p = lane + LOADS * lanes; p < row.packs; p += lanes)
        row.store(p, row.load(p), weights<ALIGNED>(w, p, row.shift, cols), scale);
}

extern "C" __global__ __launch_bounds__(512, HOLDS) void rms_norm(
    const unsigned short* __restrict__ x, const unsigned short* __restrict__ w, unsigned short* __restrict__ y,
    int rows, int cols, float eps) {
    if (cols % 8 == 0) {
        normalise<true>(x, w, y, rows, cols, eps);
    } else {
        normalise<false>(x, w, y, rows, cols, eps);
    }
}
