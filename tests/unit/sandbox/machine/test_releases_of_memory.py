"""The memory model between workgroups: random releases and looks against the order that they make by definition."""

from __future__ import annotations

import random

from tests.unit.sandbox.machine.memory_script import play

Wave = tuple[int, int]  # workgroup and wave
Clock = dict[Wave, int]  # up to which of its accesses a wave is known


def joined(*clocks: Clock) -> Clock:
    """The latest of all that the clocks know."""
    return {wave: max(clock.get(wave, 0) for clock in clocks) for clock in clocks for wave in clock}


class Orders:
    """Which accesses are ordered: waves know what others have released to places that they looked at."""

    def __init__(self, groups: int, waves: int) -> None:
        self.all = [(g, w) for g in range(groups) for w in range(waves)]
        self.count = dict.fromkeys(self.all, 0)
        self.known: dict[Wave, Clock] = {wave: {} for wave in self.all}
        self.written: dict[Wave, int | None] = dict.fromkeys(self.all)  # accesses before a write-back under way
        self.released: dict[Wave, Clock] = {wave: {} for wave in self.all}
        self.looks: dict[Wave, list[int]] = {wave: [] for wave in self.all}
        self.places: dict[int, Clock] = {}
        self.inside: dict[tuple[int, int], Clock] = {}  # by workgroup and place: what waves of the workgroup learn
        self.accesses: list[tuple[Wave, int, int, bool]] = []

    def mates(self, wave: Wave) -> list[Wave]:
        return [other for other in self.all if other[0] == wave[0]]

    def barrier(self, group: int) -> None:
        waves = self.mates((group, 0))
        merged = joined(*(self.known[wave] for wave in waves), {wave: self.count[wave] for wave in waves})
        for wave in waves:
            self.known[wave] = dict(merged)

    def wait(self, wave: Wave) -> None:
        learned = [self.places.get(address, {}) for address in self.looks[wave]]
        learned += [self.inside.get((wave[0], address), {}) for address in self.looks[wave]]
        self.known[wave] = joined(self.known[wave], *learned)
        self.looks[wave] = []
        until = self.written[wave]
        if until is not None:
            mates = {other: self.known[wave].get(other, 0) for other in self.mates(wave)}
            self.released[wave] = mates | {wave: until}
            self.written[wave] = None

    def hand_on(self, wave: Wave, address: int) -> None:
        other_groups = {other: until for other, until in self.known[wave].items() if other[0] != wave[0]}
        self.places[address] = joined(self.places.get(address, {}), other_groups, self.released[wave])
        mates = {other: self.known[wave].get(other, 0) for other in self.mates(wave)} | {wave: self.count[wave]}
        self.inside[wave[0], address] = joined(self.inside.get((wave[0], address), {}), mates)

    def access(self, wave: Wave, block: int, is_write: bool) -> bool:
        """True where an earlier access of the block is not ordered before this one."""
        self.count[wave] += 1
        orders = self.known[wave]
        races = any(
            other != wave and address == block and (is_write or wrote) and orders.get(other, 0) < number
            for other, number, address, wrote in self.accesses
        )
        self.accesses.append((wave, self.count[wave], block, is_write))
        return races


def sequence(seed: int) -> tuple[str, int]:
    """A script, and the line of the first access that is not ordered; 0: there is none."""
    draw = random.Random(seed)
    groups, waves = 3, draw.choice((1, 2))
    orders = Orders(groups, waves)
    lines = ["rules", "region 0 filled", "region 1 filled", f"launch {groups}"]
    lines += [f"{g} begins waves={waves}" for g in range(groups)]
    careful = draw.random()
    for value in range(1, 120):
        wave = g, w = draw.choice(orders.all)
        name, address = f"{g}.{w}", draw.randrange(3)
        verb = draw.choice(("data", "data", "store", "look", "change", "barrier"))
        if verb == "data":
            is_write = draw.random() < 0.4
            block = draw.randrange(3)
            lines.append(f"{name} {'store' if is_write else 'load'} at={block * 256} value={value * 0x01010101}")
            if orders.access(wave, block, is_write):
                return "\n".join(lines) + "\n", len(lines)
        elif verb == "barrier":
            lines.append(f"{g} barrier")
            orders.barrier(g)
        else:
            if verb != "look" and draw.random() < careful + 0.3:
                lines += [f"{name} wait vm=0", f"{name} wbl2 agent", f"{name} wait vm=0"]
                orders.wait(wave)
                orders.written[wave] = orders.count[wave]
                orders.wait(wave)
            word = {"store": "store", "look": "load", "change": "addret"}[verb]
            lines.append(f"{name} {word} agent region=1 at={address * 4} lanes=0 value=1")
            if verb != "look":
                orders.hand_on(wave, address)
            if verb != "store":
                orders.looks[wave].append(address)
            if draw.random() < 0.9:
                lines.append(f"{name} wait vm=0")
                orders.wait(wave)
    return "\n".join(lines) + "\n", 0


def test_what_is_released_is_ordered_and_nothing_else() -> None:
    races = misses = 0
    for seed in range(120):
        script, line = sequence(seed)
        words = play(script).split()
        if not words:
            races += line > 0
            misses += line > 0
            continue
        races += 1
        assert int(words[1]) == line, (seed, line, words)
    assert races > 50
    assert misses <= races // 10, (misses, races)
