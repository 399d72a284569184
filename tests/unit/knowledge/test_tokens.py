from __future__ import annotations

import pytest

from knowledge.tokens import stem
from knowledge.vocabulary import tokens


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


@pytest.mark.parametrize(
    ("left", "right"), [("padding", "pad"), ("caches", "cache"), ("coalesced", "coalescing"), ("latencies", "latency")]
)
def test_word_endings_fold(left: str, right: str) -> None:
    assert stem(left) == stem(right)


def test_unicode_forms_meet() -> None:
    assert tokens("U\u0308berlauf") == tokens("Überlauf") == tokens("ÜBERLAUF")
    assert tokens("") == tokens("?! … --") == []
