"""Proposals as a generation believes in them: their gains on the base in hand, none that has no room there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agents.author import Idea, Memory, Specimen
from graph.beliefs import LEAST_PCT, Base, Promise
from graph.context import Context
from graph.population import attainable_fraction
from records.experiment import Proposed
from records.quantity import given


def base_of(context: Context, generation: int, base: Specimen) -> Base:
    """Describe the kernel that the generation builds on."""
    time_us, attainable = given(base.evaluation.geomean_us, 0.0), attainable_fraction(base.evaluation)
    return context.history.base(generation, base.attempt.id, time_us, attainable)


def believed(context: Context, generation: int, base: Specimen) -> Memory:
    """Return the run's memory with the kept ideas as they stand on this base, those first that save most time.

    Among them are the gains of other branches that the base does not have.

    Kept ideas that could gain nothing worth an experiment here are left out; on another base they may come back.
    """
    memory, beliefs = context.history.memory(generation), context.history.beliefs(generation)
    if not context.limits.beliefs:
        return memory
    hand, saved_us, kept = base_of(context, generation, base), dict[str, float](), list[Proposed]()
    for proposed in (*memory.backlog, *context.history.beside(generation, hand)):
        if proposed.is_avenue:
            kept.append(proposed)
            continue
        promise = Promise.of(proposed.gain_min_pct, proposed.gain_max_pct)
        expected = beliefs.expected(proposed.mechanism, promise, proposed.base_id, hand, bool(proposed.reference_id))
        if expected.is_worth_trying:
            saved_us[proposed.title] = expected.saved_us
            low, high = expected.gain_min_pct, expected.gain_max_pct
            kept.append(replace(proposed, gain_min_pct=low, gain_max_pct=high))
    ranked = sorted(kept, key=lambda p: (p.is_avenue, 0.0 if p.is_avenue else -saved_us[p.title]))
    lines = (f"{name}: {evidence.text}" for name, evidence in beliefs.evidence.items() if name)
    return replace(memory, backlog=tuple(ranked), saved_us=saved_us, evidence=tuple(lines))


def worth_trying(context: Context, generation: int, base: Specimen, ideas: Sequence[Idea]) -> list[Idea]:
    """Return the ideas on this base, fresh or re-expressed, with no gain above what the roofline leaves.

    Left out are those that could gain nothing worth an experiment. Changes that an author knows by a handle of its own
    stay: nobody predicts what they gain.
    """
    if not context.limits.beliefs:
        return list(ideas)
    room = base_of(context, generation, base).room
    kept = []
    for idea in ideas:
        promise = Promise.of(idea.gain_min_pct, idea.gain_max_pct).within(room)
        capped = replace(idea, gain_min_pct=promise.low_pct, gain_max_pct=promise.high_pct)
        if idea.move or promise.high_pct >= LEAST_PCT:
            kept.append(capped)
    return kept
