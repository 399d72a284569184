"""The critic: reads a draft before a compiler does."""

from __future__ import annotations

from agents.author import Assignment, Critique, Draft, Idea, Specimen, Step
from agents.model.gateway import LanguageModel
from agents.model.structured_output import json_form
from agents.playbook.checks import check
from agents.scientist.schemas import CritiqueAnswer
from agents.scientist.templates import conversation
from agents.scientist.views import idea_view, specimen_view, work_view
from records.errors import MalformedReply

MOST_REMARKS = 12


def critique(model: LanguageModel, step: Step, work: Assignment, idea: Idea, base: Specimen, draft: Draft) -> Critique:
    """Approve, or remarks that a writer can act on. The sandbox judges anyway, so a mute critic stops nothing."""
    messages = conversation(
        "critic",
        **work_view(work),
        idea=idea_view(idea),
        base=specimen_view(base),
        source=draft.source.rstrip(),
        implemented=list(draft.implemented),
        skipped=list(draft.skipped),
        checks=list(check(draft.source, work.arch)),
    )
    try:
        return model.ask("critic", step, messages, json_form(CritiqueAnswer, _convert)).value
    except MalformedReply:
        return Critique(True, ("not read: the critic's answer could not be used",))


def _convert(answer: CritiqueAnswer) -> Critique:
    remarks = tuple(r.strip() for r in answer.remarks if r.strip())[:MOST_REMARKS]
    if not answer.approve and not remarks:
        raise ValueError("a refusal needs at least one remark")
    return Critique(answer.approve, remarks)
