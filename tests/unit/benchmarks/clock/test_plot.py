from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from benchmarks.clock.compared import Compared
from benchmarks.clock.plot import LEFT, SIDE, TOP, write_plot
from benchmarks.clock.points import Point


def compared(family: str, measured_us: float, expected_us: float) -> Compared:
    nowhere = Path("/nowhere")
    point = Point(family, "MI300X", "a<b", {"m": 1}, "f32", measured_us, "warm", nowhere, nowhere, "a/b")
    return Compared(point, expected_us)


def test_a_point_on_the_diagonal_is_as_far_right_as_up(tmp_path: Path) -> None:
    write_plot(tmp_path / "plot.svg", [compared("one", 10.0, 10.0), compared("two", 1.0, 1000.0)])
    root = ET.parse(tmp_path / "plot.svg").getroot()
    circles = [c for c in root.iter("{http://www.w3.org/2000/svg}circle") if c.get("r") == "3"]
    x, y = (float(str(circles[0].get(name))) for name in ("cx", "cy"))
    assert x - LEFT == pytest.approx(TOP + SIDE - y, abs=0.2) == pytest.approx(SIDE / 3, abs=0.2)
    assert {"one", "two"} <= {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
