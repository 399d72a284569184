from __future__ import annotations

import numpy as np
import pytest

from tasks.dtypes import (
    NUMPY,
    is_float,
    numpy_dtype,
    size_bytes,
    smallest_normal,
    spacing_at,
    to_float64,
    unsigned_zeros,
)
from tasks.task import DTYPES


def test_every_declared_name_has_a_numpy_type_of_the_size_it_says() -> None:
    assert set(NUMPY) == set(DTYPES)
    sizes = {name: size_bytes(name) for name in DTYPES}
    assert sizes["f64"] == sizes["i64"] == 8
    assert sizes["f32"] == sizes["i32"] == 4
    assert sizes["f16"] == sizes["bf16"] == sizes["i16"] == 2
    assert {sizes[n] for n in ("e4m3fnuz", "e5m2fnuz", "e4m3fn", "e5m2", "i8", "u8", "bool")} == {1}


@pytest.mark.parametrize("name", ["f64", "f32", "f16", "bf16", "e4m3fnuz", "e5m2fnuz", "e4m3fn", "e5m2"])
@pytest.mark.parametrize("value", [1.0, 1.5, 3.0, 100.0])
def test_spacing_is_the_gap_to_the_next_value(name: str, value: float) -> None:
    dtype = numpy_dtype(name)
    here = np.array([value]).astype(dtype)
    unsigned = here.view(f"u{dtype.itemsize}")
    above = (unsigned + unsigned.dtype.type(1)).view(dtype)
    assert spacing_at(float(here[0]), dtype) == float(to_float64(above)[0] - to_float64(here)[0])


def test_spacing_stops_at_the_subnormal_gap_and_integers_have_none() -> None:
    assert spacing_at(0.0, numpy_dtype("f32")) == 2.0**-149
    assert spacing_at(0.0, numpy_dtype("e4m3fnuz")) == 2.0**-10
    assert spacing_at(12.0, numpy_dtype("i32")) == 0.0
    assert not is_float(numpy_dtype("bool"))


def test_fnuz_is_not_the_ocp_format() -> None:
    assert smallest_normal(numpy_dtype("e4m3fnuz")) == 2.0**-7
    assert smallest_normal(numpy_dtype("e4m3fn")) == 2.0**-6
    assert np.isnan(to_float64(np.array([0x80], np.uint8).view(numpy_dtype("e4m3fnuz"))))[0]


def test_a_signalling_nan_becomes_a_quiet_one_without_a_warning() -> None:
    words = np.array([0x7F800001, 0xFF800001, 0x3F800000], np.uint32)
    made = to_float64(words.view(np.float32))
    assert np.isnan(made[:2]).all() and made[2] == 1.0


@pytest.mark.parametrize("name", DTYPES)
def test_negative_zeros_lose_their_sign_and_no_other_value_changes(name: str) -> None:
    x = np.array([[-0.0, 0.0, 1.0], [1.0, -0.0, 0.0]]).astype(numpy_dtype(name))
    made = unsigned_zeros(x.T)
    assert made.dtype == x.dtype and np.array_equal(to_float64(made), to_float64(x.T))
    assert not np.signbit(to_float64(made)).any()
    every = np.arange(256, dtype=np.uint8).view(numpy_dtype("e4m3fnuz"))
    assert unsigned_zeros(every) is every  # 0x80 is NaN there
