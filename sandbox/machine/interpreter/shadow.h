// What was last done to each place of memory; inside of the memory model. LDS and global memory have the same kind of
// shadow: that of LDS belongs to one workgroup, that of a buffer to all workers.
#pragma once
#include <stdint.h>

namespace machine {

// An access: group << 38 | tick << 16 | wave << 12 | lane << 6 | flags. Group: the workgroup's number among those of all
// launches; in LDS, among those that had this LDS. 0: none.
typedef uint64_t Record;
constexpr Record kAtomicBit = 1;
constexpr Record kNarrow = 2;     // atomic within its workgroup only
constexpr Record kManyLanes = 4;  // of a reader: other lanes of its wave have read it, too, since they met
constexpr int kLaneShift = 6, kWaveShift = 12, kTickShift = 16, kGroupShift = 38;
constexpr Record kLaneBits = 63ull << kLaneShift, kWaveBits = 15ull << kWaveShift;
constexpr Record kObserver = ~0ull << kGroupShift | kWaveBits;
constexpr Record kBelowTick = (1ull << kTickShift) - 1;
constexpr Record kSplit = ~0ull;  // of a writer: parts of the cell were touched, and their own records hold
constexpr uint64_t kGroups = (1ull << 26) - 2;
constexpr uint32_t kLastTick = (1u << 22) - 1;  // stands for all moments from then on

inline uint64_t group_of(Record r) { return r >> kGroupShift; }
inline uint32_t tick_of(Record r) { return (uint32_t)(r >> kTickShift) & kLastTick; }
inline uint32_t wave_of(Record r) { return (uint32_t)(r >> kWaveShift) & 15; }
inline uint32_t lane_of(Record r) { return (uint32_t)(r >> kLaneShift) & 63; }
inline Record record_of(uint64_t group, uint32_t tick) { return group << kGroupShift | (Record)tick << kTickShift; }

// Of each place. Other: the last reader that is not the last reader's wave. Plain: the last write that was not atomic,
// where atomic ones came after it.
enum Slot : uint8_t { kWriter, kReader, kOther, kPlain, kSlots };

// The records of places of one size, and, in global memory, the instructions that they are of.
struct Cells {
    Record* record[kSlots];
    uint32_t* place[kSlots];
};

struct Shadow {
    Cells word, byte;  // of a word that is split, kOther is the last access of any of its bytes
    uint64_t bytes;
    bool is_read, was_read;  // whether anybody has read it so far; in this launch
};

inline Record load(const Record& record) { return __atomic_load_n(&record, __ATOMIC_RELAXED); }
inline void store(Record& record, Record value) { __atomic_store_n(&record, value, __ATOMIC_RELAXED); }
inline bool is_set(const bool& flag) { return __atomic_load_n(&flag, __ATOMIC_RELAXED); }

void* map_zeros(uint64_t bytes);
void map_shadow(Shadow& shadow, uint64_t bytes, bool has_places);
void forget(Shadow& shadow);
// Each byte of the word has records of its own from now on. Up to `forgotten` no record matters to anybody.
void split_word(Shadow& shadow, uint64_t word, Record forgotten);

}  // namespace machine
