from __future__ import annotations

from agents.author import Idea, Proposal
from graph.backlog import KEPT, Backlog, offered, proposed_of
from graph.sameness import Sameness
from records.experiment import Experiment, Proposed


def idea(title: str, move: str = "") -> Idea:
    return Idea(title, "why", ("do it",), 5, 25, 40, move)


def tried(title: str, description: str = "") -> Experiment:
    return Experiment("g001-e1", "r", 1, 1, "p", None, title, description)


def titles(backlog: Backlog) -> list[str]:
    return [p.title for p in backlog.proposals]


def test_what_was_not_picked_is_kept_and_leaves_when_it_is_tried() -> None:
    backlog = Backlog(Sameness())
    backlog.add(proposed_of("r", 1, "b", Proposal((), (idea("Tile in LDS"), idea("Split K")))), [tried("Tile in LDS")])
    assert titles(backlog) == ["Split K"]
    backlog.add(proposed_of("r", 2, "b", Proposal((), (idea("Swizzle"),))), [])
    assert titles(backlog) == ["Swizzle", "Split K"], "newest first"
    backlog.add((), [tried("split  k")])
    assert titles(backlog) == ["Swizzle"]


def test_an_avenue_leaves_when_an_experiment_covers_its_short_title() -> None:
    avenues = ("Split-K over blocks: fill the GPU", "Software prefetch: hide latency")
    backlog = Backlog(Sameness())
    backlog.add(proposed_of("r", 1, "b", Proposal(avenues, (idea("Tile in LDS"),))), [tried("Tile in LDS")])
    assert titles(backlog) == [*reversed(avenues)]
    backlog.add((), [tried("Four blocks a tile", "split the K loop over four blocks and add the parts")])
    assert titles(backlog) == [avenues[1]]


def test_an_author_with_handles_offers_its_own_ideas_again_itself() -> None:
    assert proposed_of("r", 1, "b", Proposal(("everything",), (idea("unroll", "unroll:4"),))) == []


def test_kept_ideas_stand_behind_the_fresh_ones_and_say_where_they_come_from() -> None:
    old = Proposed("r", 1, "g000-e0-a0", "Split K", "why", ("do it",), 5, 25, 40)
    fresh = (idea("SPLIT K"), idea("Tile"))
    assert offered([old], Proposal((), fresh)) == [*fresh], "which one of them repeats"
    again = offered([old, Proposed("r", 1, "b", "an avenue", is_avenue=True)], Proposal((), fresh[1:]))
    assert [i.title for i in again] == ["Tile", "Split K"]
    assert again[1].description == "why (Planned in generation 1 on g000-e0-a0.)"
    assert (again[1].gain_max_pct, again[1].rubric) == (25, ("do it",))


def test_what_the_planner_calls_obsolete_is_neither_offered_nor_kept() -> None:
    backlog = Backlog(Sameness())
    backlog.add(proposed_of("r", 1, "b", Proposal((), (idea("Prefetch"), idea("Split K")))), [])
    answer = Proposal((), (idea("Swizzle"),), ("prefetch ", "a title that nobody knows"))
    assert [i.title for i in offered(backlog.proposals, answer)] == ["Swizzle", "Split K"]
    backlog.add(proposed_of("r", 2, "c", answer), [])
    assert titles(backlog) == ["Swizzle", "Split K"]
    backlog.add(proposed_of("r", 3, "c", Proposal((), (idea("Prefetch"),))), [])
    assert titles(backlog)[0] == "Prefetch", "it may come back"


def test_the_oldest_make_room() -> None:
    backlog = Backlog(Sameness())
    for n in range(KEPT + 5):
        backlog.add(proposed_of("r", n, "b", Proposal((), (idea(f"idea {n}"),))), [])
    assert len(titles(backlog)) == KEPT
    assert titles(backlog)[-1] == "idea 5"
