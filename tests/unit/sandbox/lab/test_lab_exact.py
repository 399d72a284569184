"""Exact arithmetic of matrix instructions, bit for bit: against outputs of MMA-Sim, stored ones and its own.

NaN of f32 and f64 instructions may carry any payload; all others give 0x7FFFFFFF. One rule departs from MMA-Sim 2.1.1:
8-bit instructions keep an accumulator that is infinite or NaN. There it counts as if its exponent were -1, so that a
product of 2^25 or more would drop it and leave a finite sum.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sandbox.lab.lab import Execution
from tasks.loader import load_task
from tests.support.exact_cases import FLOATS, SETS, WORDS, operands, stored_sets
from tests.support.lab_bench import evaluator, execute, launch
from tests.support.matrix_layouts import NUMPY, from_lanes, in_lanes, kernel, operand, product, result_type, types_of

STORED = Path(__file__).parents[3] / "data" / "lab" / "mmasim_2_1_1.npz.gz"
Case = tuple[str, str, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]  # instruction, set, A, B, C


def bits(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.ascontiguousarray(values).view(WORDS[values.dtype.itemsize])


def run(cases: list[Case]) -> dict[tuple[str, str], npt.NDArray[Any]]:
    """D of each case, from one program."""
    source, launches = "", []
    inputs: dict[str, npt.NDArray[Any]] = {}
    outputs: dict[str, npt.NDArray[Any]] = {}
    for i, (name, _, *matrices) in enumerate(cases):
        source += kernel(i, name, "0, 0, 0")
        inputs |= {f"{m}{i}": in_lanes(name, m, values) for m, values in zip("ABC", matrices, strict=True)}
        outputs[f"D{i}"] = np.zeros_like(inputs[f"C{i}"])
        launches.append(launch(f"k{i}", [f"{m}{i}" for m in "ABCD"]))
    execution: Execution = execute(source, launches, inputs, outputs, exact=True)
    assert execution.findings == ()
    return {(name, kind): from_lanes(name, execution.outputs[f"D{i}"]) for i, (name, kind, *_) in enumerate(cases)}


def in_parts(cases: Iterable[Case]) -> dict[tuple[str, str], npt.NDArray[Any]]:
    """As `run`, several programs of one size: a program holds a limited number of buffers."""
    listed = list(cases)
    results: dict[tuple[str, str], npt.NDArray[Any]] = {}
    for start in range(0, len(listed), 40):
        results |= run(listed[start : start + 40])
    return results


def kept_accumulator(name: str, a: npt.NDArray[Any], b: npt.NDArray[Any], c: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Where the one departure can show: an 8-bit instruction whose C is not finite."""
    if types_of(name)[0] not in ("fp8", "bf8"):
        return np.zeros(c.shape, bool)
    return np.asarray(~np.isfinite(c))


