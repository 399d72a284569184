// The vector L1 of one compute unit, seen by one workgroup, and the set of lines a workgroup touches.
#pragma once
#include <stdint.h>
#include <string.h>

namespace ks {

// Least recently used, 16 sets. A line is filled part by part, by what is asked for.
struct LineCache {
    static constexpr uint32_t kSets = 16, kMaxWays = 128;
    uint64_t tag[kSets][kMaxWays];
    uint64_t used[kSets][kMaxWays];
    uint32_t parts[kSets][kMaxWays];
    uint64_t clock;
    uint32_t ways;

    void clear(uint64_t lines) {
        ways = lines / kSets < 1 ? 1 : lines / kSets > kMaxWays ? kMaxWays : (uint32_t)(lines / kSets);
        memset(tag, 0xFF, sizeof tag);
        memset(used, 0, sizeof used);
        clock = 0;
    }
    // How many of the wanted parts were not there; now they are.
    uint32_t touch(uint64_t line, uint32_t wanted) {
        uint32_t set = (uint32_t)(line ^ line >> 4 ^ line >> 9) % kSets, oldest = 0;
        clock++;
        for (uint32_t way = 0; way < ways; way++) {
            if (tag[set][way] == line) {
                used[set][way] = clock;
                uint32_t missing = wanted & ~parts[set][way];
                parts[set][way] |= wanted;
                return (uint32_t)__builtin_popcount(missing);
            }
            if (used[set][way] < used[set][oldest]) oldest = way;
        }
        tag[set][oldest] = line;
        used[set][oldest] = clock;
        parts[set][oldest] = wanted;
        return (uint32_t)__builtin_popcount(wanted);
    }
};

// A set of 64-bit keys that is emptied often; a full one counts every further key as new.
struct KeySet {
    static constexpr uint32_t kSlots = 1 << 18;
    uint64_t* slot = nullptr;
    uint32_t* touched = nullptr;
    uint32_t count = 0;

    bool insert(uint64_t key) {
        uint64_t at = (key * 0x9E3779B97F4A7C15ull) >> 46;
        while (slot[at] && slot[at] != key + 1) at = (at + 1) % kSlots;
        if (slot[at]) return false;
        if (count < kSlots * 3 / 4) {
            slot[at] = key + 1;
            touched[count++] = (uint32_t)at;
        }
        return true;
    }
    void clear() {
        for (uint32_t i = 0; i < count; i++) slot[touched[i]] = 0;
        count = 0;
    }
};

}  // namespace ks
