#include "noted_state.h"

#include "loaded_program.h"
#include "model_state.h"
#include "workgroup.h"

namespace machine {

namespace {

constexpr uint32_t kKept = kScalars + 3;  // scalar registers
constexpr uint64_t kScalarRoom = 1024;
static_assert(kKept * 4 <= kScalarRoom);

// The i-th of the registers that the program names: vector ones, then accumulators.
uint32_t index_of(const Program& program, uint32_t i) {
    return i < program.vectors ? i : kFirstAccumulator + (i - program.vectors);
}

bool is_same(const Vector& a, const uint8_t* there) {
    Vector b;
    uint32_t differs = 0;
    memcpy(&b, there, sizeof b);
    for (int l = 0; l < kLanes; l++) differs |= a.lane[l] ^ b.lane[l];
    return !differs;
}

bool are_scalars_same(const Wave& wave) {
    uint32_t before[kKept], differs = 0;
    memcpy(before, wave.noted, sizeof before);
    for (uint32_t i = 0; i < kKept; i++) differs |= before[i] ^ wave.s[i];
    return !differs;
}

uint64_t digest_of(const uint8_t* data, uint64_t bytes) {
    uint64_t digest = bytes;
    for (uint64_t offset = 0; offset + 8 <= bytes; offset += 8) {
        uint64_t word;
        memcpy(&word, data + offset, 8);
        digest = (digest ^ word) * 0x9e3779b97f4a7c15ull;
        digest ^= digest >> 29;
    }
    return digest;
}

// A copy of private memory would be large: its digest is noted when the registers first come back.
bool is_scratch_same(Wave& wave) {
    if (!wave.scratch || !wave.group->scratch_bytes) return true;
    const uint64_t digest = digest_of(wave.scratch, wave.group->scratch_bytes * kLanes);
    const bool is_same = wave.knows_scratch && digest == wave.digest;
    wave.knows_scratch = true;
    wave.digest = digest;
    return is_same;
}

}  // namespace

void note_state(Wave& wave) {
    const Program& program = *wave.program;
    const uint32_t count = program.vectors + program.accumulators;
    if (!wave.noted) wave.noted = (uint8_t*)map_zeros(kScalarRoom + count * sizeof(Vector));
    memcpy(wave.noted, wave.s, kKept * sizeof wave.s[0]);
    for (uint32_t i = 0; i < count; i++)
        memcpy(wave.noted + kScalarRoom + i * sizeof(Vector), &wave.v[index_of(program, i)], sizeof(Vector));
    wave.differing = 0;
    wave.knows_scratch = false;
}

bool is_as_noted(Wave& wave) {
    const Program& program = *wave.program;
    const uint32_t count = program.vectors + program.accumulators;
    const auto is_register_same = [&](uint32_t i) {
        return is_same(wave.v[index_of(program, i)], wave.noted + kScalarRoom + i * sizeof(Vector));
    };
    if (!are_scalars_same(wave) || !is_register_same(wave.differing)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (is_register_same(i)) continue;
        wave.differing = i;  // a counter, most likely
        return false;
    }
    return is_scratch_same(wave);
}

}  // namespace machine
