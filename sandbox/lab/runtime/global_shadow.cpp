#include "global_shadow.h"

#include <string.h>
#include <sys/mman.h>

#include "release.h"

namespace ks {

// atomic within its workgroup only << 63 | workgroup << 37 | clock since its start << 16 | mask of bytes << 12 |
// more than one workgroup << 11 | as in LDS
constexpr int kClockBits = 21;
constexpr uint64_t kLastClock = (1ull << kClockBits) - 1, kGroups = (1ull << 26) - 1;
constexpr Record kNarrow = 1ull << 63;

constexpr uint64_t kHugePages = 128 << 20;  // bytes up to which a mapping gets them

struct RegionShadow {
    Record *writer, *reader, *plain;  // plain: the last write that was not atomic, where atomic ones came after it
    Record* beside;                   // the last reader of other bytes of the word, in another workgroup than reader's
    uint32_t *writer_place, *reader_place, *plain_place;
    uint8_t* written;
    // Whether anybody has read it so far, or changed it atomically: else nobody looks for records of that. Outputs are
    // mostly written and no more.
    bool is_read, is_changed_atomically;
};
static RegionShadow g_shadow[kMaxRegions + 2];

static void* zeroed(uint64_t bytes, bool is_sparse) {
    void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) die("no memory to watch the buffers");
    // Fewer faults; where much is mapped and little of it touched, small pages keep to what is touched.
    if (!is_sparse && bytes <= kHugePages) madvise(place, bytes, MADV_HUGEPAGE);
    return place;
}

void prepare_global_shadow(const Request& request) {
    prepare_releases();
    const bool is_sparse = request.is_sparse();
    for (uint32_t i = 1; i <= g_memory.count; i++) {
        const Region& region = g_memory.region[i];
        if (region.role == kInput || !region.size) continue;
        uint64_t words = region.size / 4 + 8;
        auto records = [=] { return (Record*)zeroed(words * 8, is_sparse); };
        auto places = [=] { return (uint32_t*)zeroed(words * 4, is_sparse); };
        g_shadow[i] = {records(), records(), records(), records(), places(), places(), places(), region.written};
        if (region.written) continue;
        g_shadow[i].written = (uint8_t*)zeroed(region.size + 8, is_sparse);
        if (region.role == kUpdated) memset(g_shadow[i].written, 1, region.size);
    }
}

static uint64_t since_start(uint64_t clock) {
    uint64_t since = clock - t_worker->group_start;
    return since < kLastClock ? since : kLastClock;
}

static uint64_t group_of(Record record) { return (record & ~kNarrow) >> (16 + kClockBits); }
static uint64_t clock_of(Record record) { return record >> 16 & kLastClock; }
static uint64_t epoch_of(Record record) { return (record & ~kNarrow) >> 16; }

static void release_and_acquire(Worker& worker, uint64_t address, bool reads, bool writes) {
    worker.acquired = true;
    const uint64_t fence = worker.agent_fence ? since_start(worker.agent_fence) : 0;
    meet_at(worker, address / 4 + 1, worker.group & kGroups, fence, reads, writes);
}

static Order order_globally(Record record, Record self, uint64_t first_group) {
    uint64_t group = group_of(record);
    if (group < first_group || !record) return kOrdered;  // an earlier launch
    if (group == group_of(self)) {
        uint64_t clock = clock_of(record);
        if (clock == kLastClock) return kOrdered;  // not known
        return order_of(record & ~(kMany | kNarrow), clock + t_worker->group_start, self, true);
    }
    // Of another workgroup of this launch: ordered when it released after the touch, and this one looked where it did.
    const uint64_t said = clock_of(record), clock = said == kLastClock ? 0 : said;  // the last one stands for all later
    const bool atomic = (record & self & kAtomicBit) && !((record | self) & kNarrow);
    return atomic || is_behind(*t_worker, group, clock) ? kOrdered : kRacing;
}

static void meet(Record record, Record self, uint64_t first_group, Hazard hazard, const Touch& touch, uint64_t place,
                 bool early) {
    if (!(record & self & 0xF000)) return;  // other bytes of the word
    Order order = order_globally(record, self, first_group);
    if (order == kOrdered) return;
    bool other = group_of(record) != group_of(self);
    Relation relation = other ? kOtherWorkgroup : (record ^ self) & t_shadow.wave ? kOtherWave : kSameWave;
    if (early && order == kRacing && !other && place) {  // the reader came before anybody had written
        Touch reader = touch;
        reader.place = place;
        reader.flags = kReads;
        reader.item = record & kItem;
        conflict(reader, kReadAfterWrite, order, relation, self & kItem, 0, touch.place);
    }
    conflict(touch, hazard, order, relation, record & kItem, group_of(record) - first_group, place);
}

static void meet_plain(RegionShadow& shadow, uint64_t word, Record self, uint64_t first_group, const Touch& touch) {
    Record plain = __atomic_load_n(&shadow.plain[word], __ATOMIC_RELAXED);
    if (group_of(plain) < first_group) return;
    meet(plain, self, first_group, touch.flags & kReads ? kReadAfterWrite : kWriteAfterWrite, touch,
         shadow.plain_place[word], false);
}

