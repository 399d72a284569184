// The wave instructions that lanes are still adding to. A lane may pass thousands before the next one begins, so each
// lane's addresses lie side by side, as they are written, and are turned when the instructions are settled.
#pragma once
#include <stdint.h>
#include <string.h>

#include "coalescing.h"
#include "joining.h"

namespace ks {

constexpr uint32_t kInstances = 1 << 17, kTile = 64;

struct InstanceHead {
    uint64_t mask;
    uint32_t site, size;
};

struct OpenInstances {
    // Of each tile of instances those of lane 0, then those of lane 1; apart, so that not all meet in one set of the L1.
    static constexpr uint32_t kPitch = kTile + 8, kTileWords = 64 * kPitch;
    static constexpr uint64_t kHeadBytes = sizeof(InstanceHead) * kInstances;
    static constexpr uint64_t kAddressBytes = 8ull * kTileWords * (kInstances / kTile);

    InstanceHead* head;  // in the order of their first lane
    uint64_t* address;
    uint32_t count;
    Instance list[kTile + kWindow];

    void add(uint32_t number, uint32_t lane, uint64_t at) {
        head[number].mask |= 1ull << lane;
        address[(uint64_t)(number / kTile) * kTileWords + lane * kPitch + number % kTile] = at;
    }
    // Joins neighbours, calls `settle` with each in order, those that were joined to another too, and empties the list.
    template <class Settle> void close(const uint32_t* access, bool global, Settle settle) {
        for (uint32_t taken = 0, have = 0; taken < count || have;) {
            const uint32_t fresh = count - taken < kTile ? count - taken : kTile;
            give(taken, fresh, list + have);
            taken += fresh, have += fresh;
            const uint32_t ready = taken < count ? have - kWindow : have;  // the rest may join with what follows
            join_neighbours(list, ready, have, access, global);
            for (uint32_t i = 0; i < ready; i++) settle(list[i]);
            have -= ready;
            memmove(list, list + ready, have * sizeof(Instance));
        }
        count = 0;
    }

  private:
    // Writes as many instances from this one on, the first of a tile, of which they are a part.
    void give(uint32_t first, uint32_t number, Instance* to) const {
        uint64_t lanes = 0;
        for (uint32_t i = 0; i < number; i++) {
            const InstanceHead& each = head[first + i];
            to[i].mask = each.mask, to[i].site = each.site, to[i].size = each.size;
            lanes |= each.mask;
        }
        const uint64_t* tile = address + (uint64_t)(first / kTile) * kTileWords;
        for (; lanes; lanes &= lanes - 1) {
            const int lane = __builtin_ctzll(lanes);
            for (uint32_t i = 0; i < number; i++) to[i].address[lane] = tile[lane * kPitch + i];
        }
    }
};

}  // namespace ks
