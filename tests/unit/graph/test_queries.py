"""Queries from evidence: what they ask about, and how many there are."""

from __future__ import annotations

import pytest

from agents.author import Idea
from graph.queries import MOST, of_cost, of_decline, of_failure, of_idea, of_refusal
from records.evaluation import FINDING_KINDS, CaseResult, Evaluation, Finding, Measurement, Resources, Verdict

RIGHT = Verdict("time", True, "OK")


def refused(*findings: Finding, code: str = "C.1") -> Evaluation:
    return Evaluation("k", "c", {}, Verdict("execute", False, code, findings))  # type: ignore[arg-type]


def timed(*bounds: str, scratch: int = 0, waves: int = 8, **counters: float) -> Evaluation:
    rows = tuple(
        Measurement(f"n={i}", 10.0, "predicted", "lab", 10.0, 10.0, bound=bound) for i, bound in enumerate(bounds)
    )
    used = (Resources("k", 64, 0, 32, 0, scratch, waves),)
    return Evaluation("k", "c", {}, RIGHT, resources=used, measurements=rows, counters=counters)


@pytest.mark.parametrize("kind", FINDING_KINDS)
def test_every_kind_of_finding_asks_something_of_its_own(kind: str) -> None:
    (first, *_) = of_failure(refused(Finding(kind, "use of undeclared identifier 'k_x'")))  # type: ignore[arg-type]
    others = [of_failure(refused(Finding(other, "m")))[0] for other in FINDING_KINDS if other != kind]
    assert first
    assert first not in others


def test_an_unknown_builtin_is_asked_about_by_its_name_and_by_the_message() -> None:
    said = "use of undeclared identifier '__builtin_amdgcn_mfma_f32_16x16x16_f16'"
    asked = of_failure(refused(Finding("compile_error", said, 12)))
    assert asked == ("__builtin_amdgcn_mfma_f32_16x16x16_f16", said)


def test_a_wrong_result_without_a_finding_is_asked_about() -> None:
    wrong = Evaluation("k", "c", {}, Verdict("correct", False, "C.4"), cases=(CaseResult("n=1", "test", False),))
    assert [q.split(",")[0] for q in of_failure(wrong)] == ["wrong result", "accuracy of the sum"]


def test_what_binds_most_is_asked_about_first_with_its_counter() -> None:
    asked = of_cost(timed("hbm", "lds", "lds", SQ_LDS_BANK_CONFLICT=12.0))
    assert asked[0].endswith("padding SQ_LDS_BANK_CONFLICT")
    assert asked[1].startswith("HBM")
    assert of_cost(timed("")) == ()


def test_what_got_worse_than_the_parent_is_asked_about() -> None:
    asked = of_decline(timed("hbm", scratch=64, waves=2), timed("hbm"))
    assert "spills" in asked[0]
    assert "waves per SIMD" in asked[1]
    assert of_decline(timed("hbm"), timed("hbm")) == of_cost(timed("hbm"))


def test_an_idea_asks_by_its_title_and_by_the_names_in_its_plan() -> None:
    idea = Idea("swizzle the tile", "use ds_read_b128 and __shfl_xor", ("call ds_read_b128",), 0, 9, 5)
    assert of_idea(idea) == ("swizzle the tile", "ds_read_b128 __shfl_xor")


def test_queries_are_few_short_and_different() -> None:
    many = refused(*(Finding("compile_error", f"no 'a_{n}' " + "x" * 500) for n in range(9)))
    asked = of_failure(many)
    assert len(asked) == len(set(asked)) == MOST
    assert max(map(len, asked)) <= 200
    assert of_refusal(None, ("pad the rows", "pad  the rows", " ")) == ("pad the rows",)


def test_without_the_taxonomy_no_class_is_asked_about() -> None:
    wrong = Evaluation("k", "c", {}, Verdict("correct", False, "C.4"), cases=(CaseResult("n=1", "test", False),))
    assert [q.split(",")[0] for q in of_failure(wrong, classifies=False)] == ["wrong result"]
    assert of_refusal(wrong, (), classifies=False) == of_failure(wrong, classifies=False)
