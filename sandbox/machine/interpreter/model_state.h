// What the memory model of one worker remembers; inside of memory_model.cpp and the files beside it.
#pragma once
#include "memory_model.h"
#include "releases.h"
#include "shadow.h"

namespace machine {

#define KM_ALWAYS inline __attribute__((always_inline))

enum Space : uint8_t { kLds, kGlobal, kSpaces };

// Up to which moment each wave is behind what each other one has done in one space.
struct Clocks {
    uint32_t known[kMaxWaves][kMaxWaves];
    uint32_t carried[kMaxWaves][kMaxWaves];  // what its atomic operations hand on that it does not know itself
    uint32_t safe;                           // before which all is ordered
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
    uint64_t group[kSpaces];  // the workgroup's number in records
    uint64_t first[kSpaces];  // of the launch's first workgroup; of LDS this one
    uint32_t tick;            // the moment of the last memory instruction
    uint32_t epoch;           // of the last barrier
    uint32_t invalidated;     // of the last buffer_inv of the workgroup
    bool is_atomic;           // the operation that is about to be issued changes global memory atomically, or looks
    Clocks clocks[kSpaces];
    uint32_t met[kMaxWaves][kLanes], all_met[kMaxWaves];  // when each lane, and all lanes, have met last
    WaveOrder wave[kMaxWaves];
    Wave* running[kMaxWaves];
    Shadow lds;
    uint32_t* place;  // the instruction of each moment
};

// The running access, as records are compared with it.
struct View {
    Record self;           // of lane 0
    Record first;          // records below are of earlier launches, or of others that had this LDS
    Record base, settled;  // from `base` to base + settled: of this workgroup, and ordered before all its waves
    Record limit;          // of the running instruction itself, or of a load straight into LDS that is under way
    Record met;            // of the last moment that all lanes of the wave had met at
    Record forgotten;      // up to this one no record matters to anybody
};

enum Order : uint8_t { kOrdered, kRacing, kNotDrained, kRelaxed, kStale };

KM_ALWAYS void raise(uint32_t& known, uint32_t value) { known = value > known ? value : known; }

uint64_t first_group_of_launch();
void pass_moment(ModelState& state, uint32_t instruction);
bool report_conflict(MemoryModel& model, Wave& wave, const Conflict& conflict);
// Notes what needs no closer look, and gives back the lanes of which some place does.
uint64_t note_runs(Shadow& shadow, const View& view, const WaveAccess& access, const uint64_t* offset, bool lanes_meet,
                   uint32_t place);
// Looks at what these lanes touch, place by place; false after a report.
bool note_closely(MemoryModel& model, Wave& wave, Shadow& shadow, const View& view, const WaveAccess& access,
                  const uint64_t* offset, uint64_t lanes);
uint8_t byte_of(const WaveAccess& access, uint32_t lane, uint32_t index);

void begin_orders(ModelState& state);
// An atomic access of global memory hands on what its wave has released, and will learn what others have.
void meet_at_places(ModelState& state, const Wave& wave, const WaveAccess& access, const uint64_t* offset);
// Waves of a workgroup that change one place one after the other, by one lane, are ordered by it; and who looks at a
// flag is behind who has set it. `before`: the change; `looks`: whether the wave itself gets to know of it.
void synchronise(ModelState& state, uint32_t to, Record before, Space space, bool looks);
// The last moment of the wave's before which all of its accesses of LDS are complete.
uint32_t completed_lds(const ModelState& state, const Wave& wave);
// What the wave did up to a moment of its, and what it knows of the others, has been written back.
void release(ModelState& state, uint32_t wave, uint32_t tick);
void complete(ModelState& state, Wave& wave, const Operation& operation);

}  // namespace machine
