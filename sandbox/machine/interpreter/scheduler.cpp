#include "scheduler.h"

#include "memory_model.h"
#include "operands.h"
#include "report.h"
#include "workgroup.h"

namespace machine {

namespace {

constexpr uint64_t kTurn = 1 << 14;  // instructions after which another wave has its turn

// The present lanes that a barrier does not see, because they went another way or have returned.
void report_divergent_barrier(Wave& wave, uint64_t missing) { report(wave, kDivergentBarrier, missing, 0, kNowhere); }

uint64_t next_random(Worker& worker) {
    worker.random = worker.random * 6364136223846793005ull + 1442695040888963407ull;
    return worker.random >> 33;
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
        if (group.wave[i]->state == kAsleep) group.wave[i]->state = kRunning;
}

// All waves have come to a barrier or have ended: the barrier opens, unless some never come.
bool pass_barrier(Workgroup& group) {
    Wave* first = nullptr;
    uint32_t ended = 0;
    for (uint32_t i = 0; i < group.waves; i++) {
        Wave* wave = group.wave[i];
        if (wave->state == kAtBarrier && !first) first = wave;
        ended += wave->state == kEnded;
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
    group.turn = (uint32_t)next_random(*group.worker);
    return true;
}

// How many instructions it executed.
uint64_t run_wave(Wave& wave, uint64_t budget) {
    const Program& program = *wave.program;
    uint64_t* const executed = wave.group->worker->executed;
    const uint64_t count = program.head.instructions;
    uint64_t done = 0;
    for (; wave.state == kRunning && done < budget; done++) {
        if (__builtin_expect(wave.next >= count, 0)) {
            report(wave, kOutOfBounds, wave.exec(), kCodeBase, kNowhere);
            break;
        }
        wave.at = wave.next++;
        const Instruction& in = program.code[wave.at];
        wave.write_mask = wave.exec();
        if (__builtin_expect(wave.pending.any, 0) && !wave.group->model.check_pending(wave, in)) break;
        executed[wave.at]++;
        program.run[wave.at](wave, in);
    }
    return done;
}

}  // namespace

void end_wave(Wave& wave) {
    wave.state = kEnded;
    wave.group->model.end_wave(wave);
}

void sleep_wave(Wave& wave) { wave.state = kAsleep; }

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

bool run_workgroup(Workgroup& group, uint64_t budget) {
    for (uint64_t spent = 0; spent < budget && !group.failed;) {
        Wave* wave = wave_in_turn(group);
        if (!wave) {
            bool is_ended = true;
            for (uint32_t i = 0; i < group.waves; i++) is_ended &= group.wave[i]->state == kEnded;
            if (is_ended) return true;
            bool sleeps = false;
            for (uint32_t i = 0; i < group.waves; i++) sleeps |= group.wave[i]->state == kAsleep;
            if (sleeps) {
                wake(group);
                spent += kTurn / 16;  // others must get their turn
            } else if (!pass_barrier(group)) {
                return true;
            }
            continue;
        }
        spent += kTurn / 64 + run_wave(*wave, kTurn);
        group.turn++;
    }
    return group.failed;
}

}  // namespace machine
