// The vector L1 of one compute unit, seen by one workgroup, and the set of lines a workgroup touches.
#pragma once
#include <stdint.h>
#include <string.h>

namespace machine {

// Least recently used, 16 sets. A line is filled part by part, by what is asked for.
struct LineCache {
    static constexpr uint32_t kSets = 16, kMaxWays = 128;
    uint64_t tag[kSets][kMaxWays];  // the last one used comes first
    uint32_t parts[kSets][kMaxWays];
    uint32_t ways;

    void clear(uint64_t lines) {
        ways = lines / kSets < 1 ? 1 : lines / kSets > kMaxWays ? kMaxWays : (uint32_t)(lines / kSets);
        memset(tag, 0xFF, sizeof tag);
    }
    // How many of the wanted parts were not there; now they are.
    uint32_t touch(uint64_t line, uint32_t wanted) {
        const uint32_t set = (uint32_t)(line ^ line >> 4 ^ line >> 9) % kSets;
        uint64_t* const tags = tag[set];
        uint32_t* const filled = parts[set];
        uint32_t way = 0;
        while (way < ways && tags[way] != line) way++;
        const uint32_t had = way < ways ? filled[way] : 0;
        for (way = way < ways ? way : ways - 1; way > 0; way--)
            tags[way] = tags[way - 1], filled[way] = filled[way - 1];
        tags[0] = line;
        filled[0] = had | wanted;
        return (uint32_t)__builtin_popcount(wanted & ~had);
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

}  // namespace machine
