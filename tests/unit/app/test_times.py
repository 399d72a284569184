"""An expected time stands beside its bound, both are called predicted, and what is not known is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.times import mean_text, print_times, stalls_of, stalls_text, time_json
from app.verdict import show, verdict_json
from records.evaluation import Evaluation, HotLine, Measurement, Verdict

ROW = Measurement("a", 38.8, "predicted", "lab:mi300x", 38.8, 38.8, bound="valu", roofline_us=10.0)
KNOWN = replace(ROW, warm_us=30.1, bound_us=12.4, error=0.08, stalls_us={"vmcnt": 19.4, "tail": 0.3, "mfma": 9.7})


def timed(*rows: Measurement) -> Evaluation:
    return Evaluation("k", "c", {}, Verdict("time", True, "OK"), measurements=rows)


def test_the_mean_says_what_is_expected_and_what_is_the_bound() -> None:
    text = "expected 38.8 us (cold; warm 30.1 us), bound 12.4 us (predicted; two are equal within 8 %)"
    assert mean_text(timed(KNOWN)) == text
    assert (
        mean_text(timed(replace(KNOWN, warm_us=0.0, error=0.0))) == "expected 38.8 us (cold), bound 12.4 us (predicted)"
    )
    assert mean_text(timed(ROW)) == "38.8 us (predicted)", "an older program knew a bound alone"
    assert mean_text(timed(replace(ROW, kind="measured"))) == "38.8 us (measured)"
    assert mean_text(timed(KNOWN, ROW)) == "38.8 us (predicted)", "a mean of a part of the cases is none"


def test_stalls_are_shares_of_the_time_the_largest_first_without_small_ones() -> None:
    assert stalls_of(timed(KNOWN)) == {"vmcnt": pytest.approx(0.5), "mfma": pytest.approx(0.25)}
    heavier = replace(KNOWN, weight=3.0, stalls_us={"mfma": 38.8})
    assert stalls_text(timed(KNOWN, heavier)) == "mfma 81 %, vmcnt 12 %"
    assert stalls_text(timed(ROW)) == ""


def test_a_table_of_predicted_times_has_bound_and_warm_beside_them(capsys: pytest.CaptureFixture[str]) -> None:
    print_times(timed(KNOWN))
    out = capsys.readouterr().out
    assert "Times: predicted, not measured" in out
    head, row = (line.split() for line in out.splitlines() if line.startswith(("  case", "  a ")))
    assert head[1:4] == ["expected", "warm", "bound"] and row[1:6] == ["38.8", "us", "30.1", "us", "12.4"]
    assert "where the predicted time goes: vmcnt 50 %, mfma 25 %" in out
    print_times(timed(ROW))
    assert "predicted time  warm" in capsys.readouterr().out
    print_times(timed(replace(ROW, kind="measured", warm_us=20.0)))
    measured = capsys.readouterr().out
    assert "predicted" not in measured and "expected" not in measured and "bound" not in measured


def test_json_has_null_for_what_is_not_known() -> None:
    assert (time_json(ROW)["bound_us"], time_json(ROW)["time_error"], time_json(ROW)["stalls_us"]) == (None, None, {})
    fields = time_json(KNOWN)
    assert (fields["bound_us"], fields["time_error"], fields["warm_us"]) == (12.4, 0.08, 30.1)
    assert time_json(None).keys() == fields.keys()


def test_a_line_is_told_with_what_it_stalls_on(capsys: pytest.CaptureFixture[str]) -> None:
    hot = HotLine(2, "k", {"stall_us": 12.5, "l2_requests": 9.0}, {"stall_us": 0.4, "l2_requests": 0.01}, "vmcnt")
    evaluation = replace(timed(KNOWN), hot_lines=(hot,))
    show(evaluation, "first\nsecond\n", "k.hip")
    assert "stall us, most by vmcnt, 12.5 (40%)" in capsys.readouterr().out
    assert verdict_json(evaluation)["hot_lines"][0]["stall_cause"] == "vmcnt"
    assert (
        "stall_cause"
        not in verdict_json(replace(evaluation, hot_lines=(replace(hot, stall_cause=""),)))["hot_lines"][0]
    )
