"""Matrix instructions that round as the matrix cores do, bit for bit: against stored outputs of MMA-Sim.

NaN of f32 and f64 instructions may carry any payload; all others give 0x7FFFFFFF. One rule departs from MMA-Sim 2.1.1:
8-bit instructions keep an accumulator that is infinite or NaN. There it counts as if its exponent were -1, so that a
product of 2^25 or more would drop it and leave a finite sum.
"""

from __future__ import annotations

import functools
import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.support.exact_cases import FLOATS, SETS, WORDS, operands, stored_sets
from tests.support.matrix_layouts import NUMPY, from_lanes, in_lanes, product, result_type, types_of
from tests.support.matrix_steps import A_AT, B_AT, C_AT, Registers, Step, dwords, run

STORED = Path(__file__).parents[3] / "data" / "lab" / "mmasim_2_1_1.npz.gz"
Matrices = tuple[npt.NDArray[Any], ...]  # A, B, C: [block, row, column]


@functools.cache
def stored(name: str) -> dict[str, Matrices]:
    """A, B, C and D of each stored set."""
    types = [*(NUMPY[t] for t in types_of(name)), result_type(name), result_type(name)]
    with np.load(io.BytesIO(gzip.decompress(STORED.read_bytes()))) as file:
        return {
            kind: tuple(
                file[f"{name.removeprefix('v_mfma_')}.{kind}.{m}"].view(t) for m, t in zip("ABCD", types, strict=True)
            )
            for kind in stored_sets(name)
        }


def multiply(name: str, cases: list[Matrices], is_exact: bool = True) -> list[npt.NDArray[Any]]:
    """D of each case."""
    steps = []
    for a, b, c, *_ in cases:
        registers = Registers()
        for register, matrix, values in ((A_AT, "A", a), (B_AT, "B", b), (C_AT, "C", c)):
            registers.put(register, in_lanes(name, matrix, values))
        steps.append(Step(name, registers, is_exact=is_exact))
    return [from_lanes(name, after.get(C_AT, dwords(name)[2])) for after in run(steps)]


def bits(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.ascontiguousarray(values).view(WORDS[values.dtype.itemsize])


def check(name: str, case: Matrices, actual: npt.NDArray[Any], expected: npt.NDArray[Any]) -> None:
    equal = bits(actual) == bits(expected)
    if types_of(name)[0] in ("f32", "f64"):
        equal |= np.isnan(actual) & np.isnan(expected)
    if types_of(name)[0] in ("fp8", "bf8"):
        equal |= ~np.isfinite(case[2])
    positions_wrong = np.argwhere(~equal)
    assert positions_wrong.size == 0, [(p, actual[tuple(p)], expected[tuple(p)]) for p in positions_wrong[:5].tolist()]


@pytest.mark.parametrize("name", FLOATS)
def test_stored_outputs_of_the_model(name: str) -> None:
    cases = list(stored(name).values())
    for case, actual in zip(cases, multiply(name, cases), strict=True):
        check(name, case, actual, case[3])
    assert sum(case[3].size for case in cases) > 250


@pytest.mark.parametrize("name", [n for n in FLOATS if types_of(n)[0] in ("f32", "f64")])
def test_f32_and_f64_are_exact_in_either_mode(name: str) -> None:
    cases = list(stored(name).values())
    for case, actual in zip(cases, multiply(name, cases, is_exact=False), strict=True):
        check(name, case, actual, case[3])


def test_the_stored_cases_tell_the_modes_apart() -> None:
    """Every narrow type has cases in which the exact result is neither the rounded true sum nor the default mode's."""
    for kind in ("f16", "bf16", "xf32", "fp8", "bf8"):
        from_true, from_default = 0, 0
        for name in (n for n in FLOATS if types_of(n)[0] == kind):
            cases = [case for which, case in stored(name).items() if which != "edges"]
            for (a, b, c, d), fast in zip(cases, multiply(name, cases, is_exact=False) if cases else [], strict=True):
                from_true += int((bits((c + product(a, b)).astype(np.float32)) != bits(d)).sum())
                from_default += int((bits(fast) != bits(d)).sum())
        assert from_true > 20 and from_default > 20, kind


def test_an_accumulator_that_is_not_finite_is_kept() -> None:
    name = "v_mfma_f32_16x16x32_bf8_bf8"
    a, b, _ = operands(name, "near")
    a, b = np.zeros_like(a), np.zeros_like(b)
    a[..., 0], b[:, 0] = 2.0**14, 2.0**14
    c = np.resize(np.array([np.inf, -np.inf, np.nan, 1], np.float32), (1, 16, 16))
    (actual,) = multiply(name, [(a, b, c)])
    assert np.array_equal(actual, np.where(np.isfinite(c), 2.0**28, c), equal_nan=True)


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("name", FLOATS)
def test_every_case_of_the_package(name: str, kind: str) -> None:
    """Other cases of every set, by the package itself where it is installed."""
    torch = pytest.importorskip("torch")
    sim = pytest.importorskip("mmasim.amd.sim")
    torch_types = {
        "f64": torch.float64, "f32": torch.float32, "xf32": torch.float32, "f16": torch.float16,
        "bf16": torch.bfloat16, "fp8": torch.float8_e4m3fnuz, "bf8": torch.float8_e5m2fnuz,
    }  # fmt: skip
    signed = {1: np.uint8, 2: np.int16, 4: np.int32, 8: np.int64}

    def tensor(values: npt.NDArray[Any], element: str) -> Any:
        words = np.ascontiguousarray(values).view(signed[values.dtype.itemsize])
        return torch.from_numpy(words.copy()).view(torch_types[element])

    case = operands(name, kind)
    (actual,) = multiply(name, [case])
    by_package = sim.MFMA("CDNA3", name.removeprefix("v_mfma_"))
    types = (*types_of(name), "f64" if "f64" in name else "f32")
    expected = np.stack(
        [by_package(*(tensor(x[i], t) for x, t in zip(case, types, strict=True))).numpy() for i in range(len(case[0]))]
    )
    check(name, case, actual, expected)
