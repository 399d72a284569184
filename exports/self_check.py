"""A program that runs an exported kernel on stored inputs and compares its outputs with stored answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from exports.argument_text import number_in_cpp
from exports.signature import Signature
from records.errors import UsageError
from tasks.compare import allowed
from tasks.dtypes import numpy_dtype, size_bytes, to_float64
from tasks.task import Array, Case, Task

MOST_BYTES = 4 << 20  # of one case: inputs, answers and limits
VALUES = """\
// The value of an element of this type; fp8 as AMD's fnuz types and as the open formats have it.
inline double narrow(unsigned bits, int exponent_bits, int mantissa_bits, int bias, char kind) {
    const unsigned sign = bits >> (exponent_bits + mantissa_bits) & 1, most = (1u << exponent_bits) - 1;
    const unsigned exponent = bits >> mantissa_bits & most, mantissa = bits & ((1u << mantissa_bits) - 1);
    if (kind == 'u' && sign && exponent == 0 && mantissa == 0) return nan("");
    if (kind == 'n' && exponent == most && mantissa == (1u << mantissa_bits) - 1) return nan("");
    if (kind == 'i' && exponent == most) return mantissa ? nan("") : sign ? -INFINITY : INFINITY;
    const double fraction = ldexp(double(mantissa), -mantissa_bits) + (exponent ? 1.0 : 0.0);
    return (sign ? -1.0 : 1.0) * ldexp(fraction, int(exponent ? exponent : 1) - bias);
}

template <class T> double as(const unsigned char* at) {
    T value;
    memcpy(&value, at, sizeof value);
    return double(value);
}

inline double value_of(const unsigned char* at, const char* type) {
    const auto is = [type](const char* name) { return strcmp(type, name) == 0; };
    const unsigned wide = at[0] | (is("f16") || is("bf16") ? unsigned(at[1]) << 8 : 0u);
    if (is("f64")) return as<double>(at);
    if (is("f32")) return as<float>(at);
    if (is("f16")) return narrow(wide, 5, 10, 15, 'i');
    if (is("bf16")) return narrow(wide, 8, 7, 127, 'i');
    if (is("e4m3fn")) return narrow(wide, 4, 3, 7, 'n');
    if (is("e5m2")) return narrow(wide, 5, 2, 15, 'i');
    if (is("e4m3fnuz")) return narrow(wide, 4, 3, 8, 'u');
    if (is("e5m2fnuz")) return narrow(wide, 5, 2, 16, 'u');
    if (is("i64")) return double(as<long long>(at));
    if (is("i32")) return as<int>(at);
    if (is("i16")) return as<short>(at);
    if (is("i8")) return as<signed char>(at);
    return at[0];
}
"""
_PROGRAM = """\
// Runs {name} on the inputs in data/ and compares its outputs with the answers stored there.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "{name}.h"

namespace {{
{values}
using Bytes = std::vector<unsigned char>;

bool read(const std::string& path, Bytes& into) {{
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (!file) return false;
    const size_t count = std::fread(into.data(), 1, into.size(), file);
    std::fclose(file);
    return count == into.size();
}}

bool done(KERNEL_STATUS status, const char* what) {{
    if (status != KERNEL_OK) std::printf("%s failed with error %d\\n", what, int(status));
    return status == KERNEL_OK;
}}

// Memory of the GPU; outputs begin as noise.
void* on_gpu(const Bytes& bytes) {{
    void* memory = nullptr;
    if (!done(KERNEL_MALLOC(&memory, bytes.size() ? bytes.size() : 1), "an allocation")) return nullptr;
    if (!done(KERNEL_COPY(memory, bytes.data(), bytes.size(), KERNEL_TO_DEVICE), "a copy")) return nullptr;
    return memory;
}}

// Elements that are further from the answer than their limit.
long long wrong(const Bytes& got, const char* type, size_t width, const Bytes& want, const Bytes& limit) {{
    long long count = 0;
    for (size_t i = 0; i < want.size() / 8; ++i) {{
        const double value = value_of(&got[i * width], type), answer = as<double>(&want[8 * i]);
        const bool right = std::isfinite(answer) ? std::fabs(value - answer) <= as<double>(&limit[8 * i])
                           : std::isnan(answer)  ? std::isnan(value)
                                                 : value == answer;
        count += !right;
    }}
    return count;
}}

{cases}
}}  // namespace

