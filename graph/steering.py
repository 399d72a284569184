"""The course of a run: which kernels a generation may build on, what answers stagnation, and when it is over."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

from agents.author import Member, Selection
from graph.archive import on_island
from graph.context import Context
from graph.population import attainable_fraction, roofline_fraction
from graph.state import State
from records.evaluation import Evaluation
from records.quantity import counted

INSPIRING = 5  # of the fastest kernels
Answer = Literal["", "another_cell", "most_innovative"]  # to stagnation


def pool(context: Context, generation: int, members: Sequence[Member]) -> list[Member]:
    """List the kernels that this generation may build on; all of them where its island has none."""
    limits, born = context.limits, context.history.born(generation)
    return on_island(members, born, generation, limits.islands, limits.migration) or list(members)


def choice_of(context: Context, generation: int, fastest: str, members: Sequence[Member]) -> Selection | None:
    """Return the kernels that a rule of the search chooses in place of the author; None where the author is asked."""
    limits = context.limits
    if limits.inspiration and generation >= limits.inspiration:
        top = sorted(members, key=lambda m: (m.geomean_us, m.id))[:INSPIRING]
        drawn = random.Random(f"{context.run.seed} {generation}").sample(top, min(2, len(top)))
        why = f"drawn from the fastest {len(top)}, so that the search does not collapse onto one"
        return Selection(drawn[0].id, drawn[1].id if len(drawn) > 1 else None, why)
    return Selection(fastest, None, "the fastest kernel, which each generation builds on") if limits.greedy else None


def answer_to(context: Context, stagnant: int) -> Answer:
    """Find the named change for a generation after so many without a gain; none where that is switched off."""
    if not context.limits.answers or not stagnant:
        return ""
    return "another_cell" if stagnant % 2 else "most_innovative"


def rules_of(context: Context, generation: int, stagnant: int, rules: Sequence[str]) -> Sequence[str]:
    """List the rules that pick this generation's experiments, in turn."""
    if answer_to(context, stagnant) == "most_innovative":
        return ("most_innovative",)
    limits = context.limits
    return context.history.bandit(generation).draws(rules, limits.picks) if limits.bandit else rules


def another_cell(context: Context, generation: int, base_id: str, members: Sequence[Member]) -> str:
    """Find the fastest kernel of another strategy among these; the base itself where all have one strategy."""
    strategy = next((m.strategy for m in members if m.id == base_id), "")
    explored = context.history.explored(generation)
    candidates = [m for m in members if m.strategy != strategy]
    fastest = min(candidates, key=lambda m: (m.id in explored, m.geomean_us, m.id), default=None)
    return fastest.id if fastest else base_id


def reason_to_stop(context: Context, state: State, evaluation: Evaluation, stagnant: int) -> str:
    """Tell the reason why the run ends behind this generation, from its best kernel's evaluation.

    It is empty while it goes on.
    """
    limits, total = context.limits, context.generations_at(state["generation"] + 1)
    fraction, attained = roofline_fraction(evaluation), attainable_fraction(evaluation)
    if fraction >= limits.roofline_fraction:
        return f"the best kernel reaches {fraction:.0%} of the roofline"
    if limits.attainable_fraction and attained >= limits.attainable_fraction:
        return f"the best kernel reaches {attained:.0%} of what roofline and launch leave"
    if state["exhausted"]:
        is_playbook = context.author.name == "playbook"
        return "the playbook knows no further change to try" if is_playbook else "nothing is left to try"
    if state["generation"] >= total:
        return f"all {total} generations are used" if total != 1 else "the one generation asked for is used"
    return f"no gain in {counted(stagnant, 'generation')}" if stagnant >= limits.stagnation else ""
