// What the memory model of one worker remembers; inside of memory_model.cpp and the files beside it.
#pragma once
#include "memory_model.h"
#include "releases.h"

namespace machine {

#define KM_ALWAYS inline __attribute__((always_inline))

// LDS: tick << 13 | wave << 8 | lane << 2 | many << 1 | atomic. Many: other lanes of the wave have read it, too.
typedef uint32_t LdsRecord;
constexpr LdsRecord kLdsAtomic = 1, kLdsMany = 2, kLdsLane = 63 << 2, kLdsWave = 31 << 8, kSplit = ~0u;
constexpr uint32_t kLdsTickShift = 13, kLastLdsTick = (1u << 19) - 2;

// Arrays of records, one for each word or for each byte. Plain: the last write that was not atomic, where atomic ones
// came after it. Other: the last reader of another wave than reader's.
struct LdsCells {
    LdsRecord *writer, *reader, *other, *plain;
};

struct LdsShadow {
    LdsCells word, byte;  // a word's record is kSplit where parts of it were touched: those of its bytes hold then
    uint8_t* written;     // a bit for each byte of a word
    uint32_t* place;      // the instruction of each tick
    uint32_t tick;        // of the last operation
    uint32_t start, epoch, safe;  // ticks: when the workgroup began, at the last barrier, before which all is ordered
    uint32_t known[kMaxWaves][kMaxWaves], carried[kMaxWaves][kMaxWaves];
    uint32_t met[kMaxWaves][kLanes];
    uint32_t words;
};

// Global memory: group << 38 | tick << 18 | wave << 14 | lane << 8 | many << 7 | narrow << 6 | atomic << 5 |
// waves << 4 | mask of bytes. Many: other workgroups have read it, too; waves: other waves of this one have; narrow:
// atomic within its workgroup only.
typedef uint64_t Record;
constexpr Record kMask = 15, kManyWaves = 1 << 4, kAtomicBit = 1 << 5, kNarrow = 1 << 6, kMany = 1 << 7;
constexpr Record kLaneBits = 63ull << 8, kWaveBits = 15ull << 14;
constexpr int kTickShift = 18, kGroupShift = 38;
constexpr uint64_t kLastTick = (1ull << 20) - 1, kGroups = (1ull << 26) - 1;

inline uint64_t group_of(Record r) { return r >> kGroupShift; }
inline uint32_t tick_of(Record r) { return (uint32_t)(r >> kTickShift & kLastTick); }
inline uint32_t wave_of(Record r) { return (uint32_t)(r >> 14 & 15); }
inline uint32_t lane_of(Record r) { return (uint32_t)(r >> 8 & 63); }

struct GlobalOrder {
    uint64_t group, first_group;  // numbers of this workgroup, and of the launch's first one
    uint32_t tick, epoch, safe;   // moments as in LDS, but they pass only where something orders
    uint32_t invalidated;         // the last buffer_inv of the workgroup
    bool has_synchronised;        // waves by atomic operations, since the last barrier
    bool is_atomic;               // the operation that is about to be issued changes memory atomically, or looks
    uint32_t known[kMaxWaves][kMaxWaves], carried[kMaxWaves][kMaxWaves];
    uint32_t met[kMaxWaves][kLanes];
};

// A place that a wave looks at atomically; what it sees it knows once it has waited for it.
struct Look {
    uint64_t place;
    uint32_t tick;
};
constexpr uint32_t kLooks = 128;

struct WaveOrder {
    Knowledge known;                 // what other workgroups have released to it
    uint32_t released[kMaxWaves];    // what it has written back itself, by wave
    bool has_released, has_learned;  // has_learned: since the last barrier
    Look look[kLooks];
    uint32_t looks;
};

struct ModelState {
    MemoryRules rules;
    uint32_t waves;
    uint64_t linear;
    LdsShadow lds;
    GlobalOrder global;
    WaveOrder wave[kMaxWaves];
    Wave* running[kMaxWaves];
    Conflict suspect[2];  // the first read of unwritten LDS in the workgroup, of global memory in the launch
    bool suspects[2];
    bool has_reported;
};

enum Order : uint8_t { kOrdered, kRacing, kNotDrained, kRelaxed, kStale };

bool report_conflict(MemoryModel& model, Wave& wave, const Conflict& conflict);
// A conflict of the running instruction's lane with what `other...` say; nothing of the other is known yet.
Conflict conflict_here(const MemoryModel& model, const Wave& wave, const WaveAccess& access, uint32_t lane,
                       uint64_t offset, bool is_global);
// Of a read and a write, the other access is the one to be told.
void swap_sides(Conflict& conflict);
void suspect_unwritten(MemoryModel& model, const Conflict& conflict);
// Whether the lane's new bytes are there already: `size` bytes from `skipped` on of those that it stores at `offset`.
bool stores_the_same(const WaveAccess& access, uint32_t lane, uint64_t offset, uint32_t skipped, uint32_t size);
uint8_t byte_of(const WaveAccess& access, uint32_t lane, uint32_t index);
void* map_zeros(uint64_t bytes);
// Zeros again in what was mapped so, without the memory that zeros would take.
void forget_mapped(void* place, uint64_t bytes);

void begin_lds_again(ModelState& state);  // there are no more moments: all that was so far is forgotten
void split_word(LdsShadow& lds, uint64_t word);
// Notes what needs no closer look, and gives back the lanes of which some word does.
uint64_t note_lds_words(ModelState& state, const Wave& wave, const WaveAccess& access, const uint32_t* offset);
void begin_lds(ModelState& state, uint32_t bytes);
void lds_barrier(ModelState& state);
uint32_t completed_lds(const ModelState& state, const Wave& wave);
void begin_global(ModelState& state, uint64_t linear);
void global_barrier(ModelState& state);
uint32_t completed_atomics(const ModelState& state, const Wave& wave);
void pass_moment(GlobalOrder& order);
// What the wave did up to a moment of its, and what it knows of the others, has been written back.
void release(ModelState& state, uint32_t wave, uint32_t tick);
void complete(ModelState& state, Wave& wave, const Operation& operation);
// Two waves have synchronised by an atomic operation: what is carried to the second one it knows, and what the first
// knows of other workgroups.
void learn_from_wave(ModelState& state, uint32_t from, uint32_t to);

// The active lanes are neighbours, and so is what they touch: one stretch of `bytes` bytes from `low` on.
struct Stretch {
    uint64_t low, bytes;
    uint32_t first;  // lane
    bool is_one;
};

template <class Offset> KM_ALWAYS Stretch stretch_of(const WaveAccess& access, const Offset* offset) {
    const uint32_t first = (uint32_t)__builtin_ctzll(access.lanes),
                   count = (uint32_t)__builtin_popcountll(access.lanes);
    const uint64_t run = access.lanes >> first;
    Stretch stretch = {offset[first], (uint64_t)access.bytes * count, first, false};
    if (run & (run + 1)) return stretch;
    Offset wrong = 0;
    const Offset low = offset[first];
    for (uint32_t i = 0; i < count; i++) wrong |= offset[first + i] ^ (Offset)(low + i * access.bytes);
    stretch.is_one = !wrong;
    return stretch;
}

}  // namespace machine
