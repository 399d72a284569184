from __future__ import annotations

import pytest

from sandbox.machine.assembler_expressions import evaluate
from sandbox.machine.unreadable import UnreadableListing

VALUES = {"a.num_vgpr": 9, "a": 3, ".L1": 40, "$x": 2, "far": 5 << 48}


def symbol(name: str) -> int:
    if name not in VALUES:
        raise UnreadableListing("this symbol is not defined", name)
    return VALUES[name]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1+2*3-4/2", 5),
        ("(1+2)*3", 9),
        ("-7/2", -3),
        ("-7%3", -1),
        ("1<<4|3", 19),
        ("~0", -1),
        ("0x10", 16),
        ("0b101", 5),
        ("a.num_vgpr*a", 27),
        (".L1-a", 37),
        ("max(a.num_vgpr, 4, a)", 9),
        ("or(1, 0)", 1),
        ("alignto(a.num_vgpr, 4)", 12),
        ("totalnumvgprs(0, 9)", 9),
        ("totalnumvgprs(3, 9)", 15),
        ("((((alignto(max(1, a.num_vgpr), 4))/4)-1)&63)", 2),
        ("(far-8)>>32", (5 << 16) - 1),
        ("(0-8)&4294967295", 0xFFFFFFF8),
        ("(0-8)>>32", 0xFFFFFFFF),
        ("1<2", -1),
        ("2==3", 0),
        ("extrasgprs(1, 1, 0)", 6),
        ("9223372036854775807+1", -(1 << 63)),
        ("$x", 2),
        ('"a"', 3),
    ],
)
def test_values(text: str, value: int) -> None:
    assert evaluate(text, symbol) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1+",
        "(1",
        "1)",
        "nobody",
        "1/0",
        "1<<64",
        "1<<(0-1)",
        "frob(1)",
        "max(",
        "alignto(1)",
        "1 2",
        "(" * 500 + "1",
        "alignto(1, 0)",
    ],
)
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(UnreadableListing):
        evaluate(text, symbol)


def test_long_expressions_cost_little_or_are_refused() -> None:
    assert evaluate("+".join(["1"] * 10000), symbol) == 10000
    for text in ("-" * 1000 + "1", "1" + "+1" * 60000, "9" * 60000):
        with pytest.raises(UnreadableListing):
            evaluate(text, symbol)
