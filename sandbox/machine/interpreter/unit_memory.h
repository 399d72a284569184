// The memory of one compute unit in a timeline: its L1, and its share of what lies beyond.
#pragma once
#include "arrivals.h"
#include "cache.h"
#include "clock.h"
#include "stream.h"

namespace machine {

// How much of a buffer's lines that miss the L1 goes where.
struct Level {
    double beyond_l2, beyond_mall;  // of lines a workgroup touches for the first time; of those beyond the L2
};

struct Levels {
    Level of[2][kMaxRegions];   // of loads; of stores and atomics
    Level again[kAgeMask + 1];  // of lines that a workgroup has touched before, by how long ago that is
    Level scratch;
};

// `is_warm`: the buffers were used a moment ago, and what fits is still there.
Levels levels_of(const Streams& streams, uint32_t launch, const Clock& clock, bool is_warm);

class UnitMemory {
  public:
    UnitMemory(const Clock& clock, double units, const Levels& levels, uint64_t line_bytes);
    double address_free() const { return address_; }
    // `group` numbers the workgroups of the timeline: each has memory of its own, as far as the L1 is concerned.
    Arrival access(const GroupStream& stream, const Touch& touch, uint64_t group, double now);
    // A load of the scalar unit, by way of its own cache.
    Arrival scalar_load(const GroupStream& stream, const Touch& touch, uint64_t group, double now);
    // The vector L1 has nothing any more.
    void forget() { l1_.clear((uint64_t)(clock_.l1_bytes / line_bytes_)); }
    double bytes(int level) const { return bytes_[level]; }  // beyond the L1, the L2, the Infinity Cache

  private:
    struct Line {
        double at, alone;
    };
    Line fetch(uint64_t line, bool stores, bool is_scratch, double now);
    // What workgroups have in common is there once for all; of the rest each has its own.
    static uint64_t tagged(uint64_t line, uint64_t group) {
        return line & kCommonLine ? (line & kPlainLine) | kCommonLine : (line & kPlainLine) ^ (group & 255) << kLineAge;
    }
    bool goes_on(double share, double& owed) {
        owed += share;
        if (owed < 1) return false;
        owed -= 1;
        return true;
    }

    const Clock& clock_;
    const Levels& levels_;
    const double line_bytes_;
    LineCache &l1_, &scalar_;
    double unit_rate_[3], unit_free_[3] = {};  // by level: bytes a clock
    double share_[3], share_free_[3] = {};     // of the whole chip
    double bytes_[3] = {}, address_ = 0;
    double owed_[2][2][kMaxRegions + 2] = {};
};

}  // namespace machine