int main(int count, char** words) {{
    const std::string folder = count > 1 ? words[1] : "data";
    bool right = true;
{calls}
    std::printf(right ? "passed\\n" : "FAILED\\n");
    return right ? 0 : 1;
}}
"""


@dataclass(frozen=True)
class StoredCase:
    """One case as files: their names below data/, and their bytes."""

    case: Case
    files: dict[str, bytes]


def stored_cases(task: Task, served_by: Callable[[Case], int] = lambda case: 0) -> list[StoredCase]:
    """Choose the smallest and the largest test whose data are small enough, and one for each other kernel of a table.

    `served_by` gives the number of the kernel that serves a case.
    """
    fitting = sorted((c for c in task.tests if _nbytes(task, c) <= MOST_BYTES), key=lambda c: _nbytes(task, c))
    if not fitting:
        raise UsageError(f"no test of {task.name} is small enough to be stored for a self-check; export it --as torch")
    chosen = {case.name: case for case in (fitting[0], fitting[-1])}
    for case in fitting:
        if served_by(case) not in {served_by(other) for other in chosen.values()}:
            chosen[case.name] = case
    return [_stored(task, case, f"case{n}") for n, case in enumerate(chosen.values())]


def _nbytes(task: Task, case: Case) -> int:
    elements = {t.name: prod(task.shape_of(t, case)) for t in (*task.inputs, *task.outputs)}
    return sum(elements[t.name] * size_bytes(t.dtype) for t in task.inputs) + sum(
        16 * elements[t.name] for t in task.outputs
    )


def _stored(task: Task, case: Case, prefix: str) -> StoredCase:
    inputs = task.draw(case)
    inputs_given = [t for t in task.inputs if t.name not in case.absent]
    files = {f"{prefix}.{t.name}": task.flatten(t, inputs[t.name], case).tobytes() for t in inputs_given}
    right, plain = task.reference(inputs, case), task.baseline(inputs, case)
    for tensor in task.outputs:
        dtype = numpy_dtype(tensor.dtype)
        limit = allowed(right[tensor.name], plain[tensor.name], dtype, task.tolerance_of(tensor))
        with np.errstate(over="ignore", invalid="ignore"):
            narrow = to_float64(right[tensor.name].astype(dtype))
        want: Array = np.where(np.isfinite(narrow), to_float64(right[tensor.name]), narrow)
        files[f"{prefix}.{tensor.name}.answer"] = tensor.flatten(want).tobytes()
        files[f"{prefix}.{tensor.name}.limit"] = tensor.flatten(limit).tobytes()
    return StoredCase(case, files)


def program(name: str, task: Task, signature: Signature, cases: list[StoredCase]) -> str:
    """Write the C++ text of the program."""
    functions = [_function(name, task, signature, stored.case, f"case{n}") for n, stored in enumerate(cases)]
    calls = "\n".join(f"    right = case{n}(folder) && right;" for n in range(len(cases)))
    return _PROGRAM.format(name=name, values=VALUES, cases="\n".join(functions), calls=calls)


def _function(name: str, task: Task, signature: Signature, case: Case, prefix: str) -> str:
    dims = ", ".join(f"{case.dims[dim]}ll" for dim in signature.dims)
    rows = [f"// {case.name}", f"bool {prefix}(const std::string& folder) {{"]
    tensors = [tensor for tensor in signature.buffers if tensor.name not in case.absent]
    for tensor in tensors:
        rows.append(f"    Bytes {tensor.name}({task.length_of(tensor, case) * size_bytes(tensor.dtype)}, 0xa5);")
    begun = [(f"{prefix}.{t.initial or t.name}", t.name) for t in tensors if t.initial or t in signature.inputs]
    rows += [_read(file, name) for file, name in begun]
    rows += [f"    void* {t.name}_gpu = on_gpu({t.name});" for t in tensors]
    rows.append(f"    void* scratch_gpu = on_gpu(Bytes({name}_scratch_bytes({dims}), 0xa5));")
    pointers = [f"{t.name}_gpu" for t in tensors]
    handed = [f"{t.name}_gpu" if t in tensors else "nullptr" for t in signature.buffers]
    values = [dims, *(number_in_cpp(replace(s, value=case.scalars[s.name])) for s in signature.scalars)]
    launched = f"{name}_launch({', '.join([*handed, *values])}, scratch_gpu, nullptr)"
    rows += [
        f"    if (!({' && '.join([*pointers, 'scratch_gpu'])})) return false;",
        f'    if (!done({launched}, "the launch")) return false;',
        '    if (!done(KERNEL_SYNCHRONISE(), "the kernel")) return false;',
        "    long long failed = 0;",
    ]
    for tensor in signature.outputs:
        elements = prod(task.shape_of(tensor, case))
        copy = f"KERNEL_COPY({tensor.name}.data(), {tensor.name}_gpu, {tensor.name}.size(), KERNEL_TO_HOST)"
        rows += [
            f'    if (!done({copy}, "a copy")) return false;',
            f"    Bytes {tensor.name}_answer({8 * elements}), {tensor.name}_limit({8 * elements});",
            _read(f"{prefix}.{tensor.name}.answer", f"{tensor.name}_answer"),
            _read(f"{prefix}.{tensor.name}.limit", f"{tensor.name}_limit"),
            f'    failed += wrong({tensor.name}, "{tensor.dtype}", {size_bytes(tensor.dtype)}, '
            f"{tensor.name}_answer, {tensor.name}_limit);",
        ]
    rows += [f"    KERNEL_FREE({pointer});" for pointer in [*pointers, "scratch_gpu"]]
    rows += [f'    std::printf("{case.name}: %lld elements wrong\\n", failed);', "    return failed == 0;", "}", ""]
    return "\n".join(rows)


def _read(file: str, into: str) -> str:
    message = f'std::printf("%s/{file} cannot be read\\n", folder.c_str())'
    return f'    if (!read(folder + "/{file}", {into})) return {message}, false;'
