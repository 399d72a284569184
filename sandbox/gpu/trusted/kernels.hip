/*+++
# The judge's own kernels. The plan only makes this a candidate like any other, so that it goes through the same
# compilers and the same lab; the judge launches the kernels itself.
[[launch]]
kernel = "trusted_sweep"
grid = ["1"]
block = ["64"]
lds = "0"
args = []
+++*/
#include <hip/hip_runtime.h>

typedef unsigned long long u64;

__device__ u64 mixed(u64 z) {  // SplitMix64, Steele, Lea and Flood 2014; layout.py computes the same
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

__device__ u64 draw(u64 seed, u64 index) { return mixed(seed + (index + 1) * 0x9E3779B97F4A7C15ull); }

__device__ u64 set_seed(u64 seed, u64 number) { return (draw(seed, number) & ~1ull) | ((seed ^ number) & 1); }

__device__ bool takes_b(u64 own, u64 block, int whole) { return ((whole ? own : draw(own, block)) & 1) != 0; }

// A base where no input lies: ones (NaN in every floating type) or noise.
extern "C" __global__ void trusted_noise(u64* base, long long words, u64 seed, int noisy) {
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += step)
        base[i] = noisy ? draw(seed, i) : ~0ull;
}

// Writes every set: each block of 16 bytes from one of the bases.
extern "C" __global__ void trusted_refresh(u64* arena, const u64* a, const u64* b, long long blocks, u64 seed, int whole) {
    u64 own = set_seed(seed, blockIdx.y);
    u64* set = arena + 2 * blocks * blockIdx.y;
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < blocks; i += step) {
        const u64* from = takes_b(own, i, whole) ? b : a;
        set[2 * i] = from[2 * i];
        set[2 * i + 1] = from[2 * i + 1];
    }
}

// The sum over a wave. Not through LDS: what a kernel leaves there must be there still for its next call to find.
__device__ u64 over_wave(u64 value) {
    for (int step = warpSize / 2; step > 0; step /= 2) value += __shfl_xor(value, step);
    return value;
}

// For every set: [0] how many blocks changed that may not, [1] a sum over the outputs that any change of a bit moves.
extern "C" __global__ void trusted_inspect(const u64* arena, const u64* a, const u64* b, const unsigned char* roles,
                                      long long blocks, u64 seed, int whole, u64* report) {
    u64 own = set_seed(seed, blockIdx.y);
    const u64* set = arena + 2 * blocks * blockIdx.y;
    long long step = (long long)gridDim.x * blockDim.x;
    u64 changed = 0, sum = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < blocks; i += step) {
        int role = roles[i];
        if (role == 1) {
            sum += mixed(set[2 * i] + draw(1, i)) + mixed(set[2 * i + 1] + draw(2, i));
        } else if (role == 0) {
            const u64* from = takes_b(own, i, whole) ? b : a;
            changed += set[2 * i] != from[2 * i] || set[2 * i + 1] != from[2 * i + 1];
        }
    }
    changed = over_wave(changed);
    sum = over_wave(sum);
    if (threadIdx.x % warpSize) return;
    if (changed) atomicAdd(&report[2 * blockIdx.y], changed);
    if (sum) atomicAdd(&report[2 * blockIdx.y + 1], sum);
}

// Reads everything, so that the caches hold clean lines of nothing that matters.
extern "C" __global__ void trusted_sweep(const u64* x, long long words, u64* out) {
    long long step = (long long)gridDim.x * blockDim.x;
    u64 sum = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += step) sum ^= x[i];
    if (sum == 0x123456789ABCDEFull) out[0] = sum;
}

// Each word of LDS becomes ones or noise, as the buffers' poison.
__device__ void overwrite(volatile u64* lds, int words, u64 seed) {
    for (int i = threadIdx.x; i < words; i += blockDim.x) {
        u64 drawn = draw(seed, i);
        lds[i] = drawn & 1 ? drawn : ~0ull;
    }
}

// Nothing of an earlier call is left in LDS. A block has as much of it as a block may, so that no more than belong there
// share a unit, and stays until all have come: then every unit has been reached. It does not wait for ever.
extern "C" __global__ void trusted_scrub(u64* arrived, u64 all, int words, u64 seed, int patience) {
    extern __shared__ u64 lds[];
    overwrite(lds, words, seed);
    __syncthreads();
    if (threadIdx.x) return;
    atomicAdd(arrived, 1ull);
    for (int i = 0; i < patience && atomicAdd(arrived, 0ull) < all; ++i) {}
}
