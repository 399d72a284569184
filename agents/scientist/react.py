"""The writer at the bench: a ReAct agent, which thinks and acts in turn until it submits or its turns are used.

langgraph's prebuilt agent has moved to a package that is not among the dependencies, and it runs the tools of a turn in
parallel; here they run one after the other, so that a resumed run numbers the same tries and finds its paid answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from agents.author import Draft, Step
from agents.bench import Bench
from agents.model.conversation import Message, RawReply, ToolCall
from agents.model.gateway import LanguageModel
from agents.model.tools import ToolsRefused
from agents.model.wire import in_text
from agents.scientist.bench_tools import Answered, BenchTools
from agents.scientist.toolbox import NAMES, TOOLS, ToolRequest, requests_of
from agents.traced import UntracedRoute
from records.errors import MalformedReply
from records.quantity import counted

ROLE = "coder"
MOST_CALLS = 4  # tools in one turn; the rest is refused
MOST_IDLE = 3  # turns in a row without a request that can be read
MOST_ECHO_CHARS = 160_000  # of an answer as its writer sees it again
LAST_TURN = "This is your last turn: submit now, or the fastest right kernel is recorded without a report."
_LEFT_OUT = '{"left_out": "these arguments were too long or no JSON object"}'


def most_turns(tries: int) -> int:
    """Answers of the model that one experiment may take."""
    return 3 * tries + 4


class Talk(TypedDict):
    """The state: the conversation so far, and how it goes."""

    messages: list[Message]
    turn: int
    idle: int
    reply: RawReply | None
    draft: Draft | None


@dataclass
class Writer:
    """The model, the tools, and how long it may go on."""

    model: LanguageModel
    step: Step
    bench: Bench
    tools: BenchTools
    openings: Mapping[bool, tuple[Message, ...]]  # first messages with tools to call, and with tools in text
    turns: int
    candidate: str
    in_text: bool  # tools are asked for in text; set for good where the endpoint refuses them

    def ask(self, messages: Sequence[Message], turn: int) -> RawReply:
        """One turn of the model; in text from the point on where the endpoint refuses tools."""
        turn_step = replace(self.step, number=turn)
        if not self.in_text:
            try:
                return self.model.turn(ROLE, turn_step, messages, TOOLS, self.candidate)
            except ToolsRefused:
                self.in_text = True
        conversation = (*self.openings[True], *in_text(messages[len(self.openings[False]) :]))
        return self.model.turn(ROLE, turn_step, conversation, (), self.candidate)


def think(state: Talk, runtime: Runtime[Writer]) -> dict[str, Any]:
    """Have the model answer the conversation so far."""
    return {"reply": runtime.context.ask(state["messages"], state["turn"]), "turn": state["turn"] + 1}


def act(state: Talk, runtime: Runtime[Writer]) -> dict[str, Any]:
    """Do what the answer asks for, one request after the other, and put the results behind it."""
    writer, reply = runtime.context, state["reply"]
    assert reply is not None
    requests = [] if reply.is_cut else requests_of(reply)
    answered: list[tuple[ToolRequest, Answered]] = []
    for number, request in enumerate(requests):
        if number >= MOST_CALLS:
            answer = Answered(f"not done: at most {MOST_CALLS} tools are used in one turn")
        elif answered and answered[-1][1].draft is not None:
            answer = Answered("not done: the experiment has ended")
        else:
            answer = writer.tools.use(request)
        answered.append((request, answer))
    draft = next((answer.draft for _, answer in answered if answer.draft is not None), None)
    useful = any(answer.is_useful for _, answer in answered)
    left = writer.turns - state["turn"]
    return {
        "messages": [*state["messages"], _echo(reply), *_results(reply, answered, left)],
        "idle": 0 if useful else state["idle"] + 1,
        "draft": draft,
    }


def follow(state: Talk, runtime: Runtime[Writer]) -> str:
    """Think again until something was submitted, or nothing more can come of it."""
    writer, bench = runtime.context, runtime.context.bench
    is_lost = bench.tries_left < 1 and bench.best is None
    is_over = state["draft"] is not None or state["turn"] >= writer.turns or state["idle"] >= MOST_IDLE
    return END if is_over or is_lost else "think"


def build() -> StateGraph[Talk, Writer, Talk, Talk]:
    """Build the agent, not compiled."""
    graph = StateGraph(Talk, context_schema=Writer)
    graph.add_node("think", think)
    graph.add_node("act", act)
    graph.add_edge(START, "think")
    graph.add_edge("think", "act")
    graph.add_conditional_edges("act", UntracedRoute(follow), {"think": "think", END: END})
    return graph


_AGENT = build().compile(checkpointer=False, name="writer")


def work_at(writer: Writer) -> Draft:
    """Let the writer work; its report, empty where it ended without one. MalformedReply when it checked no kernel."""
    start: Talk = {
        "messages": list(writer.openings[writer.in_text]),
        "turn": 0,
        "idle": 0,
        "reply": None,
        "draft": None,
    }
    config: RunnableConfig = {"run_name": "writer", "recursion_limit": 2 * writer.turns + 5}
    final_state = _AGENT.invoke(start, config, context=writer)
    if final_state["draft"] is None and not writer.tools.checked:
        raise MalformedReply(
            f"the {ROLE} checked no kernel in {counted(final_state['turn'], 'turn')}; use another model for this role"
        )
    return final_state["draft"] or Draft("")


def _echo(reply: RawReply) -> Message:
    """Write the answer as its writer sees it again: bounded, its calls with arguments that every server can read."""
    text = reply.text
    if len(text) > MOST_ECHO_CHARS:
        text = f"{text[:MOST_ECHO_CHARS]}\n(cut here: {len(reply.text) - MOST_ECHO_CHARS} characters more)"
    readable = {request.call_id: not request.fault for request in requests_of(reply)}
    calls = tuple(
        replace(call, arguments=call.arguments or "{}")
        if readable.get(call.id) and len(call.arguments) <= MOST_ECHO_CHARS
        else ToolCall(call.id, call.name, _LEFT_OUT)
        for call in reply.calls
    )
    return Message("assistant", text or ("" if calls else "(empty)"), calls)


def _results(reply: RawReply, answered: Sequence[tuple[ToolRequest, Answered]], left: int) -> list[Message]:
    """List the results, one message a call; of requests in text all in one message."""
    note = (
        "This is your last turn: submit now, or the fastest right kernel is recorded without a report."
        if left == 1
        else ""
    )
    if reply.calls and answered:
        texts = [answer.text for _, answer in answered]
        texts[-1] = "\n\n".join(filter(None, [texts[-1], note]))
        return [
            Message("tool", text, call_id=request.call_id) for (request, _), text in zip(answered, texts, strict=True)
        ]
    if answered:
        texts = [f"Result of `{request.tool}`:\n\n{answer.text}" for request, answer in answered]
    elif reply.is_cut:
        texts = ["Your answer was cut off at the token limit, and nothing of it was done. Answer more briefly."]
    else:
        texts = [
            f"That answer asks for no tool. Call one of {NAMES}; or write a block fenced as ```tool with a JSON object "
            'such as {"tool": "check"}, after the kernel in a block fenced as ```hip.'
        ]
    return [*_unanswered(reply), Message("user", "\n\n".join(filter(None, [*texts, note])))]


def _unanswered(reply: RawReply) -> list[Message]:
    """Make a result for each call of an answer of which nothing was done: an interface with tools asks for one."""
    return [Message("tool", "not done", call_id=call.id) for call in reply.calls]