def same(name: str, actual: npt.NDArray[Any], expected: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    equal = bits(actual) == bits(expected)
    if types_of(name)[0] in ("f32", "f64"):
        equal |= np.isnan(actual) & np.isnan(expected)
    return np.asarray(equal)


def check(name: str, case: Case, actual: npt.NDArray[Any], expected: npt.NDArray[Any]) -> None:
    wrong = ~same(name, actual, expected) & ~kept_accumulator(name, *case[2:])
    positions = np.argwhere(wrong)
    assert positions.size == 0, [(p, actual[tuple(p)], expected[tuple(p)]) for p in positions[:5].tolist()]


@pytest.fixture(scope="module")
def stored() -> dict[tuple[str, str], tuple[Case, npt.NDArray[Any]]]:
    with np.load(io.BytesIO(gzip.decompress(STORED.read_bytes()))) as file:
        loaded = {}
        for name in FLOATS:
            types = [*(NUMPY[t] for t in types_of(name)), result_type(name), result_type(name)]
            for kind in stored_sets(name):
                a, b, c, d = (
                    file[f"{name.removeprefix('v_mfma_')}.{kind}.{m}"].view(t)
                    for m, t in zip("ABCD", types, strict=True)
                )
                loaded[name, kind] = (name, kind, a, b, c), d
    return loaded


@pytest.fixture(scope="module")
def from_stored(
    stored: dict[tuple[str, str], tuple[Case, npt.NDArray[Any]]],
) -> dict[tuple[str, str], npt.NDArray[Any]]:
    return in_parts(case for case, _ in stored.values())


@pytest.mark.parametrize("name", FLOATS)
def test_stored_outputs_of_the_model(stored: Any, from_stored: Any, name: str) -> None:
    compared = 0
    for kind in stored_sets(name):
        case, expected = stored[name, kind]
        check(name, case, from_stored[name, kind], expected)
        compared += expected.size
    assert compared > 250


def test_the_stored_cases_tell_the_modes_apart(stored: Any) -> None:
    """Every narrow type has cases in which the exact result is not the rounded true sum."""
    for kind in ("f16", "bf16", "xf32", "fp8", "bf8"):
        different = 0
        for (name, which), ((_, _, a, b, c), d) in stored.items():
            if types_of(name)[0] == kind and which != "edges":
                different += int((bits((c + product(a, b)).astype(np.float32)) != bits(d)).sum())
        assert different > 20, kind


def test_an_accumulator_that_is_not_finite_is_kept() -> None:
    name = "v_mfma_f32_16x16x32_bf8_bf8"
    a, b = (np.zeros_like(operand(name, m)) for m in "AB")
    a[..., 0], b[:, 0] = 2.0**14, 2.0**14
    c = np.resize(np.array([np.inf, -np.inf, np.nan, 1], np.float32), (1, 16, 16))
    actual = run([(name, "c", a, b, c)])[name, "c"]
    assert np.array_equal(actual, np.where(np.isfinite(c), 2.0**28, c), equal_nan=True)


@pytest.fixture(scope="module")
def fresh() -> dict[tuple[str, str], tuple[Case, npt.NDArray[Any], npt.NDArray[Any]]]:
    """Other cases of every set, by the lab and by the package."""
    torch = pytest.importorskip("torch")
    sim = pytest.importorskip("mmasim.amd.sim")
    torch_types = {
        "f64": torch.float64,
        "f32": torch.float32,
        "xf32": torch.float32,
        "f16": torch.float16,
        "bf16": torch.bfloat16,
        "fp8": torch.float8_e4m3fnuz,
        "bf8": torch.float8_e5m2fnuz,
    }
    signed = {1: np.uint8, 2: np.int16, 4: np.int32, 8: np.int64}

    def tensor(values: npt.NDArray[Any], kind: str) -> Any:
        words = np.ascontiguousarray(values).view(signed[values.dtype.itemsize])
        return torch.from_numpy(words.copy()).view(torch_types[kind])

    cases: list[Case] = [(name, kind, *operands(name, kind)) for name in FLOATS for kind in SETS]
    ours, computed = in_parts(cases), {}
    for name, kind, a, b, c in cases:
        multiply = sim.MFMA("CDNA3", name.removeprefix("v_mfma_"))
        types = (*types_of(name), "f64" if "f64" in name else "f32")
        theirs = np.stack(
            [multiply(*(tensor(x[i], t) for x, t in zip((a, b, c), types, strict=True))).numpy() for i in range(len(a))]
        )
        computed[name, kind] = (name, kind, a, b, c), ours[name, kind], theirs
    return computed


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("name", FLOATS)
def test_every_case_of_the_package(fresh: Any, name: str, kind: str) -> None:
    case, ours, theirs = fresh[name, kind]
    check(name, case, ours, theirs)


def test_an_exact_evaluation_is_another_one() -> None:
    fast, exact = (evaluator(0, exact=e) for e in (False, True))
    task = load_task("rms_norm")
    assert fast.key(fast.prepare("x", task)) != exact.key(exact.prepare("x", task))
