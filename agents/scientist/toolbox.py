"""The tools of the bench as a model is told of them, and its requests as they are read.

A request is a tool call, or a block of text fenced as ```tool with one JSON object that names the tool. Both are read
from every answer, because some endpoints take tools and answer in text. A kernel may stand in a block of its own beside
the request: inside JSON every quote and line break of it would be escaped, which models get wrong.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from agents.model.conversation import RawReply
from agents.model.structured_output import ReplyError, blocks, read_block
from agents.model.tools import Tool
from records.outside_text import cleaned, cleaned_value

LABELS = ("hip", "cpp", "c++", "cuda", "c", "cc")  # of a fenced block that holds the kernel file
CALL = "tool"  # label of a fenced block that holds a request
Arguments = TypeVar("Arguments", bound=BaseModel)


class Change(BaseModel):
    """Text of a kernel that is replaced."""

    old: str = Field(description="text as it stands in the kernel, exactly once; several lines where one is not enough")
    new: str = Field(description="the text that takes its place; empty to delete")


class CheckArguments(BaseModel):
    """A kernel to judge."""

    source: str = Field("", description="the whole file; empty to change an earlier kernel")
    of: str = Field("", description="kernel that is changed; the latest try when empty")
    changes: list[Change] = Field([], description="made one after the other")
    why: str = Field("", description="what is new since the kernel before, in a few words")


class IsaArguments(BaseModel):
    """A kernel to look at."""

    of: str = Field("", description="kernel to show; the latest try when empty")


class CompareArguments(BaseModel):
    """Two kernels to compare."""

    of: str = Field("", description="the latest try when empty")
    to: str = Field("", description="the parent when empty")
    changes: list[Change] = Field([], description="compare `of` with itself so changed instead; that is estimated only")


class SearchArguments(BaseModel):
    """A question to the notes."""

    query: str = Field(description="three to ten technical words")


class SubmitArguments(BaseModel):
    """The end of the experiment."""

    of: str = Field("", description="kernel to submit; the fastest right try when empty")
    source: str = Field("", description="a file that was not checked yet; it is checked first")
    implemented: list[str] = Field([], description="rubric items that the file really contains, in the rubric's words")
    skipped: list[str] = Field([], description="rubric items left out or changed, each with the reason")


CHECK = Tool(
    "check",
    "Compile, verify and time a kernel. Uses up one try. Gives verdict, findings, registers, times by resource and the "
    "costliest lines.",
    CheckArguments,
)
ISA = Tool(
    "isa",
    "Show the inner loop in machine code: waits, LDS and memory accesses, matrix instructions in order.",
    IsaArguments,
)
COMPARE = Tool(
    "compare",
    "Compare two kernels case by case: times, what binds, registers, counters. Also a kernel with a few lines changed, "
    "to see what a line costs. Uses up no try.",
    CompareArguments,
)
SEARCH = Tool("search_notes", "Search notes on the GPU, HIP and kernel optimisation.", SearchArguments)
SUBMIT = Tool("submit", "End the experiment with a kernel that is right, and report what it contains.", SubmitArguments)
TOOLS = (CHECK, ISA, COMPARE, SEARCH, SUBMIT)
NAMES = ", ".join(tool.name for tool in TOOLS)


def described(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Describe the tools and their arguments in words, for a writer that asks in text.

    The fields of a form are told only once.
    """
    descriptions, described_forms = [], set[str]()
    for tool in tools:
        schema = tool.schema()
        arguments = [
            {"name": name, "text": _argument(field, schema.get("$defs", {}), described_forms)}
            for name, field in schema["properties"].items()
        ]
        descriptions.append({"name": tool.name, "description": tool.description, "arguments": arguments})
    return descriptions


