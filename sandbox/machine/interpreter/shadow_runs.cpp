// Accesses of places where nothing stands between them and what came before: noted without a closer look. Lanes that
// follow each other are noted together.
#include "model_state.h"

namespace machine {

namespace {

// Ordered before the running access: of an earlier launch, before all that the workgroup's waves know of each other, or
// plain and of the same wave, by the same lane or since before the lanes met.
template <bool kLanes> KM_ALWAYS bool is_ordered(const View& view, Record record, Record self) {
    const Record differs = record ^ self;
    bool is_own = ((differs & kObserver) == 0) & (record < view.limit) & ((record & kAtomicBit) == 0);
    if (kLanes) is_own &= (((differs & kLaneBits) | (record & kManyLanes)) == 0) | (record <= view.met);
    return (record < view.first) | (record - view.base <= view.settled) | is_own;
}

// What a reader's record becomes, and which one goes to the other slot: that of another wave. One of another workgroup
// stays there when waves of this one read.
template <bool kLanes> KM_ALWAYS Record read_after(const View& view, Record last, Record self, Record& other) {
    const Record differs = last ^ self;
    const bool is_recent = (last >= view.first) & (last - view.base > view.settled);
    const bool is_own = (differs & kObserver) == 0;
    const bool keeps = (other >= view.first) & ((other ^ self) >> kGroupShift != 0) & (differs >> kGroupShift == 0);
    other = (is_recent & !is_own & !keeps) ? last : other;
    if (!kLanes) return self;
    const bool are_many = (((differs & kLaneBits) | (last & kManyLanes)) != 0) & (last > view.met);
    return self | ((is_recent & is_own & are_many) ? kManyLanes : 0);
}

// Cells that follow each other, 1 << shift of them a lane; `self` is of the first one's lane.
struct Run {
    uint64_t index;
    uint32_t count, shift;
    Record self;

