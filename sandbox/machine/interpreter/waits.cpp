// Waits, barriers and the control of caches.
#include "memory_model.h"
#include "places.h"
#include "scheduler.h"

namespace machine {

namespace {

void waitcnt(Wave& wave, const Instruction& in) {
    if (wave.group->worker->request->head.checks) wave.group->model.wait(wave, in.vmcnt, in.lgkmcnt);
}

void barrier(Wave& wave, const Instruction&) { wait_at_barrier(wave); }

Scope scope_of(const Instruction& in) {
    const bool sc0 = in.flags & kSc0, sc1 = in.flags & kSc1;
    return sc0 && sc1 ? kSystemScope : sc1 ? kAgentScope : kGroupScope;
}

void writeback(Wave& wave, const Instruction& in) {
    may_switch(wave);
    if (wave.group->worker->request->head.checks) wave.group->model.writeback(wave, scope_of(in));
}

void invalidate(Wave& wave, const Instruction& in) {
    may_switch(wave);
    if (wave.group->worker->request->head.checks) wave.group->model.invalidate(wave, scope_of(in));
}

// The marker of a meeting of the lanes, which the compiler leaves in the listing.
void meet(Wave& wave, const Instruction&) {
    if (wave.group->worker->request->head.checks) wave.group->model.meet(wave, wave.exec());
}

// The marker of a release fence in the source, which an instrumented listing has.
void fence(Wave& wave, const Instruction&) {
    if (wave.group->worker->request->head.checks) wave.group->model.note_fence(wave);
}

}  // namespace

MACHINE_SEMANTICS(kWaits, {"s_waitcnt", waitcnt}, {"s_barrier", barrier}, {"buffer_wbl2", writeback},
                  {"buffer_inv", invalidate}, {"wave_barrier", meet}, {"release_fence", fence})

}  // namespace machine
