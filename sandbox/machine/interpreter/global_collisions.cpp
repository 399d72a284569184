// What the lanes of one instruction touch together.
#include <string.h>

#include "global_shadow.h"

namespace machine {

namespace {

constexpr uint32_t kSlots = 256;

// The bytes that lanes store, by word: the first lane that stores there.
struct Slots {
    uint64_t word[kSlots];
    uint8_t lane[kSlots];
    bool is_used[kSlots];
};

bool differ(const WaveAccess& access, const uint64_t* offset, uint32_t a, uint32_t b) {
    const uint64_t low = offset[a] > offset[b] ? offset[a] : offset[b];
    const uint64_t end = (offset[a] < offset[b] ? offset[a] : offset[b]) + access.bytes;
    for (uint64_t at = low; at < end; at++)
        if (byte_of(access, a, (uint32_t)(at - offset[a])) != byte_of(access, b, (uint32_t)(at - offset[b])))
            return true;
    return false;
}

bool is_rising(const WaveAccess& access, const uint64_t* offset) {
    uint64_t next = 0;
    bool is_so = true;
    for (uint64_t rest = access.lanes; rest; rest &= rest - 1) {
        const uint64_t at = offset[__builtin_ctzll(rest)];
        is_so &= at >= next;
        next = at + access.bytes;
    }
    return is_so;
}

bool report_lanes(MemoryModel& model, Wave& wave, const WaveAccess& access, const uint64_t* offset, uint32_t lane,
                  uint32_t other) {
    Conflict conflict = conflict_here(model, wave, access, lane, offset[lane], true);
    conflict.hazard = kWriteAfterWrite;
    conflict.relation = kSameInstruction;
    conflict.other_place = wave.at;
    conflict.other_lane = other;
    conflict.other_wave = wave.number;
    return report_conflict(model, wave, conflict);
}

}  // namespace

bool check_lanes(MemoryModel& model, Wave& wave, const WaveAccess& access, const uint64_t* offset) {
    if (!access.data || access.bytes > 16 || is_rising(access, offset)) return true;
    Slots slots;
    memset(slots.is_used, 0, sizeof slots.is_used);
    for (uint64_t rest = access.lanes; rest; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        for (uint64_t word = offset[lane] / 4; word * 4 < offset[lane] + access.bytes; word++) {
            uint32_t slot = (uint32_t)(word * 0x9E3779B97F4A7C15ull >> 56);
            // Parts of a word may be of several lanes: all of those are compared with.
            for (uint32_t i = 0; i < kSlots && slots.is_used[slot]; i++, slot = (slot + 1) % kSlots)
                if (slots.word[slot] == word && differ(access, offset, slots.lane[slot], lane))
                    return report_lanes(model, wave, access, offset, lane, slots.lane[slot]);
            if (slots.is_used[slot]) continue;
            slots.is_used[slot] = true;
            slots.word[slot] = word;
            slots.lane[slot] = (uint8_t)lane;
        }
    }
    return true;
}

}  // namespace machine
