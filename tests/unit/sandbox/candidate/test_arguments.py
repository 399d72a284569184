from __future__ import annotations

import pytest

from records.errors import PlanError
from sandbox.candidate.arguments import BufferArg, NullArg, ResolvedArg, ScalarArg, Scope, StructArg, words_of
from sandbox.candidate.plan import Argument
from tasks.task import ScalarSpec

SCALARS = {"eps": ScalarSpec("eps", "f32", 1e-6), "step": ScalarSpec("step", "i64", 3)}
SCOPE = Scope({"rows": 7, "cols": 1000, "i": 1}, SCALARS, {"x": 4, "h": 2})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x", BufferArg("x")),
        ("x + rows * 2 - 1", BufferArg("x", 52)),
        ("h + 3 if i % 2 else x", BufferArg("h", 6)),
        ("h if rows < 7 else x if i == 0 else null", NullArg()),
        ("null", NullArg()),
        ("rows", ScalarArg("i32", 7)),
        ("rows * cols:i64", ScalarArg("i64", 7000)),
        ("step", ScalarArg("i64", 3)),
        ("step + 1", ScalarArg("i32", 4)),
        ("eps", ScalarArg("f32", 1e-6)),
        ("eps:f64", ScalarArg("f64", 1e-6)),
        ("2 * eps", ScalarArg("f32", 2e-6)),
        ("1.5", ScalarArg("f32", 1.5)),
        ("rows:f16", ScalarArg("f16", 7.0)),
        ("1 / cols", ScalarArg("f32", 0.001)),
        ("1 / sqrt(4 * 4):f64", ScalarArg("f64", 0.25)),
        ("-inf:f32", ScalarArg("f32", float("-inf"))),
        ("4294967295:u32", ScalarArg("i32", -1)),
        ("200:u8", ScalarArg("u8", 200)),
        ("rows > 3:bool", ScalarArg("bool", 1)),
        ("1 << log2(cols)", ScalarArg("i32", 512)),
    ],
)
def test_an_argument_in_numbers(text: str, value: ResolvedArg) -> None:
    assert SCOPE.resolve(text) == value


def test_fields_lie_where_their_types_want_them() -> None:
    argument: Argument = ("1:i8", "x", "2:i16", ("3:u8", "0.5"), "null", "7:i8")
    fields = {0: ScalarArg("i8", 1), 8: BufferArg("x"), 16: ScalarArg("i16", 2), 20: ScalarArg("u8", 3)}
    fields |= {24: ScalarArg("f32", 0.5), 32: NullArg(), 40: ScalarArg("i8", 7)}
    assert SCOPE.resolve(argument) == StructArg(tuple(fields.items()), 48)


@pytest.mark.parametrize(
    "text", ["x * 2", "2 + x", "rows()", "f(rows)", "x[0]", "rows.real", "'a'", "128:i8", "2:bool"]
)
def test_what_is_no_argument_is_one_sentence(text: str) -> None:
    with pytest.raises(PlanError) as caught:
        SCOPE.resolve(text)
    assert "\n" not in str(caught.value)


def test_the_names_of_an_argument() -> None:
    argument: Argument = ("x + rows if i else null", ("sqrt(cols):f32", "1"))
    assert list(words_of(argument)) != [] and set(words_of(argument)) == {"x", "rows", "i", "cols"}


def test_an_empty_struct_has_the_byte_that_cpp_gives_it() -> None:
    assert SCOPE.resolve(()) == StructArg((), 1)
