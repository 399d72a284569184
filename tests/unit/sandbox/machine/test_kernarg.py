from __future__ import annotations

import struct
from typing import Any

import pytest

from records.errors import PlanError
from sandbox.candidate.resolve import BufferArg, NullArg, ResolvedLaunch, ScalarArg, StructArg
from sandbox.machine.kernarg import layout_of, pack

POINTER = {".value_kind": "global_buffer", ".size": 8}
X, Y = 4 << 48, (4 << 48) + 4096


def value(offset: int, size: int, kind: str = "by_value") -> dict[str, Any]:
    return {".value_kind": kind, ".offset": offset, ".size": size}


def pointer(offset: int) -> dict[str, Any]:
    return {**POINTER, ".offset": offset}


def entry(*args: dict[str, Any], size: int = 64) -> dict[str, Any]:
    return {".name": "k", ".kernarg_segment_size": size, ".args": list(args)}


def launch(*args: Any, lds: int = 0) -> ResolvedLaunch:
    return ResolvedLaunch("k", (7, 5, 3), (64, 2, 1), lds, args, line=4)


def test_explicit_arguments_lie_where_the_metadata_says() -> None:
    layout = layout_of(entry(pointer(0), value(8, 4), value(16, 8), value(24, 2), value(26, 1), pointer(32)))
    arguments = (
        BufferArg("x", 16),
        ScalarArg("i32", -2),
        ScalarArg("f64", 0.1),
        ScalarArg("bf16", 1.0),
        ScalarArg("i8", -1),
        NullArg(),
    )
    data = pack(layout, launch(*arguments), {"x": X})
    assert len(data) == 64
    assert data[:12] == struct.pack("<Qi", X + 16, -2)
    assert data[16:27] == struct.pack("<dHb", 0.1, 0x3F80, -1)
    assert not any(data[27:])


def test_a_struct_keeps_the_places_of_its_fields() -> None:
    layout = layout_of(entry(value(0, 24), pointer(24)))
    fields = ((0, ScalarArg("i8", 5)), (8, ScalarArg("f32", 2.0)), (16, BufferArg("y")))
    data = pack(layout, launch(StructArg(fields, 24), BufferArg("x")), {"x": X, "y": Y})
    assert data[:32] == struct.pack("<b7xf4xQQ", 5, 2.0, Y, X)


def test_hidden_arguments_say_what_hip_says_of_a_launch() -> None:
    rows = [value(8 + 4 * i, 4, f"hidden_block_count_{axis}") for i, axis in enumerate("xyz")]
    rows += [value(20 + 2 * i, 2, f"hidden_group_size_{axis}") for i, axis in enumerate("xyz")]
    rows += [value(26 + 2 * i, 2, f"hidden_remainder_{axis}") for i, axis in enumerate("xyz")]
    rows += [value(32 + 8 * i, 8, f"hidden_global_offset_{axis}") for i, axis in enumerate("xyz")]
    rows += [value(56, 2, "hidden_grid_dims"), value(60, 4, "hidden_dynamic_lds_size")]
    rows += [value(64, 8, "hidden_hostcall_buffer")]
    data = pack(layout_of(entry(pointer(0), *rows, size=72)), launch(BufferArg("x"), lds=1024), {"x": X})
    assert data == struct.pack("<Q3I3H3HQQQH2xIQ", X, 7, 5, 3, 64, 2, 1, 0, 0, 0, 0, 0, 0, 3, 1024, 0)


def test_scratch_pointers_of_a_compiler_are_null_and_no_launch_passes_them() -> None:
    rows = (pointer(0), value(8, 4), pointer(16), pointer(24), value(32, 4, "hidden_block_count_x"))
    layout = layout_of(entry(*rows), nulls=2)
    assert len(layout.explicit) == 2
    data = pack(layout, launch(BufferArg("x"), ScalarArg("i32", 9)), {"x": X})
    assert data[:36] == struct.pack("<Qi4xQQI", X, 9, 0, 0, 7)
    with pytest.raises(PlanError, match="lacks the 2 scratch pointers"):
        layout_of(entry(pointer(0), value(8, 4)), nulls=2)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "passes 0 arguments to k, but the kernel takes 2"),
        ((ScalarArg("i32", 1), ScalarArg("i32", 1)), "argument 1 of k: .* takes a pointer"),
        ((BufferArg("x"), BufferArg("x")), "argument 2 of k: .* takes a value of 4 bytes"),
        ((BufferArg("x"), ScalarArg("i64", 1)), "argument 2 of k: the plan passes i64"),
        ((BufferArg("x"), StructArg((), 8)), "argument 2 of k: the plan passes a struct of 8 bytes"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_in_a_sentence_with_the_line(
    arguments: tuple[Any, ...], expected: str
) -> None:
    with pytest.raises(PlanError, match=expected) as caught:
        pack(layout_of(entry(pointer(0), value(8, 4))), launch(*arguments), {"x": X})
    assert caught.value.line == 4


def test_a_block_that_its_hidden_argument_cannot_hold_is_refused() -> None:
    layout = layout_of(entry(value(0, 2, "hidden_group_size_x")))
    wide = ResolvedLaunch("k", (1, 1, 1), (1 << 16, 1, 1), 0, (), 2)
    with pytest.raises(PlanError, match="group_size_x of k is 65536, more than 2 bytes hold"):
        pack(layout, wide, {})


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        ({**entry(), ".kernarg_segment_size": -1}, "needs .kernarg_segment_size"),
        ({**entry(), ".kernarg_segment_size": 1 << 40}, "needs .kernarg_segment_size"),
        ({**entry(), ".args": "x"}, "needs .args, a list"),
        (entry({".offset": 0}), "argument 1 .* needs .offset, .size and .value_kind"),
        (entry(value(-8, 8)), "argument 1 .* needs .offset"),
        (entry(value(60, 8)), "ends behind the 64 bytes"),
        (entry(value(0, 8), value(4, 4)), "argument 2 .* begins before its predecessor ends"),
        (entry(value(0, 8, "image")), "is a 'image'"),
        (entry(value(0, 4, "global_buffer")), "a pointer of 4 bytes"),
    ],
)
def test_metadata_that_contradicts_itself_is_refused(broken: dict[str, Any], expected: str) -> None:
    with pytest.raises(PlanError, match=expected):
        layout_of(broken)
