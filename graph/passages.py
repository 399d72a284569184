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


def read(runtime: Runtime[Context], passage_query: PassageQuery) -> tuple[Quotation, ...]:
    """Read the passages for a prompt, the best first; none, with a warning, where the store cannot be read.

    That there were none is kept: the run that is resumed asks the same question, also where the store is whole again.
    """
    try:
        return looked_up(runtime, passage_query)
    except KnowledgeError as error:
        _keep(runtime, passage_query, (), ())
        payload = {"experiment": passage_query.experiment_id} if passage_query.experiment_id else {}
        emit(
            runtime,
            "warning",
            f"{passage_query.place}:read",
            generation=passage_query.generation,
            **payload,
            message=str(error),
        )
        return ()


def looked_up(runtime: Runtime[Context], passage_query: PassageQuery) -> tuple[Quotation, ...]:
    """Read the same; KnowledgeError where the store cannot be read."""
    context = runtime.context
    reading = context.ledger.reading(context.run.id, passage_query.place)
    if reading is not None:
        return quotations(context, reading.quoted)
    budget = context.limits.tokens_of(passage_query.role)
    if not context.author.reads or not budget or not (passage_query.queries or passage_query.cited):
        return ()
    before = {s.passage for s in _read_earlier(context, passage_query)}
    rankings = [
        context.literature.search(q, context.limits.literature_k, context.assignment.arch)
        for q in passage_query.queries
    ]
    records, passages = list[Shown](), list[Quotation]()
    for query, rank, passage in [
        *(("", 0, p) for p in passage_query.cited),
        *_in_turns(passage_query.queries, rankings),
    ]:
        if passage.id in {p.id for p in passages} or passage.id in set(passage_query.without):
            continue
        if passage.id in before:
            passages += [replace(passage, text="")] if passage_query.role == "search" else []
            continue
        if passage.tokens <= budget:
            budget -= passage.tokens
            passages.append(passage)
            records.append(
                Shown(passage.id, passage.document, passage.title, passage.section, passage.source, query, rank)
            )
    _keep(runtime, passage_query, records, passages)
    return tuple(passages)


def cited(context: Context, generation: int, idea: Idea) -> tuple[Quotation, ...]:
    """List the passages that an idea cites, from the planner's reading of this generation or of an earlier one."""
    passages: dict[str, Quotation] = {}
    for reading in reversed(context.ledger.readings(context.run.id, "") if idea.cites else ()):
        if reading.generation <= generation:
            passages = {p.id: p for p in quotations(context, reading.quoted)} | passages
    return tuple(passages[i] for i in idea.cites if i in passages)


def planned_with(context: Context, generation: int) -> tuple[Quotation, ...]:
    """Read the passages that the planner of a generation read."""
    reading = context.ledger.reading(context.run.id, place_of(generation))
    return quotations(context, reading.quoted) if reading else ()


def checked_cites(runtime: Runtime[Context], generation: int, proposal: Proposal) -> Proposal:
    """Return the proposal without cited ids that its planner did not read; a warning names them."""
    read_ids = {p.id for p in planned_with(runtime.context, generation)}
    unknown = sorted({i for idea in proposal.ideas for i in idea.cites} - read_ids)
    if not unknown:
        return proposal
    message = f"the planner cites passages that it was not shown, which is left out: {', '.join(unknown)}"
    emit(runtime, "warning", f"{generation}:cites", generation=generation, message=message)
    ideas = (replace(idea, cites=tuple(i for i in idea.cites if i in read_ids)) for idea in proposal.ideas)
    return replace(proposal, ideas=tuple(ideas))


def place_of(generation: int) -> str:
    """Name the place of a generation's planner."""
    return f"g{generation:03d}"


def quotations(context: Context, digest: str) -> tuple[Quotation, ...]:
    """List the passages of a reading."""
    return tuple(from_plain(Quotation, row) for row in json.loads(context.artefacts.text(digest)))


def _read_earlier(context: Context, passage_query: PassageQuery) -> list[Shown]:
    """List the passages that this experiment has read; the planner begins with none."""
    readings = (
        context.ledger.readings(context.run.id, passage_query.experiment_id) if passage_query.experiment_id else ()
    )
    return [record for reading in readings for record in reading.shown]


def _in_turns(queries: Sequence[str], rankings: Sequence[Sequence[Quotation]]) -> Iterable[tuple[str, int, Quotation]]:
    """List the best of each query, then the second of each, and so on."""
    for rank, row in enumerate(zip_longest(*rankings), 1):
        for query, passage in zip(queries, row, strict=True):
            if passage is not None:
                yield query, rank, passage


def _keep(
    runtime: Runtime[Context], passage_query: PassageQuery, records: Sequence[Shown], passages: Sequence[Quotation]
) -> None:
    context, run_id = runtime.context, runtime.context.run.id
    reading = PassageReading(
        run_id=run_id,
        place=passage_query.place,
        role=passage_query.role,
        generation=passage_query.generation,
        experiment_id=passage_query.experiment_id,
        number=passage_query.number,
        queries=tuple(passage_query.queries),
        shown=tuple(records),
        quoted=context.artefacts.put(dumps(passages), is_synced=False),
    )
    fields: dict[str, Value] = {
        "generation": passage_query.generation,
        "experiment": passage_query.experiment_id,
        "role": passage_query.role,
    }
    payloads: list[dict[str, Value]] = [
        {**fields, "title": s.title, "section": s.section, "source": s.source, "passage": s.passage} for s in records
    ]
    with context.ledger.together():
        context.ledger.add_reading(reading)
        for payload in payloads:
            store(context, "literature", f"{passage_query.place}:{payload['passage']}", payload)
    for payload in payloads:
        tell(runtime, "literature", payload)
