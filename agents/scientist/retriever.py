"""The retriever: what to look up before planning."""

from __future__ import annotations

from agents.author import Assignment, Specimen, Step
from agents.model.gateway import LanguageModel
from agents.model.structured_output import json_form
from agents.scientist.schemas import QueriesAnswer
from agents.scientist.templates import conversation
from agents.scientist.views import specimen_view, work_view
from records.errors import MalformedReply

LONGEST_QUERY = 200  # characters


def queries(model: LanguageModel, step: Step, work: Assignment, base: Specimen) -> tuple[str, ...]:
    """Two to four different queries; a rule writes them when the model, told once, does not."""
    messages = conversation("retriever", **work_view(work), base=specimen_view(base))
    try:
        form = json_form(QueriesAnswer, _convert)
        return model.ask("retriever", step, messages, form, base.attempt.candidate_id).value
    except MalformedReply:
        return by_rule(work, base)


def by_rule(work: Assignment, base: Specimen) -> tuple[str, ...]:
    """What binds the kernel, and what the task is."""
    bounds = sorted({m.bound for m in base.evaluation.measurements if m.bound})
    return (f"{' '.join(bounds) or 'memory bandwidth'} bottleneck {work.arch} optimisation", work.task.title)


def _convert(answer: QueriesAnswer) -> tuple[str, ...]:
    asked = tuple(dict.fromkeys(" ".join(q.split())[:LONGEST_QUERY] for q in answer.queries if q.strip()))
    if not 2 <= len(asked) <= 4:
        raise ValueError(f"there must be two to four different queries, not {len(asked)}")
    return asked