    Record of(uint32_t i) const { return self + ((Record)(i >> shift) << kLaneShift); }
};

KM_ALWAYS void set_places(uint32_t* places, uint64_t index, uint32_t count, uint32_t place) {
    for (uint32_t i = 0; places && i < count; i++) places[index + i] = place;
}

template <bool kLanes>
KM_ALWAYS bool write(const Cells& cells, const View& view, const Run& run, uint32_t count, bool is_read,
                     uint32_t place) {
    Record* const writer = cells.record[kWriter] + run.index;
    const Record *const reader = cells.record[kReader] + run.index, *const other = cells.record[kOther] + run.index;
    bool is_good = true;
    for (uint32_t i = 0; i < count; i++) is_good &= is_ordered<kLanes>(view, writer[i], run.of(i));
    for (uint32_t i = 0; is_read && i < count; i++) is_good &= is_ordered<kLanes>(view, reader[i], run.of(i));
    for (uint32_t i = 0; is_read && i < count; i++) is_good &= is_ordered<kLanes>(view, other[i], run.of(i));
    if (!is_good) return false;
    for (uint32_t i = 0; i < count; i++) writer[i] = run.of(i);
    set_places(cells.place[kWriter], run.index, count, place);
    return true;
}

template <bool kLanes>
KM_ALWAYS bool read(const Cells& cells, const View& view, const Run& run, uint32_t count, uint32_t place) {
    const Record* const writer = cells.record[kWriter] + run.index;
    Record *const reader = cells.record[kReader] + run.index, *const other = cells.record[kOther] + run.index;
    bool is_good = true;
    for (uint32_t i = 0; i < count; i++) is_good &= is_ordered<kLanes>(view, writer[i], run.of(i));
    if (!is_good) return false;
    if (uint32_t* const places = cells.place[kReader])
        for (uint32_t i = 0; i < count; i++) {
            const Record before = other[i];
            reader[i] = read_after<kLanes>(view, reader[i], run.of(i), other[i]);
            uint32_t& there = cells.place[kOther][run.index + i];
            there = other[i] == before ? there : places[run.index + i];
            places[run.index + i] = place;
        }
    else
        for (uint32_t i = 0; i < count; i++) reader[i] = read_after<kLanes>(view, reader[i], run.of(i), other[i]);
    return true;
}

// Lane by lane: kCount words each, or kCount bytes. Gives back the lanes that need a closer look.
template <bool kLanes, bool kWrites, uint32_t kCount>
uint64_t note_lanes(Shadow& shadow, const View& view, const WaveAccess& access, const uint64_t* offset,
                    uint32_t place) {
    uint64_t doubtful = 0;
    const bool are_bytes = access.bytes < 4, is_read = is_set(shadow.is_read);
    const Cells& cells = are_bytes ? shadow.byte : shadow.word;
    for (uint64_t rest = access.lanes; rest; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        const uint64_t from = offset[lane];
        const Run run = {are_bytes ? from : from / 4, kCount, 31, view.self + ((Record)lane << kLaneShift)};
        bool is_good =
            !(from & (are_bytes ? kCount - 1 : 3)) && from < shadow.bytes && shadow.bytes - from >= access.bytes;
        if (is_good && are_bytes) split_word(shadow, from / 4, view.forgotten);
        if (is_good)
            is_good = kWrites ? write<kLanes>(cells, view, run, kCount, is_read, place)
                              : read<kLanes>(cells, view, run, kCount, place);
        if (is_good && are_bytes) store(shadow.word.record[kOther][from / 4], view.self);
        if (!is_good) doubtful |= 1ull << lane;
    }
    return doubtful;
}

// The active lanes are neighbours, and so is what they touch: whole words.
bool is_run(const Shadow& shadow, const WaveAccess& access, const uint64_t* offset, bool lanes_meet) {
    const uint32_t first = (uint32_t)__builtin_ctzll(access.lanes),
                   count = (uint32_t)__builtin_popcountll(access.lanes);
    const uint64_t run = access.lanes >> first, low = offset[first], bytes = (uint64_t)access.bytes * count;
    if ((run & (run + 1)) || ((low | bytes) & 3) || (access.bytes & (access.bytes - 1))) return false;
    if ((lanes_meet && access.bytes < 4) || low > shadow.bytes || shadow.bytes - low < bytes) return false;
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < count; i++) wrong |= offset[first + i] ^ (low + i * access.bytes);
    return !wrong;
}

template <bool kLanes, bool kWrites>
uint64_t note(Shadow& shadow, const View& view, const WaveAccess& access, const uint64_t* offset, uint32_t place) {
    if (is_run(shadow, access, offset, kLanes)) {
        const uint32_t first = (uint32_t)__builtin_ctzll(access.lanes);
        const bool are_parts = access.bytes < 4;  // several lanes of a word
        const Run run = {offset[first] / 4, access.bytes * (uint32_t)__builtin_popcountll(access.lanes) / 4,
                         are_parts ? 31 : (uint32_t)__builtin_ctz(access.bytes / 4),
                         view.self + (are_parts ? 0 : (Record)first << kLaneShift)};
        if (kWrites ? write<kLanes>(shadow.word, view, run, run.count, is_set(shadow.is_read), place)
                    : read<kLanes>(shadow.word, view, run, run.count, place))
            return 0;
    }
    switch (access.bytes) {
    case 1:
    case 4:
        return note_lanes<kLanes, kWrites, 1>(shadow, view, access, offset, place);
    case 2:
    case 8:
        return note_lanes<kLanes, kWrites, 2>(shadow, view, access, offset, place);
    case 12:
        return note_lanes<kLanes, kWrites, 3>(shadow, view, access, offset, place);
    case 16:
        return note_lanes<kLanes, kWrites, 4>(shadow, view, access, offset, place);
    }
    return access.lanes;
}

}  // namespace

uint64_t note_runs(Shadow& shadow, const View& view, const WaveAccess& access, const uint64_t* offset, bool lanes_meet,
                   uint32_t place) {
    if (access.flags & kWritesMemory)
        return (lanes_meet ? note<true, true> : note<false, true>)(shadow, view, access, offset, place);
    return (lanes_meet ? note<true, false> : note<false, false>)(shadow, view, access, offset, place);
}

}  // namespace machine
