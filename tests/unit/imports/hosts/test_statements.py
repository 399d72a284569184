"""Statements of host code are read; one that is not understood keeps its words and hides nothing behind it."""

from __future__ import annotations

from imports.hosts.host_syntax import (
    Call,
    DeclaredVariable,
    Evaluated,
    If,
    LaunchNode,
    Leave,
    Name,
    NotRead,
    Repetition,
    Switch,
)
from imports.hosts.statements import StatementReader
from imports.hosts.words import words_of
from sandbox.candidate.pp_tokens import scan


def read(text: str) -> list[object]:
    return list(StatementReader(words_of(scan(text)), {}).block())


def test_each_kind_of_statement_is_read() -> None:
    kinds = [DeclaredVariable, DeclaredVariable, Evaluated, If, Repetition, Repetition, Repetition, Switch, Leave]
    statements = read(
        "const dim3 grid((n + 255) / 256, 2), *q; (void)f(&q); if (n % 2 != 0) { g(); } else h();"
        "for (int i = 0; i < n; i++) g(); while (n) n /= 2; do { g(); } while (n > 1);"
        "switch (n) { case 1: g(); break; default: h(); } return n < 2 ? 1 : 0;"
    )
    assert [type(s) for s in statements] == kinds


def test_a_launch_with_a_template_and_nested_brackets_is_one() -> None:
    (statement,) = read(
        "ns::k<float, (N > 2)><<<dim3(a, b), threads, sizeof(float) * n, stream>>>(x + 1, y[2], {1, 2});"
    )
    assert isinstance(statement, Evaluated) and isinstance(statement.value, LaunchNode)
    assert statement.value.kernel == Name("ns::k", ("float", "( N > 2 )"))
    assert (len(statement.value.sizes), len(statement.value.arguments)) == (4, 3)


def test_a_comparison_is_no_template() -> None:
    (statement,) = read("f(a < b, c > d);")
    assert isinstance(statement, Evaluated) and isinstance(statement.value, Call)


def test_what_is_not_read_keeps_its_words_and_the_rest_is_read() -> None:
    statements = read('asm volatile("nop" ::: "memory"); struct { int a; } b; k<<<1, >>>(x); int n = 3;')
    assert [type(s) for s in statements][-2:] == [NotRead, DeclaredVariable]
    assert isinstance(statements[-2], NotRead) and "<<<" in statements[-2].words
