"""A kernel as one Python module for PyTorch: compiled at its first call, registered as an operator.

The operator is defined by TORCH_LIBRARY in the compiled half and has a fake version for tracing, so that torch.compile
takes it as it is. It runs on the current stream and takes all its memory from PyTorch's allocator, at each call.
"""

from __future__ import annotations

from app.exports.arithmetic import FUNCTIONS, in_cpp
from app.exports.launcher import PLATFORM, Launcher
from app.exports.provenance import Provenance, lines_of
from app.exports.signature import Extent
from records.errors import UsageError
from sandbox.gpu.compile.dialect import headers
from sandbox.target import Target
from tasks.task import TensorSpec

TYPES = {
    "f64": ("torch.float64", "at::kDouble"),
    "f32": ("torch.float32", "at::kFloat"),
    "f16": ("torch.float16", "at::kHalf"),
    "bf16": ("torch.bfloat16", "at::kBFloat16"),
    "e4m3fnuz": ("torch.float8_e4m3fnuz", "at::kFloat8_e4m3fnuz"),
    "e5m2fnuz": ("torch.float8_e5m2fnuz", "at::kFloat8_e5m2fnuz"),
    "e4m3fn": ("torch.float8_e4m3fn", "at::kFloat8_e4m3fn"),
    "e5m2": ("torch.float8_e5m2", "at::kFloat8_e5m2"),
    "i64": ("torch.int64", "at::kLong"),
    "i32": ("torch.int32", "at::kInt"),
    "i16": ("torch.int16", "at::kShort"),
    "i8": ("torch.int8", "at::kChar"),
    "u8": ("torch.uint8", "at::kByte"),
    "bool": ("torch.bool", "at::kBool"),
}
_MODULE = '''\
"""{title}

{said}
"""

from __future__ import annotations

import torch
from torch.utils.cpp_extension import load_inline

KERNEL = r"""
{kernel}
"""
OPERATOR = r"""
{operator}
"""
load_inline(  # compiled when it is imported for the first time, then kept in PyTorch's folder of extensions
    name="{space}",
    cpp_sources=[OPERATOR],
    cuda_sources=[KERNEL],
    extra_cflags=["-std=c++20"],
    extra_cuda_cflags={flags},
    is_python_module=False,
    no_implicit_headers=True,
)


@torch.library.register_fake("{space}::{name}")
def _fake({fake_parameters}):
    """The outputs' shapes, for tracing."""
{fake}


def {name}({parameters}) -> {result}:
    """{title}

    {arguments}
    """
    return torch.ops.{space}.{name}({names})
'''


def torch_module(launcher: Launcher, target: Target, provenance: Provenance) -> str:
    """The module's text."""
    made = _TorchText(launcher, target)
    return made.module(provenance)


