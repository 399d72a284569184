#include "places.h"

#include "access_roles.h"
#include "counters.h"
#include "memory_model.h"
#include "report.h"
#include "variables.h"

namespace machine {

namespace {

// A load or store that is coherent beyond its wave is an atomic one of the source. See LLVM's memory model of gfx942.
Scope scope_of(const Instruction& in, Access access) {
    if (access == Access::atomic) return in.flags & kSc1 ? kSystemScope : kAgentScope;
    const bool sc0 = in.flags & kSc0, sc1 = in.flags & kSc1;
    return sc0 && sc1 ? kSystemScope : sc1 ? kAgentScope : sc0 ? kGroupScope : kWaveScope;
}

WaveAccess described(const Instruction& in, const Place& place, Access access, const LaneData* data, uint32_t bytes) {
    WaveAccess told = {};
    told.lanes = place.lanes;
    told.bytes = bytes;
    told.scope = scope_of(in, access);
    told.flags = access == Access::load    ? kReadsMemory | kKeepsUnwritten
                 : access == Access::store ? kWritesMemory
                                           : kReadsMemory | kWritesMemory | kAtomicAccess;
    if (access == Access::atomic && in.results) told.flags |= kReturnsOld;
    if (access != Access::atomic && told.scope != kWaveScope) told.flags |= kAtomicAccess;
    if (access == Access::store && data) told.data = data->dword[0].lane;
    told.memory = place.host;
    return told;
}

// Of neighbours that read one place the first two and the last: what is told of it by more of them is the same.
uint64_t distinct_readers(uint64_t lanes, const uint32_t* offset) {
    uint8_t is_repeated[kLanes] = {};
    for (int l = 1; l < kLanes; l++) is_repeated[l] = offset[l] == offset[l - 1];
    const uint64_t repeated = mask_of(is_repeated) & lanes & lanes << 1;
    return lanes & ~(repeated & repeated << 1 & repeated >> 1);
}

void play_role(WaveAccess& told, uint8_t role) {
    if (role == kFirstLook) told.flags |= kAtomicAccess;
    if (role == kPoll) told.flags |= kPolls;
    if (role == kExchange) told.flags |= kKeepsUnwritten;
    if (role == kExchange && !(told.flags & kReturnsOld)) told.flags &= (uint8_t)~kReadsMemory;
}

}  // namespace

void note_access(Wave& wave, const Instruction& in, Segment segment, const Place& place, Access access,
                 const LaneData* data, uint32_t bytes) {
    Workgroup& group = *wave.group;
    if (segment == Segment::scratch) return;
    group.accesses += (uint64_t)__builtin_popcountll(place.lanes);
    if (access == Access::store) group.changes++;  // an atomic operation tells by itself
    if (group.worker->recorder) count_access(*group.worker->recorder, wave, segment, place, access, bytes);
    const RequestHeader& asked = group.worker->request->head;
    const uint8_t role = wave.program->role[wave.at];
    if (segment == Segment::lds) {
        if (!asked.checks) return;
        WaveAccess told = described(in, place, access, data, bytes);
        if (access != Access::atomic) told.flags &= (uint8_t)~kAtomicAccess;
        told.scope = kGroupScope;
        play_role(told, role);
        alignas(64) uint32_t offset[kLanes];
        for (int l = 0; l < kLanes; l++) offset[l] = (uint32_t)place.offset[l];
        if (!(told.flags & (kWritesMemory | kAtomicAccess | kPolls))) told.lanes = distinct_readers(told.lanes, offset);
        group.model.note_lds(wave, told, offset);
        return;
    }
    if (!asked.checks || !place.region->is_writable) return;
    touch_variable(wave, place, bytes, access != Access::store);
    WaveAccess told = described(in, place, access, data, bytes);
    told.region = place.region->index();
    if (role == kFirstLook && told.scope < kAgentScope) told.scope = kAgentScope;
    play_role(told, role);
    group.model.note_global(wave, told, place.offset);
}

void issue(Wave& wave, const Instruction& in, uint8_t counters, uint8_t kind) {
    Workgroup& group = *wave.group;
    if (!group.worker->request->head.checks) return;
    group.model.issue(wave, counters, kind, in.results ? &in.result[0] : nullptr);
}

bool is_probe(uint64_t address) { return address >> 48 == kProbeBase >> 48; }

}  // namespace machine
