#include "releases.h"

#include <pthread.h>
#include <string.h>

#include "model_state.h"

namespace machine {

namespace {

// What a place hands on lies in a body; there are fewer bodies than places, as most places hand on nothing.
struct FlagSlot {
    uint64_t place;
    uint32_t body;  // its number and 1; 0: none yet
    uint32_t busy;

    void lock() {
        while (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE)) {}
    }
    void unlock() { __atomic_store_n(&busy, 0, __ATOMIC_RELEASE); }
};

constexpr uint32_t kFlagBits = 18, kFlags = 1 << kFlagBits, kProbes = 64, kBodies = 1 << 17, kLasts = 1 << 18;

FlagSlot* g_flags;
Knowledge* g_bodies;
Release* g_last;  // the last release of each workgroup
uint32_t g_next_body;
uint32_t g_lost;
pthread_once_t g_mapped = PTHREAD_ONCE_INIT;

uint32_t start_of(uint64_t place) { return (uint32_t)(place * 0x9E3779B97F4A7C15ull >> (64 - kFlagBits)); }

FlagSlot* flag_at(uint64_t place, bool is_new) {
    for (uint32_t i = 0; i < kProbes; i++) {
        FlagSlot& flag = g_flags[(start_of(place) + i) % kFlags];
        uint64_t there = __atomic_load_n(&flag.place, __ATOMIC_ACQUIRE);
        if (there == place) return &flag;
        if (there) continue;
        if (!is_new) return nullptr;
        if (__atomic_compare_exchange_n(&flag.place, &there, place, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
            there == place)
            return &flag;
    }
    if (is_new) __atomic_store_n(&g_lost, 1, __ATOMIC_RELAXED);
    return nullptr;
}

// Of a locked flag.
Knowledge* body_of(FlagSlot& flag, bool is_new) {
    if (!flag.body && is_new) {
        const uint32_t number = __atomic_fetch_add(&g_next_body, 1, __ATOMIC_RELAXED);
        if (number >= kBodies) {
            __atomic_store_n(&g_next_body, kBodies, __ATOMIC_RELAXED);
            __atomic_store_n(&g_lost, 1, __ATOMIC_RELAXED);
            return nullptr;
        }
        flag.body = number + 1;
    }
    return flag.body ? &g_bodies[flag.body - 1] : nullptr;
}

void raise(uint32_t& kept, uint32_t value, bool is_same) {
    const uint32_t before = is_same ? __atomic_load_n(&kept, __ATOMIC_RELAXED) : 0;
    __atomic_store_n(&kept, before > value ? before : value, __ATOMIC_RELAXED);
}

void keep_last(const Release& release) {
    Release& last = g_last[release.group % kLasts];
    const bool is_same = __atomic_load_n(&last.group, __ATOMIC_RELAXED) == release.group;
    __atomic_store_n(&last.group, 0, __ATOMIC_SEQ_CST);
    for (uint32_t w = 0; w < kMaxWaves; w++) {
        raise(last.until[w], release.until[w], is_same);
        raise(last.inside[w], release.inside[w], is_same);
    }
    __atomic_store_n(&last.group, release.group, __ATOMIC_SEQ_CST);
}

bool last_of(uint64_t group, Release& release) {
    const Release& last = g_last[group % kLasts];
    if (__atomic_load_n(&last.group, __ATOMIC_SEQ_CST) != group) return false;
    for (uint32_t w = 0; w < kMaxWaves; w++) {
        release.until[w] = __atomic_load_n(&last.until[w], __ATOMIC_RELAXED);
        release.inside[w] = __atomic_load_n(&last.inside[w], __ATOMIC_RELAXED);
    }
    return __atomic_load_n(&last.group, __ATOMIC_SEQ_CST) == group;
}

Release* entry(Knowledge& known, uint64_t group) {
    for (Release& each : known.exact)
        if (each.group == group) return &each;
    return nullptr;
}

// True where `to` has got to know something.
bool merge(Release& to, const Release& from) {
    bool has_grown = false;
    for (uint32_t w = 0; w < kMaxWaves; w++) {
        has_grown |= from.until[w] > to.until[w];
        to.until[w] = from.until[w] > to.until[w] ? from.until[w] : to.until[w];
        to.inside[w] = from.inside[w] > to.inside[w] ? from.inside[w] : to.inside[w];
    }
    to.wave = from.wave;
    to.issued = from.issued;
    to.completed = from.completed;
    return has_grown;
}

}  // namespace

void Groups::merge_after(uint32_t i) {
    if (span[i + 1].high > span[i].high) span[i].high = span[i + 1].high;
    memmove(&span[i + 1], &span[i + 2], (--count - i - 1) * sizeof span[0]);
}

void Groups::add(uint64_t low, uint64_t high) {
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

const Release* Knowledge::of(uint64_t group) const {
    for (const Release& each : exact)
        if (each.group == group) return &each;
    return nullptr;
}

void Knowledge::add(const Release& release) {
    Release* known = entry(*this, release.group);
    if (known) {
        merge(*known, release);
    } else if (!groups.holds(release.group)) {
        exact[next++ % kReleases] = release;
    }
    groups.add(release.group, release.group);
}

void Knowledge::learn(const Knowledge& other, uint32_t now) {
    for (Release& each : exact)  // known up to its last release now, as the other does not say when
        if (each.group && other.groups.holds(each.group) && !other.of(each.group)) each.group = 0;
    for (const Release& each : other.exact) {
        if (!each.group) continue;
        Release* known = entry(*this, each.group);
        if (known) {
            if (merge(*known, each)) known->learned = now;
        } else if (!groups.holds(each.group)) {
            Release* room = entry(*this, 0);
            if (!room) continue;
            *room = each;
            room->learned = now;
        }
    }
    groups.add(other.groups);
}

static void map_tables() {
    g_flags = (FlagSlot*)map_zeros(kFlags * sizeof(FlagSlot));
    g_bodies = (Knowledge*)map_zeros(kBodies * sizeof(Knowledge));
    g_last = (Release*)map_zeros(kLasts * sizeof(Release));
}

// Threads of all workgroups ask at once, and none may see one table without the others.
void prepare_releases() { pthread_once(&g_mapped, map_tables); }

void forget_releases() {
    if (!g_flags) return;
    memset((void*)g_flags, 0, kFlags * sizeof(FlagSlot));
    memset((void*)g_bodies, 0, (g_next_body < kBodies ? g_next_body : kBodies) * sizeof(Knowledge));
    memset((void*)g_last, 0, kLasts * sizeof(Release));
    g_next_body = 0;
}

void hand_on(uint64_t place, const Knowledge& known, const Release& release) {
    FlagSlot* flag = flag_at(place, true);
    if (!flag) return;
    keep_last(release);
    flag->lock();
    if (Knowledge* body = body_of(*flag, true)) {
        for (Release& each : body->exact)  // somebody hands on what may be later
            if (each.group && each.group != release.group && known.groups.holds(each.group)) each.group = 0;
        body->groups.add(known.groups);
        body->add(release);
    }
    flag->unlock();
}

bool learn_from(uint64_t place, Knowledge& known, uint32_t now) {
    FlagSlot* flag = flag_at(place, false);
    if (!flag) return false;
    flag->lock();
    const Knowledge* body = body_of(*flag, false);
    if (body) known.learn(*body, now);
    flag->unlock();
    return body;
}

bool release_of(const Knowledge& known, uint64_t group, Release& release) {
    if (!known.groups.holds(group)) return false;
    if (const Release* exact = known.of(group)) {
        release = *exact;
        return true;
    }
    release = {};
    release.group = group;
    if (last_of(group, release)) return true;
    __atomic_store_n(&g_lost, 1, __ATOMIC_RELAXED);  // another one has its place
    return false;
}

bool has_lost_orders() { return __atomic_load_n(&g_lost, __ATOMIC_RELAXED); }

}  // namespace machine
