"""The planner: ten avenues, then five experiments with predicted gains."""

from __future__ import annotations

import math

from agents.author import Assignment, Idea, Memory, Proposal, Specimen, Step
from agents.model.gateway import LanguageModel
from agents.model.structured_output import json_form
from agents.scientist.schemas import ExperimentAnswer, ProposalAnswer
from agents.scientist.templates import conversation
from agents.scientist.views import specimen_view, work_view

AVENUES = 10
EXPERIMENTS = 5


def plan(
    model: LanguageModel, step: Step, work: Assignment, base: Specimen, literature: str, memory: Memory, limit: int
) -> Proposal:
    """Exactly ten avenues and five experiments; MalformedReply when the model, told once, gives others."""
    messages = conversation(
        "planner",
        **work_view(work),
        base=specimen_view(base),
        literature=literature,
        calibration=memory.calibration,
        lessons=list(memory.lessons),
        failures=list(memory.failures),
        tried=list(memory.tried),
        limit=limit,
    )
    return model.ask("planner", step, messages, json_form(ProposalAnswer, _convert), base.attempt.candidate_id).value


def _convert(answer: ProposalAnswer) -> Proposal:
    avenues = tuple(" ".join(a.split()) for a in answer.avenues if a.strip())
    if len(avenues) != AVENUES:
        raise ValueError(f"there must be exactly {AVENUES} avenues, not {len(avenues)}")
    if len(answer.experiments) != EXPERIMENTS:
        raise ValueError(f"there must be exactly {EXPERIMENTS} experiments, not {len(answer.experiments)}")
    ideas = tuple(_idea(number, e) for number, e in enumerate(answer.experiments, 1))
    if len({idea.title.lower() for idea in ideas}) != EXPERIMENTS:
        raise ValueError("each experiment needs a title of its own")
    return Proposal(avenues, ideas)


def _idea(number: int, answer: ExperimentAnswer) -> Idea:
    title, rubric = " ".join(answer.title.split()), tuple(" ".join(r.split()) for r in answer.rubric if r.strip())
    low, high = answer.performance.min, answer.performance.max
    if not title or not answer.description.strip():
        raise ValueError(f"experiment {number} needs a title and a description")
    if not rubric:
        raise ValueError(f"experiment {number} ({title}) needs at least one line of rubric")
    if not (math.isfinite(low) and math.isfinite(high) and -100 <= low <= high):
        raise ValueError(
            f"experiment {number} ({title}): performance must have -100 <= min <= max, not {low:g} and {high:g}"
        )
    if not 0 <= answer.innovation <= 100:
        raise ValueError(f"experiment {number} ({title}): innovation must be 0 to 100, not {answer.innovation:g}")
    return Idea(title, answer.description.strip(), rubric, low, high, answer.innovation)
