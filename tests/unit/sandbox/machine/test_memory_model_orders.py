"""The memory model against all pairs of accesses that are not ordered, on random sequences of one workgroup."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from tests.unit.sandbox.machine.memory_script import play

SHAPES = (
    # bytes, step, first byte, how far it may move
    (4, 4, 0, 4),
    (4, 4, 128, 4),
    (16, 16, 0, 16),
    (8, 8, 512, 8),
    (4, 132, 0, 4),
    (2, 2, 0, 2),
    (2, 4, 0, 2),
    (1, 4, 2, 1),
    (16, 144, 0, 16),
    (12, 12, 0, 12),
    (4, 0, 64, 4),
)


@dataclass
class Access:
    """An instruction of a wave: the bytes that it touches, and its number among those of its wave."""

    line: int
    wave: int
    touched: frozenset[int]
    is_write: bool
    number: int


class Orders:
    """Which accesses are ordered, by the definition: each wave knows how many operations of the others are complete."""

    def __init__(self, waves: int, needs_waits: bool) -> None:
        self.accesses: list[Access] = []
        self.issued = [0] * waves
        self.completed = [0] * waves
        self.known = [[0] * waves for _ in range(waves)]
        self.needs_waits = needs_waits

    def wait(self, wave: int, left: int) -> None:
        self.completed[wave] = max(self.completed[wave], self.issued[wave] - left)

    def barrier(self) -> None:
        for row in self.known:
            row[:] = self.completed if self.needs_waits else self.issued

    def access(self, line: int, wave: int, touched: frozenset[int], is_write: bool) -> set[str]:
        """The kinds of conflict that the access has with earlier ones."""
        self.issued[wave] += 1
        mine = Access(line, wave, touched, is_write, self.issued[wave])
        kinds = {self._kind(earlier, mine) for earlier in self.accesses if self._is_unordered(earlier, mine)}
        self.accesses.append(mine)
        return kinds

    def _is_unordered(self, before: Access, now: Access) -> bool:
        return (
            before.wave != now.wave
            and (before.is_write or now.is_write)
            and self.known[now.wave][before.wave] < before.number
            and not before.touched.isdisjoint(now.touched)
        )

    @staticmethod
    def _kind(before: Access, now: Access) -> str:
        return ("raw" if before.is_write else "") if not now.is_write else ("waw" if before.is_write else "war")


def _sequence(seed: int, waves: int, space: str) -> tuple[str, int, set[str]]:
    """A script, and the line and the kinds of its first conflict; 0: it has none."""
    draw = random.Random(seed)
    orders = Orders(waves, needs_waits=space == "lds")
    lines = ["rules", "region 0 filled", "launch 1", f"0 begins waves={waves}"]
    value = 0
    ordered = draw.random() * 0.5
    while len(lines) < 60:
        wave = draw.randrange(waves)
        if draw.random() < ordered:
            for number in range(waves):
                left = draw.choice((0, 0, 0, 0, 0, 0, 1))
                lines.append(f"0.{number} wait lgkm={left} vm={left}")
                orders.wait(number, left)
            lines.append("0 barrier")
            orders.barrier()
            continue
        size, step, first, move = draw.choice(SHAPES)
        count = draw.choice((64, 64, 64, 32, 1))
        address = first + move * draw.randrange(4) * draw.choice((0, 1, 64))
        verb = draw.choice(("store", "load", "load"))
        value += 1
        lanes = f" lanes=0-{count - 1}" if count > 1 else " lanes=0"
        lines.append(f"0.{wave} {verb} {space} bytes={size} step={step} at={address}{lanes} value={value * 0x01010101}")
        touched = frozenset(address + lane * step + byte for lane in range(count) for byte in range(size))
        if kinds := orders.access(len(lines), wave, touched, verb == "store"):
            return "\n".join(lines) + "\n", len(lines), kinds
    return "\n".join(lines) + "\n", 0, set()


@pytest.mark.parametrize("space", ["lds", "global"])
@pytest.mark.parametrize("waves", [2, 4])
def test_first_conflict(space: str, waves: int) -> None:
    conflicts = 0
    for seed in range(25):
        script, line, kinds = _sequence(seed, waves, space)
        for rules in ("rules", "rules lane_by_lane"):
            words = play(script.replace("rules", rules, 1)).split()
            if not line:
                assert not words, (seed, rules, words)
                continue
            conflicts += 1
            if waves > 2 and kinds == {"war"} and not words:
                continue  # of more than two readers the model knows two
            assert words, (seed, rules, line, kinds)
            # a read before the first write is told as the reader's fault
            assert line in (int(words[1]), int(words[2])), (seed, rules, words)
    assert conflicts > 10, conflicts
