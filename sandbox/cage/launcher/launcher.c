// Starts one program in a cage: `launcher OPTIONS -- PROGRAM ARGUMENTS`. Built once by the pinned compiler; static, so
// that it needs no library of the system. The options are those that sandbox/cage/command.py writes:
//
//   n              own namespaces: user, mount, process, network, IPC, host name, cgroup
//   p PID          the process that must still be the parent
//   R FD           where to report: "pid N", "failed ERRNO WHAT", "ended exit|signal CODE CPU_US RESIDENT_KB"
//   k FS NET SCOPE Landlock's masks
//   r|x|w|d PATH   a path that is readable, executable, writable, a device
//   l KIND SOFT HARD, f HEX, c FOLDER, i FD   a limit, the filter of system calls, the working folder, a descriptor kept
//
// With namespaces three processes stand here: this one, outside the process namespace; an init inside it, which does
// nothing, so that all inside dies with it; and the program. Without, this process becomes the program.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher.h"

enum { kCloseRange = 436, kMostFiles = 1024 };  // the same on every architecture

static volatile pid_t g_init;

static void report(const struct Order* order, const char* text) {
    size_t size = strlen(text);
    if (write(order->report, text, size) != (ssize_t)size) _exit(71);
}

void die(const struct Order* order, const char* what) {
    char text[512];
    snprintf(text, sizeof text, "failed %d %s: %s\n", errno, what, strerror(errno));
    report(order, text);
    _exit(71);
}

static void read_filter(struct Order* order, const char* hex) {
    size_t digits = strlen(hex);  // taken once: there are thousands
    size_t count = digits / 16;
    if (digits % 16 != 0 || count > kMostInstructions) _exit(72);
    for (size_t n = 0; n < count; n++) {
        char word[17];
        memcpy(word, hex + 16 * n, 16);
        word[16] = 0;
        order->instructions[n] = strtoull(word, NULL, 16);
    }
    order->instruction_count = count;
}

// The words of one option behind its name; 0 for what is none.
static int read_option(struct Order* order, char** word) {
    switch (word[0][0]) {
    case 'n':
        order->namespaces = 1;
        return 1;
    case 'p':
        order->parent = atol(word[1]);
        return 2;
    case 'R':
        order->report = atoi(word[1]);
        return 2;
    case 'k':
        order->has_landlock = 1;
        for (int i = 0; i < 3; i++) order->landlock[i] = strtoull(word[1 + i], NULL, 10);
        return 4;
    case 'r':
    case 'x':
    case 'w':
    case 'd':
        if (order->path_count == kMostPaths) return 0;
        order->paths[order->path_count++] = (struct Path){word[0][0], word[1], -1};
        return 2;
    case 'l':
        if (order->limit_count == kMostLimits) return 0;
        order->limits[order->limit_count++] =
            (struct Limit){atoi(word[1]), strtoull(word[2], NULL, 10), strtoull(word[3], NULL, 10)};
        return 4;
    case 'f':
        read_filter(order, word[1]);
        return 2;
    case 'c':
        order->folder = word[1];
        return 2;
    case 'i':
        if (order->kept_count == kMostKept) return 0;
        order->kept[order->kept_count++] = atoi(word[1]);
        return 2;
    default:
        return 0;
    }
}

static void die_with_parent(const struct Order* order, long parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) die(order, "prctl");
    if (parent && getppid() != parent) _exit(73);  // it died before
}

// One call where the kernel has it (5.9): a thousand closes take as long as all else that happens here.
static void close_between(unsigned first, unsigned last) {
    if (first > last || syscall(kCloseRange, first, last, 0) == 0) return;
    for (unsigned file = first; file <= last && file < kMostFiles; file++) close((int)file);
}

// All from the first on but those that are kept.
static void close_from(const struct Order* order, int first, int with_report) {
    for (;;) {
        int next = with_report && order->report >= first ? order->report : -1;
        for (size_t i = 0; i < order->kept_count; i++) {
            int file = order->kept[i];
            if (file >= first && (next < 0 || file < next)) next = file;
        }
        if (next < 0) break;
        if (next > first) close_between((unsigned)first, (unsigned)next - 1);
        first = next + 1;
    }
    close_between((unsigned)first, ~0u);
}

static void become_program(const struct Order* order) {
    for (size_t i = 0; i < order->limit_count; i++) {
        const struct Limit* limit = &order->limits[i];
        struct rlimit now;
        if (getrlimit(limit->resource, &now) != 0) die(order, "getrlimit");
        rlim_t hard = limit->hard < now.rlim_max ? limit->hard : now.rlim_max;
        struct rlimit wanted = {limit->soft < hard ? limit->soft : hard, hard};
        if (setrlimit(limit->resource, &wanted) != 0) die(order, "setrlimit");
    }
    if (order->folder && chdir(order->folder) != 0) die(order, order->folder);
    close_from(order, 3, 1);
    fence(order);
    execv(order->program[0], order->program);
    die(order, order->program[0]);
}

static void end_all(int number) {
    (void)number;
    if (g_init > 0) kill(g_init, SIGKILL);
}

static void idle(void) {
    close_between(0, ~0u);
    signal(SIGCHLD, SIG_IGN);  // whoever ends in here needs no reaping
    for (;;) pause();
}

static int supervise(struct Order* order) {
    g_init = fork();
    if (g_init < 0) die(order, "fork");
    if (g_init == 0) {
        die_with_parent(order, 0);
        idle();
    }
    signal(SIGTERM, end_all);
    pid_t child = fork();
    if (child < 0) die(order, "fork");
    if (child == 0) {
        signal(SIGTERM, SIG_DFL);
        die_with_parent(order, 0);
        become_program(order);
    }
    char text[128];
    snprintf(text, sizeof text, "pid %ld\n", (long)child);
    report(order, text);
    close_from(order, 0, 1);
    int status;
    struct rusage usage;
    while (wait4(child, &status, 0, &usage) < 0)
        if (errno != EINTR) die(order, "wait4");
    kill(g_init, SIGKILL);
    while (waitpid(g_init, NULL, 0) < 0 && errno == EINTR) continue;  // returns when nobody is left inside
    long long cpu_us =
        (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000ll + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
    int by_signal = WIFSIGNALED(status);
    snprintf(text, sizeof text, "ended %s %d %lld %ld\n", by_signal ? "signal" : "exit",
             by_signal ? WTERMSIG(status) : WEXITSTATUS(status), cpu_us, usage.ru_maxrss);
    report(order, text);
    return 0;
}

int main(int count, char** words) {
    static struct Order order;
    int at = 1;
    if (count == 4 && strcmp(words[1], "probe") == 0) return probe(words[2], words[3]);
    while (at < count && strcmp(words[at], "--") != 0) {
        int used = strlen(words[at]) == 1 ? read_option(&order, words + at) : 0;
        if (used == 0 || at + used >= count) return 72;
        at += used;
    }
    if (at + 1 >= count || order.report < 3) return 72;
    order.program = words + at + 1;
    if (fcntl(order.report, F_SETFD, FD_CLOEXEC) != 0) return 72;
    die_with_parent(&order, order.parent);
    if (!order.namespaces) become_program(&order);
    make_namespaces(&order);
    drop_capabilities(&order);
    return supervise(&order);
}