class _TorchText:
    def __init__(self, launcher: Launcher, target: Target) -> None:
        self._launcher, self._target, self._signature = launcher, target, launcher.signature
        self._space = f"{launcher.name}_{target.name}"
        unknown = [t.dtype for t in self._signature.buffers if t.dtype not in TYPES]
        if unknown:
            raise UsageError(f"PyTorch has no type for {unknown[0]}")

    def module(self, provenance: Provenance) -> str:
        """The whole file."""
        signature = self._signature
        asked = [*(t.name for t in signature.inputs), *signature.asked]
        typed = [f"{t.name}: torch.Tensor" for t in signature.inputs] + [f"{n}: int" for n in signature.asked]
        kernel = self._kernel()
        if '"""' in kernel:
            raise UsageError("the kernel holds three double quotes in a row, which a Python module cannot quote")
        outputs = len(signature.outputs)
        return _MODULE.format(
            title=self._launcher.task.title.rstrip(".") + ".",
            said="\n".join(lines_of(provenance)),
            space=self._space,
            name=self._launcher.name,
            kernel=kernel,
            operator=self._operator(),
            flags=self._flags(),
            fake_parameters=", ".join(asked),
            fake="\n".join(f"    {line}" for line in self._fake()),
            parameters=", ".join(typed),
            names=", ".join(asked),
            result="torch.Tensor" if outputs == 1 else f"tuple[{', '.join(['torch.Tensor'] * outputs)}]",
            arguments="\n    ".join(self._described(t) for t in signature.buffers),
        )

    def _described(self, tensor: TensorSpec) -> str:
        kind = "Returns" if tensor in self._signature.outputs else "Takes"
        layout = ", its columns dense" if tensor.layout == "column_major" else ""
        shape = ", ".join(tensor.shape)
        return f"{kind} {tensor.name}: {TYPES[tensor.dtype][0]} of shape [{shape}]{layout}."

    def _flags(self) -> str:
        if self._target.vendor == "nvidia":
            arch = self._target.arch.removeprefix("sm_")
            code = f"-gencode=arch=compute_{arch},code=sm_{arch}"
            flags = ["-std=c++20", "--expt-relaxed-constexpr", "--extra-device-vectorization", code]
        else:
            flags = ["-std=c++20", "-ffp-contract=fast-honor-pragmas", f"--offload-arch={self._target.arch}"]
        return "[" + ", ".join(f'"{flag}"' for flag in flags) + "]"

    def _fake(self) -> list[str]:
        """Python lines that make the outputs without computing anything."""
        rows = [f"{n} = {_python_extent(e)}" for n, e in self._signature.found.items()]
        device = self._signature.inputs[0].name
        made = []
        for tensor in self._signature.outputs:
            shape = [text.replace("ceil_div", "_ceil_div") for text in tensor.shape]
            turned = shape[::-1] if tensor.layout == "column_major" else shape
            text = f"{device}.new_empty(({', '.join(turned)}{',' if turned else ''}), dtype={TYPES[tensor.dtype][0]})"
            made.append(text + (".t()" if tensor.layout == "column_major" else ""))
        if any("_ceil_div" in text for text in made):
            rows.insert(0, "_ceil_div = lambda a, b: -(-a // b)  # noqa: E731")
        return [*rows, f"return {', '.join(made)}"]

    def _kernel(self) -> str:
        """The device code with its headers, and the launcher."""
        names = self._launcher.includes
        rows = [f"#include {name}" for name in names if not self._is_ours(name)]
        rows += [headers()[name[1:-1]] for name in names if self._is_ours(name)]
        return "\n".join([*rows, PLATFORM, self._launcher.text()])

    def _is_ours(self, name: str) -> bool:
        return self._target.vendor == "nvidia" and name[1:-1] in headers()

    def _operator(self) -> str:
        """The C++ function that PyTorch calls: checks, allocations, the launch."""
        signature, name = self._signature, self._launcher.name
        first = signature.inputs[0].name
        dims = {n: n for n in signature.dims}
        body = [line for tensor in signature.inputs for line in _checks(tensor, first)]
        body += [f"const int64_t {n} = {_cpp_extent(e)};" for n, e in signature.found.items()]
        known = {(extent.tensor, extent.axis) for extent in signature.found.values() if extent.divisor == 1}
        body += [line for tensor in signature.inputs for line in _shape_checks(tensor, dims, known)]
        body.append(f"const c10::cuda::CUDAGuard guard_({first}.device());")
        body += [_allocated(tensor, dims, first) for tensor in signature.outputs]
        scratch = f"{name}_scratch_bytes({', '.join(signature.dims)})"
        handed = [*(f"{tensor.name}.data_ptr()" for tensor in signature.buffers), *signature.dims]
        results = ", ".join(tensor.name for tensor in signature.outputs)
        body += [
            f"at::Tensor scratch_ = at::empty({{{scratch}}}, {first}.options().dtype(at::kByte));",
            "const auto stream_ = at::cuda::getCurrentCUDAStream();",
            f"const auto status_ = {name}_launch({', '.join(handed)}, scratch_.data_ptr(), stream_);",
            f'TORCH_CHECK(status_ == cudaSuccess, "{name} cannot be launched for these shapes, error ", int(status_));',
            f"return {f'{{{results}}}' if len(signature.outputs) > 1 else results};",
        ]
        head = [
            "#include <ATen/ATen.h>",
            "#include <ATen/cuda/CUDAContext.h>",
            "#include <c10/cuda/CUDAGuard.h>",
            "#include <torch/library.h>",
            "",
            f'extern "C" long long {name}_scratch_bytes({", ".join(f"long long {n}" for n in signature.dims)});',
            f'extern "C" cudaError_t {name}_launch({", ".join(self._launcher.parameters())}, void*, cudaStream_t);',
            "",
            "namespace {",
            FUNCTIONS.rstrip(),
            "}  // namespace",
            "",
            f"static {self._answer()} {name}_operator({', '.join(self._parameters())}) {{",
        ]
        return "\n".join([*head, *(f"    {line}" for line in body), "}", "", self._registration()])

    def _answer(self) -> str:
        results = len(self._signature.outputs)
        return "at::Tensor" if results == 1 else f"std::tuple<{', '.join(['at::Tensor'] * results)}>"

    def _parameters(self) -> list[str]:
        tensors = [f"const at::Tensor& {tensor.name}" for tensor in self._signature.inputs]
        return tensors + [f"int64_t {name}" for name in self._signature.asked]

    def _registration(self) -> str:
        signature, name = self._signature, self._launcher.name
        parameters = [f"Tensor {t.name}" for t in signature.inputs] + [f"int {n}" for n in signature.asked]
        results = len(signature.outputs)
        answer = "Tensor" if results == 1 else f"({', '.join(['Tensor'] * results)})"
        return "\n".join(
            [
                f'TORCH_LIBRARY({self._space}, m) {{ m.def("{name}({", ".join(parameters)}) -> {answer}"); }}',
                f'TORCH_LIBRARY_IMPL({self._space}, CUDA, m) {{ m.impl("{name}", &{name}_operator); }}',
            ]
        )


