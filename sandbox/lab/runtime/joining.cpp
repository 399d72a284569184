#include "joining.h"

#include "trace.h"

namespace ks {

constexpr uint32_t kWidest = 16;  // bytes a lane

// True when every lane of `part` stands `distance` bytes behind the same lane of `first`.
static bool stands_behind(const Instance& first, const Instance& part, int64_t distance) {
    if (part.mask != first.mask || part.size != first.size) return false;
    for (uint64_t rest = first.mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctzll(rest);
        if ((int64_t)(part.address[lane] - first.address[lane]) != distance) return false;
    }
    return true;
}

static bool aligned(const Instance& instance, int64_t shift, uint64_t unit) {
    for (uint64_t rest = instance.mask; rest; rest &= rest - 1)
        if ((instance.address[__builtin_ctzll(rest)] + shift) % unit) return false;
    return true;
}

// Looks for the parts that with `first` make up `wide` bytes from `shift` bytes before it; gives their number.
static uint32_t find_parts(Instance* list, uint32_t at, uint32_t count, const uint32_t* access, uint32_t wide,
                           int64_t shift, uint32_t* part) {
    const Instance& first = list[at];
    uint32_t wanted = wide / first.size - 1, found = 0;
    uint64_t have = 0;
    int lane = __builtin_ctzll(first.mask);
    for (uint32_t i = at + 1; i < count && i - at < kWindow && found < wanted; i++) {
        const Instance& other = list[i];
        if (!other.mask || access[other.site] != access[first.site] || other.size != first.size) {
            if (other.mask && access[first.site] == kStore && access[other.site] == kLoad) break;
            continue;
        }
        if (!(other.mask >> lane & 1)) continue;
        int64_t distance = (int64_t)(other.address[lane] - first.address[lane]), place = distance + shift;
        if (distance == 0 || place < 0 || place >= (int64_t)wide || place % first.size) continue;
        if (have >> place & 1 || !stands_behind(first, other, distance)) continue;
        have |= 1ull << place;
        part[found++] = i;
    }
    return found == wanted ? found : 0;
}

void join_neighbours(Instance* list, uint32_t ready, uint32_t count, const uint32_t* access, bool global) {
    for (uint32_t at = 0; at < ready; at++) {
        Instance& first = list[at];
        uint32_t kind = first.mask ? access[first.site] : kAtomic;
        bool known = kind == kLdsLoad || kind == kLdsStore || (global && (kind == kLoad || kind == kStore));
        if (!known || first.size >= kWidest || (first.size & (first.size - 1))) continue;
        bool joined = false;
        for (uint32_t wide = kWidest; wide > first.size && !joined; wide /= 2) {
            for (int64_t shift = 0; shift < (int64_t)wide && !joined; shift += first.size) {
                uint32_t part[16];
                if (!aligned(first, -shift, wide)) continue;
                uint32_t parts = find_parts(list, at, count, access, wide, shift, part);
                for (uint32_t i = 0; i < parts; i++) list[part[i]].mask = 0;
                if (!parts) continue;
                for (uint64_t rest = first.mask; rest; rest &= rest - 1) first.address[__builtin_ctzll(rest)] -= shift;
                first.size = wide;
                joined = true;
            }
        }
    }
}

}  // namespace ks
