"""The rules by which experiments are picked from what was proposed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agents.author import Idea

RULES: Mapping[str, Callable[[Idea], float]] = {
    "most_innovative": lambda idea: idea.innovation,
    "highest_potential": lambda idea: idea.gain_max_pct,
    "most_certain": lambda idea: idea.gain_min_pct,
}


def pick(ideas: Sequence[Idea], count: int = 3, rules: Sequence[str] = tuple(RULES)) -> tuple[tuple[Idea, str], ...]:
    """Choose without replacement, rule by rule in their order and over again; ties go to the earlier idea."""
    remaining, picked = list(ideas), list[tuple[Idea, str]]()
    while remaining and len(picked) < count:
        rule = rules[len(picked) % len(rules)]
        best = max(range(len(remaining)), key=lambda i: (RULES[rule](remaining[i]), -i))
        picked.append((remaining.pop(best), rule))
    return tuple(picked)