def _checks(tensor: TensorSpec, first: str) -> list[str]:
    name, axes, (python, cpp) = tensor.name, len(tensor.shape), TYPES[tensor.dtype]
    turned = tensor.layout == "column_major"
    dense = f"{name}.t().is_contiguous()" if turned else f"{name}.is_contiguous()"
    said = "have columns that are dense in memory" if turned else "be contiguous"
    where = f"{name}.device() == {first}.device()" if name != first else f"{name}.is_cuda()"
    return [
        f'TORCH_CHECK({where}, "{name} must be on {"a GPU" if name == first else f"the device of {first}"}");',
        f'TORCH_CHECK({name}.scalar_type() == {cpp}, "{name} must be {python}");',
        f'TORCH_CHECK({name}.dim() == {axes}, "{name} must have {axes} dimensions");',
        f'TORCH_CHECK({dense}, "{name} must {said}");',
    ]


def _shape_checks(tensor: TensorSpec, dims: dict[str, str], known: set[tuple[str, int]]) -> list[str]:
    rows = []
    for axis, text in enumerate(tensor.shape):
        if (tensor.name, axis) in known:
            continue
        wrong = f'"{tensor.name} must have the extent {text} along axis {axis}"'
        rows.append(f"TORCH_CHECK({tensor.name}.size({axis}) == {in_cpp(text, dims)}, {wrong});")
    return rows


def _allocated(tensor: TensorSpec, dims: dict[str, str], first: str) -> str:
    extents = [in_cpp(text, dims) for text in tensor.shape]
    turned = tensor.layout == "column_major"
    shape = ", ".join(extents[::-1] if turned else extents)
    options = f"{first}.options().dtype({TYPES[tensor.dtype][1]})"
    return f"at::Tensor {tensor.name} = at::empty({{{shape}}}, {options}){'.t()' if turned else ''};"


def _cpp_extent(extent: Extent) -> str:
    return f"{extent.tensor}.size({extent.axis})" + (f" / {extent.divisor}" if extent.divisor > 1 else "")


def _python_extent(extent: Extent) -> str:
    return f"{extent.tensor}.shape[{extent.axis}]" + (f" // {extent.divisor}" if extent.divisor > 1 else "")
