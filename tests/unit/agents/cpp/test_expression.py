"""Expressions: what binds first, casts beside brackets, and what is not understood."""

from __future__ import annotations

import pytest

from agents.cpp.expression import Expression, NotUnderstood, parse_expression


def shape(node: Expression) -> str:
    inside = " ".join(shape(p) for p in node.parts)
    return f"({node.value} {inside})" if inside else node.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * c - d", "(- (+ a (* b c)) d)"),
        ("a < b && c == d || e", "(|| (&& (< a b) (== c d)) e)"),
        ("x[(size_t)row * cols + j]", "([ x (+ (* (size_t row) cols) j))"),
        ("(row) * cols", "(* row cols)"),
        ("static_cast<const float *>(p)[i]", "([ (const float * p) i)"),
        ("s = s > v ? s : v", "(= s (? (> s v) s v))"),
        ("fmaxf(m, -x[i++])", "(fmaxf m (- ([ x (++ i))))"),
        ("blockIdx . x * 4 + threadIdx.x", "(+ (* (x blockIdx) 4) (x threadIdx))"),
        ("a <<= 1e-3f", "(<<= a 1e-3f)"),
        ("std :: max(a, b)", "(std::max a b)"),
    ],
)
def test_the_tree_of_an_expression(text: str, expected: str) -> None:
    node = parse_expression(text, 0, len(text))
    assert shape(node) == expected
    assert text[node.start : node.end] == text


@pytest.mark.parametrize(
    "text", ["a b", "a +", "sizeof(x)", "p->x", "f<3>(x)", "a @ b", "reinterpret_cast<int*>(p)", "{1}"]
)
def test_what_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(NotUnderstood):
        parse_expression(text, 0, len(text))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("float(x)", "cast"),
        ("int(x + 1)", "cast"),
        ("(float)x", "cast"),
        ("static_cast<int>(x)", "cast"),
        ("f(x)", "call"),
        ("f()", "call"),
        ("float(x, y)", "call"),
        ("x[1]", "index"),
        ("x", "name"),
        ("x = 1", "assign"),
        ("x += 1", "assign"),
        ("(x)", "name"),
    ],
)
def test_the_kind_of_an_expression(text: str, kind: str) -> None:
    assert parse_expression(text, 0, len(text)).kind == kind
