#include "dense.h"

#include "elements.h"

namespace ks {

// Rows whose sums are kept at once: as many as there are registers for.
template <uint32_t M> constexpr uint32_t kRows = M == 32 ? 2 : 4;

// Lane l holds row or column l % M of A and B, and there the elements n * (l / M) to n * (l / M) + n - 1 along k.
template <uint32_t M, uint32_t K> static void multiply(Wave& wave, const Shape& s) {
    constexpr uint32_t n = M * K / 64, results = M * M / 64;
    alignas(64) float a[M * K], b[K * M], d[M * M], column[n];
    for (uint32_t l = 0; l < 64; l++) {
        const Lane& lane = wave.lane[l];
        const uint32_t row = l % M, first = n * (l / M);
        decode(a + row * K + first, (const uint8_t*)lane.pa, s.type_a, n);
        decode(column, (const uint8_t*)lane.pb, s.type_b, n);
        for (uint32_t e = 0; e < n; e++) b[(first + e) * M + row] = column[e];
    }
    for (uint32_t i = 0; i < M; i += kRows<M>) {
        alignas(64) float sum[kRows<M>][M] = {};
        for (uint32_t k = 0; k < K; k++)
            for (uint32_t r = 0; r < kRows<M>; r++)
                for (uint32_t j = 0; j < M; j++) sum[r][j] += a[(i + r) * K + k] * b[k * M + j];
        for (uint32_t r = 0; r < kRows<M>; r++)
            for (uint32_t j = 0; j < M; j++) d[(i + r) * M + j] = sum[r][j];
    }
    for (uint32_t l = 0; l < 64; l++) {
        float* to = (float*)wave.lane[l].pd;
        for (uint32_t r = 0; r < results; r++) to[r] += d[(8 * (r / 4) + 4 * (l / M) + r % 4) * M + l % M];
    }
}

bool multiply_dense(Wave& wave, const Shape& s) {
    if (s.sparse || s.blocks != 1) return false;
    switch (s.m << 8 | s.k) {
    case 32 << 8 | 2:
        return multiply<32, 2>(wave, s), true;
    case 32 << 8 | 4:
        return multiply<32, 4>(wave, s), true;
    case 32 << 8 | 8:
        return multiply<32, 8>(wave, s), true;
    case 32 << 8 | 16:
        return multiply<32, 16>(wave, s), true;
    case 16 << 8 | 4:
        return multiply<16, 4>(wave, s), true;
    case 16 << 8 | 8:
        return multiply<16, 8>(wave, s), true;
    case 16 << 8 | 16:
        return multiply<16, 16>(wave, s), true;
    case 16 << 8 | 32:
        return multiply<16, 32>(wave, s), true;
    }
    return false;
}

}  // namespace ks
