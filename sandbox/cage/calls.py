"""Numbers of the system calls that a caged program may make, by architecture."""

from __future__ import annotations

from functools import cache

X86_64, AARCH64 = "x86_64", "aarch64"
AUDIT = {X86_64: 0xC000003E, AARCH64: 0xC00000B7}  # the names of architectures in a filter's data

# Name, number on x86-64, number on aarch64; - where the architecture has no such call. Whatever is not here does not
# exist for a caged program: sockets, new folders, processes and namespaces, signals to others, links, FIFOs, devices,
# rights of files, extended attributes, keys, mounts, tracing, other processes' memory, memory files, rings, BPF.
_TABLE = """
access 21 -; alarm 37 -; arch_prctl 158 -; brk 12 214; chdir 80 49; clock_getres 229 114; clock_gettime 228 113;
clock_nanosleep 230 115; clone 56 220; close 3 57; close_range 436 436; copy_file_range 326 285; dup 32 23; dup2 33 -;
dup3 292 24; execve 59 221; exit 60 93; exit_group 231 94; faccessat 269 48; faccessat2 439 439; fadvise64 221 223;
fallocate 285 47; fchdir 81 50; fcntl 72 25; fdatasync 75 83; flock 73 32; fstat 5 80; fstatfs 138 44; fsync 74 82;
ftruncate 77 46; futex 202 98; get_robust_list 274 100; getcpu 309 168; getcwd 79 17; getdents 78 -; getdents64 217 61;
getegid 108 177; geteuid 107 175; getgid 104 176; getgroups 115 158; getitimer 36 102; getpgrp 111 -; getpid 39 172;
getppid 110 173; getrandom 318 278; getresgid 120 150; getresuid 118 148; getrlimit 97 163; getrusage 98 165;
gettid 186 178; gettimeofday 96 169; getuid 102 174; ioctl 16 29; kill 62 129; lseek 8 62; lstat 6 -; madvise 28 233;
membarrier 324 283; mmap 9 222; mprotect 10 226; mremap 25 216; msync 26 227; munmap 11 215; nanosleep 35 101;
newfstatat 262 79; open 2 -; openat 257 56; pause 34 -; pipe 22 -; pipe2 293 59; poll 7 -; ppoll 271 73; prctl 157 167;
pread64 17 67; preadv 295 69; preadv2 327 286; prlimit64 302 261; pselect6 270 72; pwrite64 18 68; pwritev 296 70;
pwritev2 328 287; read 0 63; readahead 187 213; readlink 89 -; readlinkat 267 78; readv 19 65; rename 82 -;
renameat 264 38; renameat2 316 276; restart_syscall 219 128; rseq 334 293; rt_sigaction 13 134; rt_sigpending 127 136;
rt_sigprocmask 14 135; rt_sigreturn 15 139; rt_sigsuspend 130 133; rt_sigtimedwait 128 137;
sched_get_priority_max 146 125; sched_get_priority_min 147 126; sched_getaffinity 204 123; sched_getparam 143 121;
sched_getscheduler 145 120; sched_rr_get_interval 148 127; sched_setaffinity 203 122; sched_yield 24 124;
seccomp 317 277; select 23 -; sendfile 40 71; set_robust_list 273 99; set_tid_address 218 96; setitimer 38 103;
setrlimit 160 164; sigaltstack 131 132; stat 4 -; statfs 137 43; statx 332 291; sysinfo 99 179; tgkill 234 131;
time 201 -; times 100 153; tkill 200 130; truncate 76 45; umask 95 166; uname 63 160; unlink 87 -; unlinkat 263 35;
wait4 61 260; waitid 247 95; write 1 64; writev 20 66
"""


# Calls outside of that list which a filter that lets most through refuses by name.
_OTHERS = """
accept 43 202; accept4 288 242; acct 163 89; add_key 248 217; bind 49 200; bpf 321 280; chroot 161 51; clone 56 220;
clone3 435 435; connect 42 203; delete_module 176 106; execve 59 221; execveat 322 281; fanotify_init 300 262;
finit_module 313 273; fork 57 -; fsconfig 431 431; fsmount 432 432; fsopen 430 430; init_module 175 105;
io_uring_enter 426 426; io_uring_register 427 427; io_uring_setup 425 425; kcmp 312 272; kexec_load 246 104;
keyctl 250 219; kill 62 129; link 86 -; linkat 265 37; listen 50 201; mknod 133 -; mknodat 259 33; mount 165 40;
mount_setattr 442 442; move_mount 429 429; name_to_handle_at 303 264; open_by_handle_at 304 265; open_tree 428 428;
perf_event_open 298 241; personality 135 92; pidfd_getfd 438 438; pidfd_open 434 434; pidfd_send_signal 424 424;
pivot_root 155 41; prlimit64 302 261; process_madvise 440 440; process_vm_readv 310 270; process_vm_writev 311 271;
ptrace 101 117; quotactl 179 60; reboot 169 142; request_key 249 218; rt_sigqueueinfo 129 138;
rt_tgsigqueueinfo 297 240; setdomainname 171 162; setgid 106 144; setgroups 116 159; sethostname 170 161; setns 308 268;
setuid 105 146; socket 41 198; socketpair 53 199; swapon 167 224; symlink 88 -; symlinkat 266 36; tgkill 234 131;
tkill 200 130; umount2 166 39; unshare 272 97; userfaultfd 323 282; vfork 58 -
"""


@cache
def others(architecture: str) -> dict[str, int]:
    """Look up the number of each call that may be refused by name; empty for an architecture that is not known here."""
    return _read(_OTHERS, architecture)


@cache
def numbers(architecture: str) -> dict[str, int]:
    """Look up the number of each call that this architecture has; empty for one that is not known here."""
    return _read(_TABLE, architecture)


def _read(table: str, architecture: str) -> dict[str, int]:
    column = {X86_64: 1, AARCH64: 2}.get(architecture)
    rows = [row.split() for row in table.replace("\n", " ").split(";")]
    return {} if column is None else {row[0]: int(row[column]) for row in rows if row[column] != "-"}
