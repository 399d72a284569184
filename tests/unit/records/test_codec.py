import json
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.codec import dumps, from_plain, loads, to_plain
from records.evaluation import CaseResult, Evaluation, Finding, Measurement, Resources, Verdict
from records.experiment import Attempt, ModelCall, Run, Usage

EVALUATION = Evaluation(
    key="k",
    candidate_id="c",
    tunables={"ROWS": 4},
    verdict=Verdict("execute", False, "B.3", (Finding("out_of_bounds", "check i", 7, "softmax", "rows=7", "x"),)),
    resources=(Resources("softmax", 32, 0, 16, 1024, 0, 8, {"mfma": 3}),),
    cases=(CaseResult("rows=7", "held_out", False, None, 1.0, 0.5, "wrong"),),
    measurements=(Measurement("b", 12.5, "predicted", "lab:mi300x", 12.5, 12.5, resources_us={"hbm": 12.5}),),
    counters={"TCC_HIT_sum": 3.0},
    code_object="o",
    seconds=0.5,
)


@pytest.mark.parametrize(
    "record",
    [
        EVALUATION,
        Run("r", "t", "mi300x", "lab", "llm", 1, {"a": 1, "b": None, "c": 0.5, "d": "x", "e": True}),
        Attempt(
            "g001-e1-a0", "r", "g001-e1", 1, 0, "c", "s", "accepted", "k", tunables={"R": 2}, report=("did", "that")
        ),
        ModelCall("k", "r", "plan", "m", "p", "done", 0.5, "reply", Usage(1, 2, 0.25)),
    ],
)
def test_a_record_survives_the_round_trip(record: object) -> None:
    assert loads(type(record), dumps(record)) == record


def test_a_time_of_an_older_program_has_no_bound_and_no_error() -> None:
    row = Measurement("b", 12.5, "predicted", "lab", 12.5, 12.5, 1, 1.0, "hbm", bound_us=9.0, error=0.1)
    told = to_plain(replace(row, warm_us=11.0, stalls_us={"vmcnt": 4.0}))
    assert from_plain(Measurement, told).stalls_us == {"vmcnt": 4.0}
    old = {name: value for name, value in told.items() if name not in ("bound_us", "error", "stalls_us")}
    assert from_plain(Measurement, old) == replace(row, warm_us=11.0, bound_us=0.0, error=0.0)


@pytest.mark.parametrize(
    "value", [EVALUATION, [EVALUATION, None], {"a": (EVALUATION.verdict, MappingProxyType({"b": EVALUATION.cases}))}]
)
def test_the_text_is_that_of_the_plain_values(value: object) -> None:
    assert dumps(value) == json.dumps(to_plain(value), sort_keys=True, separators=(",", ":"))


def test_what_is_no_record_is_refused() -> None:
    with pytest.raises(TypeError, match="a set has no place in a record"):
        dumps({"a": {1, 2}})


@given(st.text())
def test_any_text_survives_the_round_trip_and_is_ascii_on_the_way(text: str) -> None:
    finding = Finding("race", text)
    assert dumps(finding).isascii()
    assert loads(Finding, dumps(finding)) == finding


def test_equal_records_have_equal_text_whatever_the_order_of_their_keys() -> None:
    assert dumps({"b": 1, "a": (1, 2)}) == dumps({"a": [1, 2], "b": 1}) == '{"a":[1,2],"b":1}'


def test_an_unknown_field_and_an_unknown_word_are_refused() -> None:
    with pytest.raises(ValueError, match="Verdict has no field colour"):
        from_plain(Verdict, {"stage": "parse", "accepted": True, "code": "OK", "colour": "red"})
    with pytest.raises(ValueError, match="is none of"):
        from_plain(Verdict, {"stage": "guess", "accepted": True, "code": "OK"})


def test_a_row_from_before_the_counts_of_workgroups_and_the_isolation_loads() -> None:
    plain = json.loads(dumps(EVALUATION))
    del plain["isolation"]
    for case in plain["cases"]:
        for name in ("workgroups", "drawn", "grid"):
            del case[name]
    old = loads(Evaluation, json.dumps(plain))
    assert old == EVALUATION
    assert (old.isolation, old.cases[0].grid, old.cases[0].miss_chance) == ("", 0, 0.0)
