"""From a model's text to a typed answer, whatever the server did to the text.

JSON answers: four ways of asking, from a strict schema down to plain words (`JSON_MODES`); the reading is the same for
all, so a server that accepts a schema and ignores it does no harm. Code answers are not JSON: a kernel of some hundred
lines inside a JSON string has every quote, backslash and line break escaped, which models get wrong, grammars make
slow, and one slip loses the whole file. They come as one fenced block of code and one small fenced block of JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from records.outside_text import cleaned, cleaned_value

Value = TypeVar("Value")
Schema = TypeVar("Schema", bound=BaseModel)

JSON_MODES = ("json_schema strict", "json_schema", "json_object", "text")
MAX_CHARS = 2_000_000
MAX_STARTS = 2_000  # braces tried before giving up: keeps the search linear on hostile text
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*([\w+#.-]*)")
_THINK_END = re.compile(r"</(?:think|thinking|reasoning)>", re.I)
_THINK_OPEN = re.compile(r"^\s*<(?:think|thinking|reasoning)>", re.I)


class ReplyError(ValueError):
    """The text is not an answer; the message names the change that the model must make."""


@dataclass(frozen=True)
class Form(Generic[Value]):
    """The shape asked for: how to read it, and the schema for servers that can enforce one."""

    read: Callable[[str], Value]  # raises ReplyError
    schema: type[BaseModel] | None = None


def json_form(schema: type[Schema], convert: Callable[[Schema], Value]) -> Form[Value]:
    """One JSON object of `schema`, turned into a record by `convert`, whose ValueError goes back to the model."""

    def read(text: str) -> Value:
        answer = read_json(text, schema)
        try:
            return convert(answer)
        except ValueError as error:
            raise ReplyError(str(error)) from None

    return Form(read, schema)


def read_json(text: str, schema: type[Schema]) -> Schema:
    """Read the last object in the text that fits the schema; models that think aloud write drafts before it."""
    answer: Schema | None = None
    complaint = "the answer holds no JSON object"
    for value in objects(text):
        try:
            answer = schema.model_validate(value)
        except ValidationError as error:
            complaint = _complaint(error)
    if answer is None:
        raise ReplyError("the answer is empty" if not text.strip() else complaint)
    return answer


def read_block(text: str, labels: tuple[str, ...]) -> str:
    """Read the body of the last closed fence with one of these labels; ReplyError when there is none."""
    bodies = [body for label, body in blocks(text) if label in labels]
    if not bodies:
        raise ReplyError(f"the answer holds no complete block fenced as ```{labels[0]}")
    return bodies[-1]


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Label and body of every closed fenced block, line by line: one pass, whatever the text is."""
    ticks, label, body = "", "", list[str]()
    for line in spoken(text).splitlines():
        bare = line.strip()
        if ticks:
            if len(bare) >= len(ticks) and set(bare) == {ticks[0]}:
                yield label, "\n".join(body) + "\n"
                ticks = ""
            else:
                body.append(line)
        elif opening := _FENCE.match(bare):
            ticks, label, body = opening[1], opening[2].lower(), []


def objects(text: str) -> Iterator[dict[str, Any]]:
    """JSON objects in the text, in order: bare, in a fence or within prose. Nested ones are not listed."""
    text = spoken(text)
    decoder = json.JSONDecoder()
    offset = text.find("{")
    for _ in range(MAX_STARTS):
        if offset < 0:
            return
        try:
            value, end = decoder.raw_decode(text, offset)
        except (ValueError, RecursionError):
            end = offset + 1
        else:
            if isinstance(value, dict):
                yield cleaned_value(value)
        offset = text.find("{", end)


def spoken(text: str) -> str:
    """Return the text without thinking aloud. Some chat templates drop the opening tag, some models never close it."""
    if len(text) > MAX_CHARS:
        raise ReplyError(f"the answer has {len(text)} characters; at most {MAX_CHARS} are read")
    closing = list(_THINK_END.finditer(text))
    if closing:
        text = text[closing[-1].end() :]
    return "" if _THINK_OPEN.match(text) else text


def thought_and_said(text: str, thinking: str) -> tuple[str, str]:
    """Thinking aloud and the answer, apart. Where nothing else was said, the thought is the answer."""
    try:
        answer = spoken(text)
    except ReplyError:  # too long to be looked at
        return thinking, text
    inside = text[: len(text) - len(answer)]
    if answer.strip():
        return "\n".join(filter(None, [thinking, _bare(inside).strip()])), answer
    return thinking, _bare(text).strip() or thinking


def _bare(text: str) -> str:
    """Return the text without the tags around a thought."""
    return _THINK_OPEN.sub("", _THINK_END.sub("", text))


def clean(text: str) -> str:
    """Text that every store and every connection accepts: no lone surrogates, no NUL."""
    return cleaned(text)


def response_format(json_mode: int, schema: type[BaseModel] | None) -> dict[str, Any] | None:
    """Return the value of `response_format` in this JSON mode; None for plain text."""
    if schema is None or json_mode >= 3:
        return None
    if json_mode == 2:
        return {"type": "json_object"}
    body: dict[str, Any] = {"name": schema.__name__, "schema": strict_schema(schema)}
    return {"type": "json_schema", "json_schema": body | ({"strict": True} if json_mode == 0 else {})}


def instruction(schema: type[BaseModel]) -> str:
    """Words that ask for the schema: many servers take `response_format` and ignore it, or insist on the word JSON."""
    return "Answer with one JSON object that fits this JSON schema, and nothing else:\n" + json.dumps(
        strict_schema(schema), separators=(",", ":")
    )


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Put the model's JSON schema into the subset that strict servers accept.

    It has nothing optional, nothing extra, no titles.
    """
    strict: dict[str, Any] = _strict(schema.model_json_schema())
    return strict


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    schema = {
        k: ({n: _strict(s) for n, s in v.items()} if k in ("properties", "$defs") else _strict(v))
        for k, v in node.items()
        if k != "title"
    }
    if schema.get("type") == "object":
        schema["additionalProperties"] = False
        schema["required"] = list(schema.get("properties", {}))
    return schema


def _complaint(error: ValidationError) -> str:
    rows = [f"{'.'.join(str(part) for part in row['loc']) or 'the object'}: {row['msg']}" for row in error.errors()[:8]]
    return "the JSON object does not fit the schema: " + "; ".join(rows)
