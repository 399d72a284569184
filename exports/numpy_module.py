"""A kernel as one Python module for NumPy: a function of arrays, which copies them to the GPU and the results back.

The device code and its launcher are compiled by the vendor's compiler at the first call, kept by their digest, and
called through ctypes. Nothing but NumPy and that compiler is needed.
"""

from __future__ import annotations

from exports.argument_text import parameter
from exports.arithmetic import in_cpp
from exports.hip_project import MEMORY
from exports.launcher import PLATFORM, Launcher
from exports.provenance import Provenance, lines_of, spoken
from exports.python_signature import python_signature
from exports.signature import Extent, refuse_beyond
from exports.torch_operator import python_extent
from records.errors import UsageError
from sandbox.gpu.compile.dialect import headers
from sandbox.target import Target
from tasks.dtypes import size_bytes
from tasks.task import TensorSpec

TYPES = {
    **{"f64": "float64", "f32": "float32", "f16": "float16", "bool": "bool"},
    **{"i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8", "u8": "uint8"},
}
_MODULE = '''\
"""{title}

{said}
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

KERNEL = r"""
{kernel}
"""
COMPILER = {compiler}


@functools.cache
def _library():
    """Compile the kernel once and keep it in the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home) / "{name}-kernels"
    library = folder / f"{{hashlib.sha256(KERNEL.encode()).hexdigest()[:16]}}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            source, built = Path(scratch) / "{name}.{suffix}", Path(scratch) / library.name
            source.write_text(KERNEL)
            try:
                subprocess.run([*COMPILER, str(source), "-o", str(built)], check=True)
            except FileNotFoundError:
                raise RuntimeError(f"{{COMPILER[0]}} is not on the path: it compiles this kernel") from None
            built.replace(library)
    return ctypes.CDLL(str(library))


def _pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def _taken(name, array, dtype, axes):
    array = np.ascontiguousarray(array, dtype)
    if array.ndim != axes:
        raise ValueError(f"{{name}} must have {{axes}} axes, not {{array.ndim}}")
    return array


def {name}({parameters}):
    """{title}

    {arguments}
    """{guards}
{body}
'''
_ENTRY = """
{memory}
// All of one call: memory of the GPU, copies, the launch, and the results back.
extern "C" int {name}_call({parameters}) {{
    const long long sizes_[] = {{{sizes}}};
    void* host_[] = {{{host}}};
    void* gpu_[{count}] = {{}};
    int status_ = 0;
    for (int i = 0; i < {count} && !status_; ++i) status_ = int(KERNEL_MALLOC(&gpu_[i], sizes_[i] ? sizes_[i] : 1));
    for (int i = 0; i < {copied} && !status_; ++i)
        status_ = int(KERNEL_COPY(gpu_[i], host_[i], sizes_[i], KERNEL_TO_DEVICE));
    if (!status_) status_ = int({name}_launch({handed}));
    if (!status_) status_ = int(KERNEL_SYNCHRONISE());
    for (int i = {inputs}; i < {buffers} && !status_; ++i)
        status_ = int(KERNEL_COPY(host_[i], gpu_[i], sizes_[i], KERNEL_TO_HOST));
    for (int i = 0; i < {count}; ++i) KERNEL_FREE(gpu_[i]);
    return status_;
}}
"""


def numpy_module(launcher: Launcher, target: Target, provenance: Provenance) -> str:
    """Write the module's text; UsageError for a task that NumPy has no types or no arrays for."""
    signature, name = launcher.signature, launcher.name
    refuse_beyond(signature, "a NumPy module", scalars=True)
    for tensor in (*signature.all_inputs, *signature.outputs):
        if tensor.dtype not in TYPES or tensor.layout == "column_major":
            raise UsageError(f"NumPy has no arrays such as {tensor.name} ({tensor.dtype}, {tensor.layout}): --as hip")
    shown_dims = {**signature.input_dims, **signature.initial_dims}
    dims = [n for n in signature.dims if n not in shown_dims]
    kinds = {t.name: "np.ndarray" for t in signature.all_inputs} | dict.fromkeys(dims, "int")
    kinds |= {s.name: "float" for s in signature.scalars}
    parameters = python_signature(launcher.task, list(kinds), kinds)
    kernel = _kernel(launcher, target)
    if '"""' in kernel:
        raise UsageError("the kernel holds three double quotes in a row, which a Python module cannot quote")
    renamed = [f"{n} = {h}" for n, h in zip(kinds, parameters.handed, strict=True) if n != h]
    return _MODULE.format(
        title=spoken(launcher.task.title) + ".",
        said="\n".join(lines_of(provenance)),
        kernel=kernel,
        compiler=_compiler(target),
        name=name,
        suffix="cu" if target.vendor == "nvidia" else "hip",
        parameters=", ".join(parameters.declared),
        arguments="\n    ".join(_described(t, signature.outputs) for t in (*signature.all_inputs, *signature.outputs)),
        guards="".join(f"\n    {line}" for line in parameters.guards),
        body="\n".join(f"    {line}" for line in [*renamed, *_body(launcher, shown_dims)]),
    )


