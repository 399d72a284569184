#include "confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "loaded_program.h"

namespace machine {

static void limit(int what, uint64_t value) {
    struct rlimit limits;
    if (getrlimit(what, &limits) != 0) die("getrlimit");
    if (limits.rlim_max != RLIM_INFINITY && value > limits.rlim_max) value = limits.rlim_max;
    limits.rlim_cur = limits.rlim_max = value;
    if (setrlimit(what, &limits) != 0) die("setrlimit");
}

void limit_resources(uint64_t address_space_bytes) {
    limit(RLIMIT_AS, address_space_bytes);  // the launcher limits processor time, files and cores, and ends it with it
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) die("prctl");
}

static const int kAllowed[] = {
    SYS_futex,           SYS_exit_group,    SYS_rt_sigreturn,    SYS_rt_sigprocmask, SYS_pause,
    SYS_restart_syscall, SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep,      SYS_brk,
    SYS_munmap,          SYS_madvise,
};

// Straight to the kernel: the C library knows no such call.
static long call_kernel(long number, long a, long b, long c) {
    long result;
    asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

struct Filter {
    struct sock_filter line[2 * sizeof kAllowed / sizeof *kAllowed + 40];
    int count;
    void add(uint16_t code, uint32_t k, uint8_t yes, uint8_t no) { line[count++] = {code, yes, no, k}; }
    void load(uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); }
    void answer(uint32_t what) { add(BPF_RET | BPF_K, what, 0, 0); }
    // Allows a call whose lower half of an argument is one of two values.
    void allow_with(int call, uint32_t argument, uint32_t one, uint32_t other) {
        add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 5);
        load(offsetof(struct seccomp_data, args) + 8 * argument);
        add(BPF_JMP | BPF_JEQ | BPF_K, one, 1, 0);
        add(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1);
        answer(SECCOMP_RET_ALLOW);
        answer(SECCOMP_RET_TRAP);
    }
};

void allow_only_listed_calls(int result_file) {
    Filter filter = {};
    filter.load(offsetof(struct seccomp_data, arch));
    filter.add(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    filter.answer(SECCOMP_RET_KILL_PROCESS);
    filter.load(offsetof(struct seccomp_data, nr));
    for (int call : kAllowed) {
        filter.add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
        filter.answer(SECCOMP_RET_ALLOW);
    }
    filter.allow_with(SYS_write, 0, 2, result_file);
    filter.allow_with(SYS_writev, 0, 2, result_file);
    uint32_t self = (uint32_t)getpid();
    filter.allow_with(SYS_tgkill, 0, self, self);
    // The memory of the C library's heap grows in another way where this fails.
    filter.add(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 0, 1);
    filter.answer(SECCOMP_RET_ERRNO | ENOSYS);
    // Anonymous memory only: no descriptor, never executable.
    filter.add(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 5);
    filter.load(offsetof(struct seccomp_data, args[4]));
    filter.add(BPF_JMP | BPF_JEQ | BPF_K, 0xFFFFFFFFu, 0, 3);
    filter.load(offsetof(struct seccomp_data, args[2]));
    filter.add(BPF_JMP | BPF_JSET | BPF_K, 4 /* PROT_EXEC */, 1, 0);
    filter.answer(SECCOMP_RET_ALLOW);
    filter.answer(SECCOMP_RET_TRAP);  // SIGSYS, which nothing catches
    struct sock_fprog program = {(unsigned short)filter.count, filter.line};
    if (call_kernel(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, (long)&program) != 0)
        die("the system-call filter cannot be installed");
}

}  // namespace machine
