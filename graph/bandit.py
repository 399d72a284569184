"""A bandit over the avenues of a run: which rule of choice to give the next experiments, by gain for what they cost.

The index is that of UCB1 (Auer, Cesa-Bianchi and Fischer 2002) on the reward for a kernel written: doublings of speed
over the tuned parent, 1 at most, divided by the kernels that the experiment wrote and had judged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from records.quantity import given

WIDTH = 0.25  # of the confidence term: rewards for a kernel are mostly far below 1


@dataclass(frozen=True)
class Avenue:
    """One rule's experiments so far."""

    pulls: int = 0
    reward: float = 0.0
    cost: int = 0  # kernels written

    def index(self, total: int) -> float:
        """Compute the optimistic reward for a kernel; infinite for a rule that was never used."""
        if not self.pulls:
            return math.inf
        return self.reward / max(1, self.cost) + WIDTH * math.sqrt(2 * math.log(max(2, total)) / self.pulls)


@dataclass
class Bandit:
    """The arms by rule."""

    arms: dict[str, Avenue] = field(default_factory=dict)

    def add(self, rule: str, gain_pct: float | None, kernels: int) -> None:
        """One experiment's outcome; None: no kernel of it was right."""
        gain = max(0.0, given(gain_pct, 0.0))
        arm = self.arms.get(rule, Avenue())
        self.arms[rule] = Avenue(
            arm.pulls + 1, arm.reward + min(1.0, math.log2(1 + gain / 100)), arm.cost + max(1, kernels)
        )

    def draws(self, rules: Sequence[str], count: int) -> list[str]:
        """Draw the rules of so many experiments that are started at once; of equal ones the first."""
        arms, drawn = {rule: self.arms.get(rule, Avenue()) for rule in rules}, list[str]()
        while len(drawn) < count:
            total = sum(arm.pulls for arm in arms.values())
            rule = max(rules, key=lambda name: arms[name].index(total))
            drawn.append(rule)
            arm = arms[rule]
            usual = arm.reward / arm.pulls if arm.pulls else 0.0  # as it went so far, until it is known
            price = arm.cost // arm.pulls if arm.pulls else 1
            arms[rule] = replace(arm, pulls=arm.pulls + 1, reward=arm.reward + usual, cost=arm.cost + price)
        return drawn
