"""Strategy codes of plans in every form: fills, loops, instantiations, and blocks that depend on the dims."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.checks import check
from agents.source import SourceError, read
from agents.strategy import UNKNOWN, strategy
from graph.archive import strategy_code
from sandbox.candidate.prepare import prepare
from tasks.loader import load_task

ROOT = Path(__file__).parents[3]
CORPUS = ROOT / "tests" / "kernels" / "honest" / "corpus"
FORMS = ("scan_ping_pong@scan", "zeroed_bins@histogram", "template_in_place@scale", "look_back@scan")


def text(name: str) -> str:
    return (CORPUS / f"{name}.hip").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FORMS)
def test_a_plan_that_no_move_edits_has_a_code_and_no_fault(name: str) -> None:
    with pytest.raises(SourceError, match="which no move knows"):
        read(text(name))
    assert UNKNOWN not in strategy(text(name))
    assert check(text(name), "gfx942") == ()


def test_a_launch_in_a_loop_is_several_launches() -> None:
    code = strategy(text("scan_ping_pong@scan"))
    assert "-Kwl-" in code
    assert "-Kw-" in strategy(text("scan_ping_pong@scan").replace('for    = "i in range(log2(n) + 1)"\n', ""))


def test_an_instantiation_of_a_kernel_that_is_not_there_is_a_fault() -> None:
    wrong = text("zeroed_bins@histogram").replace('"count_bytes<256>"', '"count_words<256>"')
    assert [(r.kind, r.about) for r in check(wrong, "gfx942")] == [("kernel", "count_words")]
    few = text("zeroed_bins@histogram").replace('["x", "h", "n:u64"]', '["x", "h"]')
    assert [(r.kind, r.about) for r in check(few, "gfx942")] == [("arguments", "count_bytes")]


def test_a_block_that_depends_on_the_dims_counts_by_the_largest_case() -> None:
    source = (ROOT / "examples" / "fp8_block_gemm_mi300x.hip").read_text(encoding="utf-8")
    assert strategy(source).startswith("B?-")
    assert strategy_code(prepare(source, load_task("fp8_block_gemm")), None).startswith("B512-")
