from __future__ import annotations

from sandbox.cage.calls import AARCH64, X86_64, numbers

DANGEROUS = {
    *("socket", "socketpair", "connect", "bind", "fork", "vfork", "clone3", "execveat", "setsid", "setpgid"),
    *("ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_open", "pidfd_send_signal"),
    *("mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_by_handle_at", "personality"),
    *("keyctl", "add_key", "request_key", "bpf", "io_uring_setup", "userfaultfd", "perf_event_open", "memfd_create"),
    *("chmod", "fchmod", "fchmodat", "chown", "setxattr", "utimensat", "symlink", "symlinkat", "link", "linkat"),
    *("mknod", "mknodat", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "shmget", "msgget", "semget", "sync", "syncfs"),
}


def test_two_architectures_have_numbers_of_their_own() -> None:
    pairs = {name: (numbers(X86_64)[name], numbers(AARCH64)[name]) for name in ("read", "openat", "execve", "statx")}
    assert pairs == {"read": (0, 63), "openat": (257, 56), "execve": (59, 221), "statx": (332, 291)}
    assert "open" not in numbers(AARCH64)
    assert numbers("riscv64") == {}


def test_no_number_stands_twice() -> None:
    for architecture in (X86_64, AARCH64):
        all_numbers = list(numbers(architecture).values())
        assert len(set(all_numbers)) == len(all_numbers)


def test_no_call_that_reaches_others_is_listed() -> None:
    assert set(numbers(X86_64)).isdisjoint(DANGEROUS)
