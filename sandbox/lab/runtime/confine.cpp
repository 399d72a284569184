#include "confine.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "request.h"

namespace ks {

static void limit(int what, uint64_t value) {
    struct rlimit limits;
    if (getrlimit(what, &limits) != 0) die("getrlimit");
    if (limits.rlim_max != RLIM_INFINITY && value > limits.rlim_max) value = limits.rlim_max;
    limits.rlim_cur = limits.rlim_max = value;
    if (setrlimit(what, &limits) != 0) die("setrlimit");
}

void limit_resources(uint64_t address_space_bytes) {
    limit(RLIMIT_AS, address_space_bytes);  // the parent limits processor time, files and cores
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) die("prctl");
}

static const int kAllowed[] = {
    SYS_futex,          SYS_exit,    SYS_exit_group,    SYS_write,           SYS_writev,    SYS_rt_sigreturn,
    SYS_rt_sigprocmask, SYS_tkill,   SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep, SYS_brk,
    SYS_munmap,         SYS_madvise, SYS_lseek,         SYS_restart_syscall, SYS_gettid,    SYS_pause,
    SYS_sched_yield,    SYS_ioctl,   SYS_mremap,
};

void allow_only_listed_calls() {
    constexpr int count = sizeof kAllowed / sizeof *kAllowed;
    struct sock_filter filter[count * 2 + 16];
    int n = 0;
    auto add = [&](uint16_t code, uint32_t k, uint8_t yes, uint8_t no) { filter[n++] = {code, yes, no, k}; };
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
    for (int call : kAllowed) {
        add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
        add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    }
    // Anonymous memory only: no descriptor, never executable.
    add(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 5);
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[4]), 0, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, 0xFFFFFFFFu, 0, 3);
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2]), 0, 0);
    add(BPF_JMP | BPF_JSET | BPF_K, 4 /* PROT_EXEC */, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_TRAP, 0, 0);  // a finding, see faults.cpp
    struct sock_fprog program = {(unsigned short)n, filter};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
        die("the system-call filter cannot be installed");
}

}  // namespace ks
