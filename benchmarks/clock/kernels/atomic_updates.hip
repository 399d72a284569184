#include <hip/hip_runtime.h>

// Updates of random elements of a table by atomic additions of system scope, as many a work-item. Its numbers come from
// Marsaglia's xorwow, as in the measured kernel, begun with five mixtures of the work-item's place.
__device__ unsigned mixed(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

extern "C" __global__ void atomic_updates(unsigned long long* table, unsigned long long* rounds, unsigned long size,
                                          unsigned long turns) {
    const unsigned item = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state[5], counter = 0;
#pragma unroll
    for (int i = 0; i < 5; i++) state[i] = mixed(5 * item + i + 1);
    for (unsigned long turn = 0; turn < turns; turn++) {
        const unsigned moved = state[0] ^ state[0] >> 2;
#pragma unroll
        for (int i = 0; i < 4; i++) state[i] = state[i + 1];
        state[4] = (state[4] ^ state[4] << 4) ^ (moved ^ moved << 1);
        counter += 362437;
        const unsigned long drawn = state[4] + counter;
        atomicAdd_system(table + drawn % size, 1ull);
        if (turn % 200 == 0) atomicAdd_system(rounds, 1ull);
    }
}
