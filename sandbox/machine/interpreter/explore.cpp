#include "explore.h"

#include <string.h>

#include "deadline.h"
#include "findings.h"
#include "memory_map.h"
#include "symbolic.h"

namespace machine {

namespace {

constexpr uint64_t kSteps = 1 << 16;  // instructions of a workgroup that are followed
constexpr uint64_t kMostDataSeen = 4096;

Symbolic g_symbolic;

void follow(Worker& worker, Workgroup& group, const ExploredLaunch& launch, Symbolic& symbolic) {
    symbolic.begin(group, launch);
    worker.symbolic = &symbolic;
    run_workgroup(group, kSteps);
    worker.symbolic = nullptr;
    clear_findings();
}

void settle(const LaunchNumbers& numbers, const Symbolic& symbolic, Coverage& met, const Coverage& known,
            Exploration& explored) {
    const uint32_t shape = (uint32_t)numbers.shape();
    for (uint32_t k = 0; k < symbolic.instruction_count(); k++) {
        const uint32_t i = symbolic.instructions()[k];
        for (uint32_t bits = met.met[i] & ~known.met[i]; bits; bits &= bits - 1)
            explored.found.tell(shape, 8ull * i + (uint64_t)__builtin_ctz(bits));
        explored.every.met[i] |= met.met[i];
        met.met[i] = 0;
    }
    if (!symbolic.loads_constants() || met.data_words > kMostDataSeen) return;
    for (uint64_t i = 0; i < met.data_words; i++)
        if (met.words[i] && !known.words[i]) explored.found.tell(shape, 8 * met.instructions + i);
    memset(met.words, 0, met.data_words);
}

// The first and the last of the workgroups that are listed, each with half of the budget at most; what is left of it.
uint64_t explore_launch(Grid& grid, const ExploredLaunch& asked, uint64_t budget, Coverage& met, const Coverage& known,
                        Exploration& explored) {
    Worker& worker = grid.workers[0];
    const Launch& launch = grid.request->launches[asked.launch];
    const uint64_t groups = launch.blocks < 2 ? launch.blocks : 2;
    Symbolic& symbolic = g_symbolic;
    set_arguments(launch, worker.program->kernels[launch.kernel]);
    for (uint64_t g = 0; g < groups; g++) {
        const uint64_t linear = launch.linear(g ? launch.blocks - 1 : 0, false);
        Workgroup* group = open_workgroup(worker, launch, (uint32_t)asked.launch, linear);
        follow(worker, *group, asked, symbolic);
        clear(met);
        const uint64_t nodes = symbolic.prune({worker.watches}, known);
        uint64_t left = budget / (groups - g);
        budget -= left;
        for (uint64_t i = 0; nodes && i < asked.rows && left > nodes && !is_over_deadline(grid); i++) {
            explored.samples.shape = (uint32_t)asked.row(i).shape();
            symbolic.evaluate(*group, asked.row(i), {worker.watches}, met);
            settle(asked.row(i), symbolic, met, known, explored);
            clear_findings();
            left -= nodes;
        }
        budget += left;
        close_workgroup(worker, group);
    }
    return budget;
}

}  // namespace

void explore(Grid& grid, Coverage& met, const Coverage& known, Exploration& explored) {
    if (!grid.request->head.explored) return;
    met.samples = &explored.samples;
    g_symbolic.prepare(*grid.workers[0].program);
    uint64_t left = grid.request->head.evaluations;
    for (uint64_t i = 0, count = grid.request->head.explored; i < count; i++) {
        const uint64_t part = left / (count - i);
        left += explore_launch(grid, grid.request->explored[i], part, met, known, explored) - part;
    }
}

}  // namespace machine
