// Which workgroups a wave knows to be ahead of it: by way of the places where it looked at what they released.
#pragma once
#include <stdint.h>

#include "memory_model.h"

namespace machine {

// A set of workgroups, as spans of their numbers. Where there are too many spans the closest become one, so that a
// workgroup may be taken for known that is not: an order too many is no false finding.
constexpr uint32_t kSpans = 16;
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
    void add(uint64_t low, uint64_t high);
    void add(const Groups& others) {
        for (uint32_t i = 0; i < others.count; i++) add(others.span[i].low, others.span[i].high);
    }

  private:
    void merge_after(uint32_t i);
};

// What a workgroup has released: up to which moment, for each of its waves, all of its accesses are visible. The wave
// that released last had issued its atomic accesses up to `issued`, and had waited for those up to `completed`.
struct Release {
    uint64_t group;  // 0: none
    uint32_t until[kMaxWaves];
    uint32_t inside[kMaxWaves];  // the same for waves of the workgroup itself, which need no write-back
    uint32_t wave, issued, completed;
    uint32_t learned;  // when the wave that knows it came to know it, by its own workgroup's clock
};

// What a wave knows, or a place hands on. Of the last workgroups that released there themselves the moments are known;
// of all others, and of those that came by way of another place, it is their last release.
constexpr uint32_t kReleases = 4;
struct Knowledge {
    Groups groups;
    Release exact[kReleases];
    uint32_t next;

    const Release* of(uint64_t group) const;
    // Takes over what `other` knows; `now`: the moment that it is learned at.
    void learn(const Knowledge& other, uint32_t now);
    void add(const Release& release);
};

void prepare_releases();
void forget_releases();  // before numbers of workgroups begin again
// The place passes on what the wave knows, and what its workgroup releases.
void hand_on(uint64_t place, const Knowledge& known, const Release& release);
// What the place has passed on so far is known from now on; false where it is nothing.
bool learn_from(uint64_t place, Knowledge& known, uint32_t now);
// The release of a workgroup that is known; false where it has none.
bool release_of(const Knowledge& known, uint64_t group, Release& release);
// Whether more places were used as flags than can be followed: a workgroup may be ahead without being known to be.
bool has_lost_orders();

}  // namespace machine
