"""Reading: passages for one prompt of a run, each once in an experiment, within the tokens of the role that asks.

The ledger is asked first, so that a run that is resumed quotes what it quoted before, whatever was added meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from langgraph.runtime import Runtime

from agents.author import Idea, Proposal
from graph.context import Context
from graph.events import Value, emit, store, tell
from records.codec import dumps, from_plain
from records.errors import KnowledgeError
from records.literature import PassageReading, Quotation, ReaderRole, Shown


@dataclass(frozen=True)
class PassageQuery:
    """One prompt's question to the literature."""

    place: str  # unique in the run
    role: ReaderRole
    generation: int
    queries: Sequence[str]
    experiment_id: str = ""
    number: int = 0
    cited: Sequence[Quotation] = ()  # come first, whatever the queries find
    without: Iterable[str] = ()  # ids that are left out


def read(runtime: Runtime[Context], asked: PassageQuery) -> tuple[Quotation, ...]:
    """Read the passages for a prompt, the best first; none, with a warning, where the store cannot be read.

    That there were none is kept: the run that is resumed asks the same question, also where the store is whole again.
    """
    try:
        return looked_up(runtime, asked)
    except KnowledgeError as error:
        _keep(runtime, asked, (), ())
        where = {"experiment": asked.experiment_id} if asked.experiment_id else {}
        emit(runtime, "warning", f"{asked.place}:read", generation=asked.generation, **where, message=str(error))
        return ()


def looked_up(runtime: Runtime[Context], asked: PassageQuery) -> tuple[Quotation, ...]:
    """Read the same; KnowledgeError where the store cannot be read."""
    context = runtime.context
    known = context.ledger.reading(context.run.id, asked.place)
    if known is not None:
        return quotations(context, known.quoted)
    budget = context.limits.tokens_of(asked.role)
    if not context.author.reads or not budget or not (asked.queries or asked.cited):
        return ()
    before = {s.passage for s in _before(context, asked)}
    found = [context.literature.search(q, context.limits.literature_k, context.assignment.arch) for q in asked.queries]
    shown, told = list[Shown](), list[Quotation]()
    for query, rank, passage in [*(("", 0, p) for p in asked.cited), *_in_turns(asked.queries, found)]:
        if passage.id in {p.id for p in told} or passage.id in set(asked.without):
            continue
        if passage.id in before:
            told += [replace(passage, text="")] if asked.role == "search" else []
            continue
        if passage.tokens <= budget:
            budget -= passage.tokens
            told.append(passage)
            shown.append(
                Shown(passage.id, passage.document, passage.title, passage.section, passage.source, query, rank)
            )
    _keep(runtime, asked, shown, told)
    return tuple(told)


def cited(context: Context, generation: int, idea: Idea) -> tuple[Quotation, ...]:
    """List the passages that an idea cites, from the planner's reading of this generation or of an earlier one."""
    found: dict[str, Quotation] = {}
    for reading in reversed(context.ledger.readings(context.run.id, "") if idea.cites else ()):
        if reading.generation <= generation:
            found = {p.id: p for p in quotations(context, reading.quoted)} | found
    return tuple(found[i] for i in idea.cites if i in found)


def planned_with(context: Context, generation: int) -> tuple[Quotation, ...]:
    """Read the passages that the planner of a generation read."""
    known = context.ledger.reading(context.run.id, place_of(generation))
    return quotations(context, known.quoted) if known else ()


def checked_cites(runtime: Runtime[Context], generation: int, proposal: Proposal) -> Proposal:
    """Return the proposal without cited ids that its planner did not read; a warning names them."""
    known = {p.id for p in planned_with(runtime.context, generation)}
    unknown = sorted({i for idea in proposal.ideas for i in idea.cites} - known)
    if not unknown:
        return proposal
    said = f"the planner cites passages that it was not shown, which is left out: {', '.join(unknown)}"
    emit(runtime, "warning", f"{generation}:cites", generation=generation, message=said)
    ideas = (replace(idea, cites=tuple(i for i in idea.cites if i in known)) for idea in proposal.ideas)
    return replace(proposal, ideas=tuple(ideas))


def place_of(generation: int) -> str:
    """Name the place of a generation's planner."""
    return f"g{generation:03d}"


def quotations(context: Context, digest: str) -> tuple[Quotation, ...]:
    """List the passages of a reading."""
    return tuple(from_plain(Quotation, one) for one in json.loads(context.artefacts.text(digest)))


def _before(context: Context, asked: PassageQuery) -> list[Shown]:
    """List the passages that this experiment has read; the planner begins with none."""
    readings = context.ledger.readings(context.run.id, asked.experiment_id) if asked.experiment_id else ()
    return [shown for reading in readings for shown in reading.shown]


def _in_turns(queries: Sequence[str], found: Sequence[Sequence[Quotation]]) -> Iterable[tuple[str, int, Quotation]]:
    """List the best of each query, then the second of each, and so on."""
    for rank, row in enumerate(zip_longest(*found), 1):
        for query, passage in zip(queries, row, strict=True):
            if passage is not None:
                yield query, rank, passage


def _keep(runtime: Runtime[Context], asked: PassageQuery, shown: Sequence[Shown], told: Sequence[Quotation]) -> None:
    context, run_id = runtime.context, runtime.context.run.id
    reading = PassageReading(
        run_id, asked.place, asked.role, asked.generation, asked.experiment_id, asked.number, tuple(asked.queries),
        tuple(shown), context.artefacts.put(dumps(told), is_synced=False),
    )  # fmt: skip
    where: dict[str, Value] = {"generation": asked.generation, "experiment": asked.experiment_id, "role": asked.role}
    payloads: list[dict[str, Value]] = [
        {**where, "title": s.title, "section": s.section, "source": s.source, "passage": s.passage} for s in shown
    ]
    with context.ledger.together():
        context.ledger.add_reading(reading)
        for payload in payloads:
            store(context, "literature", f"{asked.place}:{payload['passage']}", payload)
    for payload in payloads:
        tell(runtime, "literature", payload)
