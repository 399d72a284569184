// The vector L1 of one compute unit, seen by one workgroup.
#pragma once
#include <stdint.h>
#include <string.h>

namespace machine {

// Least recently used, 16 sets. A line is filled part by part, by what is asked for.
struct LineCache {
    static constexpr uint32_t kSets = 16, kMaxWays = 128, kFew = 8;
    uint64_t tag[kSets][kMaxWays];
    uint32_t parts[kSets][kMaxWays], used[kSets][kMaxWays];  // used: the touch that a line saw last, 0 where none is
    uint32_t ways, touches;

    void clear(uint64_t lines) {
        ways = lines / kSets < 1 ? 1 : lines / kSets > kMaxWays ? kMaxWays : (uint32_t)(lines / kSets);
        touches = 0;
        memset(tag, 0xFF, sizeof tag);
        memset(used, 0, sizeof used);
    }
    // How many of the wanted parts were not there; now they are.
    uint32_t touch(uint64_t line, uint32_t wanted) {
        const uint32_t set = set_of(line);
        uint32_t way = way_of(tag[set], line);
        if (way == kMaxWays) {
            uint64_t least = ~0ull;
            for (uint32_t other = 0; other < ways; other++) {
                const uint64_t key = (uint64_t)used[set][other] << 32 | other;
                least = key < least ? key : least;
            }
            way = (uint32_t)least;
            tag[set][way] = line;
            parts[set][way] = 0;
        }
        const uint32_t had = parts[set][way];
        used[set][way] = ++touches;
        parts[set][way] = had | wanted;
        return (uint32_t)__builtin_popcount(wanted & ~had);
    }
    void forget(uint64_t line) {
        const uint32_t set = set_of(line), way = way_of(tag[set], line);
        if (way < kMaxWays) tag[set][way] = ~0ull, used[set][way] = 0;
    }

  private:
    // All bits of the line count, so that no power of two between lines leaves sets without any.
    static uint32_t set_of(uint64_t line) {
        for (int bits = 32; bits >= 4; bits /= 2) line ^= line >> bits;
        return (uint32_t)line % kSets;
    }
    uint32_t way_of(const uint64_t* tags, uint64_t line) const {
        using Tags = uint64_t __attribute__((ext_vector_type(kFew)));
        using Bools = bool __attribute__((ext_vector_type(kFew)));
        for (uint32_t first = 0; first < ways; first += kFew) {
            Tags some;
            memcpy(&some, tags + first, sizeof some);
            const uint8_t same = __builtin_bit_cast(uint8_t, __builtin_convertvector(some == line, Bools));
            if (same) return first + (uint32_t)__builtin_ctz(same);
        }
        return kMaxWays;
    }
};

}  // namespace machine
