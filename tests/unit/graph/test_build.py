import ast
import inspect
import typing

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END
from langgraph.types import Send

from graph import build_graph
from graph.draw import PAGE, drawn
from graph.drive import most_steps
from graph.routes import after_reflect, fan_out
from graph.state import State, TrialState, moved_on, newest
from graph.subgraph import ROUTES, build_experiment, follow

PICKS = [{"experiment_id": "g002-e1", "move": "a"}, {"experiment_id": "g002-e2", "move": "b"}]


def test_every_result_of_every_router_of_the_run_is_a_node() -> None:
    nodes = {*build_graph().nodes, "__end__"}
    sends = fan_out({"generation": 2, "picks": PICKS})  # type: ignore[typeddict-item]
    assert isinstance(sends, list)
    assert [s.node for s in sends] == ["experiment"] * 2
    assert all(isinstance(s, Send) and set(s.arg) <= set(TrialState.__annotations__) for s in sends)
    results = {*(s.node for s in sends), fan_out({"generation": 2, "picks": []})}
    results |= {after_reflect({"stop": ""}), after_reflect({"stop": "done"})}
    results |= {fan_out({"generation": 2, "picks": PICKS, "is_asked": True})}  # type: ignore[typeddict-item]
    assert results == {"experiment", "approve", "reflect", "select", "__end__"} <= nodes


def test_every_route_a_stage_can_choose_is_on_its_path_map_and_is_a_node() -> None:
    """The routes are literals in the code of the nodes: read them there, so that a typo cannot hide."""
    import graph.subgraph as module

    tree = ast.parse(inspect.getsource(module))
    written = {
        value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
        for key, part in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == "route"
        for value in ast.walk(part)
        if isinstance(value, ast.Constant) and isinstance(value.value, str)
    } - {""}
    nodes = set(build_experiment().nodes)
    assert written == {route for routes in ROUTES.values() for route in routes} - {END}
    assert written | set(ROUTES) <= nodes
    assert all(follow({"route": route}) == route for route in written)


def test_a_draft_that_is_refused_goes_back_to_the_writer_by_a_conditional_edge() -> None:
    edges = build_experiment().compile().get_graph().edges
    back = {e.source for e in edges if e.target == "write" and e.conditional}
    assert back == {"__start__", "critique", "compile", "verify", "benchmark"}


def test_a_stage_writes_over_what_was_known_before_and_keeps_the_rest() -> None:
    before: TrialState = {"key": "", "number": 0, "draft": "d"}
    assert moved_on(before, {"key": "k", "route": "verify"}) == {
        "key": "k",
        "number": 0,
        "draft": "d",
        "route": "verify",
    }
    assert before == {"key": "", "number": 0, "draft": "d"}


def test_keys_that_parallel_experiments_write_have_a_reducer() -> None:
    hints = typing.get_type_hints(State, include_extras=True)
    shared = {key for key in hints if key in TrialState.__annotations__} - set(fan_out_keys())
    assert shared == {"outcomes"}
    assert all(typing.get_origin(hints[key]) is typing.Annotated for key in shared)


def fan_out_keys() -> set[str]:
    sends = fan_out({"generation": 2, "picks": PICKS})  # type: ignore[typeddict-item]
    assert isinstance(sends, list)
    return set(sends[0].arg)


def test_outcomes_of_a_generation_are_merged_and_older_ones_forgotten() -> None:
    first = newest({"g001-e1": "accepted"}, {"g001-e2": "failed"})
    assert first == {"g001-e1": "accepted", "g001-e2": "failed"}
    assert newest(first, {"g002-e1": "failed"}) == {"g002-e1": "failed"}
    assert newest({"g002-e1": "failed"}, first) == {"g002-e1": "failed"}
    assert newest({}, {}) == {}


def test_the_whole_state_survives_the_strict_serialiser() -> None:
    state: State = {
        "schema_version": 1,
        "run_id": "r",
        "generation": 2,
        "first_us": 100.0,
        "seed_us": 80.0,
        "best_id": "g001-e1-a0",
        "best_us": 50.5,
        "is_confirming": True,
        "base_id": "g001-e1-a0",
        "reference_id": None,
        "picks": PICKS,  # type: ignore[typeddict-item]
        "exhausted": False,
        "is_asked": False,
        "outcomes": {"g002-e1": "accepted"},
        "stagnant": 0,
        "stop": "",
        "limit": "",
        "limited_at": "",
    }
    assert set(state) == set(State.__annotations__)
    strict = JsonPlusSerializer(allowed_msgpack_modules=None)
    assert strict.loads_typed(strict.dumps_typed(state)) == state


def test_the_drawing_in_the_documentation_is_current() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert drawn(page) == page, "run `python -m graph.draw`"
    with pytest.raises(ValueError, match="lacks the markers for the main graph"):
        drawn("no markers")


def test_the_step_fence_is_above_what_the_counters_allow() -> None:
    assert most_steps(50) > 1 + 6 * 50
