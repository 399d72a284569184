#include "workgroup.h"

#include <stdlib.h>
#include <string.h>

#include "memory_map.h"
#include "pages.h"

namespace machine {

namespace {

uint64_t scratch_of(const Kernel& kernel) {
    if (kernel.dynamic_stack) return kMostScratch;
    return kernel.scratch_bytes;
}

// What the hardware puts into scalar registers before a wave starts.
struct Loader {
    Wave& wave;
    uint32_t next;

    void put(uint32_t value) {
        if (next >= kVcc) return;
        wave.s[next] = value;
        wave.scalar_defined[next++] = ~0u;
    }
    void put64(uint64_t value) {
        put((uint32_t)value);
        put((uint32_t)(value >> 32));
    }
    void skip(uint32_t count) { next += count; }  // holds nothing that a kernel may rely on here
};

void load_user_registers(Wave& wave, const Workgroup& group) {
    const Kernel& kernel = *group.kernel;
    Loader loader = {wave, 0};
    if (kernel.user_registers & kPrivateSegmentBuffer) loader.skip(4);
    if (kernel.user_registers & kDispatchPointer) loader.put64(kKernargBase + kPacketOffset);
    if (kernel.user_registers & kQueuePointer) loader.skip(2);
    if (kernel.user_registers & kKernargPointer) loader.put64(kKernargBase);
    if (kernel.user_registers & kDispatchId) loader.put64(group.launch_index);
    if (kernel.user_registers & kFlatScratchInit) loader.put64(0);
    if (kernel.user_registers & kPrivateSegmentSize) loader.put((uint32_t)group.scratch_bytes);
    for (uint64_t i = 0; i < kernel.kernarg_preload; i++) {
        uint32_t value = 0;
        const uint64_t offset = 4 * (kernel.preload_offset + i);
        const bool is_there = offset + 4 <= group.launch->argument_bytes;
        if (is_there) memcpy(&value, group.launch->arguments + offset, 4);
        loader.put(value);
        if (!is_there && loader.next) wave.scalar_defined[loader.next - 1] = 0;
    }
    for (int d = 0; d < 3; d++)
        if (kernel.workgroup_ids >> d & 1) loader.put(group.id[d]);
    if (kernel.workgroup_ids >> 3 & 1) loader.put(wave.number == 0 ? 1u << 31 : 0);
    if (kernel.private_segment) loader.put(0);
}

void load_work_items(Wave& wave, const Workgroup& group) {
    const uint64_t* block = group.launch->block;
    const uint64_t lanes = block[0] * block[1] * block[2], first = wave.number * 64ull;
    wave.present = lanes - first >= 64 ? kAll : (1ull << (lanes - first)) - 1;
    for (int l = 0; l < kLanes; l++) {
        const uint64_t item = first + (uint64_t)l;
        const uint64_t x = item % block[0], y = item / block[0] % block[1], z = item / block[0] / block[1];
        wave.v[0].lane[l] = (uint32_t)(x | y << 10 | z << 20);
    }
    wave.defined[0] = Defined::of(wave.present);
}

Mode mode_of(uint64_t bits) {
    Mode mode = {};
    mode.round_single = bits & 3;
    mode.round_double = bits >> 2 & 3;
    mode.denormal_single = bits >> 4 & 3;
    mode.denormal_double = bits >> 6 & 3;
    mode.dx10_clamp = bits >> 8 & 1;
    mode.ieee = bits >> 9 & 1;
    return mode;
}

void begin_wave(Workgroup& group, uint32_t number, const Program& program) {
    Wave& wave = *group.wave[number];
    memset(wave.defined, 0, program.vectors * sizeof(Defined));
    memset(wave.origin, 0xFF, program.vectors * sizeof wave.origin[0]);
    memset(wave.defined + kFirstAccumulator, 0, program.accumulators * sizeof(Defined));
    memset(wave.origin + kFirstAccumulator, 0xFF, program.accumulators * sizeof wave.origin[0]);
    memset(wave.s, 0, sizeof wave.s);
    memset(wave.scalar_defined, 0, sizeof wave.scalar_defined);
    memset(wave.scalar_origin, 0xFF, sizeof wave.scalar_origin);
    wave.number = number;
    wave.group = &group;
    wave.program = &program;
    wave.state = kRunning;
    wave.at = wave.next = (uint32_t)group.kernel->entry;
    wave.index_mode = wave.barrier = 0;
    wave.watched = wave.unwritten = kNowhere;
    wave.is_stuck = false;
    wave.mode = mode_of(group.kernel->mode);
    wave.wait_states = 1;
    wave.matrix_free = 0;
    memset(wave.passed, 0, sizeof wave.passed);
    load_work_items(wave, group);
    load_user_registers(wave, group);
    wave.set_scalar64(kExec, wave.present);
    wave.scalar_defined[kExec] = wave.scalar_defined[kExec + 1] = ~0u;
    wave.write_mask = wave.present;
}

Workgroup* new_group(Worker& worker) {
    Workgroup* group = (Workgroup*)pages(sizeof(Workgroup));
    group->lds = (uint8_t*)pages(2 * kLdsBytes);
    group->lds_written = group->lds + kLdsBytes;
    MemoryRules rules = {};
    rules.lanes_meet = worker.request->head.source_rules & kLanesMeet;
    rules.global_needs_fence = worker.request->head.source_rules & kNeedsFence;
    if (worker.request->head.checks) group->model.prepare(rules);
    return group;
}

void make_waves(Workgroup& group) {
    for (uint32_t i = 0; i < group.waves; i++)
        if (!group.wave[i]) group.wave[i] = (Wave*)pages(sizeof(Wave));
}

// Private memory of every lane; it holds nothing at first.
void prepare_scratch(Workgroup& group) {
    group.scratch_bytes = scratch_of(*group.kernel);
    const uint64_t bytes = group.scratch_bytes * kLanes;
    for (uint32_t i = 0; i < group.waves && bytes; i++) {
        Wave& wave = *group.wave[i];
        if (wave.scratch_room >= bytes) {
            memset(wave.scratch_written, 0, bytes);
            continue;
        }
        wave.scratch = (uint8_t*)pages(2 * bytes);
        wave.scratch_written = wave.scratch + bytes;
        wave.scratch_room = bytes;
    }
}

}  // namespace

Workgroup* open_workgroup(Worker& worker, const Launch& launch, uint32_t launch_index, uint64_t linear) {
    Workgroup* group = worker.free_count ? worker.free_groups[--worker.free_count] : new_group(worker);
    const uint64_t lanes = launch.block[0] * launch.block[1] * launch.block[2];
    group->worker = &worker;
    group->launch = &launch;
    group->launch_index = launch_index;
    group->kernel = &worker.program->kernels[launch.kernel];
    group->linear = linear;
    group->id[0] = (uint32_t)(linear % launch.grid[0]);
    group->id[1] = (uint32_t)(linear / launch.grid[0] % launch.grid[1]);
    group->id[2] = (uint32_t)(linear / launch.grid[0] / launch.grid[1]);
    group->waves = (uint32_t)((lanes + 63) / 64);
    const uint64_t lds = group->kernel->lds_bytes + launch.lds_bytes;
    group->lds_bytes = (uint32_t)(lds < kLdsBytes ? lds : kLdsBytes);
    group->failed = group->pauses = group->mixed_barriers = group->uses_undefined = false;
    group->stream = nullptr;
    group->accesses = group->changes = group->barriers = group->steps = 0;
    group->turn = worker.request->head.seed ? (uint32_t)(worker.random >> 33) % group->waves : 0;
    memset(group->lds_written, 0, group->lds_bytes);
    memset(group->lds, 0xFF, group->lds_bytes);  // nothing of another workgroup
    make_waves(*group);
    prepare_scratch(*group);
    for (uint32_t i = 0; i < group->waves; i++) begin_wave(*group, i, *worker.program);
    if (worker.request->head.checks) {
        group->model.begin_workgroup(linear, group->waves);
        for (uint32_t i = 0; i < group->waves; i++) group->model.begin_wave(*group->wave[i]);
    }
    return group;
}

void close_workgroup(Worker& worker, Workgroup* group) {
    worker.barriers += group->barriers;
    worker.accesses += group->accesses;
    worker.work += work_of(*group);
    worker.free_groups[worker.free_count++] = group;
}

}  // namespace machine
