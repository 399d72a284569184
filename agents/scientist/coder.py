"""The coder: whole kernel files, first for an experiment, then mended.

Its answer is a fenced block of code and a fenced report, not one JSON object: see ladder.py for the reason.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.author import Assignment, Draft, Idea, Specimen, Step
from agents.model.gateway import LanguageModel
from agents.model.structured_output import Form, ReplyError, read_block, read_json
from agents.scientist.schemas import ReportAnswer
from agents.scientist.templates import conversation, excerpt
from agents.scientist.views import failure_view, idea_view, specimen_view, work_view
from records.evaluation import Evaluation

LABELS = ("hip", "cpp", "c++", "cuda", "c", "cc")


def write(
    model: LanguageModel,
    step: Step,
    work: Assignment,
    idea: Idea,
    base: Specimen,
    reference: Specimen | None,
    literature: str,
) -> Draft:
    """The whole file for one experiment, with the report of what it contains."""
    messages = conversation(
        "coder",
        **work_view(work),
        idea=idea_view(idea),
        base=specimen_view(base),
        literature=literature,
        reference=specimen_view(reference) if reference else None,
    )
    return model.ask("coder", step, messages, Form(read_draft), base.attempt.candidate_id).value


def repair(
    model: LanguageModel,
    step: Step,
    work: Assignment,
    idea: Idea,
    base: Specimen,
    draft: Draft,
    remarks: Sequence[str],
    evaluation: Evaluation | None,
) -> Draft:
    """The mended file: the compiler's or the judge's own words, with the lines they speak of."""
    lines = tuple(f.line for f in evaluation.verdict.findings if f.line) if evaluation else ()
    messages = conversation(
        "repair",
        **work_view(work),
        idea=idea_view(idea),
        base=specimen_view(base),
        source=draft.source.rstrip(),
        remarks=list(remarks),
        failure=failure_view(evaluation) if evaluation else None,
        excerpt=excerpt(draft.source, lines) if lines else "",
    )
    candidate = evaluation.candidate_id if evaluation else ""
    return model.ask("coder", step, messages, Form(read_draft), candidate).value


def read_draft(text: str) -> Draft:
    """The last closed block of code and the report; ReplyError when one is missing, for half an answer is none."""
    source = read_block(text, LABELS)
    if not source.lstrip().startswith("/*+++"):
        raise ReplyError("the file must start with its launch plan, /*+++ ... +++*/, also when only the code changed")
    if "+++*/" not in source:
        raise ReplyError("the launch plan is not closed with +++*/")
    try:
        report = read_json(read_block(text, ("json",)), ReportAnswer)
    except ReplyError as error:
        raise ReplyError(
            f"the report is missing or malformed ({error}); give it as a second block fenced as ```json, "
            'with "implemented" and "skipped"'
        ) from None
    return Draft(source, tuple(report.implemented), tuple(report.skipped))
