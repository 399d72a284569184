"""Factors change expected times and keys; bounds, verdicts and measured times stay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.sandboxes import make_sandbox, place_of
from app.settings import load_settings
from graph.doubles import TableSandbox, table_task
from records.errors import SettingsError, UsageError
from records.evaluation import Measurement
from sandbox.lab.scaled_lab import ScaledLab, scaled_time
from sandbox.target_file import TargetFile

ROW = Measurement("a", 10.0, "predicted", "lab:mi300x", 10.0, 10.0, bound="hbm", roofline_us=2.0)
KNOWN = replace(ROW, warm_us=8.0, bound_us=4.0, error=0.1, stalls_us={"vmcnt": 6.0})


def test_an_expected_time_is_scaled_by_what_binds_it() -> None:
    scaled_measurement = scaled_time(KNOWN, {"hbm": 1.5, "mfma": 9.0})
    assert (
        scaled_measurement.time_us,
        scaled_measurement.warm_us,
        scaled_measurement.ci_low_us,
        scaled_measurement.ci_high_us,
    ) == (15.0, 12.0, 15.0, 15.0)
    assert (scaled_measurement.bound_us, scaled_measurement.roofline_us, scaled_measurement.error) == (4.0, 2.0, 0.1)
    assert scaled_measurement.stalls_us == {"vmcnt": 9.0}
    assert scaled_time(KNOWN, {"mfma": 9.0}) == KNOWN
    measured = replace(ROW, kind="measured")
    assert scaled_time(measured, {"hbm": 1.5}) == measured


def test_no_factor_brings_a_time_below_its_bound() -> None:
    scaled_measurement = scaled_time(KNOWN, {"hbm": 0.1})
    assert (scaled_measurement.time_us, scaled_measurement.warm_us) == (4.0, 4.0)
    assert scaled_time(replace(ROW, bound_us=0.0), {"hbm": 0.1}).time_us == 2.0, "nor below the speed of light"


def test_answers_have_keys_of_their_own(tmp_path: Path) -> None:
    table = TableSandbox()
    first, other = (ScaledLab(table, TargetFile("mi300x", {"table": 2.0}, {}, digest)) for digest in ("a", "b"))
    prepared = first.prepare("// time_us = 10\n", table_task(tmp_path, ""))
    assert len({first.key(prepared), other.key(prepared), table.key(prepared)}) == 3
    evaluation = first.benchmark(prepared)
    assert (evaluation.key, evaluation.geomean_us) == (first.key(prepared), pytest.approx(20.0))
    assert table.benchmark(prepared).geomean_us == pytest.approx(10.0)


def test_the_lab_of_the_settings_is_scaled_and_a_run_stays_with_its_file(tmp_path: Path) -> None:
    target_file = tmp_path / "own.toml"
    target_file.write_text('target = "mi300x"\n[factors]\nhbm = 1.5\n')
    plain, settings = load_settings(), load_settings(target_file=target_file)
    assert isinstance(make_sandbox(settings, "mi300x", "lab", 0), ScaledLab)
    assert not isinstance(make_sandbox(plain, "mi300x", "lab", 0), ScaledLab)
    place_id = place_of(settings, "lab", "mi300x")
    assert place_id and not place_of(plain, "lab", "mi300x")
    assert make_sandbox(settings, "mi300x", "lab", 0, place_id=place_id, run_id="r")
    assert make_sandbox(plain, "mi300x", "lab", 0, run_id="r")
    for begun, now in (("", settings), (place_id, plain)):
        with pytest.raises(SettingsError, match="started with another target file"):
            make_sandbox(now, "mi300x", "lab", 0, place_id=begun, run_id="r")
    target_file.write_text('target = "mi300y"\n')
    with pytest.raises(UsageError, match="there is no target 'mi300y'"):
        make_sandbox(settings, "mi300x", "lab", 0)
