// Accesses of global memory by whole words, where nobody else has touched them in the launch: noted without a closer
// look.
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
    return (reader < doubts.first) | (is_ordered<kLanes>(doubts, reader, self) & ((reader & kMany) == 0) &
                                      (((reader & kManyWaves) == 0) | (reader <= doubts.safe)));
}

template <bool kLanes> KM_ALWAYS Record read_by(const Doubts& doubts, Record last, Record self) {
    const bool is_own = (last ^ self) >> kGroupShift == 0, is_of_launch = last >= doubts.first;
    const bool is_recent = is_own & (last > doubts.safe), is_plain = (last & kAtomicBit) == 0;
    Record mine = self | (is_of_launch ? (is_own ? last & kMany : is_plain ? kMany : 0) : 0);
    mine |= is_recent ? (last & kManyWaves) | ((((last ^ self) & kWaveBits) != 0) & is_plain ? kManyWaves : 0) : 0;
    return mine;
}

// `kCount` words or, where it is 0, `count`; lanes follow each other by 1 << shift words.
struct Words {
    uint64_t word;
    uint32_t count, shift;
};

template <bool kLanes, uint32_t kCount = 0>
bool write(RegionShadow& shadow, const Doubts& doubts, const Words& words, uint32_t place) {
    const uint32_t count = kCount ? kCount : words.count;
    Record* const writer = shadow.writer + words.word;
    bool is_good = true;
    auto self = [&](uint32_t i) { return doubts.self + ((Record)(i >> words.shift) << 8); };
    for (uint32_t i = 0; i < count; i++)
        is_good &= is_ordered<kLanes>(doubts, writer[i], self(i)) &
                   ((writer[i] & kAtomicBit) == 0 || writer[i] < doubts.first);
    if (is_set(shadow.is_changed_atomically))
        for (uint32_t i = 0; i < count; i++) is_good &= shadow.plain[words.word + i] < doubts.first;
    if (is_set(shadow.is_read))
        for (uint32_t i = 0; i < count; i++)
            is_good &= may_follow<kLanes>(doubts, shadow.reader[words.word + i], self(i)) &
                       (shadow.beside[words.word + i] < doubts.first);
    if (!is_good) return false;
    for (uint32_t i = 0; i < count; i++) writer[i] = self(i);
    for (uint32_t i = 0; i < count; i++) shadow.writer_place[words.word + i] = place;
    return true;
}

template <bool kLanes, uint32_t kCount = 0>
bool read(RegionShadow& shadow, const Doubts& doubts, const Words& words, uint32_t place) {
    const uint32_t count = kCount ? kCount : words.count;
    Record *const writer = shadow.writer + words.word, *const reader = shadow.reader + words.word;
    bool is_good = true;
    auto self = [&](uint32_t i) { return doubts.self + ((Record)(i >> words.shift) << 8); };
    for (uint32_t i = 0; i < count; i++) is_good &= is_ordered<kLanes>(doubts, writer[i], self(i));
    if (is_set(shadow.is_changed_atomically))
        for (uint32_t i = 0; i < count; i++) is_good &= shadow.plain[words.word + i] < doubts.first;
    if (!is_good) return false;
    for (uint32_t i = 0; i < count; i++) reader[i] = read_by<kLanes>(doubts, reader[i], self(i));
    for (uint32_t i = 0; i < count; i++) shadow.reader_place[words.word + i] = place;
    return true;
}

// How many words of a stretch one lane has, as a block's record holds it: 1: half of one; 2, 3, 4: one, two, four.
Record shift_code(uint32_t bytes) { return bytes < 4 ? 1 : 2 + (Record)__builtin_ctz(bytes / 4); }

Record of_word(Record block, uint64_t i) {
    const Record code = block & kMask, lane = code == 1 ? 2 * i : code > 1 ? i >> (code - 2) : 0;
    const Record first = block >> 8 & 63;
    return (block & ~(kLaneBits | kMask)) | ((first + lane) & 63) << 8 | kMask;
}

void split_block(RegionShadow& shadow, uint64_t block) {
    const Record writer = load(shadow.writer_block[block]), reader = load(shadow.reader_block[block]);
    if (writer == kSplitBlock) return;
    const Record first = first_group_of_launch() << kGroupShift;
    for (uint64_t i = 0; i < kBlock; i++) {
        const uint64_t word = block * kBlock + i;
        if (writer >= first) {
            store(shadow.writer[word], of_word(writer, i));
            shadow.writer_place[word] = shadow.writer_block_place[block];
        }
        if (reader >= first) {
            store(shadow.reader[word], of_word(reader, i));
            shadow.reader_place[word] = shadow.reader_block_place[block];
        }
    }
    store(shadow.writer_block[block], kSplitBlock);
}

// Of a block that was split in an earlier launch one record is enough again.
bool rejoin(RegionShadow& shadow, const Doubts& doubts, uint64_t block) {
    Record latest = 0;
    const Record* const arrays[] = {shadow.writer, shadow.reader, shadow.plain, shadow.beside};
    for (const Record* array : arrays)
        for (uint64_t i = 0; i < kBlock; i++) {
            const Record each = array[block * kBlock + i];
            latest = each > latest ? each : latest;
        }
    if (latest >= doubts.first) return false;
    store(shadow.reader_block[block], 0);
    store(shadow.writer_block[block], 0);
    return true;
}