static void meet_reader(Record reader, Record self, uint64_t first_group, const Touch& touch, uint64_t place,
                        bool early) {
    if (group_of(reader) < first_group || !(reader & self & 0xF000)) return;
    if ((reader & kMany) && group_of(reader) == group_of(self) && !t_worker->acquired)
        conflict(touch, kWriteAfterRead, kRacing, kOtherWorkgroup, reader & kItem, kNone, place);
    meet(reader, self, first_group, kWriteAfterRead, touch, place, early);
}

// Notes that it is so, before any record that is due to it.
static void set_once(bool& flag) {
    if (!__atomic_load_n(&flag, __ATOMIC_RELAXED)) __atomic_store_n(&flag, true, __ATOMIC_SEQ_CST);
}
static bool is_set(const bool& flag) { return __atomic_load_n(&flag, __ATOMIC_RELAXED); }

static void write_word(RegionShadow& shadow, uint64_t word, Record self, uint64_t first_group, const Touch& touch,
                       bool early) {
    Record old = __atomic_exchange_n(&shadow.writer[word], self, __ATOMIC_RELAXED);
    if (is_set(shadow.is_changed_atomically)) {
        meet_plain(shadow, word, self, first_group, touch);
        if (!(self & kAtomicBit)) {
            if (group_of(shadow.plain[word]) >= first_group) __atomic_store_n(&shadow.plain[word], 0, __ATOMIC_RELAXED);
        } else if (group_of(old) >= first_group && !(old & kAtomicBit)) {
            shadow.plain_place[word] = shadow.writer_place[word];
            __atomic_store_n(&shadow.plain[word], old, __ATOMIC_RELAXED);
        }
    }
    if (group_of(old) >= first_group) {
        meet(old, self, first_group, touch.flags & kReads ? kReadAfterWrite : kWriteAfterWrite, touch,
             shadow.writer_place[word], false);
        // Bytes of other work-items stay known only within one epoch: later ones are ordered behind them by the barrier.
        if ((self & 0xF000) != 0xF000 && epoch_of(old) == epoch_of(self))
            __atomic_fetch_or(&shadow.writer[word], old & 0xF000, __ATOMIC_RELAXED);
    }
    shadow.writer_place[word] = (uint32_t)touch.place;
    if (!is_set(shadow.is_read)) return;
    const Record reader = __atomic_load_n(&shadow.reader[word], __ATOMIC_RELAXED);
    if (group_of(reader) >= first_group && (reader & 0xF000) != 0xF000)
        meet_reader(__atomic_load_n(&shadow.beside[word], __ATOMIC_RELAXED), self, first_group, touch, 0, early);
    meet_reader(reader, self, first_group, touch, shadow.reader_place[word], early);
}

static void read_word(RegionShadow& shadow, uint64_t word, Record self, uint64_t first_group, const Touch& touch) {
    Record last = __atomic_load_n(&shadow.reader[word], __ATOMIC_RELAXED), mine = self;
    if (group_of(last) >= first_group) {
        const bool is_own = group_of(last) == group_of(self);
        if (!(last & self & 0xF000) && (!is_own || (last & kMany)))
            __atomic_store_n(&shadow.beside[word], last, __ATOMIC_RELAXED);  // what others have read lies beside it
        else if (!is_own)
            mine |= kMany;
        else
            mine |= last & (epoch_of(last) == epoch_of(self) ? kMany | 0xF000 : kMany);
    }
    __atomic_store_n(&shadow.reader[word], mine, __ATOMIC_RELAXED);
    shadow.reader_place[word] = (uint32_t)touch.place;
    if (is_set(shadow.is_changed_atomically)) meet_plain(shadow, word, self, first_group, touch);
    Record writer = __atomic_load_n(&shadow.writer[word], __ATOMIC_RELAXED);
    if (group_of(writer) >= first_group)
        meet(writer, self, first_group, kReadAfterWrite, touch, shadow.writer_place[word], false);
}

void meet_at_flag(uint64_t address, bool reads, bool writes) { release_and_acquire(*t_worker, address, reads, writes); }

void touch_global(uint32_t region, uint64_t offset, const Touch& touch) {
    RegionShadow& shadow = g_shadow[region];
    if (!shadow.writer) return;
    Worker& worker = *t_worker;
    const bool atomic = touch.flags & kAtomically;
    if (atomic && !t_hot.narrow)
        release_and_acquire(worker, touch.address, touch.flags & kReads, touch.flags & kWrites);
    if (touch.flags & kWrites) {
        if (atomic) set_once(shadow.is_changed_atomically);
    } else {
        set_once(shadow.is_read);
    }
    bool early = !all_written(shadow.written + offset, touch.size, touch.flags);
    if ((touch.flags & kReads) && early) suspect_unwritten(touch);
    Record self = (worker.group & kGroups) << (16 + kClockBits) | since_start(worker.clock) << 16 | t_lane->flat |
                  (atomic ? kAtomicBit | (t_hot.narrow ? kNarrow : 0) : 0);
    uint64_t first_group = (worker.launch_group + 1) & kGroups, end = offset + touch.size;
    for (uint64_t word = offset / 4; word * 4 < end; word++) {
        uint64_t low = word * 4 < offset ? offset - word * 4 : 0, high = end - word * 4 < 4 ? end - word * 4 : 4;
        Record mask = ((1ull << high) - (1ull << low)) << 12;
        if (touch.flags & kWrites)
            write_word(shadow, word, self | mask, first_group, touch, early);
        else
            read_word(shadow, word, self | mask, first_group, touch);
    }
    if (touch.flags & kWrites) mark_written(shadow.written + offset, touch.size);
}

}  // namespace ks
