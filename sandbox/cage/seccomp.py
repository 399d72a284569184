"""The filter of system calls: a closed list, and conditions on the arguments of some.

A call that is not listed fails with ENOSYS, as on a kernel that does not have it; one whose arguments are refused fails
with EPERM. A foreign architecture's call ends the process.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Mapping, Sequence
from typing import Literal

from sandbox.cage.calls import AUDIT, numbers, others

OWN_PID = 0x4B535049  # stands for the number of the process that the filter is for; see launcher/fence.c
Row = tuple[int, int, int, int]  # of an instruction: its code, how far it jumps where true and where false, a constant
Test = tuple[Literal["any", "clear", "set", "below", "apart"], int, tuple[int, ...]]  # kind, argument, values

_LOAD, _EQUAL, _GREATER, _BITS, _RETURN, _JUMP = 0x20, 0x15, 0x25, 0x45, 0x06, 0x05
_FARTHEST = 255  # instructions that a comparison can pass over
_FOREIGN = 0x40000000  # from here on the numbers are another interface's: x32
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_SELF = (0, OWN_PID)
_NAMESPACES = 0x7E020080  # every CLONE_NEW flag
_THREAD = 0x10000
_NO_NAMESPACES: tuple[Test, ...] = (("clear", 0, (_NAMESPACES,)),)
_CONDITIONS: dict[str, tuple[Test, ...]] = {
    "clone": (*_NO_NAMESPACES, ("set", 0, (_THREAD,))),
    "kill": (("any", 0, (OWN_PID,)),),
    "tgkill": (("any", 0, (OWN_PID,)),),
    "sched_setaffinity": (("any", 0, _SELF),),
    "sched_getaffinity": (("any", 0, _SELF),),
    "sched_getparam": (("any", 0, _SELF),),
    "sched_getscheduler": (("any", 0, _SELF),),
    "sched_rr_get_interval": (("any", 0, _SELF),),
    "get_robust_list": (("any", 0, _SELF),),
    "prlimit64": (("any", 0, _SELF),),
    # Duplicates, flags and locks, but no F_SETOWN: that sends signals.
    "fcntl": (("any", 1, (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)),),
    "ioctl": (("any", 1, (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)),),  # about terminals, and flags
    # Names, no new privileges, huge pages, reading of the bounding set, of dumpable and of the signal at the parent's
    # death. The last two stay: a program that is not dumpable could hide its files from whoever watches it, one without
    # the signal could outlive whoever has started it.
    "prctl": (("any", 0, (2, 3, 15, 16, 23, 38, 39, 41, 42, 0x53564D41)),),
    # A negative clock is another process's.
    "clock_gettime": (("below", 0, (12,)),),
    "clock_getres": (("below", 0, (12,)),),
    "clock_nanosleep": (("below", 0, (12,)),),
    # Anonymous memory that is shared counts as a file's: no limit and no look would see it.
    "mmap": (("apart", 3, (0x01, 0x20)),),
    "seccomp": (("any", 0, (1,)), ("clear", 1, (8,))),  # one more filter, and no listener
}
_OWN_THREADS: tuple[Test, ...] = (("any", 0, (OWN_PID,)),)


def compose(architecture: str, *, signals_stay_inside: bool, may_fork: bool = False) -> bytes:
    """Compose the filter's instructions, eight bytes each; empty for an architecture that is not known here.

    `signals_stay_inside`: something else keeps signals from other processes. Otherwise tkill reaches only the first
    thread, since a filter cannot tell whose thread a number is. `may_fork`: processes may be started, as threads may.
    """
    calls = numbers(architecture)
    if not calls:
        return b""
    unknown: list[Row] = [(_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    bodies, spans = dict[int, list[Row]](), list[tuple[int, list[Row]]]()
    for name, number in calls.items():
        tests = _CONDITIONS.get(name, ())
        if name == "tkill" and not signals_stay_inside:
            tests = _OWN_THREADS
        if name == "clone" and may_fork:
            tests = _NO_NAMESPACES
        bodies[number] = [*(row for test in tests for row in _tested(test)), (_RETURN, 0, 0, _ALLOW)]
    for number in range(max(bodies) + 2):
        body = bodies.get(number, unknown)
        if not spans or spans[-1][1] != body:
            spans.append((number, body))
    program = [_load(4), (_EQUAL, 1, 0, AUDIT[architecture]), (_RETURN, 0, 0, _KILL), _load(0), *_searched(spans)]
    return b"".join(struct.pack("=HBBI", *row) for row in program)


def _searched(spans: Sequence[tuple[int, list[Row]]]) -> list[Row]:
    """Search for the number that is loaded; each span is its first number, and goes to the next one's.

    By halves: the kernel tries a new filter with every number, which takes most of a start where each is asked for.
    """
    if len(spans) == 1:
        return spans[0][1]
    half = len(spans) // 2
    below, above, last = _searched(spans[:half]), _searched(spans[half:]), spans[half][0] - 1
    if len(below) <= _FARTHEST:
        return [(_GREATER, len(below), 0, last), *below, *above]
    return [(_GREATER, 0, 1, last), (_JUMP, 0, 0, len(below)), *below, *above]


def to_words(program: bytes) -> str:
    """Write the instructions as 16 hexadecimal digits each, for a command line."""
    return "".join(f"{code:04x}{yes:02x}{no:02x}{k:08x}" for code, yes, no, k in struct.iter_unpack("=HBBI", program))


def from_words(words: str) -> bytes:
    """Read the instructions that `to_words` wrote."""
    rows = [words[start : start + 16] for start in range(0, len(words), 16)]
    return b"".join(
        struct.pack("=HBBI", int(r[:4], 16), int(r[4:6], 16), int(r[6:8], 16), int(r[8:], 16)) for r in rows
    )


def install(program: bytes, own_pid: int) -> None:
    """Put the filter on this process; it must have given up new privileges. OSError where the kernel refuses."""
    instructions = b"".join(
        struct.pack("=HBBI", code, yes, no, own_pid if k == OWN_PID else k)
        for code, yes, no, k in struct.iter_unpack("=HBBI", program)
    )
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    head = struct.pack("@HP", len(instructions) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(22, 2, ctypes.create_string_buffer(head, len(head)), 0, 0) != 0:  # PR_SET_SECCOMP, a filter
        raise OSError(ctypes.get_errno(), "the filter of system calls cannot be installed")


def _load(offset: int) -> Row:
    return (_LOAD, 0, 0, offset)


def _tested(test: Test) -> Sequence[Row]:
    """Write instructions that fall through where the argument's low word passes, else return EPERM."""
    kind, argument, values = test
    refuse = (_RETURN, 0, 0, _ERRNO | errno.EPERM)
    rows = [_load(16 + 8 * argument)]
    if kind == "any":
        last = len(values) - 1
        return [*rows, *((_EQUAL, last - i + 1, 0, value) for i, value in enumerate(values)), refuse]
    if kind == "below":
        return [*rows, (_GREATER, 0, 1, values[0] - 1), refuse]
    if kind == "apart":  # never both bits together
        return [*rows, (_BITS, 0, 2, values[0]), (_BITS, 0, 1, values[1]), refuse]
    return [*rows, (_BITS, *((0, 1) if kind == "clear" else (1, 0)), values[0]), refuse]


def compose_refusing(architecture: str, refused: Mapping[str, tuple[Test, ...]]) -> bytes:
    """Compose a filter that lets through all calls but these, which fail with EPERM unless each of their tests passes.

    Each is named with its tests, none for a call that is refused always. Empty for an architecture not known here.
    """
    table = others(architecture)
    if not table:
        return b""
    program = [_load(4), (_EQUAL, 1, 0, AUDIT[architecture]), (_RETURN, 0, 0, _KILL), _load(0)]
    program += [(_GREATER, 0, 1, _FOREIGN - 1), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    for name, tests in refused.items():
        if name not in table or name == "clone3":
            continue
        last = (_RETURN, 0, 0, _ALLOW if tests else _ERRNO | errno.EPERM)
        body = [*(row for test in tests for row in _tested(test)), last]
        program += [(_EQUAL, 0, len(body), table[name]), *body]
    # A program that cannot have clone3 takes clone, whose flags a filter can read.
    program += [(_EQUAL, 0, 1, table["clone3"]), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *row) for row in program)
