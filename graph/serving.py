"""The graph for a server: plain data goes in and comes out, and every node opens its run by the id in the state.

The nodes are those of the main graph. `request` makes the run before them, `conclude` sums it up. An experiment is a
sub-graph with checkpoints of its own, so that a server streams it, draws it, and resumes in the middle of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar, cast

from langchain_core.messages import AIMessage, convert_to_messages
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, Send
from typing_extensions import TypedDict

from agents.traced import UntracedRoute
from graph import nodes
from graph.approving import approve
from graph.confirming import Confirmation, confirm
from graph.context import Context
from graph.labels import NAME
from graph.pausing import pausing
from graph.routes import after_reflect, fan_out
from graph.served_fields import BLANK, RunInput, RunOutput, RunPreset
from graph.state import State, TrialState
from graph.subgraph import BEGINNINGS, STAGES, add_routes, begin
from graph.thread_node import ThreadNode
from records.errors import ScientistError, UsageError
from records.stopping import StopSignal

Answer = TypeVar("Answer")
STEPS = 100_000  # more than a run takes: its own counters end it, and the server's own bound is for smaller graphs
FOLLOWS: Mapping[str, tuple[str, ...]] = {  # the choices that a node's work follows from; a person may change them
    "select": ("best_id",),
    "retrieve": ("best_id", "base_id", "reference_id"),
    "plan": ("best_id", "base_id", "reference_id"),
    "reflect": ("best_id", "picks"),
}


class ServedState(State, RunInput, RunOutput, total=False):
    """The state of a served run: that of any run, with the request it began with and its result."""


class ServedTrial(TrialState, total=False):
    """The state of an experiment, which is opened by its run."""

    run_id: str


class ServedConfirmation(Confirmation):
    """A leader's confirmation, with the run that it belongs to."""

    run_id: str


class TrialOutcome(TypedDict):
    """The part of an experiment that its run keeps."""

    outcomes: dict[str, str]


class RunService(Protocol):
    """Makes runs of requests and opens them; app/ has the one over settings."""

    def begin(self, request: Mapping[str, Any], checkpoint: str) -> dict[str, Any]:
        """Write the run down, or find the one begun at this place; its id and the whole request.

        UsageError says what is missing; what it is about may stand in the messages of the request.
        """

    def working(self, run_id: str, stop: StopSignal) -> AbstractContextManager[Context]:
        """Open the collaborators of a run, which no other process drives meanwhile, and which `stop` stops.

        It notes how a fault leaves the run.
        """

    def lineage(self, state: ServedState, node: str, generation: int) -> str:
        """Return the id of the run that this state belongs to.

        It is a new one where a person changed what the node follows from.
        """

    def conclude(self, run_id: str, stop: StopSignal) -> dict[str, Any]:
        """Write the best kernel and the report; the fields of a `RunOutput`."""


def serve(service: RunService) -> CompiledStateGraph[ServedState, RunPreset, RunInput, RunOutput]:
    """Build the graph over a service, without a checkpointer: a server brings its own."""
    graph = StateGraph(ServedState, context_schema=RunPreset, input_schema=RunInput, output_schema=RunOutput)
    graph.add_node("request", _request(service))
    for name in ("open_run", "select", "retrieve", "plan", "reflect"):
        graph.add_node(name, _followed(service, name, getattr(nodes, name)))
    graph.add_node("approve", _followed(service, "approve", approve))
    graph.add_node("experiment", _experiment(service))
    confirming = ThreadNode(_opened(service, confirm), "confirm")
    graph.add_node("confirm", confirming, input_schema=ServedConfirmation)
    graph.add_node("conclude", _conclude(service))
    graph.add_edge(START, "request")
    for before, after in (
        ("open_run", "select"),
        ("select", "retrieve"),
        ("retrieve", "plan"),
        ("experiment", "reflect"),
        ("confirm", "reflect"),
        ("conclude", END),
    ):
        graph.add_edge(before, after)
    graph.add_conditional_edges("request", UntracedRoute(_has_run), {"open_run": "open_run", "__end__": END})
    graph.add_conditional_edges("plan", UntracedRoute(_fan_out), ["approve", "experiment", "confirm", "reflect"])
    graph.add_conditional_edges("approve", UntracedRoute(_fan_out), ["experiment", "confirm", "reflect"])
    graph.add_conditional_edges("reflect", UntracedRoute(after_reflect), {"select": "select", "__end__": "conclude"})
    compiled = graph.compile(name=NAME)
    compiled.__class__ = CheckedGraph  # a graph's builder makes no other class, and copies of this one keep it
    return compiled.with_config({"recursion_limit": STEPS})


class CheckedGraph(CompiledStateGraph[ServedState, RunPreset, RunInput, RunOutput]):
    """Refuses an input that LangGraph would change without a word, or fail to store, before anything is written."""

    def stream(self, input: Any, *args: Any, **more: Any) -> Any:
        """As any graph's; ServedFault where the input has a field that there is not."""
        _refuse(input)
        return super().stream(input, *args, **more)

    def astream(self, input: Any, *args: Any, **more: Any) -> Any:
        """As any graph's; ServedFault where the input has a field that there is not."""
        _refuse(input)
        return super().astream(input, *args, **more)


