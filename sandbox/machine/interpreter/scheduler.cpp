#include "scheduler.h"

#include "coverage.h"
#include "indexed.h"
#include "memory_model.h"
#include "noted_state.h"
#include "operands.h"
#include "report.h"
#include "stream.h"
#include "symbolic.h"
#include "wait_states.h"
#include "workgroup.h"

namespace machine {

namespace {

constexpr uint64_t kTurn = 1 << 14;       // instructions after which another wave has its turn
constexpr uint32_t kMostSwitches = 4096;  // in an execution that explores

// Present lanes do not reach a barrier with the others of their wave: they went another way or have returned.
constexpr uint64_t kOfOneWave = 1ull << 32;

void report_divergent_barrier(Wave& wave, uint64_t missing) {
    report(wave, kDivergentBarrier, wave.exec(), kOfOneWave | (uint64_t)__builtin_popcountll(missing));
}

Wave* wave_in_turn(Workgroup& group) {
    for (uint32_t i = 0; i < group.waves; i++) {
        Wave* wave = group.wave[(group.turn + i) % group.waves];
        if (wave->state != kRunning) continue;
        group.turn = (group.turn + i) % group.waves;
        return wave;
    }
    return nullptr;
}

void wake(Workgroup& group) {
    for (uint32_t i = 0; i < group.waves; i++)
        if (group.wave[i]->state == kAsleep && !group.wave[i]->is_stuck) group.wave[i]->state = kRunning;
}

// Memory has changed: what the other waves were found to repeat may end now.
void rouse_others(Workgroup& group, const Wave& wave) {
    for (uint32_t i = 0; i < group.waves; i++) {
        if (group.wave[i] == &wave) continue;
        group.wave[i]->is_stuck = false;
        group.wave[i]->watched = kNowhere;
    }
    wake(group);
}

struct States {
    uint32_t asleep, stuck, waiting;
};

States states_of(const Workgroup& group) {
    States states = {};
    for (uint32_t i = 0; i < group.waves; i++) {
        const Wave& wave = *group.wave[i];
        states.asleep += wave.state == kAsleep && !wave.is_stuck;
        states.stuck += wave.state == kAsleep && wave.is_stuck;
        states.waiting += wave.state == kAtBarrier;
    }
    return states;
}

// All waves have come to a barrier or have ended: the barrier opens, unless some never come.
bool pass_barrier(Workgroup& group) {
    Wave* first = nullptr;
    uint64_t ended = 0;  // work-items
    for (uint32_t i = 0; i < group.waves; i++) {
        Wave* wave = group.wave[i];
        if (wave->state == kAtBarrier && !first) first = wave;
        if (wave->state == kEnded) ended += (uint64_t)__builtin_popcountll(wave->present);
    }
    if (!first) return false;
    if (ended) {
        report(*first, kDivergentBarrier, first->exec(), ended, kNowhere);
        return false;
    }
    for (uint32_t i = 0; i < group.waves; i++)
        if (group.wave[i]->barrier != first->barrier) group.mixed_barriers = true;
    group.model.barrier();
    group.barriers++;
    for (uint32_t i = 0; i < group.waves; i++) group.wave[i]->state = kRunning;
    // A case keeps one order of waves unless it is asked for another, so that a fault is told the same way each time.
    group.turn = group.worker->request->head.seed ? (uint32_t)next_random(*group.worker) : 0;
    return true;
}

// True where the wave is as it was when its state was noted, here.
bool has_come_back(Wave& wave) {
    if (!wave.visits++) return false;  // it goes on from there
    if (wave.group->changes != wave.changes_then) {
        wave.watched = kNowhere;
        return false;
    }
    if (is_as_noted(wave)) {
        wave.is_stuck = true;
        wave.state = kAsleep;
        return true;
    }
    if (wave.visits > wave.patience) wave.watched = kNowhere;  // a longer period: note another state
    return false;
}

void watch(Wave& wave) {
    if (wave.watched != kNowhere || wave.is_stuck) return;
    wave.watched = wave.next;
    wave.changes_then = wave.group->changes;
    note_state(wave);
    wave.visits = 0;
    wave.patience = wave.patience < 1u << 20 ? 2 * wave.patience + 2 : wave.patience;
}

// How many instructions it executed. `kDistances`: of a program in which some stand too close together.
template <bool kSurveys, bool kDistances> uint64_t run_wave(Wave& wave, uint64_t budget) {
    const Program& program = *wave.program;
    Worker& worker = *wave.group->worker;
    uint64_t* const executed = worker.executed;
    GroupStream* const stream = wave.group->stream;
    const uint64_t count = program.head.instructions;
    uint64_t done = 0;
    for (; wave.state == kRunning && done < budget; done++) {
        if (__builtin_expect(wave.next >= count, 0)) {
            report(wave, kOutOfBounds, wave.exec(), kCodeBase, kNowhere);
            break;
        }
        if (__builtin_expect(wave.next == wave.watched, 0) && has_come_back(wave)) break;
        wave.at = wave.next++;
        const Instruction& in = program.code[wave.at];
        wave.write_mask = wave.exec();
        if (__builtin_expect(wave.pending.groups.meet(program.touched[wave.at]), 0) &&
            !wave.group->model.check_pending(wave, in))
            break;
        if constexpr (kDistances)
            if (!keep_distance(wave, in)) break;
        executed[wave.at]++;
        if (stream) note_step(*stream, wave);
        Symbolic* const symbolic = kSurveys ? worker.symbolic : nullptr;
        if (symbolic) symbolic->before(wave, in);
        execute(wave, program.run[wave.at], in);
        if (symbolic) symbolic->after(wave, in);
        if constexpr (kSurveys) note_met(wave, in, worker.watches[wave.at], *worker.covered);
    }
    if constexpr (kSurveys) worker.covered_steps += done;
    return done;
}

}  // namespace

uint64_t next_random(Worker& worker) {
    worker.random = worker.random * 6364136223846793005ull + 1442695040888963407ull;
    return worker.random >> 33;
}

void end_wave(Wave& wave) {
    wave.state = kEnded;
    wave.group->model.end_wave(wave);
}

void sleep_wave(Wave& wave) { wave.state = kAsleep; }

// How often that is so differs by the seed: at each such operation, or at every second, fourth or eighth of them.
void may_switch(Wave& wave) {
    Worker& worker = *wave.group->worker;
    const RequestHeader& asked = worker.request->head;
    if (asked.order != kExploring || worker.switches >= kMostSwitches) return;
    const uint64_t drawn = next_random(worker);
    if (drawn >> 1 & ((1u << asked.seed % 4) - 1)) return;
    worker.switches++;
    wave.group->pauses = true;
    if ((drawn & 1) && wave.state == kRunning) wave.state = kAsleep;
}

void wait_at_barrier(Wave& wave) {
    const uint64_t missing = wave.present & ~wave.exec();
    wave.barrier = wave.at;
    if (missing)
        report_divergent_barrier(wave, missing);
    else
        wave.state = kAtBarrier;
}

void jump(Wave& wave, uint64_t address) {
    const uint64_t offset = address - kCodeBase;
    if (offset % 8 || offset / 8 >= wave.program->head.instructions)
        report(wave, kOutOfBounds, wave.exec(), address, kNowhere);
    else
        wave.next = (uint32_t)(offset / 8);
}

void rouse(Workgroup& group) {
    for (uint32_t i = 0; i < group.waves; i++) {
        group.wave[i]->is_stuck = false;
        group.wave[i]->watched = kNowhere;
    }
    wake(group);
}

Progress run_workgroup(Workgroup& group, uint64_t budget) {
    const uint64_t changes = group.changes;
    const Worker& worker = *group.worker;
    const uint64_t turn = worker.neighbours ? worker.request->head.neighbour_steps : kTurn;
    for (uint64_t spent = 0; spent < budget;) {
        if (group.failed) return Progress::ended;
        Wave* wave = wave_in_turn(group);
        if (wave) {
            const uint64_t before = group.changes;
            const bool surveys = group.worker->request->head.shapes, distances = wave->program->close_pairs;
            const auto run = surveys     ? distances ? run_wave<true, true> : run_wave<true, false>
                             : distances ? run_wave<false, true>
                                         : run_wave<false, false>;
            const uint64_t steps = run(*wave, turn);
            spent += turn / 64 + steps;
            group.steps += steps;
            if (group.changes != before) rouse_others(group, *wave);
            const bool goes_on = wave->state == kRunning || wave->state == kAsleep;
            if (group.changes == changes && goes_on && !group.worker->request->head.shapes) watch(*wave);
            group.turn++;
            if (group.pauses) break;
            continue;
        }
        const States states = states_of(group);
        if (!states.asleep && !states.stuck && !states.waiting) return Progress::ended;
        if (states.asleep) {
            wake(group);
            spent += kTurn / 16;  // others must get their turn
        } else if (states.stuck) {
            return Progress::stuck;
        } else if (!pass_barrier(group)) {
            return Progress::ended;
        }
    }
    group.pauses = false;
    return Progress::running;
}

}  // namespace machine
