"""Reading in a run: who reads what, within which tokens, each passage once in an experiment, the same when resumed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Critique, Draft, Idea, Proposal
from graph.doubles import ScriptedAuthor
from records.literature import Quotation
from tests.support.failing_sandbox import FailingSandbox
from tests.support.scripted_run import SEED, Bench, faster, ideas, only_first

WRONG = "// fail verify wrong at 7"


class Library:
    """Every query finds the same five passages, and some of its own."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def search(self, query: str, k: int, arch: str | None = None) -> tuple[Quotation, ...]:
        self.asked.append(query)
        own = [Quotation(f"{query[:12]}{n}", "own", query, "", "s", "word " * 40) for n in range(2)]
        return (*own, *(Quotation(f"same{n}", "same", "t", "", "s", "word " * 40) for n in range(5)))[:k]


class Reader(ScriptedAuthor):
    """Keeps what it was given to read, by role; its first idea cites a passage and an id that nobody showed it."""

    reads = True

    def __init__(self, *script: Any) -> None:
        super().__init__(*script)
        self.read: dict[str, list[Sequence[Quotation]]] = {"plan": [], "write": [], "repair": [], "critique": []}

    def plan(self, step: Any, work: Any, base: Any, literature: Any, memory: Any, limit: int) -> Proposal:
        self.read["plan"].append(literature)
        made = super().plan(step, work, base, literature, memory, limit)
        cites = (literature[0].id, "made-up") if literature else ("made-up",)
        return replace(made, ideas=(*(replace(idea, cites=cites) for idea in made.ideas[:1]), *made.ideas[1:]))

    def write(self, *asked: Any) -> Draft:
        self.read["write"].append(asked[-1])
        return super().write(*asked)

    def repair(self, *asked: Any) -> Draft:
        self.read["repair"].append(asked[-1])
        return super().repair(*asked)

    def critique(self, *asked: Any) -> Critique:
        self.read["critique"].append(asked[-1])
        return super().critique(*asked)


def bench_of(folder: Path, writer: Any = faster, **limits: Any) -> tuple[Bench, Reader, Library]:
    bench, library = Bench(folder, writer, **({"picks": 1} | limits)), Library()
    reader = Reader(lambda generation: ideas(generation)[4:], writer)
    bench.author = reader
    bench.context = replace(bench.context, author=reader, literature=library)
    return bench, reader, library


def ids(passages: Sequence[Quotation]) -> list[str]:
    return [p.id for p in passages]


def test_the_writer_gets_what_its_idea_cites_and_its_own_but_not_the_planners_rest(tmp_path: Path) -> None:
    bench, reader, _ = bench_of(tmp_path)
    assert bench.drive().status == "done"
    (planner,), (writer,) = reader.read["plan"], reader.read["write"]
    assert len(planner) == len(set(ids(planner))) == 4
    assert writer[0] == planner[0]
    assert not set(ids(writer[1:])) & set(ids(planner))
    assert writer[1].id.startswith("idea 1.4")


def test_a_cited_id_that_nobody_showed_is_dropped_with_a_remark(tmp_path: Path) -> None:
    bench, reader, _ = bench_of(tmp_path)
    bench.drive()
    (experiment,) = bench.context.ledger.experiments("table-run", 1)
    assert experiment.cites == (reader.read["plan"][0][0].id,)
    warnings = [e["message"] for e in bench.told if e["event"] == "warning"]
    assert len(warnings) == 1
    assert "made-up" in warnings[0]


def test_an_experiment_reads_a_passage_once_whatever_is_asked(tmp_path: Path) -> None:
    bench, reader, library = bench_of(tmp_path, only_first(WRONG, 2), wrong_repairs=3)
    bench.drive()
    told = [ids(p) for p in (*reader.read["write"], *reader.read["repair"])]
    assert len(reader.read["repair"]) == 2
    assert told[1], "the first repair reads about its finding"
    flat = [i for row in told for i in row]
    assert len(flat) == len(set(flat))
    assert any(query.startswith("wrong result") for query in library.asked)


def test_a_reading_keeps_to_the_tokens_of_its_role(tmp_path: Path) -> None:
    bench, reader, _ = bench_of(tmp_path, only_first(WRONG), planner_tokens=150, writer_tokens=0, repairer_tokens=70)
    bench.drive()
    assert len(reader.read["plan"][0]) == 2
    assert sum(p.tokens for p in reader.read["plan"][0]) <= 150
    assert list(reader.read["write"][0]) == []
    assert len(reader.read["repair"][0]) == 1


def test_the_ledger_holds_query_rank_passage_and_experiment(tmp_path: Path) -> None:
    bench, reader, _ = bench_of(tmp_path, only_first(WRONG))
    bench.drive()
    ledger = bench.context.ledger
    planner, writer, repairer = ledger.readings("table-run")
    assert (planner.role, planner.place, planner.experiment_id) == ("planner", "g001", "")
    assert (writer.role, writer.experiment_id, repairer.role) == ("writer", "g001-e1", "repairer")
    assert [s.passage for s in planner.shown] == ids(reader.read["plan"][0])
    assert (writer.shown[0].rank, writer.shown[0].query) == (0, "")
    assert (writer.shown[1].rank, writer.shown[1].query) == (1, "idea 1.4")
    assert ledger.readings("table-run", "g001-e1") == (writer, repairer)


def test_a_resumed_run_quotes_what_it_quoted_before(tmp_path: Path) -> None:
    broken = only_first("// machine verify the lab is gone", 99)
    bench, reader, _ = bench_of(tmp_path, broken)
    bench.context = replace(bench.context, sandbox=FailingSandbox(SEED))
    for _ in range(2):
        try:
            bench.drive()
        except Exception as error:
            assert "the lab is gone" in str(error)
        bench.context = replace(bench.context, literature=Library())
    first, second = reader.read["write"]
    assert first == second
    assert bench.context.literature.asked == []  # type: ignore[attr-defined]


def test_an_author_that_reads_nothing_costs_no_search(tmp_path: Path) -> None:
    bench, _, library = bench_of(tmp_path)
    bench.context = replace(bench.context, author=ScriptedAuthor(ideas, faster))
    bench.drive()
    assert library.asked == []
    assert bench.context.ledger.readings("table-run") == ()


def test_ideas_of_an_earlier_generation_keep_their_passages(tmp_path: Path) -> None:
    def planner(generation: int) -> Sequence[Idea]:
        return [Idea("now", "d", ("r",), 1, 190, 9), Idea("later", "d", ("r",), 1, 150, 5)] if generation == 1 else []

    class Citing(Reader):
        def plan(self, *asked: Any) -> Proposal:
            made = super().plan(*asked)
            return replace(made, ideas=tuple(replace(i, cites=(asked[3][0].id,)) for i in made.ideas))

    bench, _, library = bench_of(tmp_path, generations=2)
    reader = Citing(planner, faster)
    bench.context = replace(bench.context, author=reader, literature=library)
    bench.drive()
    (later,) = bench.context.ledger.experiments("table-run", 2)
    assert later.title == "later"
    assert reader.read["write"][1][0].id == later.cites[0]
