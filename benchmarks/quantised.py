"""Verdicts on kernels that quantise: right ones in other orders of operations, and wrong ones.

    python -m benchmarks.quantised [--draws 50]

Ten references round to integers on the way. A right kernel computes one of them in float32 with a drawn way to divide,
to sum and to round ties; a wrong one is off by a step here and there, takes another scale, cuts off, or rounds exact
ties towards zero where the task states another way. Outputs are computed by NumPy and judged as the judge does.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from benchmarks.quantised_forms import (
    FORMS,
    TIES,
    Arithmetic,
    Form,
    Rng,
    away,
    by_hardware,
    by_reciprocal,
    drawn,
    exact_division,
    in_order,
    to_zero,
)
from tasks.compare import compare
from tasks.dtypes import Array, to_float64
from tasks.roundings import Admitted, admitted
from tasks.tolerance import Tolerance

CASES = 6  # that a wrong kernel meets
TOLERANCE = Tolerance(2.0)


def right(rng: Rng) -> Arithmetic:
    """Draw how a right kernel computes, in float32."""
    divisions = (exact_division, by_reciprocal, by_hardware(rng))
    totals, wholes = (Arithmetic.total, in_order), (np.rint, away, to_zero)
    return Arithmetic(
        np.float32,
        divide=divisions[int(rng.integers(len(divisions)))],
        total=totals[int(rng.integers(len(totals)))],
        whole=wholes[int(rng.integers(len(wholes)))],
    )


@dataclass(frozen=True)
class Expected:
    """Inputs, and all that their task says of the outputs of a form."""

    form: Form
    inputs: Mapping[str, Array]
    reference: Mapping[str, Array] = field(init=False)
    baseline: Mapping[str, Array] = field(init=False)
    admit: Callable[[], dict[str, dict[str, Array]]] = field(init=False)

    def __post_init__(self) -> None:
        def reference(inputs: Any, case: Any) -> dict[str, Array]:
            return {name: to_float64(x) for name, x in self.form(inputs, Arithmetic()).items()}

        def baseline(inputs: Any, case: Any) -> dict[str, Array]:
            return self.form(inputs, Arithmetic(np.float32, total=in_order))  # as a loop adds

        object.__setattr__(self, "reference", reference(self.inputs, None))
        object.__setattr__(self, "baseline", baseline(self.inputs, None))
        families = admitted(lambda i, c: self.form(i, Arithmetic()), baseline)
        object.__setattr__(self, "admit", lambda: families(self.inputs, None, TOLERANCE.ratio))

    def accepts(self, outputs: Mapping[str, Array], *, stated: bool = False) -> bool:
        """Tell whether the judge accepts all outputs; `stated`: where the task states how ties go."""

        def other(name: str) -> Admitted | None:
            ends = self.admit()
            tied = ends["tied"][name] if ends and stated else None
            return Admitted(ends["low"][name], ends["high"][name], tied) if ends else None

        return all(
            compare(
                values.astype(self.baseline[name].dtype),
                self.reference[name],
                self.baseline[name],
                TOLERANCE,
                admitted=lambda name=name: other(name),  # type: ignore[misc]
            ).correct
            for name, values in outputs.items()
        )


def _off_by_a_step(form: Form) -> Form:
    """Give codes of which a few are a step too large."""

    def wrong(inputs: Mapping[str, Array], how: Arithmetic) -> dict[str, Array]:
        def whole(x: Any) -> Any:
            codes = np.array(np.rint(x))
            codes.reshape(-1)[5::997] += 1
            return codes

        return form(inputs, replace(how, whole=whole))

    return wrong


def wrong_kernels(form: Form) -> dict[str, tuple[Callable[[Mapping[str, Array]], dict[str, Array]], bool]]:
    """Give by name what wrong kernels of this form compute, and whether they meet stated ties."""
    plain = Arithmetic(np.float32)
    last: tuple[str, Arithmetic, bool] = (
        "rounds up from .49",
        replace(plain, whole=lambda x: np.floor(x + 0.51)),
        False,
    )
    if form in TIES:
        last = ("ties towards zero", replace(plain, whole=to_zero), True)
    ways = (
        ("scale of 128", replace(plain, most=128.0), False),
        ("cuts off", replace(plain, whole=np.trunc), False),
        last,
    )
    kernels = {name: (lambda inputs, how=how: form(inputs, how), tied) for name, how, tied in ways}
    return {"a step": (lambda inputs: _off_by_a_step(form)(inputs, plain), False), **kernels}


def refused_right(draws: int, seed: int = 0) -> list[str]:
    """Name the forms of right kernels that are refused, one for each refusal."""
    rng, refused = np.random.default_rng(seed), list[str]()
    for number in range(draws):
        inputs = drawn(rng, tied=number % 5 == 0)
        for form in FORMS:
            how = right(rng)
            if not Expected(form, inputs).accepts(form(inputs, how)):
                refused.append(form.__name__)
    return refused


def accepted_wrong(seed: int = 0) -> list[str]:
    """Name the wrong kernels that every case accepts."""
    rng, accepted = np.random.default_rng(seed), list[str]()
    for form in FORMS:
        for name, (kernel, tied) in wrong_kernels(form).items():
            cases = (drawn(rng, tied=tied) for _ in range(CASES))
            if all(Expected(form, inputs).accepts(kernel(inputs), stated=tied) for inputs in cases):
                accepted.append(f"{form.__name__}: {name}")
    return accepted


def main() -> None:
    """Print both counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--draws", type=int, default=50)
    draws = parser.parse_args().draws
    refused, accepted = refused_right(draws), accepted_wrong()
    print(f"right quantising kernels refused: {len(refused)} of {draws * len(FORMS)} {sorted(set(refused)) or ''}")
    total = sum(len(wrong_kernels(form)) for form in FORMS)
    print(f"wrong quantising kernels accepted: {len(accepted)} of {total} {accepted or ''}")


if __name__ == "__main__":
    main()
