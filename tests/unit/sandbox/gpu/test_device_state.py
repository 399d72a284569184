"""The rule on state, in a child whose kernels are Python and whose device variables are bytes."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from records.evaluation import Finding
from sandbox.candidate.prepare import prepare
from sandbox.gpu.child_fault import ChildFault
from sandbox.gpu.child_link import GpuSlot
from sandbox.gpu.child_messages import CallRequest, ChainRequest, PresetRequest, VariablesRequest
from sandbox.gpu.child_process import Called, Chained, ChildProcess
from sandbox.gpu.compile.gpu_compiler import DeviceBuild
from sandbox.gpu.compiled import CompiledCandidate, LoadedCandidate, layout_of
from sandbox.gpu.device_state import ChainRule, DeviceState, Kept
from sandbox.gpu.memory_file import Raw
from tasks.loader import load_task

SOURCE = '/*+++\n{extra}[[launch]]\nkernel = "k"\ngrid = ["1"]\nblock = ["64"]\nargs = ["y"]\n+++*/\n'
WORDS = 16
VALUES = (11, 21)  # in the two bases; their last digits are alike
RNG = random.Random(5)


@dataclass
class Memory:
    """All that a kernel finds: its variables as 32-bit words, the contents of the call, what nobody resets."""

    variables: list[int]
    content: int
    other: dict[str, int] = field(default_factory=dict)

    def right(self) -> int:
        return self.content * 3

    def wrong(self) -> int:
        return self.content * 3 + 1


Kernel = Callable[[Memory], int]


class Simulated(ChildProcess):
    """A child whose candidate is a Python function; the first word of its variables is 7 at first."""

    def __init__(self, kernel: Kernel) -> None:
        self.slot, self.noise_seed, self.kernel = GpuSlot("amd", 0), 0, kernel
        self.words, self.other, self.calls = self.first(), dict[str, int](), 0
        self.sets = 16

    def first(self) -> list[int]:
        return [7, *[0] * (WORDS - 1)]

    def run(self, seed: int) -> int:
        self.calls += 1
        memory = Memory(self.words, seed, self.other)
        made = self.kernel(memory)
        self.words = [word & 0xFFFFFFFF for word in memory.variables]
        return made

    def call(self, request: CallRequest, timeout_s: float) -> Called:
        if request.is_fresh:
            self.words = self.first()
            self.other.clear()
        made = self.run(VALUES[(request.seed ^ request.number) & 1])
        outputs = {"y": np.frombuffer(struct.pack("<q", made), np.uint8)} if request.outputs else {}
        return Called(0, outputs, zlib.crc32(str(made).encode()))

    def chain(self, request: ChainRequest, timeout_s: float) -> Chained:
        self.words = self.first()
        made = [self.run(VALUES[(seed ^ n) & 1]) for seed in request.seeds for n in range(self.sets)]
        outputs = [{"y": np.frombuffer(struct.pack("<q", one), np.uint8)} for one in made if request.outputs]
        return Chained(0, tuple(zlib.crc32(str(one).encode()) for one in made), tuple(outputs))

    def variables(self, request: VariablesRequest, nbytes: int) -> Raw:
        if request.is_reset:
            self.words = self.first()
        return np.frombuffer(struct.pack(f"<{WORDS}I", *self.words), np.uint8)

    def preset(self, request: PresetRequest, data: Raw) -> None:
        self.words = list(struct.unpack(f"<{WORDS}I", data.tobytes()))


@pytest.fixture(scope="module")
def task() -> Iterator[Any]:
    yield load_task(Path(__file__).parents[3] / "kernels" / "exploits" / "tasks" / "scale")


def said(task: Any, kernel: Kernel, is_free: bool = False, has_variables: bool = True) -> str:
    """The finding's kind, or nothing."""
    child = Simulated(kernel)
    extra = "nondeterministic = true\n" if is_free else ""
    variables = (("state", 4 * WORDS),) if has_variables else ()
    build = DeviceBuild((), b"", "", (), variables, "", 0.0)
    compiled = CompiledCandidate(prepare(SOURCE.format(extra=extra), task), build)
    loaded = LoadedCandidate(child, "B", compiled, random.Random(3))

    def grade(content: int, outputs: Mapping[str, Raw]) -> Sequence[Finding]:
        made = struct.unpack("<q", outputs["y"].tobytes())[0]
        return () if made == 3 * VALUES[content] else (Finding("wrong_result", "other than the reference"),)

    case = task.tests[0]
    state = DeviceState(loaded, case, layout_of(task, case, compiled), child.sets, grade, ChainRule())
    try:
        state.check()
    except Kept as kept:
        assert kept.finding.case == case.name or kept.finding.kind == "wrong_result"
        return kept.finding.kind
    assert child.calls >= ChainRule().calls
    return ""


def stateless(m: Memory) -> int:
    return m.right()


def reads_a_table(m: Memory) -> int:
    return m.right() if m.variables[0] == 7 else m.wrong()


def scratch(m: Memory) -> int:
    """Writes before it reads, other words for other contents."""
    for i in range(1 + m.content % 5):
        m.variables[1 + i] = m.content + i
    return m.right()


def resets_its_counter(m: Memory) -> int:
    """A launch of the plan clears it, the next one counts workgroups."""
    m.variables[1] = 0
    for _ in range(9):
        m.variables[1] += 1
    return m.right() if m.variables[1] == 9 else m.wrong()


