// Accesses of LDS by whole words, where nothing stands between them and what came before: noted without a closer look.
#include <string.h>

#include "model_state.h"

namespace machine {

namespace {

// What makes a record doubtful: it is later than `safe`, and of another wave, or no earlier than `limit` (the running
// instruction's own, or a load straight into LDS that is under way), or atomic, or of another lane that has not met.
struct Doubts {
    LdsRecord self, safe, limit, met;
};

template <bool kLanes> KM_ALWAYS LdsRecord is_doubtful(const Doubts& doubts, LdsRecord record, LdsRecord self) {
    const LdsRecord differs = record ^ self;
    LdsRecord is_so = ((differs & kLdsWave) != 0) | (record >= doubts.limit) | ((record & kLdsAtomic) != 0);
    if (kLanes) is_so |= ((differs & (kLdsLane | kLdsMany)) != 0) & (record > doubts.met);
    return is_so & (record > doubts.safe);
}

template <bool kLanes>
KM_ALWAYS LdsRecord read_by(const Doubts& doubts, LdsRecord last, LdsRecord self, LdsRecord& other) {
    const bool is_recent = last > doubts.safe, is_other = ((last ^ self) & kLdsWave) != 0;
    other = (is_recent & is_other) ? last : other;
    if (!kLanes) return self;
    const bool is_shared = (((last ^ self) & kLdsLane) != 0) | ((last & kLdsMany) != 0);
    return self | ((is_recent & !is_other & is_shared & (last > doubts.met)) ? kLdsMany : 0);
}

template <bool kLanes> bool write(LdsShadow& lds, const Doubts& doubts, uint32_t word, uint32_t words, uint32_t shift) {
    LdsRecord *const writer = lds.word.writer + word, *const reader = lds.word.reader + word;
    LdsRecord* const other = lds.word.other + word;
    LdsRecord wrong = 0;
    for (uint32_t i = 0; i < words; i++) {
        const LdsRecord self = doubts.self + ((i >> shift) << 2);
        wrong |= is_doubtful<kLanes>(doubts, writer[i], self) | is_doubtful<kLanes>(doubts, reader[i], self) |
                 is_doubtful<kLanes>(doubts, other[i], self);
    }
    if (wrong) return false;
    for (uint32_t i = 0; i < words; i++) writer[i] = doubts.self + ((i >> shift) << 2);
    memset(lds.written + word, 15, words);
    return true;
}

template <bool kLanes> bool read(LdsShadow& lds, const Doubts& doubts, uint32_t word, uint32_t words, uint32_t shift) {
    LdsRecord *const writer = lds.word.writer + word, *const reader = lds.word.reader + word;
    LdsRecord* const other = lds.word.other + word;
    LdsRecord wrong = 0;
    for (uint32_t i = 0; i < words; i++)
        wrong |= is_doubtful<kLanes>(doubts, writer[i], doubts.self + ((i >> shift) << 2));
    if (wrong) return false;
    for (uint32_t i = 0; i < words; i++)
        reader[i] = read_by<kLanes>(doubts, reader[i], doubts.self + ((i >> shift) << 2), other[i]);
    return true;
}

template <bool kLanes, bool kWrites, uint32_t kWords>
uint64_t visit(LdsShadow& lds, const Doubts& doubts, const WaveAccess& access, const uint32_t* offset) {
    uint64_t doubtful = 0;
    for (uint64_t rest = access.lanes; rest; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctzll(rest), word = offset[lane] / 4;
        const LdsRecord self = doubts.self + (lane << 2);
        LdsRecord *const writer = lds.word.writer + word, *const reader = lds.word.reader + word;
        LdsRecord* const other = lds.word.other + word;
        LdsRecord wrong = (offset[lane] & 3) | (word + kWords > lds.words);
        if (__builtin_expect(!wrong, 1)) {
            for (uint32_t i = 0; i < kWords; i++) {
                wrong |= is_doubtful<kLanes>(doubts, writer[i], self);
                if (kWrites)
                    wrong |= is_doubtful<kLanes>(doubts, reader[i], self) | is_doubtful<kLanes>(doubts, other[i], self);
            }
        }
        if (__builtin_expect(wrong, 0)) {
            doubtful |= 1ull << lane;
            continue;
        }
        for (uint32_t i = 0; i < kWords; i++) {
            if (kWrites) {
                writer[i] = self;
                lds.written[word + i] = 15;
            } else {
                reader[i] = read_by<kLanes>(doubts, reader[i], self, other[i]);
            }
        }
    }
    return doubtful;
}

// Parts of words: of each byte.
template <bool kLanes, bool kWrites, uint32_t kBytes>
uint64_t visit_parts(LdsShadow& lds, const Doubts& doubts, const WaveAccess& access, const uint32_t* offset) {
    uint64_t doubtful = 0;
    for (uint64_t rest = access.lanes; rest; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctzll(rest), at = offset[lane], word = at / 4;
        const LdsRecord self = doubts.self + (lane << 2);
        LdsRecord *const writer = lds.byte.writer + at, *const reader = lds.byte.reader + at;
        LdsRecord* const other = lds.byte.other + at;
        LdsRecord wrong = (at & (kBytes - 1)) | (word + 1 > lds.words);
        if (__builtin_expect(!wrong, 1)) {
            if (lds.word.writer[word] != kSplit) split_word(lds, word);
            for (uint32_t i = 0; i < kBytes; i++) {
                wrong |= is_doubtful<kLanes>(doubts, writer[i], self);
                if (kWrites)
                    wrong |= is_doubtful<kLanes>(doubts, reader[i], self) | is_doubtful<kLanes>(doubts, other[i], self);
            }
        }
        if (__builtin_expect(wrong, 0)) {
            doubtful |= 1ull << lane;
            continue;
        }
        lds.word.other[word] = self;
        if (kWrites) lds.written[word] |= (uint8_t)(((1u << kBytes) - 1) << (at & 3));
        for (uint32_t i = 0; i < kBytes; i++) {
            if (kWrites)
                writer[i] = self;
            else
                reader[i] = read_by<kLanes>(doubts, reader[i], self, other[i]);
        }
    }
    return doubtful;
}

template <bool kLanes, bool kWrites>
uint64_t visit_lanes(LdsShadow& lds, const Doubts& doubts, const WaveAccess& access, const uint32_t* offset) {
    switch (access.bytes) {
    case 1:
        return visit_parts<kLanes, kWrites, 1>(lds, doubts, access, offset);
    case 2:
        return visit_parts<kLanes, kWrites, 2>(lds, doubts, access, offset);
    case 4:
        return visit<kLanes, kWrites, 1>(lds, doubts, access, offset);
    case 8:
        return visit<kLanes, kWrites, 2>(lds, doubts, access, offset);
    case 12:
        return visit<kLanes, kWrites, 3>(lds, doubts, access, offset);
    case 16:
        return visit<kLanes, kWrites, 4>(lds, doubts, access, offset);
    }
    return access.lanes;
}

template <bool kLanes>
uint64_t note(LdsShadow& lds, const Doubts& doubts, const WaveAccess& access, const uint32_t* offset) {
    const bool writes = access.flags & kWritesMemory;
    const Stretch stretch = stretch_of(access, offset);
    const bool is_even = !((stretch.low | stretch.bytes) & 3) && !(access.bytes & (access.bytes - 1));
    if (stretch.is_one && is_even && !(kLanes && access.bytes < 4) && stretch.low + stretch.bytes <= lds.words * 4ull) {
        const uint32_t word = (uint32_t)stretch.low / 4, words = (uint32_t)stretch.bytes / 4;
        const uint32_t shift = access.bytes > 4 ? (uint32_t)__builtin_ctz(access.bytes / 4) : 0;
        Doubts from = doubts;
        from.self += stretch.first << 2;
        if (access.bytes < 4) from.self &= ~kLdsLane;  // several lanes of a word
        if (writes ? write<kLanes>(lds, from, word, words, shift) : read<kLanes>(lds, from, word, words, shift))
            return 0;
    }
    return writes ? visit_lanes<kLanes, true>(lds, doubts, access, offset)
                  : visit_lanes<kLanes, false>(lds, doubts, access, offset);
}

bool is_all_written(const LdsShadow& lds, const WaveAccess& access, const uint32_t* offset) {
    uint32_t all = 15;
    for (uint64_t rest = access.lanes; rest; rest &= rest - 1) {
        const uint32_t low = offset[__builtin_ctzll(rest)], end = low + access.bytes;
        for (uint32_t word = low / 4; word * 4 < end && word < lds.words; word++) all &= lds.written[word];
    }
    return all == 15;
}

}  // namespace

uint64_t note_lds_words(ModelState& state, const Wave& wave, const WaveAccess& access, const uint32_t* offset) {
    LdsShadow& lds = state.lds;
    if (state.rules.lane_by_lane || (access.flags & (kAtomicAccess | kPolls))) return access.lanes;
    if (!(access.flags & (kWritesMemory | kKeepsUnwritten)) && !is_all_written(lds, access, offset))
        return access.lanes;
    const uint32_t tick = lds.tick + 1;
    Doubts doubts = {tick << kLdsTickShift | wave.number << 8, (lds.safe + 1) << kLdsTickShift, tick << kLdsTickShift,
                     0};
    doubts.safe--;
    for (uint32_t i = 0; wave.pending.direct && i < wave.pending.memory.count; i++) {
        const Operation& each = wave.pending.memory.oldest(i);
        if ((each.kind & kDirectToLds) && each.lds_tick << kLdsTickShift < doubts.limit)
            doubts.limit = each.lds_tick << kLdsTickShift;
    }
    if (!state.rules.lanes_meet) return note<false>(lds, doubts, access, offset);
    const uint32_t met = lds.met[wave.number][0];
    for (uint32_t each : lds.met[wave.number])
        if (each != met) return access.lanes;  // some lanes have met, others have not
    doubts.met = ((met + 1) << kLdsTickShift) - 1;
    return note<true>(lds, doubts, access, offset);
}

}  // namespace machine