def _compiler(target: Target) -> str:
    if target.vendor == "nvidia":
        arch = target.arch.removeprefix("sm_")
        code = f"-gencode=arch=compute_{arch},code=sm_{arch}"
        words = ["nvcc", "-shared", "-Xcompiler", "-fPIC", "-std=c++20", "--expt-relaxed-constexpr", code]
    else:
        words = ["hipcc", "-shared", "-fPIC", "-std=c++20", "-O3", "-ffp-contract=fast-honor-pragmas"]
        words.append(f"--offload-arch={target.arch}")
    return repr(words)


def _kernel(launcher: Launcher, target: Target) -> str:
    """Write device code, launcher, and the function that ctypes calls."""
    is_cuda = target.vendor == "nvidia"
    own_headers = headers() if is_cuda else {}
    rows = [f"#include {n}" for n in launcher.includes if n[1:-1] not in own_headers]
    rows += [own_headers[n[1:-1]].replace("#pragma once\n", "") for n in launcher.includes if n[1:-1] in own_headers]
    runtime = "#include <cuda_runtime.h>" if is_cuda else "#include <hip/hip_runtime.h>"
    return "\n".join([runtime, *rows, PLATFORM, launcher.text(), _entry(launcher)])


def _entry(launcher: Launcher) -> str:
    signature, name = launcher.signature, launcher.name
    names = {n: n for n in signature.dims}
    buffers = [t.name for t in signature.buffers]
    sizes = [" * ".join([f"{size_bytes(t.dtype)}ll", *(in_cpp(e, names) for e in t.shape)]) for t in signature.buffers]
    pointers = [f"gpu_[{i}]" for i in range(len(buffers))]
    scratch = f"{name}_scratch_bytes({', '.join(signature.dims)})"
    handed = [*pointers, *signature.dims, *(s.name for s in signature.scalars), f"gpu_[{len(buffers)}]", "nullptr"]
    return _ENTRY.format(
        memory=MEMORY,
        name=name,
        parameters=", ".join(launcher.parameters(is_const=False)),
        sizes=", ".join([*sizes, scratch]),
        host=", ".join([*buffers, "nullptr"]),
        count=len(buffers) + 1,
        copied=len(buffers),
        inputs=len(signature.inputs),
        buffers=len(buffers),
        handed=", ".join(handed),
    )


def _body(launcher: Launcher, shown_dims: dict[str, Extent]) -> list[str]:
    signature = launcher.signature
    inputs = signature.all_inputs
    rows = [f'{t.name} = _taken("{t.name}", {t.name}, "{TYPES[t.dtype]}", {len(t.shape)})' for t in inputs]
    rows += [f"{n} = {python_extent(e)}" for n, e in shown_dims.items()]
    rows.insert(0, "ceil_div = lambda a, b: -(-a // b)  # noqa: E731")
    for tensor in inputs:
        rows.append(f"if {tensor.name}.shape != {_shape(tensor)}:")
        words = f"{tensor.name} must have the shape {{{_shape(tensor)}}}, not {{{tensor.name}.shape}}"
        rows.append(f'    raise ValueError(f"{words}")')
    for tensor in signature.outputs:
        new = f"{tensor.initial}.copy()" if tensor.initial else f'np.empty({_shape(tensor)}, "{TYPES[tensor.dtype]}")'
        rows.append(f"{tensor.name} = {new}")
    numbers = [f"ctypes.c_longlong({n})" for n in signature.dims]
    numbers += [
        f"ctypes.{'c_double' if parameter(s) == 'double' else 'c_longlong'}({s.name})" for s in signature.scalars
    ]
    handed = ", ".join([*(f"_pointer({t.name})" for t in signature.buffers), *numbers])
    results = ", ".join(t.name for t in signature.outputs)
    return [
        *rows,
        f"status = _library().{launcher.name}_call({handed})",
        "if status:",
        f'    raise RuntimeError(f"{launcher.name} cannot be launched for these shapes, error {{status}}")',
        f"return {results}",
    ]


def _shape(tensor: TensorSpec) -> str:
    return f"({', '.join(tensor.shape)}{',' if tensor.shape else ''})"


def _described(tensor: TensorSpec, outputs: tuple[TensorSpec, ...]) -> str:
    kind = "Returns" if tensor in outputs else "Takes"
    return f"{kind} {tensor.name}: {TYPES[tensor.dtype]} of shape [{', '.join(tensor.shape)}]."
