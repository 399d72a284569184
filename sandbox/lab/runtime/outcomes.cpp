#include "outcomes.h"

namespace ks {

namespace {
constexpr uint32_t kRows = 1 << 15;  // of a program, as executor_result.py expects
constexpr uint32_t kEach = 2048;     // of one outcome of one comparison

struct Row {
    uint32_t number, truth;
    uint64_t left, right, places[4];
};

Row g_rows[kRows];
uint32_t g_count;
uint32_t g_each[2 * kConditions];
}  // namespace

extern "C" uint8_t ks_outcomes[2 * kConditions] = {};

extern "C" void ks_compared(uint32_t number, uint32_t truth, uint64_t left, uint64_t right, uint64_t a, uint64_t b,
                            uint64_t c, uint64_t d) {
    uint32_t& each = g_each[2 * (number % kConditions) + (truth & 1)];
    if (__atomic_load_n(&each, __ATOMIC_RELAXED) >= kEach) return;
    if (__atomic_fetch_add(&each, 1, __ATOMIC_RELAXED) >= kEach) return;
    uint32_t at = __atomic_fetch_add(&g_count, 1, __ATOMIC_RELAXED);
    if (at < kRows) g_rows[at] = {number % kConditions, truth & 1, left, right, {a, b, c, d}};
}

void write_outcomes(FILE* out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < kConditions; i++)
        if (ks_outcomes[2 * i] | ks_outcomes[2 * i + 1]) count = i + 1;
    for (uint32_t i = 0; i < count; i++)
        fputc('0' + (ks_outcomes[2 * i] ? 1 : 0) + (ks_outcomes[2 * i + 1] ? 2 : 0), out);
}

void write_compared(FILE* out) {
    uint32_t count = g_count < kRows ? g_count : kRows;
    for (uint32_t i = 0; i < count; i++) {
        const Row& row = g_rows[i];
        fprintf(out, "%s[%u,%u,%llu,%llu", i ? "," : "", row.number, row.truth, (unsigned long long)row.left,
                (unsigned long long)row.right);
        for (uint64_t place : row.places) fprintf(out, ",%llu", (unsigned long long)place);
        fputc(']', out);
    }
}

}  // namespace ks