bool note_blocks(RegionShadow& shadow, const Doubts& doubts, const Stretch& stretch, const WaveAccess& access,
                 uint32_t place) {
    const bool writes = access.flags & kWritesMemory;
    const uint64_t first = stretch.low / (4 * kBlock), count = stretch.bytes / (4 * kBlock);
    for (uint64_t b = first; b < first + count; b++) {
        if (load(shadow.writer_block[b]) == kSplitBlock && !rejoin(shadow, doubts, b)) return false;
        const Record writer = load(shadow.writer_block[b]), reader = load(shadow.reader_block[b]);
        if (!is_ordered<false>(doubts, writer, doubts.self)) return false;
        if (writes && !may_follow<false>(doubts, reader, doubts.self)) return false;
    }
    const Record code = shift_code(access.bytes);
    const uint64_t lanes = 4 * kBlock / access.bytes;
    for (uint64_t i = 0; i < count; i++) {
        const Record self = ((doubts.self & ~kMask) | code) + (i * lanes << 8);
        Record& record = (writes ? shadow.writer_block : shadow.reader_block)[first + i];
        store(record, writes ? self : read_by<false>(doubts, load(record), self));
        (writes ? shadow.writer_block_place : shadow.reader_block_place)[first + i] = place;
    }
    return true;
}

template <bool kLanes>
bool note_stretch(RegionShadow& shadow, const Doubts& doubts, const WaveAccess& access, const Stretch& stretch,
                  uint32_t place) {
    Doubts from = doubts;
    from.self += (Record)stretch.first << 8;
    const bool is_block = !((stretch.low | stretch.bytes) & (4 * kBlock - 1));
    if (!kLanes && is_block && note_blocks(shadow, from, stretch, access, place)) return true;
    split_blocks(shadow, stretch.low, stretch.bytes);
    if (access.bytes < 4) from.self &= ~kLaneBits;  // several lanes of a word
    const uint32_t shift = access.bytes < 4 ? 31 : (uint32_t)__builtin_ctz(access.bytes / 4);
    const Words words = {stretch.low / 4, (uint32_t)stretch.bytes / 4, shift};
    return access.flags & kWritesMemory ? write<kLanes>(shadow, from, words, place)
                                        : read<kLanes>(shadow, from, words, place);
}

template <bool kLanes, uint32_t kWords>
uint64_t note_lanes(RegionShadow& shadow, const Doubts& doubts, const WaveAccess& access, const uint64_t* offset,
                    uint32_t place) {
    const bool writes = access.flags & kWritesMemory;
    uint64_t doubtful = 0;
    Doubts from = doubts;
    for (uint64_t rest = access.lanes; rest; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        const uint64_t at = offset[lane];
        from.self = doubts.self + ((Record)lane << 8);
        bool is_good = !(at & 3) && at + access.bytes <= shadow.bytes && at <= shadow.bytes;
        if (is_good) {
            split_blocks(shadow, at, access.bytes);
            const Words words = {at / 4, kWords, 31};
            is_good = writes ? write<kLanes, kWords>(shadow, from, words, place)
                             : read<kLanes, kWords>(shadow, from, words, place);
        }
        if (!is_good) doubtful |= 1ull << lane;
    }
    return doubtful;
}

template <bool kLanes>
uint64_t note(MemoryModel& model, Wave& wave, RegionShadow& shadow, const Doubts& doubts, const WaveAccess& access,
              const uint64_t* offset) {
    const bool writes = access.flags & kWritesMemory;
    const Stretch stretch = stretch_of(access, offset);
    const bool is_even = !((stretch.low | stretch.bytes) & 3) && !(access.bytes & (access.bytes - 1));
    if (stretch.is_one && is_even && !(kLanes && access.bytes < 4) && stretch.low + stretch.bytes <= shadow.bytes &&
        note_stretch<kLanes>(shadow, doubts, access, stretch, wave.at))
        return 0;
    if (writes && !stretch.is_one && !check_lanes(model, wave, access, offset)) return 0;
    switch (access.bytes) {
    case 4:
        return note_lanes<kLanes, 1>(shadow, doubts, access, offset, wave.at);
    case 8:
        return note_lanes<kLanes, 2>(shadow, doubts, access, offset, wave.at);
    case 12:
        return note_lanes<kLanes, 3>(shadow, doubts, access, offset, wave.at);
    case 16:
        return note_lanes<kLanes, 4>(shadow, doubts, access, offset, wave.at);
    }
    return access.lanes;
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

void split_blocks(RegionShadow& shadow, uint64_t offset, uint64_t bytes) {
    for (uint64_t b = offset / (4 * kBlock); b * 4 * kBlock < offset + bytes; b++)
        if (__builtin_expect(load(shadow.writer_block[b]) != kSplitBlock, 0)) split_block(shadow, b);
}

uint64_t note_global_words(MemoryModel& model, Wave& wave, RegionShadow& shadow, const WaveAccess& access,
                           const uint64_t* offset, Record self) {
    const ModelState& state = *model.state;
    const GlobalOrder& global = state.global;
    if (model.rules.lane_by_lane || (access.flags & kAtomicAccess) || global.tick >= kLastTick) return access.lanes;
    if (!is_defined(shadow, access, offset)) return access.lanes;
    const Record base = global.group << kGroupShift, below = ((Record)1 << kTickShift) - 1;
    Doubts doubts = {self | kMask, first_group_of_launch() << kGroupShift,
                     global.safe ? base | (Record)global.safe << kTickShift | below : base, 0};
    if (!model.rules.lanes_meet) return note<false>(model, wave, shadow, doubts, access, offset);
    uint32_t met = global.tick;
    for (uint32_t each : global.met[wave.number]) met = each < met ? each : met;
    doubts.met = met ? base | (Record)met << kTickShift | below : base;
    return note<true>(model, wave, shadow, doubts, access, offset);
}

}  // namespace machine