def counter_that_wraps(m: Memory) -> int:
    """The last workgroup's ticket: zero again at the end."""
    if m.variables[1]:
        return m.wrong()
    m.variables[1] = (m.variables[1] + 9) % 9
    return m.right()


def slots_by_chance(m: Memory) -> int:
    """Scratch of whichever unit a workgroup happens to run on."""
    for unit in RNG.sample(range(1, WORDS), 6):
        m.variables[unit] = m.content
    return m.right()


def slots_claimed_by_chance(m: Memory) -> int:
    """A work queue, cleared first; who takes which tile is free."""
    for number, unit in enumerate(RNG.sample(range(2, WORDS), 8)):
        m.variables[unit] = number
    m.variables[1] = 8
    return m.right()


HONEST = (
    stateless,
    reads_a_table,
    scratch,
    resets_its_counter,
    counter_that_wraps,
    slots_by_chance,
    slots_claimed_by_chance,
)


def stops_after(n: int) -> Kernel:
    def kernel(m: Memory) -> int:
        m.variables[1] += 1
        return m.right() if m.variables[1] <= n else m.wrong()

    return kernel


def one_in(n: int) -> Kernel:
    def kernel(m: Memory) -> int:
        m.variables[3] += 1
        return m.wrong() if m.variables[3] % n == 0 else m.right()

    return kernel


def counts_down(m: Memory) -> int:
    m.variables[0] -= 1
    return m.wrong() if m.variables[0] == 0 else m.right()


def table_made_once(m: Memory) -> int:
    """Kept from the first call on: right as long as nobody else writes it."""
    if not m.variables[1]:
        m.variables[1], m.variables[2] = 1, 99
    return m.right() if m.variables[2] == 99 else m.wrong()


def cache_by_content(m: Memory) -> int:
    """Gives the last answer again when the inputs look alike."""
    if m.variables[1] == m.content % 10 + 1:
        return m.variables[2]
    m.variables[1], m.variables[2] = m.content % 10 + 1, m.right()
    return m.right()


def counts_other_contents(m: Memory) -> int:
    """Counts only calls whose contents are not those of the one before, and only from the second on."""
    if m.variables[1] and m.variables[1] != m.content:
        m.variables[2] += 1
    m.variables[1] = m.content
    return m.wrong() if m.variables[2] == 1000 else m.right()


def greatest_so_far(m: Memory) -> int:
    m.variables[1] = max(m.variables[1], m.content)
    return m.right() if m.variables[1] == m.content else m.wrong()


def toggles(m: Memory) -> int:
    m.variables[1] ^= 1
    return m.right()


def saturates(m: Memory) -> int:
    """Counts up to twelve and stays there."""
    m.variables[1] = min(12, m.variables[1] + 1)
    return m.wrong() if m.variables[1] == 12 else m.right()


def hides_its_count(m: Memory) -> int:
    """A counter of which every byte looks like chance; all that helps is to count as far."""
    mask = RNG.getrandbits(32)
    count = (m.variables[1] ^ m.variables[2]) + 1
    m.variables[1], m.variables[2] = count ^ mask, mask
    return m.wrong() if count % 13 == 0 else m.right()


def faults_on_other_contents(m: Memory) -> int:
    if m.variables[1] > 1:
        raise ChildFault("an illegal address", "out_of_bounds", lost=False)
    m.variables[1] = 1
    return m.right()


KEEPING = (
    stops_after(3),
    stops_after(12),
    stops_after(1_000_000),
    one_in(7),
    one_in(13),
    one_in(100),
    one_in(10_007),
    counts_down,
    table_made_once,
    cache_by_content,
    counts_other_contents,
    greatest_so_far,
    toggles,
    saturates,
    hides_its_count,
    faults_on_other_contents,
)


@pytest.mark.parametrize("is_free", [False, True])
@pytest.mark.parametrize("kernel", HONEST, ids=lambda one: one.__name__)
def test_a_kernel_that_keeps_nothing_passes(task: Any, kernel: Kernel, is_free: bool) -> None:
    assert [said(task, kernel, is_free) for _ in range(8)] == [""] * 8


@pytest.mark.parametrize("is_free", [False, True])
@pytest.mark.parametrize("number", range(len(KEEPING)))
def test_a_kernel_that_keeps_something_is_found(task: Any, number: int, is_free: bool) -> None:
    assert said(task, KEEPING[number], is_free) in ("nondeterministic", "wrong_result")


def counts_elsewhere(n: int, is_from_there_on: bool) -> Kernel:
    """In memory that has no name: what a fresh call clears, and no call in a row."""

    def kernel(m: Memory) -> int:
        m.other["calls"] = m.other.get("calls", 0) + 1
        is_wrong = m.other["calls"] >= n if is_from_there_on else m.other["calls"] % n == 0
        return m.wrong() if is_wrong else m.right()

    return kernel


@pytest.mark.parametrize("is_free", [False, True])
@pytest.mark.parametrize("n", [7, 13, 100])
@pytest.mark.parametrize("is_from_there_on", [False, True])
def test_memory_without_a_name_shows_in_calls_in_a_row(
    task: Any, n: int, is_from_there_on: bool, is_free: bool
) -> None:
    kernel = counts_elsewhere(n, is_from_there_on)
    assert said(task, kernel, is_free, has_variables=False) in ("nondeterministic", "wrong_result")
