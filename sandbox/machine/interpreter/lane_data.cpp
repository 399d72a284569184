#include "lane_data.h"

namespace machine {

namespace {

// Whether all of these bytes are 1.
bool is_written(const uint8_t* written, uint64_t count) {
    constexpr uint64_t kOnes = 0x0101010101010101ull;
    uint64_t all = kOnes;
    for (; count >= 8; count -= 8, written += 8) {
        uint64_t word;
        memcpy(&word, written, 8);
        all &= word;
    }
    uint64_t rest = kOnes;
    memcpy(&rest, written, count);
    return (all & rest) == kOnes;
}

using Four = uint32_t __attribute__((ext_vector_type(4)));

// Four lanes of four dwords, from lane after lane to dword after dword or back.
KM_HOT void transpose(Four (&x)[4]) {
    const Four low01 = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5),
               low23 = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
    const Four high01 = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7),
               high23 = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
    x[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
    x[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
    x[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
    x[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

// All lanes, `from(l)` being where lane l's bytes begin.
template <uint32_t kBytes, class From> KM_HOT void load_all(LaneData& to, const From& from) {
    constexpr uint32_t kDwords = (kBytes + 3) / 4;
    if constexpr (kBytes == 16) {
        for (int l = 0; l < kLanes; l += 4) {
            Four x[4];
            for (int i = 0; i < 4; i++) memcpy(&x[i], from(l + i), 16);
            transpose(x);
            for (int d = 0; d < 4; d++) memcpy(&to.dword[d].lane[l], &x[d], 16);
        }
    } else {
        for (int l = 0; l < kLanes; l++) {
            uint32_t value[kDwords] = {};
            memcpy(value, from(l), kBytes);
            for (uint32_t d = 0; d < kDwords; d++) to.dword[d].lane[l] = value[d];
        }
    }
}

template <uint32_t kBytes> void load_contiguous(const Place& place, LaneData& to) {
    const uint8_t* const from = place.host + place.offset[0];
    if constexpr (kBytes == 4)
        memcpy(to.dword[0].lane, from, sizeof(Vector));
    else
        load_all<kBytes>(to, [&](int l) { return from + l * kBytes; });
}

template <uint32_t kBytes> void load_scattered(const Place& place, LaneData& to) {
    constexpr uint32_t kDwords = (kBytes + 3) / 4;
    if (place.lanes == kAll) return load_all<kBytes>(to, [&](int l) { return place.host + place.offset[l]; });
    for (uint64_t rest = place.lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctzll(rest);
        uint32_t value[kDwords] = {};
        memcpy(value, place.host + place.offset[l], kBytes);
        for (uint32_t d = 0; d < kDwords; d++) to.dword[d].lane[l] = value[d];
    }
}

// Whether all bytes of all lanes are written.
template <uint32_t kBytes> bool are_written(const Place& place) {
    constexpr uint64_t kOnes = 0x0101010101010101ull;
    uint64_t low = kOnes, high = kOnes;
    for (uint64_t rest = place.lanes; rest; rest &= rest - 1) {
        const uint8_t* written = place.written + place.offset[__builtin_ctzll(rest)];
        uint64_t word[2] = {kOnes, kOnes};
        memcpy(word, written, kBytes);
        low &= word[0], high &= word[1];
    }
    return low == kOnes && high == kOnes;
}

template <uint32_t kBytes> __attribute__((noinline)) void define_scattered(const Place& place, LaneData& to) {
    if (__builtin_expect(are_written<kBytes>(place), 1)) return;
    for (uint64_t rest = place.lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctzll(rest);
        const uint8_t* written = place.written + place.offset[l];
        for (uint32_t b = 0; b < kBytes; b++)
            if (!written[b]) to.defined[b / 4].byte[b % 4] &= ~(1ull << l);
    }
}

template <uint32_t kBytes> void load(const Place& place, LaneData& to) {
    const bool in_order = is_contiguous(place, kBytes);
    if (in_order)
        load_contiguous<kBytes>(place, to);
    else
        load_scattered<kBytes>(place, to);
    for (uint32_t d = 0; d < (kBytes + 3) / 4; d++)
        for (uint64_t& byte : to.defined[d].byte) byte |= place.lanes;
    if (!place.written || (in_order && is_written(place.written + place.offset[0], 64ull * kBytes))) return;
    define_scattered<kBytes>(place, to);
}

template <uint32_t kBytes> void store_all(const Place& place, const LaneData& from) {
    constexpr uint32_t kDwords = (kBytes + 3) / 4;
    if constexpr (kBytes == 16) {
        for (int l = 0; l < kLanes; l += 4) {
            Four x[4];
            for (int d = 0; d < 4; d++) memcpy(&x[d], &from.dword[d].lane[l], 16);
            transpose(x);
            for (int i = 0; i < 4; i++) memcpy(place.host + place.offset[l + i], &x[i], 16);
        }
    } else {
        for (int l = 0; l < kLanes; l++) {
            uint32_t value[kDwords];
            for (uint32_t d = 0; d < kDwords; d++) value[d] = from.dword[d].lane[l];
            memcpy(place.host + place.offset[l], value, kBytes);
        }
    }
}

template <uint32_t kBytes> void store(const Place& place, const LaneData& from) {
    constexpr uint32_t kDwords = (kBytes + 3) / 4;
    const bool in_order = is_contiguous(place, kBytes);
    if (kBytes == 4 && in_order) {
        memcpy(place.host + place.offset[0], from.dword[0].lane, sizeof(Vector));
    } else if (place.lanes == kAll) {
        store_all<kBytes>(place, from);
    } else {
        for (uint64_t rest = place.lanes; rest; rest &= rest - 1) {
            const int l = __builtin_ctzll(rest);
            uint32_t value[kDwords];
            for (uint32_t d = 0; d < kDwords; d++) value[d] = from.dword[d].lane[l];
            memcpy(place.host + place.offset[l], value, kBytes);
        }
    }
    if (!place.written) return;
    uint64_t whole = place.lanes;
    for (uint32_t b = 0; b < kBytes; b++) whole &= from.defined[b / 4].byte[b % 4];
    if (whole == kAll && in_order) {
        memset(place.written + place.offset[0], 1, 64ull * kBytes);
        return;
    }
    if (whole == place.lanes) {
        for (uint64_t rest = place.lanes; rest; rest &= rest - 1)
            memset(place.written + place.offset[__builtin_ctzll(rest)], 1, kBytes);
        return;
    }
    for (uint64_t rest = place.lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctzll(rest);
        uint8_t* written = place.written + place.offset[l];
        for (uint32_t b = 0; b < kBytes; b++) written[b] = from.defined[b / 4].byte[b % 4] >> l & 1;
    }
}

}  // namespace

bool is_contiguous(const Place& place, uint32_t bytes) {
    if (place.lanes != kAll) return false;
    uint64_t differs = 0;
    for (int l = 0; l < kLanes; l++) differs |= place.offset[l] ^ (place.offset[0] + (uint64_t)l * bytes);
    return !differs;
}

void load_lanes(const Place& place, uint32_t bytes, LaneData& to) {
    switch (bytes) {
    case 1:
        return load<1>(place, to);
    case 2:
        return load<2>(place, to);
    case 4:
        return load<4>(place, to);
    case 8:
        return load<8>(place, to);
    case 12:
        return load<12>(place, to);
    case 16:
        return load<16>(place, to);
    }
}

void store_lanes(const Place& place, uint32_t bytes, const LaneData& from) {
    switch (bytes) {
    case 1:
        return store<1>(place, from);
    case 2:
        return store<2>(place, from);
    case 4:
        return store<4>(place, from);
    case 8:
        return store<8>(place, from);
    case 12:
        return store<12>(place, from);
    case 16:
        return store<16>(place, from);
    }
}

}  // namespace machine
