"""The rules by which experiments are picked from what was proposed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agents.author import Idea
from records.mechanism import Mechanism

RULES: Mapping[str, Callable[[Idea, float], float]] = {  # of an idea, whose gains are those on the base, and its trust
    "most_innovative": lambda idea, trust: idea.innovation,
    "highest_potential": lambda idea, trust: _trusted(idea.gain_max_pct, trust),
    "most_certain": lambda idea, trust: _trusted(idea.gain_min_pct, trust),
}


def as_predicted(mechanism: Mechanism) -> float:
    """Trust every prediction as it stands."""
    return 1.0


def pick(
    ideas: Sequence[Idea],
    count: int = 3,
    rules: Sequence[str] = tuple(RULES),
    trust: Callable[[Mechanism], float] = as_predicted,
) -> tuple[tuple[Idea, str], ...]:
    """Choose without replacement, rule by rule in their order and over again; ties go to the earlier idea.

    Predicted gains count by how far predictions of their mechanism are to be trusted, those that were found in full.
    """
    remaining, picked = list(ideas), list[tuple[Idea, str]]()
    while remaining and len(picked) < count:
        rule = rules[len(picked) % len(rules)]
        values = [RULES[rule](idea, 1.0 if idea.reference_id else trust(idea.mechanism)) for idea in remaining]
        best = max(range(len(remaining)), key=lambda i: (values[i], -i))
        picked.append((remaining.pop(best), rule))
    return tuple(picked)


def _trusted(gain_pct: float, trust: float) -> float:
    return trust * gain_pct if gain_pct > 0 else gain_pct