def _refuse(request: Any) -> None:
    fields = RunInput.__annotations__
    if isinstance(request, Mapping):
        for name in request:
            if name not in fields:
                raise ServedFault(f"there is no field {name!r} in an input; there are {', '.join(fields)}")
        if isinstance(request.get("seed"), int) and abs(request["seed"]) >= 1 << 63:
            raise ServedFault("the field seed of an input is a whole number of at most 63 bits")
        _refuse_messages(request.get("messages"))
    elif request is not None and not isinstance(request, Command):
        raise ServedFault(f'the input is an object, such as {{"task": "row_softmax"}}, not {type(request).__name__}')


def _refuse_messages(messages: Any) -> None:
    try:
        convert_to_messages(messages if isinstance(messages, list | tuple) else [messages] if messages else [])
    except (ValueError, TypeError, NotImplementedError, KeyError, AttributeError):
        raise ServedFault(
            'the messages of an input are a list such as [{"role": "user", "content": "make row_softmax faster"}]'
        ) from None


class ServedFault(RuntimeError):
    """A fault of ours in one sentence, as an exception whose words a server passes on; it withholds those of others."""


@contextlib.contextmanager
def _spoken() -> Iterator[None]:
    try:
        yield
    except ScientistError as error:
        raise ServedFault(" ".join(str(error).split())) from error


def _experiment(service: RunService) -> CompiledStateGraph[ServedTrial, RunPreset, ServedTrial, TrialOutcome]:
    graph = StateGraph(ServedTrial, context_schema=RunPreset, output_schema=TrialOutcome)
    for name, stage in STAGES.items():
        graph.add_node(name, ThreadNode(_opened(service, pausing(stage)), name))
    graph.add_conditional_edges(START, UntracedRoute(_begun(service)), list(BEGINNINGS))
    add_routes(graph)
    return graph.compile(name="experiment")


def _begun(service: RunService) -> Callable[..., str]:
    """Choose the first stage of an experiment, which asks the ledger alone."""
    opened = _opened(service, begin)

    def route(state: ServedTrial, runtime: Runtime[Any]) -> str:
        return opened(state, runtime, StopSignal())

    return route


def _request(service: RunService) -> ThreadNode:
    """Check the request and write its run down."""

    def work(state: ServedState, runtime: Runtime[RunPreset], stop: StopSignal) -> dict[str, Any]:
        request = {name: state[name] for name in RunInput.__annotations__ if name in state}  # type: ignore[literal-required]
        info = runtime.execution_info
        checkpoint = f"{info.thread_id}:{info.checkpoint_id}" if info is not None and info.thread_id else ""
        preset = runtime.context or {}
        if not isinstance(preset, Mapping):
            raise ServedFault(
                f'the context is an object, such as {{"author": "playbook"}}, not {type(preset).__name__}'
            )
        blank = {**BLANK, "limit": "", "limited_at": ""}  # of an earlier run on the thread
        try:
            with _spoken():
                return {**blank, **service.begin({**preset, **request}, checkpoint)}
        except ServedFault as fault:
            if not isinstance(fault.__cause__, UsageError) or not state.get("messages"):
                raise
            return {**blank, "run_id": "", "stop": str(fault), "messages": [AIMessage(str(fault))]}  # a chat goes on

    return ThreadNode(work, "request")


def _conclude(service: RunService) -> ThreadNode:
    """Write the best kernel and the report, and sum the run up."""

    def work(state: ServedState, runtime: Runtime[Any], stop: StopSignal) -> dict[str, Any]:
        with _spoken():
            return service.conclude(state["run_id"], stop)

    return ThreadNode(work, "conclude")


def _opened(
    service: RunService, node: Callable[[Any, Runtime[Context]], Answer]
) -> Callable[[Any, Runtime[Any], StopSignal], Answer]:
    """Wrap the node with the collaborators of the run that its state names."""

    def work(state: Any, runtime: Runtime[Any], stop: StopSignal) -> Answer:
        with _spoken(), service.working(state["run_id"], stop) as context:
            return node(state, runtime.override(context=context))

    return work


def _followed(service: RunService, name: str, node: Callable[[State, Runtime[Context]], dict[str, Any]]) -> ThreadNode:
    """Wrap the node with its collaborators.

    Where a person changed what it follows from, it goes on in a run of its own.
    """
    opened = _opened(service, node)

    def work(state: ServedState, runtime: Runtime[Any], stop: StopSignal) -> dict[str, Any]:
        generation = state.get("generation", 0) + (name == "select")
        with _spoken():
            run_id = service.lineage(state, name, generation)
        moved = cast(ServedState, {**state, "run_id": run_id})
        return {**opened(moved, runtime, stop), "run_id": run_id}

    return ThreadNode(work, name)


def _has_run(state: ServedState) -> str:
    """Go on where a run was begun; where something is missing, the answer asks for it."""
    return "open_run" if state["run_id"] else END


def _fan_out(state: ServedState) -> list[Send] | str:
    """Send the experiments of the generation, each with the run that it belongs to."""
    sends = fan_out(state)
    if isinstance(sends, str):
        return sends
    return [Send(send.node, {**send.arg, "run_id": state["run_id"]}) for send in sends]
