"""Which of the planner's experiments are tried: most innovative, highest potential, most certain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agents.author import Idea

RULES: Mapping[str, Callable[[Idea], float]] = {
    "most_innovative": lambda idea: idea.innovation,
    "highest_potential": lambda idea: idea.gain_max_pct,
    "most_certain": lambda idea: idea.gain_min_pct,
}


def pick(ideas: Sequence[Idea], count: int = 3) -> tuple[tuple[Idea, str], ...]:
    """Choose without replacement, rule by rule in their order and over again; ties go to the earlier idea."""
    rest, picked, rules = list(ideas), list[tuple[Idea, str]](), list(RULES)
    while rest and len(picked) < count:
        rule = rules[len(picked) % len(rules)]
        best = max(range(len(rest)), key=lambda i: (RULES[rule](rest[i]), -i))
        picked.append((rest.pop(best), rule))
    return tuple(picked)
