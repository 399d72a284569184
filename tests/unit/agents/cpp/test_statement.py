"""Statements of a body: their forms, their spans, and what is not understood."""

from __future__ import annotations

import pytest

from agents.cpp.expression import NotUnderstood
from agents.cpp.statement import parse_body

BODY = """
    const int i = blockIdx.x, *p = q;
    if (i >= n) return;
    #pragma unroll 4
    for (int j = 0; j < n; ++j) { s += x[j]; if (s > 1) s = 0; else continue; }
    y[i] = s;
"""


def test_each_statement_has_its_form_and_its_text() -> None:
    found = parse_body(BODY, 0, len(BODY))
    assert [s.form for s in found] == ["declare", "if", "for", "expression"]
    assert [BODY[s.start : s.end].split()[0] for s in found] == ["const", "if", "#pragma", "y[i]"]
    assert [(d.name, d.is_pointer) for d in found[0].declared] == [("i", False), ("p", True)]
    assert [s.form for s in found[1].body] == ["return"]
    loop = found[2]
    assert loop.makes() == {"j"}
    assert [s.form for s in loop.walk()] == ["for", "declare", "expression", "if", "expression", "continue"]
    assert loop.names() == {"n", "s", "x", "j"}


@pytest.mark.parametrize(
    "text",
    [
        "while (a) b = 1;",
        "__shared__ float t[4];",
        "float t[4];",
        "#if A\na = 1;\n#endif",
        "auto f = [&](int i) { return i; };",
        "a = 1",
        "switch (a) { }",
        "int a{1};",
        "if (a) { b = 1;",
        "return a;",
    ],
)
def test_what_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(NotUnderstood):
        parse_body(text, 0, len(text))
