// The instructions that the waves of recorded workgroups execute, in order, and what each asks of memory: what a timeline
// is made from. The lines that neighbours on one chiplet touch say how much of it the others bring into the L2 as well.
#pragma once
#include "clock.h"
#include "line_table.h"
#include "places.h"
#include "site_counts.h"
#include "workgroup.h"

namespace machine {

constexpr uint32_t kMostStreams = 4;  // workgroups of a launch whose instructions are kept
// A line: region's index << 48 | its number, and in between how long ago its workgroup touched it: 0 never, else one more
// than the binary logarithm of the lines that the workgroup has touched for the first time since.
constexpr uint64_t kPartialLine = 1ull << 62;  // of a store: the workgroup writes some of it only
constexpr uint64_t kCommonLine = 1ull << 63;   // most workgroups load it, so those of a unit share it in the L1
constexpr uint64_t kLineRegion = 48, kLineAge = 40, kAgeMask = 63, kPlainLine = ~(7ull << 61 | 255ull << kLineAge);

inline uint32_t age_of(uint64_t line) { return line >> kLineAge & kAgeMask; }

enum class TouchKind : uint8_t { load, store, atomic, lds, scratch_load, scratch_store };

// What one memory instruction of one wave asks for.
struct Touch {
    uint32_t first_line, lines;
    uint32_t unit_clocks, port_clocks;  // of the address unit, or of the LDS's banks; of the LDS's port
    uint32_t alike;                     // lanes that go to the same dword, at the mean
    TouchKind kind;
};

struct Step {
    uint32_t at, touch;  // the instruction; the index of its touch, or kNowhere
};

// Windows of a wave's steps: every one at first, then every second, fourth and so on, so that what comes late stands for
// as much as what came first.
struct WaveStream {
    Step* step;
    uint64_t kept, executed, stride;
    bool is_keeping;  // the step that is executed
};

constexpr uint64_t kWindow = 256;

struct LineAge {
    uint32_t touched, written;  // after how many lines that were new to the workgroup; bytes
};

// When a workgroup touched each line last.
struct LineAges {
    LineTable<LineAge> of_line;
    uint32_t fresh;

    // `bytes`: that a store writes. Returns the line's age, see kLineAge.
    uint32_t touch(uint64_t line, uint32_t bytes);
};

// One workgroup.
struct GroupStream {
    uint64_t linear;
    uint32_t waves;
    WaveStream wave[kMaxWaves];
    Touch* touch;
    uint64_t touches;
    uint64_t* line;
    uint64_t lines;
    uint64_t most_steps;  // of a wave
    bool is_idle;         // it has accessed nothing: the place is another one's
    LineAges ages;
    uint64_t fresh[2][kMaxRegions];  // lines that it touches for the first time, by loads, and by stores and atomics
};

// Of one buffer: lines that the neighbours touch, each once, and summed over them.
struct Sharing {
    uint64_t distinct, summed;
};

// Of one buffer: lines that a workgroup loads, and how many of them the one before it in y, or else in z, loads as well.
struct Reuse {
    uint64_t lines, before[2];
};

struct LaunchStream {
    GroupStream group[kMostStreams];
    uint32_t groups, neighbours;
    Sharing sharing[2][kMaxRegions];  // of loads; of stores and atomics
    Reuse reuse[kMaxRegions];
    uint64_t grid[3];
    Residency residency;
    uint64_t scratch_bytes;  // of a lane
};

struct Streams {
    uint64_t launches, line_bytes, regions, region_bytes[kMaxRegions];
    LaunchStream* launch;
};

void prepare_streams(const Request& request, const Program& program);
Streams& all_streams();
const Streams* kept_streams();  // null: none are kept
// The place of a recorded workgroup's stream; null where enough are kept.
GroupStream* open_stream(uint32_t launch, const Workgroup& group);
void note_step(GroupStream& stream, const Wave& wave);
void note_touch(GroupStream& stream, const Wave& wave, TouchKind kind, const SiteCounts& counts, uint32_t lanes);
// `written`: bytes of the line that a store writes.
void note_line(GroupStream& stream, const Wave& wave, uint64_t line, bool stores, uint32_t written);
// A load by the scalar unit, of one address for the whole wave.
void note_scalar_load(GroupStream& stream, const Wave& wave, uint32_t region, uint64_t offset, uint32_t bytes);
// The workgroup has ended: tells of each line that it wrote whether all of the line was. One that has done nothing stands
// for no other, and its stream is dropped.
void close_stream(GroupStream& stream, const Workgroup& group);
// A launch has ended: leaves out the places that idle workgroups have left. `busy`: the part of the executed ones that
// did something, and so of the grid.
void settle_stream(uint32_t launch, double busy);
// Private memory: a dword of all lanes lies side by side.
void note_scratch(GroupStream& stream, const Wave& wave, const Place& place, Access access, uint32_t bytes);

}  // namespace machine
