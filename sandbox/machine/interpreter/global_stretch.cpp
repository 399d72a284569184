// Accesses of global memory by whole words, where nobody else has touched them in the launch: noted without a closer look.
#include <string.h>

#include "global_shadow.h"

namespace machine {

namespace {

struct Doubts {
    Record self, first, safe, met;  // first: records below are of earlier launches
};

// A record of this workgroup that is ordered: of its own wave, or before what all have published.
template <bool kLanes> KM_ALWAYS bool is_ordered(const Doubts& doubts, Record record, Record self) {
    const Record differs = record ^ self;
    bool is_own = (differs & kWaveBits) == 0;
    if (kLanes) is_own &= ((differs & kLaneBits) == 0) | (record <= doubts.met);
    return (record < doubts.first) | ((differs >> kGroupShift == 0) & (is_own | (record <= doubts.safe)));
}

template <bool kLanes> KM_ALWAYS bool may_follow(const Doubts& doubts, Record reader, Record self) {
    return (reader < doubts.first) |
           (is_ordered<kLanes>(doubts, reader, self) & ((reader & kMany) == 0) &
            (((reader & kManyWaves) == 0) | (reader <= doubts.safe)));
}

template <bool kLanes> KM_ALWAYS Record read_by(const Doubts& doubts, Record last, Record self) {
    const bool is_own = (last ^ self) >> kGroupShift == 0, is_of_launch = last >= doubts.first;
    const bool is_recent = is_own & (last > doubts.safe);
    Record mine = self | (is_of_launch ? (is_own ? last & kMany : kMany) : 0);
    mine |= is_recent ? (last & kManyWaves) | (((last ^ self) & kWaveBits) ? kManyWaves : 0) : 0;
    return mine;
}

struct Words {
    uint64_t word;
    uint32_t count, shift;
};

template <bool kLanes> bool write(RegionShadow& shadow, const Doubts& doubts, const Words& words, uint32_t place) {
    Record* const writer = shadow.writer + words.word;
    bool is_good = true;
    auto self = [&](uint32_t i) { return doubts.self + ((Record)(i >> words.shift) << 8); };
    for (uint32_t i = 0; i < words.count; i++)
        is_good &= is_ordered<kLanes>(doubts, writer[i], self(i)) & ((writer[i] & kAtomicBit) == 0 || writer[i] < doubts.first);
    if (is_set(shadow.is_changed_atomically))
        for (uint32_t i = 0; i < words.count; i++) is_good &= shadow.plain[words.word + i] < doubts.first;
    if (is_set(shadow.is_read))
        for (uint32_t i = 0; i < words.count; i++)
            is_good &= may_follow<kLanes>(doubts, shadow.reader[words.word + i], self(i)) &
                       (shadow.beside[words.word + i] < doubts.first);
    if (!is_good) return false;
    for (uint32_t i = 0; i < words.count; i++) writer[i] = self(i);
    for (uint32_t i = 0; i < words.count; i++) shadow.writer_place[words.word + i] = place;
    return true;
}

template <bool kLanes> bool read(RegionShadow& shadow, const Doubts& doubts, const Words& words, uint32_t place) {
    Record *const writer = shadow.writer + words.word, *const reader = shadow.reader + words.word;
    bool is_good = true;
    auto self = [&](uint32_t i) { return doubts.self + ((Record)(i >> words.shift) << 8); };
    for (uint32_t i = 0; i < words.count; i++) is_good &= is_ordered<kLanes>(doubts, writer[i], self(i));
    if (is_set(shadow.is_changed_atomically))
        for (uint32_t i = 0; i < words.count; i++) is_good &= shadow.plain[words.word + i] < doubts.first;
    if (!is_good) return false;
    for (uint32_t i = 0; i < words.count; i++) reader[i] = read_by<kLanes>(doubts, reader[i], self(i));
    for (uint32_t i = 0; i < words.count; i++) shadow.reader_place[words.word + i] = place;
    return true;
}

template <bool kLanes>
uint64_t note(RegionShadow& shadow, const Doubts& doubts, const WaveAccess& access, const uint64_t* offset,
              uint32_t place) {
    const bool writes = access.flags & kWritesMemory;
    const Stretch stretch = stretch_of(access, offset);
    const bool is_even = !((stretch.low | stretch.bytes) & 3) && !(access.bytes & (access.bytes - 1));
    const uint32_t shift = access.bytes > 4 ? (uint32_t)__builtin_ctz(access.bytes / 4) : 0;
    if (stretch.is_one && is_even && !(kLanes && access.bytes < 4) && stretch.low + stretch.bytes <= shadow.bytes) {
        Doubts from = doubts;
        if (access.bytes >= 4) from.self += (Record)stretch.first << 8;
        const Words words = {stretch.low / 4, (uint32_t)stretch.bytes / 4, access.bytes < 4 ? 31 : shift};
        if (writes ? write<kLanes>(shadow, from, words, place) : read<kLanes>(shadow, from, words, place)) return 0;
    }
    if (access.bytes & 3 || access.bytes > 16) return access.lanes;
    uint64_t doubtful = 0;
    for (uint64_t rest = access.lanes; rest; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        const uint64_t at = offset[lane];
        Doubts from = doubts;
        from.self += (Record)lane << 8;
        const Words words = {at / 4, access.bytes / 4, 31};
        const bool is_good = !(at & 3) && at + access.bytes <= shadow.bytes &&
                             (writes ? write<kLanes>(shadow, from, words, place) : read<kLanes>(shadow, from, words, place));
        if (!is_good) doubtful |= 1ull << lane;
    }
    return doubtful;
}

// Whether no lane reads what nobody wrote, where that is a finding.
bool is_defined(const RegionShadow& shadow, const WaveAccess& access, const uint64_t* offset) {
    if ((access.flags & (kKeepsUnwritten | kWritesMemory)) || !shadow.written) return true;
    for (uint64_t rest = access.lanes; rest; rest &= rest - 1) {
        const uint64_t at = offset[__builtin_ctzll(rest)];
        if (at > shadow.bytes || at + access.bytes > shadow.bytes) return false;
        for (uint32_t b = 0; b < access.bytes; b++)
            if (!shadow.written[at + b]) return false;
    }
    return true;
}

}  // namespace

uint64_t note_global_words(MemoryModel& model, const Wave& wave, RegionShadow& shadow, const WaveAccess& access,
                           const uint64_t* offset, Record self) {
    const ModelState& state = *model.state;
    const GlobalOrder& global = state.global;
    if (model.rules.lane_by_lane || (access.flags & kAtomicAccess) || global.tick >= kLastTick) return access.lanes;
    if (!is_defined(shadow, access, offset)) return access.lanes;
    const Record base = global.group << kGroupShift, below = ((Record)1 << kTickShift) - 1;
    Doubts doubts = {self | kMask, first_group_of_launch() << kGroupShift,
                     global.safe ? base | (Record)global.safe << kTickShift | below : base, 0};
    if (!model.rules.lanes_meet) return note<false>(shadow, doubts, access, offset, wave.at);
    uint32_t met = global.tick;
    for (uint32_t each : global.met[wave.number]) met = each < met ? each : met;
    doubts.met = met ? base | (Record)met << kTickShift | below : base;
    return note<true>(shadow, doubts, access, offset, wave.at);
}

}  // namespace machine
