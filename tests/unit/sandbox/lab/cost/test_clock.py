from __future__ import annotations

import struct
import subprocess
from dataclasses import fields, replace

import pytest

from records.errors import UsageError
from sandbox.lab.cost.clock import STALLS, WORK, Clock, clock_of, needed_clock
from sandbox.machine.executor import executor
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain

MI300X = load_target("mi300x")


def test_the_interpreter_has_the_same_figures_in_the_same_order() -> None:
    completed = subprocess.run([executor(toolchain(), COMPILED), "clock"], capture_output=True, text=True, check=True)
    clock, stalls, work = (part.split() for part in completed.stdout.split("\n\n"))
    assert clock == [figure.name for figure in fields(Clock)]
    assert (tuple(stalls), tuple(work)) == (STALLS, WORK)


def test_rates_are_shares_of_the_peaks_and_sizes_are_stated_once() -> None:
    clock = needed_clock(MI300X)
    assert clock.chip_hbm == pytest.approx(MI300X.clock["hbm_share"] * 5.3e6 / 2100)
    assert clock.l2_bytes == MI300X.memory["l2_bytes"]
    assert struct.unpack("<d", struct.pack("<Q", clock.words()[0]))[0] == clock.issue


def test_a_device_without_an_infinity_cache_has_none_in_the_way() -> None:
    memory = {**MI300X.memory, "mall_bytes": MI300X.memory["l2_bytes"], "l2_count": 1}
    clock = needed_clock(replace(MI300X, memory=memory))
    assert clock.chip_mall == clock.chip_l2


def test_a_figure_that_is_missing_is_named_and_a_target_without_clock_has_no_times() -> None:
    figures = {name: value for name, value in MI300X.clock.items() if name != "barrier"}
    with pytest.raises(UsageError, match="barrier"):
        clock_of(replace(MI300X, clock=figures))
    assert clock_of(load_target("h200")) is None
    with pytest.raises(UsageError, match=r"\[clock\]"):
        needed_clock(load_target("h200"))
