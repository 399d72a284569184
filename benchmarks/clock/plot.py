"""The expected time of every point over its measured one, as an SVG: logarithmic axes, a colour for each family."""

from __future__ import annotations

import colorsys
import html
import math
from collections.abc import Sequence
from pathlib import Path

from benchmarks.clock.compared import Compared

WIDTH, HEIGHT, LEFT, TOP, SIDE = 900, 640, 70, 30, 560
TEXT = "font-family='sans-serif' font-size='12' fill='#333'"


def write_plot(path: Path, compared: Sequence[Compared]) -> None:
    """Write the plot of all points that have an expected time."""
    rows = [row for row in compared if not row.refusal and row.predicted_us > 0]
    times = [t for row in rows for t in (row.predicted_us, row.point.measured_us)]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    names = sorted({row.point.family for row in rows})

    def place(value_us: float) -> float:
        return (math.log10(value_us) - low) / (high - low) * SIDE

    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}'>",
        f"<rect width='{WIDTH}' height='{HEIGHT}' fill='white'/>",
        *_axes(low, high),
    ]
    for row in rows:
        x, y = LEFT + place(row.point.measured_us), TOP + SIDE - place(row.predicted_us)
        colour = _colour(names.index(row.point.family), len(names))
        label = html.escape(f"{row.point.family} {row.point.label}: {row.point.measured_us:g} us measured")
        parts.append(
            f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='{colour}' fill-opacity='.6'><title>{label}</title>"
        )
        parts.append("</circle>")
    for i, name in enumerate(names):
        y = TOP + 12 + 19 * i
        parts.append(f"<circle cx='{LEFT + SIDE + 24}' cy='{y - 4}' r='5' fill='{_colour(i, len(names))}'/>")
        parts.append(f"<text x='{LEFT + SIDE + 36}' y='{y}' {TEXT}>{html.escape(name)}</text>")
    path.write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


def _axes(low: int, high: int) -> list[str]:
    """Draw the frame, the decades, and lines where the expected time is half, equal to and twice the measured one."""
    parts = [f"<rect x='{LEFT}' y='{TOP}' width='{SIDE}' height='{SIDE}' fill='none' stroke='#999'/>"]
    for decade in range(low, high + 1):
        offset = (decade - low) / (high - low) * SIDE
        height = TOP + SIDE - offset
        label = f"{10.0**decade:g}"
        parts += [
            f"<line x1='{LEFT + offset}' y1='{TOP}' x2='{LEFT + offset}' y2='{TOP + SIDE}' stroke='#eee'/>",
            f"<line x1='{LEFT}' y1='{height}' x2='{LEFT + SIDE}' y2='{height}' stroke='#eee'/>",
            f"<text x='{LEFT + offset}' y='{TOP + SIDE + 18}' text-anchor='middle' {TEXT}>{label}</text>",
            f"<text x='{LEFT - 8}' y='{height + 4}' text-anchor='end' {TEXT}>{label}</text>",
        ]
    step = math.log10(2) / (high - low) * SIDE
    for shift, dash in ((0.0, "none"), (step, "4 4"), (-step, "4 4")):
        first, last = max(0.0, -shift), min(SIDE, SIDE - shift)
        begins = f"x1='{LEFT + first}' y1='{TOP + SIDE - first - shift}'"
        ends = f"x2='{LEFT + last}' y2='{TOP + SIDE - last - shift}'"
        parts.append(f"<line {begins} {ends} stroke='#666' stroke-dasharray='{dash}'/>")
    middle = TOP + SIDE / 2
    return [
        *parts,
        f"<text x='{LEFT + SIDE / 2}' y='{TOP + SIDE + 40}' text-anchor='middle' {TEXT}>measured, us</text>",
        f"<text x='18' y='{middle}' text-anchor='middle' transform='rotate(-90 18 {middle})' {TEXT}>"
        "expected, us</text>",
    ]


def _colour(number: int, count: int) -> str:
    red, green, blue = colorsys.hls_to_rgb(number / max(1, count), 0.4 + 0.15 * (number % 2), 0.7)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"
