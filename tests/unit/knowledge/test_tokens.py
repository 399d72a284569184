from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.tokens import KIN, MOST_WORDS, concepts, stem, tokens

ROOT = Path(__file__).parents[3]


def test_an_identifier_is_found_whole_and_by_its_parts() -> None:
    found = set(tokens("use v_mfma_f32_32x32x8_f16 here"))
    assert {"v_mfma_f32_32x32x8_f16", "mfma", "f32", "32x32x8", "f16"} <= found
    assert "builtin_amdgcn_sched_group_barrier" in tokens("__builtin_amdgcn_sched_group_barrier(0x8, 1, 0)")
    assert {"sync", "thread"} <= set(tokens("SyncThreads"))
    assert {"sched", "group"} <= set(tokens("sched_group_barrier"))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("LDS", "shared memory"),
        ("wavefront", "warps"),
        ("MFMA", "tensor cores"),
        ("workgroup", "thread block"),
        ("compute unit", "SM"),
        ("XCD", "chiplets"),
        ("e4m3fnuz", "FP8"),
        ("__syncthreads", "barriers"),
        ("Infinity Cache", "MALL"),
        ("waves_per_eu", "occupancy"),
        ("double-buffering", "prefetch"),
    ],
)
def test_synonyms_share_a_concept(left: str, right: str) -> None:
    shared = set(tokens(left)) & set(tokens(right))
    assert any(token.startswith("=") for token in shared), (tokens(left), tokens(right))


@pytest.mark.parametrize(("left", "right"), [("delay", "stall"), ("too many registers", "live value"), ("fma", "mad")])
def test_words_that_only_go_together_share_a_concept_of_another_kind(left: str, right: str) -> None:
    shared = set(tokens(left)) & set(tokens(right))
    assert shared and all(token.startswith(KIN) for token in shared), (tokens(left), tokens(right))


@pytest.mark.parametrize(
    ("left", "right"), [("padding", "pad"), ("caches", "cache"), ("coalesced", "coalescing"), ("latencies", "latency")]
)
def test_word_endings_fold(left: str, right: str) -> None:
    assert stem(left) == stem(right)


def test_every_line_of_the_concepts_is_a_group_of_phrases() -> None:
    lines = [line for line in (ROOT / "knowledge/concepts.txt").read_text().splitlines() if not line.startswith("#")]
    groups = [[phrase.strip(" ~") for phrase in line.split(",")] for line in lines]
    many = [phrase for group in groups for phrase in group if len(phrase.split()) > 1]
    assert len(set(many)) == len(many)  # a phrase has one concept
    assert all(len(group) > 1 and all(group) and len(set(group)) == len(group) for group in groups)
    assert len({group[0] for group in groups}) == len(groups) > 50
    assert all(len(phrase) <= 3 for phrase in concepts()[1])  # longer ones are not looked for


def test_a_word_may_stand_for_several_concepts() -> None:
    assert {"=asynchronous", "=atomic"} <= set(tokens("concurrent update"))


def test_unicode_forms_meet() -> None:
    assert tokens("U\u0308berlauf") == tokens("Überlauf") == tokens("ÜBERLAUF")
    assert tokens("") == tokens("?! … --") == []


def test_a_phrase_counts_where_it_is_whole() -> None:
    for text in ("shared", "local data", "8 bit", "local data share", "last level cache"):
        assert tokens(text)
    assert "=lds" not in tokens("local data") and "=lds" in tokens("the shared memory")
    assert "=compute-unit" in tokens("memory of a streaming multiprocessor")
    assert tokens("8-bit float in fp8").count("=fp8") == 2, "a phrase of three words, and a word"


@pytest.mark.long
def test_what_is_remembered_of_words_is_bounded_and_changes_nothing() -> None:
    words = "padding v_mfma_f32_32x32x8_f16 shared memory"
    before = tokens(words)
    tokens(" ".join(f"w{n:x}" for n in range(MOST_WORDS + 5)))
    assert tokens(words) == before


@pytest.mark.parametrize(
    ("british", "american"),
    [("quantised", "quantizing"), ("synchronisation", "synchronizations"), ("optimiser", "optimizers"),
     ("analyse", "analyzes"), ("behaviour", "behaviors")],
)  # fmt: skip
def test_british_and_american_spellings_meet(british: str, american: str) -> None:
    assert stem(british) == stem(american)
    assert [stem(word) for word in ("size", "hour", "lazy", "puzzle")] == ["siz", "hour", "lazy", "puzzl"]
