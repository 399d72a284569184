#include "faults.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "shared.h"

namespace ks {

constexpr uint32_t kPatience = 1000;  // times that a worker may be met between two lanes
constexpr int kAsking = 10;           // naps after which who has not answered is asked again
static Shared<int> g_answers;
static int g_self;        // this process
static uint32_t g_going;  // milliseconds that the longest of the open workgroups has gone on for, by all workers' time
static constinit thread_local Shared<uint64_t>* t_clock = nullptr;

// Program counters from the innermost: the register, then what looks like return addresses on the stack.
static void collect_places(ucontext_t* context, uint64_t* place) {
    uint64_t pc = context->uc_mcontext.gregs[REG_RIP], sp = context->uc_mcontext.gregs[REG_RSP];
    place[0] = pc;
    int n = 1;
    if (!t_worker || !t_worker->stacks.holds(sp) || t_worker->stacks.in_guard(sp)) return;
    uint64_t step = kStackBytes + kGuardBytes, base = (uint64_t)t_worker->stacks.base;
    uint64_t top = base + ((sp - base) / step + 1) * step;
    for (uint64_t at = sp & ~7ull; at < top && n < kPlaces; at += 8) {
        uint64_t word = *(uint64_t*)at;
        if (word >= g_memory.image_lo && word < g_memory.image_hi) place[n++] = word - 1;
    }
}

static Kind classify(int signal, siginfo_t* info, Finding& finding) {
    uint64_t address = (uint64_t)info->si_addr;
    if (signal == SIGFPE) return kDivisionByZero;
    if (signal == SIGILL || signal == SIGTRAP) return kTrap;
    if (signal == SIGSYS) return kIllegal;
    if (info->si_code == SI_KERNEL) return kMisaligned;
    finding.address = address;
    if (t_worker->stacks.in_guard(address) || t_worker->stacks.holds_apart(address)) return kStackOverflow;
    finding.detail = address < 65536 ? kSpaceNull : kSpaceNone;
    return kOutOfBounds;
}

static void on_fault(int signal, siginfo_t* info, void* raw) {
    if (!t_worker || !t_lane || !t_worker->launch) {
        char message[96];
        int n = snprintf(message, sizeof message, "lab: the executor itself failed (signal %d, call %d)\n", signal,
                         signal == SIGSYS ? info->si_syscall : 0);
        (void)!write(2, message, n);
        _exit(71);
    }
    ucontext_t* context = (ucontext_t*)raw;
    Finding finding = {};
    finding.kind = classify(signal, info, finding);
    finding.region = ~0u;
    describe_here(finding, 0);
    collect_places(context, finding.place);
    add_finding(finding);
    // Leave the handler into the scheduler: the mask is restored by the return, the registers are those of abandon().
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)&abandon;
    uint64_t sp = context->uc_mcontext.gregs[REG_RSP];
    if (t_worker->stacks.in_guard(sp) || t_worker->stacks.in_guard(sp - 4096)) sp += 2 * kGuardBytes;
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)((sp & ~15ull) - 256 - 8);
}

// Between two lanes, where a worker has no place of the candidate to name; it is asked again.
static bool is_between_lanes(ucontext_t* context) {
    return t_worker->launch && (!t_lane || !t_worker->stacks.holds(context->uc_mcontext.gregs[REG_RSP]));
}

static void on_question(int, siginfo_t*, void* raw) {
    if (t_worker->has_said || (is_between_lanes((ucontext_t*)raw) && ++t_worker->asked < kPatience)) return;
    t_worker->has_said = true;
    if (t_worker->launch && t_lane) {
        Finding finding = {};
        finding.kind = kTimeout;
        finding.region = ~0u;
        describe_here(finding, 0);
        finding.size = g_going;
        collect_places((ucontext_t*)raw, finding.place);
        uint64_t waiting = 0;
        for (uint32_t w = 0; w < t_worker->wave_count; w++)
            waiting += __builtin_popcountll(t_worker->waves[w].at_barrier() | t_worker->waves[w].waiting);
        bool among = !((t_lane->wave->ready | t_lane->wave->fresh | t_lane->wave->done) >> t_lane->number & 1);
        finding.detail = waiting - (among && waiting);  // the running one is in no set, as those at a barrier
        add_finding(finding);
    }
    g_answers.add(1);
    for (;;) pause();
}

uint64_t cpu_ns(int clock) {
    struct timespec t = {0, 0};
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void on_clock(int, siginfo_t*, void*) {
    if (t_clock) t_clock->set(cpu_ns(CLOCK_THREAD_CPUTIME_ID));
    g_answers.add(1);
}

// Waits up to ten seconds for the answers: on a busy machine a worker gets its turn late.
static void ask(Worker** workers, uint32_t count, int signal, bool again) {
    g_answers.set(0);
    for (int i = 0; i < 50000 && g_answers.get() < (int)count; i++) {
        if (i == 0 || (again && i % kAsking == 0))
            for (uint32_t w = 0; w < count; w++) syscall(SYS_tgkill, g_self, workers[w]->thread, signal);
        struct timespec nap = {0, i < 20 ? 20000 : 200000};
        nanosleep(&nap, nullptr);
    }
}

void ask_clocks(Worker** workers, uint32_t count) { ask(workers, count, SIGUSR2, false); }

void keep_clock(Worker& worker) {
    t_clock = &worker.spent_ns;
    t_clock->set(cpu_ns(CLOCK_THREAD_CPUTIME_ID));
}

void use_alternate_stack() {
    stack_t stack = {};
    stack.ss_size = 64 << 10;
    stack.ss_sp = malloc(stack.ss_size);
    sigaltstack(&stack, nullptr);
}

void install_handlers() {
    g_self = getpid();
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    action.sa_sigaction = on_fault;
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    for (int signal : faults) sigaction(signal, &action, nullptr);
    action.sa_sigaction = on_question;
    sigaction(SIGUSR1, &action, nullptr);
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    action.sa_sigaction = on_clock;
    sigaction(SIGUSR2, &action, nullptr);
}

void note_progress(Worker** workers, uint32_t count, uint64_t spent_ns) {
    uint64_t longest = 0;
    for (uint32_t w = 0; w < count; w++) {
        Worker& worker = *workers[w];
        const uint64_t begun = worker.begun.get();
        if (begun != worker.seen) worker.seen = begun, worker.seen_ns = spent_ns;
        if (worker.launch && spent_ns - worker.seen_ns > longest) longest = spent_ns - worker.seen_ns;
    }
    g_going = (uint32_t)(longest / 1000000);
}

void report_timeout(Worker** workers, uint32_t count) { ask(workers, count, SIGUSR1, true); }

}  // namespace ks
