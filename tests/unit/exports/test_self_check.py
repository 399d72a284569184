"""The stored answers of an export, and how its program reads the elements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from exports.self_check import VALUES, program, stored_cases
from exports.signature import signature_of
from tasks.compare import allowed, compare
from tasks.dtypes import NUMPY, numpy_dtype, to_float64
from tasks.loader import load_task
from tests.support.host_program import host_program, printed

MAIN = """
int main() {
    const char* types[] = {TYPES};
    for (const char* type : types) {
        const int width = type[0] == 'e' ? 1 : 2;
        for (unsigned bits = 0; bits < (width == 1 ? 256u : 65536u); ++bits) {
            const unsigned char at[2] = {(unsigned char)bits, (unsigned char)(bits >> 8)};
            printf("%.17g\\n", value_of(at, type));
        }
    }
}
"""


def test_every_narrow_number_is_read_as_numpy_reads_it(tmp_path: Path) -> None:
    types = ["f16", "bf16", "e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz"]
    path = tmp_path / "narrow.cpp"
    listed = ", ".join(f'"{name}"' for name in types)
    headers = "#include <math.h>\n#include <stdio.h>\n#include <string.h>\n"
    path.write_text(headers + VALUES + MAIN.replace("TYPES", listed), encoding="utf-8")
    numbers = np.array([float(line) for line in printed(host_program(path))])
    expected = []
    for name in types:
        codes = np.arange(1 << 8 * NUMPY[name].itemsize, dtype=np.uint8 if name[0] == "e" else np.uint16)
        with np.errstate(invalid="ignore"):  # some are no numbers
            expected.append(to_float64(codes.view(NUMPY[name])))
    np.testing.assert_array_equal(numbers, np.concatenate(expected))


@pytest.mark.parametrize("name", ["row_softmax", "fp8_block_gemm"])
def test_a_right_output_is_within_the_stored_limits_and_a_wrong_one_is_not(name: str) -> None:
    task = load_task(name, "mi300x")
    cases = stored_cases(task)
    assert 1 <= len(cases) <= 2
    for number, stored in enumerate(cases):
        inputs = task.draw(stored.case)
        right = task.baseline(inputs, stored.case)
        for tensor in task.outputs:
            files = stored.files
            want = np.frombuffer(files[f"case{number}.{tensor.name}.answer"])
            limit = np.frombuffer(files[f"case{number}.{tensor.name}.limit"])
            mine = to_float64(tensor.flatten(right[tensor.name].astype(numpy_dtype(tensor.dtype))))
            assert (np.abs(mine - want) <= limit).all()
            assert (np.abs(2 * mine + 1 - want) > limit).mean() > 0.9


def test_the_limit_is_the_largest_error_that_a_comparison_lets_pass() -> None:
    task = load_task("row_softmax", "mi300x")
    case = task.tests[-1]
    inputs = task.draw(case)
    reference, baseline = task.reference(inputs, case)["y"], task.baseline(inputs, case)["y"]
    limit = allowed(reference, baseline, np.dtype(np.float32), task.tolerance)
    worst = tuple(int(i) for i in np.unravel_index(np.argmax(np.abs(reference)), reference.shape))
    for share, is_right in ((0.9, True), (1.1, False)):
        moved = reference.copy()
        moved[worst] += share * limit[worst]
        assert compare(moved, reference, baseline, task.tolerance).correct is is_right


def test_the_program_names_each_case_and_each_file() -> None:
    task = load_task("fp8_block_gemm", "mi300x")
    cases = stored_cases(task)
    text = program("fp8_block_gemm", task, signature_of(task), cases)
    for stored in cases:
        assert stored.case.name in text
        assert all(f"/{path}" in text for path in stored.files)


def test_of_a_table_every_kernel_that_serves_a_test_has_a_stored_case() -> None:
    task = load_task("row_softmax", "mi300x")
    thresholds = (1, 31, 64, 1000)
    served = [
        sum(stored.case.dims["cols"] > most for most in thresholds)
        for stored in stored_cases(task, lambda case: sum(case.dims["cols"] > most for most in thresholds))
    ]
    assert sorted(set(served)) == [0, 1, 2, 3, 4] and len(served) <= 5
