"""Reading answers: whatever the text is, the result is a value or a ReplyError, and it comes soon."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agents.model.conversation import RawReply
from agents.model.structured_output import (
    MAX_CHARS,
    ReplyError,
    blocks,
    clean,
    objects,
    read_block,
    read_json,
    response_format,
    spoken,
    strict_schema,
)
from agents.scientist.schemas import ProposalAnswer
from records.experiment import Usage


class Box(BaseModel):
    n: int
    inner: list[dict[str, int]]


SHARDS = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        '"',
        "n",
        ":",
        ",",
        "1",
        "```",
        "```json\n",
        "\n",
        "<think>",
        "</think>",
        "\\",
        "~~~~",
        '{"n": 1, "inner": []}',
        "\0",
        "\ud800",
        "é",
        "/*+++",
    ]
)


@given(st.lists(SHARDS, max_size=40).map("".join) | st.text(max_size=200))
def test_no_text_crashes_the_reader(text: str) -> None:
    for read in (lambda: read_json(text, Box), lambda: read_block(text, ("json",)), lambda: list(objects(text))):
        try:
            read()
        except ReplyError as error:
            assert str(error)


@given(st.text(max_size=200))
def test_every_reply_survives_being_stored(text: str) -> None:
    reply = RawReply(clean(text), "stop", "m", Usage(1, 2, 0.5))
    assert RawReply.from_text(reply.to_text().encode().decode()) == reply


@given(st.integers(), st.text(max_size=50), st.text(max_size=50))
def test_an_object_is_found_within_any_prose_without_braces(n: int, before: str, after: str) -> None:
    prose = [t.replace("{", "(").replace("<", "(").replace("\ud800", "") for t in (before, after)]
    text = f"{prose[0]}{json.dumps({'n': n, 'inner': [{'a': 1}]})}{prose[1]}"
    assert read_json(text, Box) == Box(n=n, inner=[{"a": 1}])


@pytest.mark.parametrize(
    "text",
    [
        "{" * 500_000,
        '{"a":' * 200_000,
        "```a\n" * 300_000,
        "<think>" * 200_000,
        '{"' * 400_000,
        "[" * 900_000 + "{",
        "~~~~~" * 300_000,
        '{"n": ' + "9" * 100_000 + "}",
    ],
)
def test_hostile_text_is_refused_without_a_hang(text: str) -> None:
    with pytest.raises(ReplyError):
        read_json(text, Box)
    with pytest.raises(ReplyError):
        read_block(text, ("json",))


def test_a_book_is_not_read() -> None:
    with pytest.raises(ReplyError, match="characters"):
        spoken("x" * (MAX_CHARS + 1))


def test_blocks_keep_their_inner_fences_and_labels() -> None:
    text = "````hip\na\n```\nb\n````\n~~~JSON extra\n{}\n~~~\n```\nplain\n```\n"
    assert list(blocks(text)) == [("hip", "a\n```\nb\n"), ("json", "{}\n"), ("", "plain\n")]


def test_the_rungs_ask_for_less_and_less() -> None:
    kinds = [response_format(r, Box) for r in range(4)]
    assert [k["type"] if k else None for k in kinds] == ["json_schema", "json_schema", "json_object", None]
    assert kinds[0] and kinds[0]["json_schema"]["strict"] is True
    assert kinds[1] and "strict" not in kinds[1]["json_schema"]


def test_the_planners_schema_stays_in_the_strict_subset() -> None:
    def visit(node: object) -> None:
        if isinstance(node, list):
            for item in node:
                visit(item)
        elif isinstance(node, dict):
            assert not {"default", "minimum", "maximum", "minItems", "pattern"} & set(node)
            if node.get("type") == "object":
                assert node["additionalProperties"] is False
                assert node["required"] == list(node["properties"])
            for item in node.values():
                visit(item)

    visit(strict_schema(ProposalAnswer))
