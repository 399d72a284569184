#include "places.h"

#include "access_roles.h"
#include "counters.h"
#include "memory_model.h"
#include "neighbours.h"
#include "report.h"
#include "scheduler.h"
#include "stream.h"
#include "symbolic.h"
#include "variables.h"

namespace machine {

namespace {

// A load or store that is coherent beyond its wave is an atomic one of the source. See LLVM's memory model of gfx942.
Scope scope_of(const Instruction& in, Access access) {
    if (access == Access::atomic) return in.flags & kSc1 ? kSystemScope : kAgentScope;
    const bool sc0 = in.flags & kSc0, sc1 = in.flags & kSc1;
    return sc0 && sc1 ? kSystemScope : sc1 ? kAgentScope : sc0 ? kGroupScope : kWaveScope;
}

WaveAccess described(const Wave& wave, const Instruction& in, Segment segment, const Place& place, Access access,
                     const LaneData* data, uint32_t bytes) {
    const uint8_t role = wave.program->role[wave.at];
    const bool is_lds = segment == Segment::lds;
    WaveAccess told = {};
    told.lanes = place.lanes;
    told.bytes = bytes;
    told.scope = is_lds ? kGroupScope : scope_of(in, access);
    told.flags = access == Access::load    ? kReadsMemory
                 : access == Access::store ? kWritesMemory
                                           : kReadsMemory | kWritesMemory | kAtomicAccess;
    if (access == Access::atomic && in.results) told.flags |= kReturnsOld;
    if (!is_lds && access != Access::atomic && told.scope != kWaveScope) told.flags |= kAtomicAccess;
    if (role == kFirstLook) told.flags |= kAtomicAccess;
    if (role == kFirstLook && told.scope < kAgentScope) told.scope = kAgentScope;
    if (role == kPoll) told.flags |= kPolls;
    if (role == kExchange && !(told.flags & kReturnsOld)) told.flags &= (uint8_t)~kReadsMemory;
    told.region = is_lds ? kLdsRegion : place.region->index();
    if (access == Access::store && data) told.data = data->dword[0].lane;
    told.memory = place.host;
    told.written = place.written;
    return told;
}

}  // namespace

void note_access(Wave& wave, const Instruction& in, Segment segment, const Place& place, Access access,
                 const LaneData* data, uint32_t bytes) {
    Workgroup& group = *wave.group;
    if (group.worker->symbolic) group.worker->symbolic->note_access(wave, in, place, access, bytes);
    if (segment == Segment::scratch) {
        if (group.stream) note_scratch(*group.stream, wave, place, access, bytes);
        return;
    }
    group.accesses += (uint64_t)__builtin_popcountll(place.lanes);
    if (access == Access::store) group.changes++;  // an atomic operation tells by itself
    if (group.worker->recorder) count_access(*group.worker->recorder, wave, segment, place, access, bytes);
    if (group.worker->neighbours) note_neighbour(*group.worker->neighbours, place, access, bytes);
    if (access == Access::atomic) {
        may_switch(wave);
        group.worker->changes_lds |= !place.region;
        if (place.region) count_changes(*place.region, place.lanes);
    }
    if (!group.worker->request->head.checks || (place.region && !place.region->is_writable)) return;
    if (place.region) touch_variable(wave, place, bytes, access != Access::store);
    const WaveAccess told = described(wave, in, segment, place, access, data, bytes);
    if (access != Access::atomic && (told.flags & kAtomicAccess)) may_switch(wave);
    if (access == Access::store && (told.flags & kAtomicAccess)) count_changes(*place.region, place.lanes);
    group.model.note(wave, told, place.offset);
}

void issue(Wave& wave, const Instruction& in, uint8_t counters, uint8_t kind) {
    Workgroup& group = *wave.group;
    if (!group.worker->request->head.checks) return;
    group.model.issue(wave, counters, kind, in.results ? &in.result[0] : nullptr);
}

bool is_probe(uint64_t address) { return address >> 48 == kProbeBase >> 48; }

}  // namespace machine
