// The order of memory accesses: races in LDS and in global memory, writes that have not drained at a barrier, results
// used before they were waited for.
//
// Each workgroup counts moments: its memory instructions. An access is remembered as its moment and its wave. For each
// pair of waves the model knows up to which moment the one is behind what the other did, in LDS and in global memory:
// barriers move it to what the other had completed, and atomic operations to what it had released.
//
// How an instruction is told: note() for what its lanes touch (as often as needed, before data is moved), then issue()
// once. Waits, barriers and cache control have calls of their own.
#pragma once
#include <stdint.h>

#include "pending.h"
#include "report.h"
#include "wave.h"

namespace machine {

constexpr uint32_t kMaxWaves = 16, kMaxRegions = 256;
constexpr uint32_t kLdsBytes = 65536;
constexpr uint32_t kLdsRegion = ~0u;

enum Scope : uint8_t { kWaveScope, kGroupScope, kAgentScope, kSystemScope };

enum AccessFlag : uint8_t {
    kReadsMemory = 1,
    kWritesMemory = 2,  // both: a read-modify-write
    kAtomicAccess = 4,  // read-modify-writes, and loads and stores that are coherent at their scope (sc0, sc1)
    kReturnsOld = 8,    // a read-modify-write that gives back what was there
    kPolls = 16,        // a load of LDS that is repeated until another wave has stored something
};

// What the active lanes of one instruction touch: `bytes` bytes each.
struct WaveAccess {
    uint64_t lanes;
    uint32_t bytes;   // 1 to 64
    uint8_t flags;    // AccessFlag
    uint8_t scope;    // Scope, of an atomic access
    uint32_t region;  // of global memory, or kLdsRegion
    // New data of a plain store, as registers hold it: dword d of lane l is data[64 * d + l]. Null: not compared.
    const uint32_t* data;
    const uint8_t* memory;   // where the LDS or the region begins in this process, to compare; null: not compared
    const uint8_t* written;  // one byte a byte: 0 where nobody has written yet; null: all are written
};

enum Hazard : uint8_t { kReadAfterWrite, kWriteAfterRead, kWriteAfterWrite };
enum Relation : uint8_t { kSameInstruction, kSameWave, kOtherWave, kOtherWorkgroup };

// What a finding about memory is about. Valid from the call of report() to the model's next one.
struct Conflict {
    FindingKind kind;
    Hazard hazard;
    Relation relation;
    bool is_global, is_write;
    bool is_relaxed;  // atomics order the two accesses, but the earlier one was not waited for before its release
    bool is_stale;    // it is ordered, but no buffer_inv stands between: what the workgroup read before may be cached
    bool is_lost;     // more places were used as flags than are followed: an order may be one that is not known
    uint32_t region, bytes;
    uint64_t offset;             // of the first byte in the region or in LDS
    uint32_t place, lane, wave;  // the instruction at fault, its lane and wave: not always the running one
    uint64_t group;              // linear number of its workgroup
    uint32_t other_place, other_lane, other_wave;  // kNowhere: not known
    uint64_t other_group;
};

// How strict the model is. All off for machine code as it is.
struct MemoryRules {
    bool lanes_meet;          // lanes of one wave are ordered by barriers, wave_barrier and cross-lane operations only
    bool global_needs_fence;  // raw barriers publish global accesses up to the wave's last note_fence() only
    bool needs_acquire;       // who looks at a flag needs buffer_inv; else only where its workgroup has read the place
    bool lane_by_lane;        // each access is looked at closely: slow, to compare with
};

// Global memory, for all workers. Regions that are not prepared are not watched (inputs).
void prepare_region(uint32_t region, uint64_t bytes);
void open_launch(uint64_t workgroups);  // before the workers start with a launch: earlier ones are ordered before it
bool was_read(uint32_t region);         // in the launch: bytes of a region that is no input

struct ModelState;

// Of one worker, which runs one workgroup at a time.
struct MemoryModel {
    MemoryRules rules;
    Conflict conflict;
    ModelState* state;

    void prepare(const MemoryRules& how);  // once, before anything else
    void begin_workgroup(uint64_t linear, uint32_t waves);
    void begin_wave(Wave& wave);  // clears what it has under way
    void end_wave(Wave& wave);

    bool note(Wave& wave, const WaveAccess& access, const uint64_t* offset);  // false after a report
    // An instruction goes on its way: `counters` as in Counter, `kind` as in OperationKind; its result's registers.
    void issue(Wave& wave, uint8_t counters, uint8_t kind, const Operand* result = nullptr);
    void wait(Wave& wave, uint32_t vmcnt, uint32_t lgkmcnt);  // s_waitcnt; 255: not waited for
    // An operand of the instruction is a register under way. Only where wave.pending.any.
    bool check_pending(Wave& wave, const Instruction& in);
    void barrier();                            // all waves that have not ended have arrived
    void writeback(Wave& wave, Scope scope);   // buffer_wbl2: issues itself
    void invalidate(Wave& wave, Scope scope);  // buffer_inv: issues itself
    void meet(Wave& wave, uint64_t lanes);     // wave_barrier, or a cross-lane operation of these lanes
    void note_fence(Wave& wave);               // a release fence of the source, see global_needs_fence
};

}  // namespace machine
