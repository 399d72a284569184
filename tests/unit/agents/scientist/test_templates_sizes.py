"""The prompts by role: their sizes, that nothing stands in one twice, golden copies."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache

import pytest

from agents.scientist.toolbox import TOOLS
from tests.support.prompts import GOLDEN_TASK, golden, prompts, tokens
from tests.support.specimens import TASKS

REFRESH = "if it was changed on purpose, run: python -m tests.support.prompts refresh"
# Tokens of a first request without its blocks of code: room for a paragraph more, not for a page.
MOST_TOKENS = {
    "selector": 1_500,
    "retriever": 1_650,
    "planner": 4_450,
    "coder": 3_700,
    "bench": 4_000,
    "bench in text": 4_500,
    "repair": 3_050,
    "critic": 3_800,
}
PHRASE = 8  # words


@cache
def of(name: str) -> dict[str, str]:
    return prompts(name)


def without_code(text: str) -> str:
    return re.sub(r"^```\w*\n.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("role", MOST_TOKENS)
def test_a_prompt_is_no_larger_than_its_role_needs(role: str, name: str) -> None:
    assert tokens(without_code(of(name)[role])) <= MOST_TOKENS[role]


def test_the_tools_cost_little() -> None:
    assert tokens(json.dumps([tool.document() for tool in TOOLS])) <= 900


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("role", MOST_TOKENS)
def test_nothing_stands_in_a_prompt_twice(role: str, name: str) -> None:
    lines = [line for line in without_code(of(name)[role]).splitlines() if not line.startswith(("|", "Kernel `"))]
    words = re.findall(r"\w+", " ".join(lines).lower())
    phrases = Counter(" ".join(words[at : at + PHRASE]) for at in range(len(words) - PHRASE))
    assert [phrase for phrase, count in phrases.items() if count > 1] == []


@pytest.mark.parametrize("role", MOST_TOKENS)
def test_every_role_reads_what_was_agreed(role: str) -> None:
    assert of(GOLDEN_TASK)[role] + "\n" == golden(role).read_text(encoding="utf-8"), REFRESH


def test_the_multiples_of_a_dim_are_told_where_there_are_any() -> None:
    assert "k is a multiple of 128 in every case, the unlisted ones too." in of("fp8_block_gemm")["bench"]
    assert "is a multiple of" not in of("row_softmax")["selector"].split("Dims (32")[1].split("\n")[0]


@pytest.mark.parametrize("role", ["planner", "coder", "bench"])
def test_who_plans_and_writes_knows_what_is_charged(role: str) -> None:
    assert "# What the model of the GPU charges" in of(GOLDEN_TASK)[role]
    assert "Not charged, so that changing it shows nothing" in of(GOLDEN_TASK)[role]
