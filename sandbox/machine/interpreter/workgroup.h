// A workgroup with its waves, its LDS and its private memory; and the thread that runs workgroups.
#pragma once
#include "findings.h"
#include "loaded_program.h"
#include "memory_model.h"
#include "request.h"
#include "shared.h"
#include "wave.h"

namespace machine {

constexpr uint64_t kMostScratch = 256 << 10;  // of a lane

struct Worker;
struct Recorder;
class Symbolic;
struct Coverage;
struct GroupStream;
struct Neighbourhood;
enum class Watch : uint8_t;

struct Workgroup {
    Wave* wave[kMaxWaves];
    uint32_t waves;
    uint32_t id[3];
    uint64_t linear, serial;  // its number in the grid, and among all workgroups of all launches
    uint64_t place;           // among those of the launch that are executed
    const Launch* launch;
    const Kernel* kernel;
    uint32_t launch_index;
    uint32_t lds_bytes;  // static and dynamic
    uint8_t *lds, *lds_written;
    uint64_t scratch_bytes;  // of a lane
    bool failed, pauses;     // pauses: another workgroup is to run, where some are there at once
    uint32_t turn;           // whose turn it is
    uint64_t barriers;
    uint64_t accesses;  // of all lanes, to memory
    uint64_t changes;   // writes that others may see
    uint64_t steps;     // instructions of its waves
    Worker* worker;
    GroupStream* stream;  // where its instructions are kept, or null
    MemoryModel model;
    bool mixed_barriers;  // waves have met at different barriers
    // The first use of a value that nothing has set: told when nothing worse was seen, such as a race.
    bool uses_undefined;
    Finding undefined;
};

struct Worker {
    const Request* request;
    const Program* program;
    Workgroup** free_groups;
    uint32_t free_count, number;
    uint64_t random;         // state of the generator that chooses turns
    uint32_t switches;       // that it has chosen at atomic operations and their like
    Coverage* covered;       // what a survey's workgroups meet, or what becomes of marked instructions; else null
    const Watch* watches;    // of each instruction, where there is such
    uint64_t covered_steps;  // instructions of surveys
    uint64_t* executed;      // of each instruction: by how many waves it was executed
    bool changes_lds;        // atomically, in the launch
    uint16_t* regions;       // of each instruction: the index of the region that it went to last
    Shared<uint64_t> begun, spent_ns;
    Shared<uint64_t> awaits;  // 1 + the grid's progress of which it awaits more, or 0
    uint64_t opened_ns;
    Symbolic* symbolic;         // follows what the launch's numbers decide, else null
    Recorder* recorder;         // of the workgroups that are recorded, else null
    Neighbourhood* neighbours;  // while these run, else null
    uint64_t barriers, accesses, work;
    bool uses_undefined;  // of a workgroup of this launch in which nothing worse was seen
    Finding undefined;
};

// Whether it has nothing to do: no access, and no more instructions than it takes to see that.
constexpr uint64_t kIdleSteps = 64;
inline bool is_idle(const Workgroup& group) { return !group.accesses && group.steps <= kIdleSteps * group.waves; }
// What it does, in accesses of one lane: an instruction takes a SIMD as long as the address unit takes for so many lanes.
constexpr uint64_t kLanesOfStep = 16;
inline uint64_t work_of(const Workgroup& group) {
    return is_idle(group) ? 0 : group.accesses + kLanesOfStep * group.steps;
}

Workgroup* open_workgroup(Worker& worker, const Launch& launch, uint32_t launch_index, uint64_t linear);
void close_workgroup(Worker& worker, Workgroup* group);
enum class Progress : uint8_t {
    ended,  // or failed
    running,
    stuck,  // every wave that has not ended waits at a barrier or repeats itself: only others can change that
};
Progress run_workgroup(Workgroup& group, uint64_t budget);
uint64_t next_random(Worker& worker);
// Lets waves that repeat themselves look again.
void rouse(Workgroup& group);

}  // namespace machine
