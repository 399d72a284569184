"""Values of TOML that are of another kind than a field takes, drawn by Hypothesis."""

from __future__ import annotations

import re

from hypothesis import strategies as st

VALUES: dict[str, st.SearchStrategy[str]] = {
    "text": st.from_regex(r"[ -!#-\[\]-~]{0,12}", fullmatch=True).map(lambda text: f'"{text}"'),
    "truth": st.sampled_from(["true", "false"]),
    "whole": st.integers(-(1 << 40), 1 << 40).map(str),
    "real": st.one_of(st.decimals(-(10**6), 10**6, places=2).map(str), st.sampled_from(["inf", "-inf", "nan", "1e30"])),
    "list": st.sampled_from(["[]", "[[]]", "[{}]", "[1, 2.5]", "[[1]]", "[nan]"]),
    "table": st.sampled_from(["{}", "{ x = 1 }", '{ dtype = "f32" }']),
}


def other_than(*kinds: str) -> st.SearchStrategy[str]:
    """A value of none of these kinds."""
    return st.one_of([strategy for kind, strategy in VALUES.items() if kind not in kinds])


@st.composite
def changed(draw: st.DrawFn, text: str, fields: dict[str, tuple[str, ...]]) -> tuple[str, str, int]:
    """The text with one of its `field = value` lines wrong, the field's name, and the number of the line."""
    lines = text.split("\n")
    places = [
        (n, name[1]) for n, line in enumerate(lines) if (name := re.match(r"(\w+) *=", line)) and name[1] in fields
    ]
    number, name = draw(st.sampled_from(places))
    lines[number] = f"{name} = {draw(other_than(*fields[name]))}"
    return "\n".join(lines), name, number + 1
