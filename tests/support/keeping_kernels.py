"""Kernels as Python functions of what they find in memory: honest ones, and some that keep something for later."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox.gpu.child_fault import ChildFault

WORDS = 16  # of device variables
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


def cache_by_whole_content(m: Memory) -> int:
    """Gives the last answer again, as right as ever, when nobody but itself has written it."""
    if m.variables[4] != m.content:
        m.variables[4], m.variables[5] = m.content, m.right()
    return m.variables[5]


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
    cache_by_whole_content,
    counts_other_contents,
    greatest_so_far,
    toggles,
    saturates,
    hides_its_count,
    faults_on_other_contents,
)


def counts_elsewhere(n: int, is_from_there_on: bool) -> Kernel:
    """In memory that has no name: what a fresh call clears, and no call in a row."""

    def kernel(m: Memory) -> int:
        m.other["calls"] = m.other.get("calls", 0) + 1
        is_wrong = m.other["calls"] >= n if is_from_there_on else m.other["calls"] % n == 0
        return m.wrong() if is_wrong else m.right()

    return kernel
