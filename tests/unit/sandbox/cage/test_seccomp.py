from __future__ import annotations

import errno
import struct

import pytest

from sandbox.cage import seccomp
from sandbox.cage.calls import AARCH64, AUDIT, X86_64, numbers

ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS = 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS


def decide(program: bytes, number: int, *arguments: int, audit: int = AUDIT[X86_64]) -> int:
    """The kernel's own rules for the few instructions that a filter is made of."""
    data = struct.pack("=IIQ6Q", number, audit, 0, *arguments, *[0] * (6 - len(arguments)))
    rows, index, word = list(struct.iter_unpack("=HBBI", program)), 0, 0
    while True:
        code, yes, no, k = rows[index]
        index += 1
        if code == 0x06:
            return k
        if code == 0x05:
            index += k
        elif code == 0x20:
            (word,) = struct.unpack_from("=I", data, k)
        else:
            holds = {0x15: word == k, 0x25: word > k, 0x45: bool(word & k)}[code]
            index += yes if holds else no


@pytest.mark.parametrize("architecture", [X86_64, AARCH64])
def test_what_is_not_listed_does_not_exist(architecture: str) -> None:
    program, listed = seccomp.compose(architecture, signals_stay_inside=True), set(numbers(architecture).values())
    for number in range(470):
        decision = decide(program, number, audit=AUDIT[architecture])
        assert (decision == ENOSYS) == (number not in listed), number


@pytest.mark.parametrize("architecture", [X86_64, AARCH64])
def test_each_listed_call_is_decided_within_a_few_comparisons(architecture: str) -> None:
    program = list(struct.iter_unpack("=HBBI", seccomp.compose(architecture, signals_stay_inside=True)))
    assert len(program) < 4096  # what the kernel takes
    jumps = [(index, max(yes, no, k if code == 0x05 else 0)) for index, (code, yes, no, k) in enumerate(program)]
    assert all(index + 1 + far < len(program) for index, far in jumps if far)
    for number in range(470):
        index, steps = 4, 0  # behind the architecture and the load of the number
        while program[index][0] in (0x25, 0x05):
            code, yes, no, k = program[index]
            index, steps = index + 1 + (k if code == 0x05 else yes if number > k else no), steps + 1
        assert steps <= 16


def test_a_foreign_architecture_ends_the_process() -> None:
    program = seccomp.compose(X86_64, signals_stay_inside=True)
    assert decide(program, 0, audit=AUDIT[AARCH64]) == KILL
    assert decide(program, 0x40000000) == ENOSYS  # the first call of the x32 numbering


@pytest.mark.parametrize(
    ("call", "arguments", "decision"),
    [
        ("clone", (0x3D0F00,), ALLOW),  # a thread
        ("clone", (17,), EPERM),  # a process
        ("clone", (0x10000 | 0x10000000,), EPERM),  # a user namespace
        ("kill", (seccomp.OWN_PID, 9), ALLOW),
        ("kill", (1, 0), EPERM),
        ("kill", (0xFFFFFFFF, 9), EPERM),
        ("tkill", (77, 6), ALLOW),
        ("fcntl", (0, 3), ALLOW),
        ("fcntl", (0, 8, 1), EPERM),  # F_SETOWN
        ("ioctl", (0, 0x5412), EPERM),  # TIOCSTI
        ("clock_gettime", (1,), ALLOW),
        ("clock_gettime", (0xFFFFFFFA,), EPERM),  # another process's clock
        ("sched_getaffinity", (0,), ALLOW),
        ("sched_getaffinity", (1,), EPERM),
        ("prlimit64", (1,), EPERM),
        ("prctl", (3,), ALLOW),
        ("prctl", (4,), EPERM),  # PR_SET_DUMPABLE
        ("mmap", (0, 4096, 3, 0x22), ALLOW),
        ("mmap", (0, 4096, 3, 0x01), ALLOW),  # a file's
        ("mmap", (0, 4096, 3, 0x21), EPERM),  # memory that is shared and no file's
        ("mmap", (0, 4096, 3, 0x23), EPERM),
        ("seccomp", (1, 1), ALLOW),
        ("seccomp", (1, 8), EPERM),  # a listener
    ],
)
def test_arguments_decide(call: str, arguments: tuple[int, ...], decision: int) -> None:
    program = seccomp.compose(X86_64, signals_stay_inside=True)
    assert decide(program, numbers(X86_64)[call], *arguments) == decision


def test_without_a_fence_around_signals_tkill_reaches_one_thread() -> None:
    program = seccomp.compose(X86_64, signals_stay_inside=False)
    assert decide(program, numbers(X86_64)["tkill"], 77, 6) == EPERM
    assert decide(program, numbers(X86_64)["tkill"], seccomp.OWN_PID, 6) == ALLOW


def test_a_program_that_may_fork_starts_processes_and_no_namespaces() -> None:
    clone = numbers(X86_64)["clone"]
    for may_fork, decision in ((False, EPERM), (True, ALLOW)):
        program = seccomp.compose(X86_64, signals_stay_inside=True, may_fork=may_fork)
        assert decide(program, clone, 17) == decision  # SIGCHLD alone: a process
        assert decide(program, clone, 0x3D0F00) == ALLOW  # a thread
        assert decide(program, clone, 0x10000011) == EPERM  # CLONE_NEWUSER


def test_an_unknown_architecture_has_no_filter() -> None:
    assert seccomp.compose("riscv64", signals_stay_inside=True) == b""


def test_words_on_a_command_line_are_the_same_program() -> None:
    program = seccomp.compose(X86_64, signals_stay_inside=True)
    assert seccomp.from_words(seccomp.to_words(program)) == program
