"""The selector: base and reference from the population's table, without seeing any code."""

from __future__ import annotations

from collections.abc import Sequence

from agents.author import Assignment, Member, Selection, Step
from agents.model.gateway import LanguageModel
from agents.model.structured_output import json_form
from agents.scientist.schemas import SelectionAnswer
from agents.scientist.templates import conversation
from agents.scientist.views import population_view, work_view
from records.errors import MalformedReply


def select(model: LanguageModel, step: Step, work: Assignment, population: Sequence[Member]) -> Selection:
    """Two distinct members where there are two; a rule decides when the model, told once, still names others."""
    if len(population) == 1:
        return Selection(population[0].id, None, "it is the only kernel")
    known = {member.id for member in population}

    def convert(answer: SelectionAnswer) -> Selection:
        base, reference = answer.base_id.strip(), answer.reference_id.strip()
        if unknown := [i for i in (base, reference) if i not in known]:
            raise ValueError(f"the table has no kernel {unknown[0]!r}; its ids are {', '.join(sorted(known))}")
        if base == reference:
            raise ValueError("base and reference must be two different kernels")
        return Selection(base, reference, answer.rationale.strip())

    messages = conversation("selector", **work_view(work), **population_view(population))
    try:
        return model.ask("selector", step, messages, json_form(SelectionAnswer, convert)).value
    except MalformedReply:
        return by_rule(population)


def by_rule(population: Sequence[Member]) -> Selection:
    """The fastest as base; as reference the fastest of another strategy, else the next fastest."""
    ranked = sorted(population, key=lambda m: (m.geomean_us, m.id))
    base = ranked[0]
    reference = next((m for m in ranked[1:] if m.strategy != base.strategy), ranked[1] if ranked[1:] else None)
    return Selection(
        base.id,
        reference.id if reference else None,
        "chosen by rule, because the selector's answer could not be used: the fastest, and the fastest of "
        "another strategy",
    )
