"""Ideas that no generation picked are offered again, and what was repaired is no failure."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Idea, Proposal, Specimen, Step
from graph.doubles import ScriptedAuthor
from records.errors import MalformedReply
from records.mechanism import MECHANISMS
from tests.support.scripted_run import Bench, faster, ideas, only_first


def bold_then_timid(generation: int) -> Sequence[Idea]:
    gain = 100 if generation == 1 else 3
    return [
        Idea(f"idea {generation}.{n}", "try it", ("change it",), gain - n, gain - n, 50 - n, mechanism=MECHANISMS[n])
        for n in range(3)
    ]


def only_one_gains(step: Step, base: Specimen) -> str:
    """Leave no gain on another branch, which would be brought over first."""
    return faster(step, base) if step.experiment_id.endswith("e1") else f"// {step.experiment_id}\n// time_us = 100\n"


def test_an_idea_that_was_not_picked_is_picked_later_and_then_leaves(tmp_path: Path) -> None:
    bench = Bench(tmp_path, only_one_gains, planner=bold_then_timid, picks=2, generations=3)
    bench.drive()
    titles = {e.id: e.title for e in bench.context.ledger.experiments("table-run") if e.generation}
    assert titles == {
        "g001-e1": "idea 1.0",
        "g001-e2": "idea 1.1",
        "g002-e1": "idea 2.0",
        "g002-e2": "idea 1.2",
        "g003-e1": "idea 3.0",
        "g003-e2": "idea 3.1",
    }
    offers = [[p.title for p in memory.backlog] for memory in bench.author.memories]
    assert offers[:2] == [[], ["idea 1.2"]]
    assert "idea 1.2" not in offers[2], "tried in generation 2"
    assert "idea 2.1" in offers[2]
    experiment = bench.context.ledger.experiment("table-run", "g002-e2")
    assert experiment is not None
    assert (experiment.gain_max_pct, experiment.rubric) == (98, ("change it",))


def test_a_planner_without_an_answer_leaves_what_was_kept(tmp_path: Path) -> None:
    class Silent(ScriptedAuthor):
        def plan(self, step: Step, *arguments: object) -> Proposal:
            if step.generation == 2:
                raise MalformedReply("the planner gave no answer of the asked shape")
            return super().plan(step, *arguments)  # type: ignore[arg-type]

    bench = Bench(tmp_path, generations=2)
    bench.context = replace(bench.context, author=Silent(ideas, only_one_gains))
    bench.drive()
    second = [e.title for e in bench.context.ledger.experiments("table-run", 2)]
    assert second == ["idea 1.1", "idea 1.3"]


def test_a_draft_that_was_repaired_is_no_failure(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "a", only_first("// fail compile unknown name"), generations=2)
    bench.drive()
    assert bench.statuses()["g001-e1-a1"] == "accepted"
    assert bench.author.memories[1].failures == ()
    lost = Bench(tmp_path / "b", only_first("// fail compile unknown name", 99), generations=2)
    lost.drive()
    assert len(lost.author.memories[1].failures) == 3


def test_the_planner_sees_a_table_of_kernels(tmp_path: Path) -> None:
    bench = Bench(tmp_path, generations=2)
    bench.drive()
    rows = bench.author.memories[1].kernels
    assert [m.id for m in rows] == ["g000-e0-a0", "g001-e1-a0", "g001-e2-a0"]
    assert rows[1].bounds == {"n=64": "table", "n=256": "table"}
    assert rows[1].credit == bench.attempts()["g001-e1-a0"].credit
