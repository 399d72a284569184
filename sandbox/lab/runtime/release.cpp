#include "release.h"

#include <string.h>
#include <sys/mman.h>

#include "request.h"
#include "workgroup.h"

namespace ks {

// A set of workgroups, as spans of their numbers. Where there are too many spans the closest become one, so that a
// workgroup may be taken for known that is not: an order too many is no false finding.
constexpr int kSpans = 24;
struct Groups {
    uint32_t count;
    struct {
        uint64_t low, high;
    } span[kSpans + 1];

    bool holds(uint64_t group) const {
        for (uint32_t i = 0; i < count; i++)
            if (group >= span[i].low && group <= span[i].high) return true;
        return false;
    }

    void merge_after(uint32_t i) {
        if (span[i + 1].high > span[i].high) span[i].high = span[i + 1].high;
        memmove(&span[i + 1], &span[i + 2], (--count - i - 1) * sizeof span[0]);
    }

    void add(uint64_t low, uint64_t high) {
        uint32_t at = 0;
        while (at < count && span[at].high + 1 < low) at++;
        if (at < count && span[at].low <= high + 1) {
            if (low < span[at].low) span[at].low = low;
            if (high > span[at].high) span[at].high = high;
            while (at + 1 < count && span[at + 1].low <= span[at].high + 1) merge_after(at);
            return;
        }
        memmove(&span[at + 1], &span[at], (count - at) * sizeof span[0]);
        span[at] = {low, high};
        if (++count <= kSpans) return;
        uint32_t closest = 0;
        for (uint32_t i = 1; i + 1 < count; i++)
            if (span[i + 1].low - span[i].high < span[closest + 1].low - span[closest].high) closest = i;
        merge_after(closest);
    }

    void add(const Groups& others) {
        for (uint32_t i = 0; i < others.count; i++) add(others.span[i].low, others.span[i].high);
    }
};

// A workgroup that has released by itself, and up to when; 0: none.
struct Release {
    uint64_t group, clock;
};
constexpr int kReleases = 8;

// What a place hands on. Of the last workgroups that released there themselves the moment is known; of all others, and
// of those that came by way of another place, it is their last release.
struct Flag {
    uint64_t place;
    Shared<uint32_t> busy;
    uint32_t next;
    Groups known;
    Release release[kReleases];

    void lock() {
        while (__atomic_exchange_n(&busy.value, 1, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
    }
    void unlock() { __atomic_store_n(&busy.value, 0, __ATOMIC_RELEASE); }
};

constexpr uint32_t kFlagBits = 18, kFlags = 1 << kFlagBits, kProbes = 64, kLooked = 16, kLasts = 1 << 20;

// What the running workgroup of one worker knows.
struct Knowledge {
    Groups known;
    Release exact[kReleases];  // moments up to which a known workgroup is; the others: up to its last release
    uint64_t looked[kLooked];  // places, newest in a ring
    uint32_t looks;
};

static Flag* g_flags;
static Release* g_last;          // by workgroup: its last release
static Shared<uint32_t> g_lost;  // a release found no room: an order that is not known may be one of those
static constinit thread_local Knowledge t_known = {};

static uint32_t start_of(uint64_t place) { return (uint32_t)(place * 0x9E3779B97F4A7C15ull >> (64 - kFlagBits)); }

void prepare_releases() {
    const uint64_t bytes = kFlags * sizeof(Flag) + kLasts * sizeof(Release);
    void* room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) die("no memory to watch the flags");
    g_flags = (Flag*)room;
    g_last = (Release*)(g_flags + kFlags);
}

static Flag* flag_at(uint64_t place, bool make) {
    for (uint32_t i = 0; i < kProbes; i++) {
        Flag& flag = g_flags[(start_of(place) + i) % kFlags];
        uint64_t there = __atomic_load_n(&flag.place, __ATOMIC_ACQUIRE);
        if (there == place) return &flag;
        if (there) continue;
        if (!make) return nullptr;
        if (__atomic_compare_exchange_n(&flag.place, &there, place, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
            there == place)
            return &flag;
    }
    if (make) g_lost.set(1);
    return nullptr;
}

void forget_others(Worker&) {
    t_known.known.count = 0;
    memset(t_known.exact, 0, sizeof t_known.exact);
    memset(t_known.looked, 0, sizeof t_known.looked);
    t_known.looks = 0;
}

static Release* entry(Release* list, uint64_t group) {
    for (int i = 0; i < kReleases; i++)
        if (list[i].group == group) return &list[i];
    return nullptr;
}

// Takes over what a place hands on.
static void learn(uint64_t place) {
    Flag* flag = place ? flag_at(place, false) : nullptr;
    if (!flag) return;
    Knowledge& mine = t_known;
    flag->lock();
    for (Release& each : mine.exact)  // known up to its last release now, as the place does not say when
        if (each.group && flag->known.holds(each.group) && !entry(flag->release, each.group)) each.group = 0;
    for (const Release& each : flag->release) {
        if (!each.group) continue;
        Release* known = entry(mine.exact, each.group);
        if (known) {
            if (each.clock > known->clock) known->clock = each.clock;
        } else if (!mine.known.holds(each.group)) {
            Release* room = entry(mine.exact, 0);
            if (room) *room = each;
        }
    }
    mine.known.add(flag->known);
    flag->unlock();
}

static void learn_all() {
    for (uint64_t place : t_known.looked) learn(place);
}

static void look(uint64_t place) {
    Knowledge& mine = t_known;
    for (uint64_t each : mine.looked)
        if (each == place) return;
    uint64_t& slot = mine.looked[mine.looks++ % kLooked];
    learn(
        slot);  // not when it looks, but later: the other's release comes before its store, that before this look's end
    slot = place;
}

static void hand_on(uint64_t place, uint64_t group, uint64_t fence) {
    learn_all();
    const Groups& known = t_known.known;
    if (!fence && !known.count) return;
    Flag* flag = flag_at(place, true);
    if (!flag) return;
    flag->lock();
    for (Release& each : flag->release)  // somebody hands on what may be later
        if (each.group && each.group != group && known.holds(each.group)) each.group = 0;
    flag->known.add(known);
    if (fence) {
        Release* own = entry(flag->release, group);
        if (!own && !flag->known.holds(group)) own = &flag->release[flag->next++ % kReleases];
        if (own) *own = {group, fence};
        flag->known.add(group, group);
        Release& last = g_last[group % kLasts];
        __atomic_store_n(&last.clock, fence, __ATOMIC_SEQ_CST);
        __atomic_store_n(&last.group, group, __ATOMIC_SEQ_CST);
    }
    flag->unlock();
}

void meet_at(Worker&, uint64_t place, uint64_t group, uint64_t fence, bool reads, bool writes) {
    if (reads) look(place);
    if (writes) hand_on(place, group, fence);
}

bool is_behind(Worker&, uint64_t group, uint64_t clock) {
    for (int tries = 0; tries < 2; tries++) {
        if (t_known.known.holds(group)) {
            const Release* exact = entry(t_known.exact, group);
            const Release& last = g_last[group % kLasts];
            const bool is_last = __atomic_load_n(&last.group, __ATOMIC_SEQ_CST) == group;
            if (!exact && !is_last) g_lost.set(1);  // another one has its place
            const uint64_t until = exact ? exact->clock : is_last ? __atomic_load_n(&last.clock, __ATOMIC_SEQ_CST) : 0;
            if (until > clock) return true;
        }
        if (!tries) learn_all();
    }
    return false;
}

bool has_lost_orders() { return g_lost.get(); }

}  // namespace ks
