"""Modifiers of lanes are read as gfx9 encodes them; what is not known is no modifier."""

from __future__ import annotations

import pytest

from sandbox.lab.build.lane_modifiers import Lanes, without_modifiers


@pytest.mark.parametrize(
    ("written", "lanes"),
    [
        ("quad_perm:[1,0,3,2]", Lanes(0xB1)),
        ("quad_perm:[2, 3, 0, 1] row_mask:0xa bank_mask:15", Lanes(0x4E, 10, 15)),
        ("row_shl:1", Lanes(0x101)),
        ("row_shr:15 bound_ctrl:0", Lanes(0x11F, is_zero=True)),
        ("row_ror:4 bound_ctrl:1", Lanes(0x124, is_zero=True)),
        ("row_newbcast:0", Lanes(0x150)),
        ("wave_shr:1", Lanes(0x138)),
        ("row_half_mirror", Lanes(0x141)),
        ("row_bcast:31 row_mask:0xc", Lanes(0x143, 0xC)),
    ],
)
def test_modifiers_become_the_control_word(written: str, lanes: Lanes) -> None:
    assert without_modifiers(f"v_add_f32_dpp %0, %1, %2 {written}") == ("v_add_f32_dpp %0, %1, %2", lanes)


def test_a_line_without_modifiers_stays() -> None:
    assert without_modifiers("v_add_f32 %0, %1, %2") == ("v_add_f32 %0, %1, %2", None)


@pytest.mark.parametrize(
    "written",
    [
        *("row_shl:0", "row_shr:16", "quad_perm:[0,1,2]", "quad_perm:[0,1,2,4]", "row_bcast:7", "row_mask:0xf"),
        *("row_shr:1 row_shl:1", "row_shr:1 bank_mask:16", "row_shr:1 bound_ctrl:2", "row_shr:1 clamp"),
    ],
)
def test_what_is_not_known_is_refused(written: str) -> None:
    assert without_modifiers(f"v_add_f32_dpp %0, %1, %2 {written}") is None
