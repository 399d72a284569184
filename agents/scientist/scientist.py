"""The author that asks a language model: one question for each of its roles.

The coder answers with a fenced block of code and a fenced report, not with one JSON object; the reason is in
agents/model/structured_output.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from agents.author import Assignment, Critique, Draft, Idea, Member, Memory, Proposal, Room, Selection, Specimen, Step
from agents.bench import Bench
from agents.model.gateway import LanguageModel
from agents.model.structured_output import Form, ReplyError, json_form, read_block, read_json
from agents.scientist.bench_tools import BenchTools
from agents.scientist.react import Writer, most_turns, work_at
from agents.scientist.schemas import (
    CritiqueAnswer,
    ExperimentAnswer,
    ProposalAnswer,
    QueriesAnswer,
    ReportAnswer,
    SelectionAnswer,
)
from agents.scientist.templates import conversation, excerpt
from agents.scientist.toolbox import CALL, LABELS, TOOLS, described
from agents.scientist.views import (
    backlog_view,
    evidence_of,
    failure_view,
    idea_view,
    population_view,
    specimen_view,
    times_of,
    work_view,
)
from records.errors import MalformedReply
from records.evaluation import Evaluation
from records.experiment import Experiment
from records.literature import Quotation
from records.mechanism import mechanism_of

AVENUES = 10
EXPERIMENTS = 5
LONGEST_QUERY = 200  # characters
MOST_REMARKS = 12


class Scientist:
    """An Author by a LanguageModel."""

    name = "llm"
    can_begin = True
    reads = True

    def __init__(self, model: LanguageModel) -> None:
        """Nothing is asked yet."""
        self.model = model

    def select(self, step: Step, work: Assignment, population: Sequence[Member]) -> Selection:
        """Two distinct members where there are two; a rule decides when the model, corrected once, names others."""
        if len(population) == 1:
            return Selection(population[0].id, None, "it is the only kernel")

        def convert(answer: SelectionAnswer) -> Selection:
            return _selection(answer, {member.id for member in population})

        messages = conversation("selector", **work_view(work), **population_view(population))
        try:
            return self.model.ask("selector", step, messages, json_form(SelectionAnswer, convert)).value
        except MalformedReply:
            return _selection_by_rule(population)

    def queries(self, step: Step, work: Assignment, base: Specimen) -> tuple[str, ...]:
        """Two to four different queries; a rule writes them when the model, corrected once, does not."""
        messages = conversation("retriever", **work_view(work), base=specimen_view(base))
        try:
            form = json_form(QueriesAnswer, _queries)
            return self.model.ask("retriever", step, messages, form, base.attempt.candidate_id).value
        except MalformedReply:
            return _queries_by_rule(work, base)

    def plan(
        self, step: Step, work: Assignment, base: Specimen, literature: Sequence[Quotation], memory: Memory, room: Room
    ) -> Proposal:
        """Propose up to ten avenues and five experiments; MalformedReply when the model, corrected once, cannot."""
        messages = conversation(
            "planner",
            **work_view(work),
            base=specimen_view(base),
            literature=list(literature),
            calibration=memory.calibration,
            lessons=list(memory.lessons),
            failures=list(memory.failures),
            tried=list(memory.tried),
            backlog=backlog_view(memory.backlog, memory.saved_us),
            evidence=list(memory.evidence),
            steps=list(memory.bench),
            **population_view(memory.kernels),
            room=room,
        )
        form = json_form(ProposalAnswer, _proposal)
        return self.model.ask("planner", step, messages, form, base.attempt.candidate_id).value

    def write(
        self,
        step: Step,
        work: Assignment,
        experiment: Experiment,
        idea: Idea,
        base: Specimen,
        reference: Specimen | None,
        literature: Sequence[Quotation],
    ) -> Draft:
        """Write the whole file for one experiment, with the report of its changes."""
        messages = conversation(
            "coder",
            **work_view(work),
            idea=idea_view(idea),
            base=specimen_view(base),
            literature=list(literature),
            reference=specimen_view(reference) if reference else None,
        )
        return self.model.ask("coder", step, messages, Form(read_draft), base.attempt.candidate_id).value

    def experiment(
        self,
        step: Step,
        work: Assignment,
        experiment: Experiment,
        idea: Idea,
        base: Specimen,
        reference: Specimen | None,
        literature: Sequence[Quotation],
        bench: Bench,
    ) -> Draft:
        """Have the coder work with tools; the report with which it submits, empty where it ends without one."""
        tries = bench.tries_left
        values = {
            **work_view(work),
            "idea": idea_view(idea),
            "base": specimen_view(base),
            "literature": list(literature),
            "reference": specimen_view(reference) if reference else None,
            "tries": tries,
            "turns": most_turns(tries),
            "call": CALL,
            "tools": described(TOOLS),
        }
        openings = {in_text: conversation("bench", **values, as_text=in_text) for in_text in (False, True)}
        in_text = not self.model.calls_tools("coder", step)
        tools, candidate = BenchTools(bench, work.task, work.classifies), base.attempt.candidate_id
        return work_at(Writer(self.model, step, bench, tools, openings, most_turns(tries), candidate, in_text))

    def critique(
        self,
        step: Step,
        work: Assignment,
        idea: Idea,
        base: Specimen,
        draft: Draft,
        evaluation: Evaluation,
        concerns: Sequence[str],
        literature: Sequence[Quotation] = (),
    ) -> Critique:
        """Approval, or remarks that a writer can act on. An unusable answer stops nothing: the sandbox judges."""
        messages = conversation(
            "critic",
            **work_view(work),
            idea=idea_view(idea),
            base=specimen_view(base),
            source=draft.source.rstrip(),
            implemented=list(draft.implemented),
            skipped=list(draft.skipped),
            evidence=evidence_of(evaluation, draft.source, times_of(base.evaluation)),
            failure=None if evaluation.verdict.accepted else failure_view(evaluation, work.task, work.classifies),
            concerns=list(concerns),
            literature=list(literature),
        )
        try:
            return self.model.ask("critic", step, messages, json_form(CritiqueAnswer, _critique)).value
        except MalformedReply:
            return Critique(True, ("not read: the critic's answer could not be used",))

    def repair(
        self,
        step: Step,
        work: Assignment,
        idea: Idea,
        base: Specimen,
        draft: Draft,
        remarks: Sequence[str],
        evaluation: Evaluation | None,
        literature: Sequence[Quotation] = (),
    ) -> Draft:
        """Write the corrected file; the prompt quotes the findings and the lines they name."""
        lines = tuple(f.line for f in evaluation.verdict.findings if f.line) if evaluation else ()
        messages = conversation(
            "repair",
            **work_view(work),
            idea=idea_view(idea),
            base=specimen_view(base),
            source=draft.source.rstrip(),
            remarks=list(remarks),
            failure=failure_view(evaluation, work.task, work.classifies) if evaluation else None,
            excerpt=excerpt(draft.source, lines) if lines else "",
            literature=list(literature),
        )
        candidate = evaluation.candidate_id if evaluation else ""
        return self.model.ask("coder", step, messages, Form(read_draft), candidate).value


def read_draft(text: str) -> Draft:
    """Read the last closed block of code and the report; ReplyError when one is missing, for half an answer is none."""
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


def _selection(answer: SelectionAnswer, ids: set[str]) -> Selection:
    base, reference = answer.base_id.strip(), answer.reference_id.strip()
    if unknown := [i for i in (base, reference) if i not in ids]:
        raise ValueError(f"the table has no kernel {unknown[0]!r}; its ids are {', '.join(sorted(ids))}")
    if base == reference:
        raise ValueError("base and reference must be two different kernels")
    return Selection(base, reference, answer.rationale.strip())


def _selection_by_rule(population: Sequence[Member]) -> Selection:
    """Select the fastest as base; as reference the fastest of another strategy, else the next fastest."""
    ranked = sorted(population, key=lambda m: (m.geomean_us, m.id))
    base = ranked[0]
    reference = next((m for m in ranked[1:] if m.strategy != base.strategy), ranked[1] if ranked[1:] else None)
    return Selection(
        base.id,
        reference.id if reference else None,
        "chosen by rule, because the selector's answer could not be used: the fastest, and the fastest of "
        "another strategy",
    )


def _queries(answer: QueriesAnswer) -> tuple[str, ...]:
    queries = tuple(dict.fromkeys(" ".join(q.split())[:LONGEST_QUERY] for q in answer.queries if q.strip()))
    if not 2 <= len(queries) <= 4:
        raise ValueError(f"there must be two to four different queries, not {len(queries)}")
    return queries


def _queries_by_rule(work: Assignment, base: Specimen) -> tuple[str, ...]:
    """Ask about the bottleneck of the kernel, and the subject of the task."""
    bounds = sorted({m.bound for m in base.evaluation.measurements if m.bound})
    return (f"{' '.join(bounds) or 'memory bandwidth'} bottleneck {work.arch} optimisation", work.task.title)


def _proposal(answer: ProposalAnswer) -> Proposal:
    avenues = tuple(" ".join(a.split()) for a in answer.avenues if a.strip())[:AVENUES]
    ideas = tuple(_idea(number, e) for number, e in enumerate(answer.experiments[:EXPERIMENTS], 1))
    if len({idea.title.lower() for idea in ideas}) != len(ideas):
        raise ValueError("each experiment needs a title of its own")
    return Proposal(avenues, ideas, tuple(answer.obsolete))


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
    cites = tuple(dict.fromkeys(c.strip().strip("[]`") for c in answer.cites if c.strip()))
    mechanism = mechanism_of(answer.mechanism)
    description = answer.description.strip()
    return Idea(title, description, rubric, low, high, answer.innovation, cites=cites, mechanism=mechanism)


def _critique(answer: CritiqueAnswer) -> Critique:
    remarks = tuple(r.strip() for r in answer.remarks if r.strip())[:MOST_REMARKS]
    if not answer.approve and not remarks:
        raise ValueError("a refusal needs at least one remark")
    return Critique(answer.approve, remarks)
