// What was last done to each word of global memory, for all workers; inside of the memory model.
#pragma once
#include "model_state.h"

namespace machine {

constexpr uint32_t kWatched = kMaxRegions + 128;

// Records of each word. Plain: the last write that was not atomic, where atomic ones came after it. Beside: the last
// reader of other bytes of the word, in another workgroup than reader's.
struct RegionShadow {
    Record *writer, *reader, *plain, *beside;
    uint32_t *writer_place, *reader_place, *plain_place;
    // Records of each block of words that instructions wrote and read as a whole, until some word is touched alone:
    // then it is kSplitBlock, and the words' own hold. Its mask says how many words a lane has, see shift_code.
    Record *writer_block, *reader_block;
    uint32_t *writer_block_place, *reader_block_place;
    uint8_t* written;
    uint64_t bytes;
    // Whether anybody has read it so far, or changed it atomically: else nobody looks for records of that. Outputs are
    // mostly written and no more.
    bool is_read, is_changed_atomically;
    bool was_read, was_changed;  // the same since the launch began
    uint64_t changes;
};
extern RegionShadow g_shadow[kWatched];

inline Record load(const Record& record) { return __atomic_load_n(&record, __ATOMIC_RELAXED); }
inline void store(Record& record, Record value) { __atomic_store_n(&record, value, __ATOMIC_RELAXED); }
inline bool is_set(const bool& flag) { return __atomic_load_n(&flag, __ATOMIC_RELAXED); }
// Notes that it is so, before any record that is due to it.
inline void set_once(bool& flag) {
    if (!is_set(flag)) __atomic_store_n(&flag, true, __ATOMIC_SEQ_CST);
}

constexpr uint64_t kBlock = 32;  // words
constexpr Record kSplitBlock = ~0ull;
// Of each word in the blocks of these bytes there is a record of its own from now on.
void split_blocks(RegionShadow& shadow, uint64_t offset, uint64_t bytes);

uint64_t first_group_of_launch();

// One lane's access of some bytes, as it is compared with what came before.
struct GlobalTouch {
    MemoryModel& model;
    Wave& wave;
    const WaveAccess& access;
    RegionShadow& shadow;
    uint32_t lane;
    uint64_t offset;  // of the lane's first byte
    Record self;
    bool is_early;  // some of its bytes are unwritten so far

    bool reads() const { return access.flags & kReadsMemory; }
    bool writes() const { return access.flags & kWritesMemory; }
    ModelState& state() const { return *model.state; }
};

Order order_of(const GlobalTouch& touch, Record record);
bool write_word(const GlobalTouch& touch, uint64_t word);
bool read_word(const GlobalTouch& touch, uint64_t word);
// Lanes of one instruction that store different values to one place.
bool check_lanes(MemoryModel& model, Wave& wave, const WaveAccess& access, const uint64_t* offset);
// Notes what needs no closer look, and gives back the lanes of which some word does; none after a report.
uint64_t note_global_words(MemoryModel& model, Wave& wave, RegionShadow& shadow, const WaveAccess& access,
                           const uint64_t* offset, Record self);

}  // namespace machine