def _argument(field: Mapping[str, Any], forms: Mapping[str, Any], described_forms: set[str]) -> str:
    """One argument: its type, and what it says."""
    inner = field.get("items", {})
    kind = field["type"] if field["type"] != "array" else f"list of {inner.get('type', 'objects')}"
    form = str(inner.get("$ref", "")).rpartition("/")[2]
    if form and form not in described_forms:
        parts = forms[form]["properties"]
        kind += " with " + ", ".join(f"`{name}` ({part['description']})" for name, part in parts.items())
        described_forms.add(form)
    elif form:
        kind += " as above"
    return f"{kind}; {field['description']}" if "description" in field else kind


class BadRequest(ValueError):
    """A request that names no tool or whose arguments do not fit; the message says what to write instead."""


@dataclass(frozen=True)
class ToolRequest:
    """One request of the model. `fault` is set where its arguments cannot be read."""

    tool: str
    arguments: Mapping[str, Any]
    call_id: str = ""  # empty for a request in text
    fault: str = ""

    def read(self, form: type[Arguments]) -> Arguments:
        """Read the arguments in their form; BadRequest where they do not fit."""
        if self.fault:
            raise BadRequest(self.fault)
        try:
            return form.model_validate(dict(self.arguments))
        except ValidationError as error:
            rows = [f"{'.'.join(map(str, row['loc']))}: {row['msg']}" for row in error.errors()[:4]]
            raise BadRequest(f"the arguments of {self.tool} do not fit: {'; '.join(rows)}") from None


def requests_of(reply: RawReply) -> list[ToolRequest]:
    """Read the requests of an answer in their order; a kernel without a request is one to check it."""
    source = _source(reply.text)
    called = [_called(call.id, call.name, call.arguments) for call in reply.calls]
    requests = called or _requests_in(reply.text)
    if not requests and source:
        return [ToolRequest(CHECK.name, {"source": source})]
    return [_with_source(request, source) for request in requests]


def _called(call_id: str, name: str, text: str) -> ToolRequest:
    try:
        arguments = json.loads(text or "{}", strict=False)
    except (ValueError, RecursionError) as error:
        return ToolRequest(name, {}, call_id, f"the arguments of {name[:40]} are no JSON: {str(error)[:120]}")
    if not isinstance(arguments, dict):
        return ToolRequest(name, {}, call_id, f"the arguments of {name[:40]} must be a JSON object")
    return _checked_texts(ToolRequest(name, arguments, call_id))


def _checked_texts(request: ToolRequest) -> ToolRequest:
    """Return the request, refused where its texts hold half a character or a NUL: no file could hold the kernel."""
    arguments = cleaned_value(dict(request.arguments))
    if arguments == request.arguments:
        return request
    why = "its texts hold half of a character, such as \\ud800, or NUL, which no file can; write the character itself"
    return replace(request, tool=cleaned(request.tool), arguments=arguments, fault=why)


def _requests_in(text: str) -> list[ToolRequest]:
    requests = []
    try:
        fenced = [body for label, body in blocks(text) if label in (CALL, "json", "")]
    except ReplyError:
        return []
    for body in fenced:
        try:
            call = json.loads(body, strict=False)
        except (ValueError, RecursionError) as error:
            if f'"{CALL}"' in body[:200]:
                requests.append(ToolRequest("", {}, "", f"the block is no JSON: {str(error)[:120]}"))
            continue
        if isinstance(call, dict) and isinstance(call.get(CALL), str):
            tool_name, inner = call.pop(CALL), call.get("arguments")
            requests.append(_checked_texts(ToolRequest(tool_name, inner if isinstance(inner, dict) else call)))
    return requests


def _source(text: str) -> str:
    try:
        return read_block(text, LABELS)
    except ReplyError:
        return ""


def _with_source(request: ToolRequest, source: str) -> ToolRequest:
    """Return the request with the kernel that stands beside it, where it takes one and names none."""
    arguments = request.arguments
    if not source or request.fault or request.tool not in (CHECK.name, SUBMIT.name):
        return request
    if any(arguments.get(name) for name in ("source", "of", "changes")):
        return request
    return ToolRequest(request.tool, {**arguments, "source": source}, request.call_id)
