// Who touched which memory last, and what stands between two accesses: races, undrained barriers, unwritten memory.
//
// Every worker has a clock that ticks at whatever orders work-items: a fence, a wave operation, a barrier. An access is
// remembered as (clock, work-item). Another work-item of the wave is ordered behind it by a wave operation of its own
// that came later; one of another wave by a barrier before which the first had drained its accesses.
#pragma once
#include "workgroup.h"

namespace ks {

enum Flags : uint32_t { kReads = 1, kWrites = 2, kAtomically = 4, kCopies = 8 };

// clock << 16 | mask << 12 | many << 11 | atomic << 10 | work-item. In global memory the clock's upper bits are the
// number of the workgroup, see global_shadow.cpp.
typedef uint64_t Record;
constexpr Record kItem = 1023, kAtomicBit = 1 << 10, kMany = 1 << 11, kSplit = ~0ull;

// Two to a line of the cache: a cell is looked up at each access.
struct Cell {
    Record writer, reader, other;  // other: the last reader of another wave than reader's
    uint32_t writer_place, reader_place;
};
static_assert(sizeof(Cell) == 32);

// The last write that was not atomic, of a cell whose writer is: atomic ones came after it.
struct Plain {
    Record writer;
    uint32_t place;
};

struct Cells {
    Cell* cell;
    Plain* plain;
};

struct LdsShadow {
    Cells word, byte;  // a word's cell, or where parts of it were touched, those of its bytes
    uint8_t* written;  // one byte per byte
    Record safe;       // records below are ordered before everything
    Record now;        // the clock, in its place of a record
    Record wave;       // the bits of a record that tell the wave
};
extern constinit thread_local LdsShadow t_shadow;

enum Hazard : uint32_t { kReadAfterWrite, kWriteAfterRead, kWriteAfterWrite };
enum Relation : uint32_t { kSameWave, kOtherWave, kOtherWorkgroup };
enum Order : uint32_t { kOrdered, kRacing, kUndrainedOrder };

struct Touch {
    uint64_t address, size, place;
    uint32_t flags, item;  // item: the work-item in its workgroup
    bool global;
};

void prepare_shadows(const Request& request);
void begin_shadow(Worker& worker, uint64_t linear);  // a workgroup starts
void end_shadow(Worker& worker);                     // and ends
void end_launch_shadow(Worker& worker);
void barrier_passed(Worker& worker);
void lanes_met(Wave& wave, uint64_t lanes);  // in a wave operation
// How a remembered access of this workgroup stands to one of the running work-item.
Order order_of(Record record, uint64_t clock, Record self, bool global);
// Reports and leaves the workgroup; a write of what is there already is let pass, which shows at the next touch.
void conflict(const Touch& touch, Hazard hazard, Order order, Relation relation, uint64_t item, uint64_t group,
              uint64_t other_place);
void settle_pending();
void suspect_unwritten(const Touch& touch);
void touch_bytes(uint64_t at, const Touch& touch);
void touch_word(const Cells& cells, uint64_t index, Record self, const Touch& touch, bool was_written);
bool rejoin(Cell& cell);
// What an access of LDS seldom needs: parts of words, or memory that nobody wrote.
void touch_slowly(uint64_t at, uint64_t size, uint32_t flags, uint64_t place);
// The word of this number, whose records may be a race; true when it was dealt with by its bytes.
bool touch_doubtful(uint64_t word, uint64_t at, uint64_t size, uint32_t flags, uint64_t place, bool was_written);
void touch_global(uint32_t region, uint64_t offset, const Touch& touch);
bool all_written(const uint8_t* written, uint64_t size, uint32_t flags);
void mark_written(uint8_t* written, uint64_t size);

#define KS_HOT inline __attribute__((always_inline))  // size and flags are constants where it is used

KS_HOT bool concerns(Record record, Record self) {
    return record >= t_shadow.safe && ((record ^ self) & (kItem | kMany));
}

// Whether order_of() says kOrdered of an access in LDS: the other has drained it before a barrier, or the wave has met.
KS_HOT bool settled(Record record, Record self) {
    const Lane& other = t_worker->lanes[record & kItem];
    return record >> 16 < ((record ^ self) & t_shadow.wave ? other.published[0] : t_lane->synced);
}

KS_HOT bool unsettled(Record record, Record self) { return concerns(record, self) && !settled(record, self); }

// The record of the plain write before atomic ones; 0 where there is none. A word that is split has it in its bytes.
KS_HOT Record plain_before(const Cells& cells, uint64_t index) {
    const Record writer = cells.cell[index].writer;
    return __builtin_expect((writer & kAtomicBit) && writer != kSplit, 0) ? cells.plain[index].writer : 0;
}

// Atomic writes race with no other atomic access, so the plain one before them is remembered beside them.
KS_HOT void note_writer(const Cells& cells, uint64_t index, Record self, uint64_t place) {
    Cell& cell = cells.cell[index];
    if ((self & kAtomicBit) && !(cell.writer & kAtomicBit)) cells.plain[index] = {cell.writer, cell.writer_place};
    cell.writer = self;
    cell.writer_place = (uint32_t)place;
}

KS_HOT void note_reader(Cell& cell, Record self, uint64_t place) {
    Record last = cell.reader;
    if (last >= t_shadow.safe && ((last ^ self) & kItem)) {
        if ((last ^ self) & t_shadow.wave)
            cell.other = last;
        else if (last >> 16 >= t_lane->synced)
            self |= kMany;
    } else if (last >= t_shadow.safe) {
        self |= last & kMany;
    }
    cell.reader = self;
    cell.reader_place = (uint32_t)place;
}

KS_HOT bool all_written(const uint8_t* written, uint64_t size, uint32_t flags) {
    uint64_t ones = 0x0101010101010101ull, a = 0, b = 0;
    switch (size) {
    case 1:
        return *written;
    case 2:
        __builtin_memcpy(&a, written, 2);
        return a == 0x0101;
    case 4:
        __builtin_memcpy(&a, written, 4);
        return a == 0x01010101;
    case 8:
        __builtin_memcpy(&a, written, 8);
        return a == ones;
    case 16:
        __builtin_memcpy(&a, written, 8);
        __builtin_memcpy(&b, written + 8, 8);
        return a == ones && b == ones;
    }
    uint64_t count = 0;
    for (uint64_t i = 0; i < size; i++) count += written[i];
    return flags & kCopies ? count > 0 : count == size;  // a struct that is copied has gaps nobody writes
}

KS_HOT void mark_written(uint8_t* written, uint64_t size) {
    switch (size) {
    case 1:
        *written = 1;
        break;
    case 2:
        __builtin_memset(written, 1, 2);
        break;
    case 4:
        __builtin_memset(written, 1, 4);
        break;
    case 8:
        __builtin_memset(written, 1, 8);
        break;
    case 16:
        __builtin_memset(written, 1, 16);
        break;
    default:
        __builtin_memset(written, 1, size);
    }
}

KS_HOT void touch_lds(uint64_t at, uint64_t size, uint32_t flags, uint64_t place) {
    LdsShadow& shadow = t_shadow;
    bool was_written = all_written(shadow.written + at, size, flags);
    if (__builtin_expect(((at | size) & 3) != 0 || ((flags & kReads) && !was_written), 0)) {
        touch_slowly(at, size, flags, place);
        return;
    }
    Record self = shadow.now | t_lane->flat | (flags & kAtomically ? kAtomicBit : 0);
    for (uint64_t done = 0; done < size; done += 4) {
        const uint64_t word = (at + done) / 4;
        Cell& cell = shadow.word.cell[word];
        // A word that is split has the greatest record, which is of no lane and settled by nothing.
        bool doubtful = unsettled(cell.writer, self) || unsettled(plain_before(shadow.word, word), self);
        if (flags & kWrites) doubtful |= unsettled(cell.reader, self) || unsettled(cell.other, self);
        if (__builtin_expect(doubtful, 0) && touch_doubtful(word, at, size, flags, place, was_written)) continue;
        if (flags & kWrites) {
            note_writer(shadow.word, word, self, place);
        } else {
            note_reader(cell, self, place);
        }
    }
    if (flags & kWrites) mark_written(shadow.written + at, size);
}

}  // namespace ks
