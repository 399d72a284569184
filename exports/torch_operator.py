"""A kernel as a C++ function of PyTorch's tensors: checks, memory from PyTorch's allocator at each call, the launch.

The function either returns new outputs or writes into outputs that it is given. Every format for PyTorch wraps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from exports.argument_text import parameter
from exports.arithmetic import FUNCTIONS, in_cpp
from exports.launcher import PLATFORM, Launcher
from exports.signature import Extent
from records.errors import UsageError
from records.quantity import counted
from sandbox.gpu.compile.dialect import headers
from sandbox.target import Target
from tasks.task import ScalarSpec, TensorSpec

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
LEFT_OUT = {  # what PyTorch defines for every extension, by which halves lose their operators and conversions
    "amd": ("__HIP_NO_HALF_OPERATORS__", "__HIP_NO_HALF_CONVERSIONS__"),
    "nvidia": (
        *("__CUDA_NO_HALF_OPERATORS__", "__CUDA_NO_HALF_CONVERSIONS__"),
        *("__CUDA_NO_HALF2_OPERATORS__", "__CUDA_NO_BFLOAT16_CONVERSIONS__"),
    ),
}
OperatorForm = Literal["returns", "into"]  # new outputs, or outputs that are given behind the inputs


class TorchOperator:
    """The C++ texts of one kernel, and what its callers in Python need to know."""

    def __init__(self, launcher: Launcher, target: Target) -> None:
        """UsageError for a type that PyTorch does not have."""
        self.launcher, self.target, self.signature = launcher, target, launcher.signature
        self.name = launcher.name
        self.is_cuda = target.vendor == "nvidia"
        unknown = [t.dtype for t in self.signature.buffers if t.dtype not in TYPES]
        if unknown:
            raise UsageError(f"PyTorch has no type for {unknown[0]}")
        tensors = (x.name for x in (*self.signature.all_inputs, *self.signature.outputs))
        if "torch" in (*self.signature.dims, *tensors, *(scalar.name for scalar in self.signature.scalars)):
            raise UsageError("the name 'torch' is PyTorch's own in an export; rename it in the task's task.toml")

    def kernel(self) -> str:
        """Write the device code with its headers, and the launcher."""
        names = self.launcher.includes
        rows = [f"#include {name}" for name in names if not self._is_ours(name)]
        rows += [headers()[name[1:-1]].replace("#pragma once\n", "") for name in names if self._is_ours(name)]
        return "\n".join([*rows, PLATFORM, self.launcher.text()])

    def explicit_dims(self, form: OperatorForm) -> tuple[str, ...]:
        """List the dims that the caller must hand over, since no tensor of the call shows them."""
        signature = self.signature
        shown_dims = signature.initial_dims if form == "returns" else signature.output_dims
        return tuple(n for n in signature.explicit_dims if n not in shown_dims)

    def _tensors_of(self, form: OperatorForm) -> tuple[TensorSpec, ...]:
        return self.signature.all_inputs if form == "returns" else self.signature.buffers

    def names(self) -> list[str]:
        """List the parameters of the function that returns its outputs."""
        tensors = [t.name for t in self.signature.all_inputs]
        return [*tensors, *self.explicit_dims("returns"), *(s.name for s in self.signature.scalars)]

    def kinds(self) -> dict[str, str]:
        """Map the same to their types in Python."""
        kinds = {t.name: "torch.Tensor | None" if t.optional else "torch.Tensor" for t in self.signature.all_inputs}
        kinds |= {s.name: _python_type(s) for s in self.signature.scalars}
        return {name: kinds.get(name, "int") for name in self.names()}

    def typed(self) -> list[str]:
        """List the same with their types in Python."""
        return [f"{name}: {kind}" for name, kind in self.kinds().items()]

    def function(self, form: OperatorForm, is_queued: bool = True, is_alone: bool = True) -> str:
        """`NAME_operator` or `NAME_into`: on PyTorch's current stream, or else on the null queue.

        A file of its own, or else text to stand behind the kernel's.
        """
        body = self._body(form, "at::cuda::getCurrentCUDAStream()" if is_queued else "nullptr")
        queue = "cudaStream_t" if is_queued else "void*"
        head = [
            "#include <ATen/ATen.h>",
            *(["#include <optional>"] if any(t.optional for t in self.signature.all_inputs) else []),
            *(["#include <ATen/cuda/CUDAContext.h>"] if is_queued else []),
            "#include <c10/cuda/CUDAGuard.h>",
            "",
            *(self._launcher_declarations(queue) if is_alone else []),
            f"{self.declaration(form)} {{",
        ]
        return "\n".join([*head, *(f"    {line}" for line in body), "}", ""])

    def declaration(self, form: OperatorForm) -> str:
        """Write the function's head."""
        results = len(self.signature.outputs)
        answer = "at::Tensor" if results == 1 else f"std::tuple<{', '.join(['at::Tensor'] * results)}>"
        rows = [f"const {_tensor_type(tensor)}& {tensor.name}" for tensor in self._tensors_of(form)]
        rows += [f"int64_t {name}" for name in self.explicit_dims(form)]
        rows += [f"{_cpp_type(scalar)} {scalar.name}" for scalar in self.signature.scalars]
        return f"{answer if form == 'returns' else 'void'} {self.symbol(form)}({', '.join(rows)})"

    def symbol(self, form: OperatorForm) -> str:
        """Return the function's name."""
        return f"{self.name}_{'operator' if form == 'returns' else 'into'}"

    def schema(self) -> str:
        """Write the schema of the function that returns its outputs, under the kernel's name."""
        signature = self.signature
        parameters = [f"Tensor{'?' if t.optional else ''} {t.name}" for t in signature.all_inputs]
        parameters += [f"int {n}" for n in self.explicit_dims("returns")]
        parameters += [f"{_python_type(s)} {s.name}" for s in signature.scalars]
        results = len(signature.outputs)
        answer = "Tensor" if results == 1 else f"({', '.join(['Tensor'] * results)})"
        return f"{self.name}({', '.join(parameters)}) -> {answer}"

    def flags(self) -> list[str]:
        """List the device compiler's flags."""
        halves = [f"-U{name}" for name in LEFT_OUT[self.target.vendor]]
        if self.is_cuda:
            arch = self.target.arch.removeprefix("sm_")
            code = f"-gencode=arch=compute_{arch},code=sm_{arch}"
            return ["-std=c++20", "--expt-relaxed-constexpr", "--extra-device-vectorization", *halves, code]
        return ["-std=c++20", "-ffp-contract=fast-honor-pragmas", *halves, f"--offload-arch={self.target.arch}"]

    def output_lines(self, device: str, only: Sequence[str] = ()) -> list[str]:
        """Python lines that find the dims, and expressions of new outputs on the device of the tensor of that name.

        `only` names the outputs that are wanted, all of them where it is empty.
        """
        dims = {**self.signature.input_dims, **self.signature.initial_dims}
        rows = [f"{n} = {python_extent(e)}" for n, e in dims.items()]
        outputs = []
        for tensor in (t for t in self.signature.outputs if not only or t.name in only):
            shape = [text.replace("ceil_div", "_ceil_div") for text in tensor.shape]
            turned = shape[::-1] if tensor.layout == "column_major" else shape
            text = f"{device}.new_empty(({', '.join(turned)}{',' if turned else ''}), dtype={TYPES[tensor.dtype][0]})"
            outputs.append(text + (".t()" if tensor.layout == "column_major" else ""))
        if any("_ceil_div" in text for text in outputs):
            rows.insert(0, "_ceil_div = lambda a, b: -(-a // b)  # noqa: E731")
        return [*rows, f"return {', '.join(outputs)}"]

    def described(self, tensor: TensorSpec) -> str:
        """Write a line of a docstring."""
        kind = "Returns" if tensor in self.signature.outputs else "Takes"
        layout = ", its columns dense" if tensor.layout == "column_major" else ""
        layout += f", with strides of [{', '.join(tensor.strides)}] elements" if tensor.strides else ""
        layout += ", or None" if tensor.optional else ""
        layout += f"; begins as {tensor.initial}, which stays as it is" if tensor.initial else ""
        return f"{kind} {tensor.name}: {TYPES[tensor.dtype][0]} of shape [{', '.join(tensor.shape)}]{layout}."

    def _is_ours(self, name: str) -> bool:
        return self.is_cuda and name[1:-1] in headers()

    def _launcher_declarations(self, queue: str) -> list[str]:
        """Write the launcher's functions and the plan's arithmetic."""
        dims = ", ".join(f"long long {n}" for n in self.signature.dims)
        return [
            f'extern "C" long long {self.name}_scratch_bytes({dims});',
            f'extern "C" cudaError_t {self.name}_launch({", ".join(self.launcher.parameters())}, void*, {queue});',
            "",
            "namespace {",
            FUNCTIONS.rstrip(),
            "}  // namespace",
            "",
        ]

    def _body(self, form: OperatorForm, stream: str) -> list[str]:
        signature, name = self.signature, self.name
        first = (signature.first if form == "returns" else signature.buffers[0]).name
        dims, tensors = {n: n for n in signature.dims}, self._tensors_of(form)
        extents = {**signature.input_dims, **(signature.initial_dims if form == "returns" else signature.output_dims)}
        body = [line for tensor in tensors for line in _guarded(tensor, _checks(tensor, first))]
        body += [f"const int64_t {n} = {_cpp_extent(e)};" for n, e in extents.items()]
        checked_axes = {(extent.tensor, extent.axis) for extent in extents.values() if extent.divisor == 1}
        body += [line for tensor in tensors for line in _guarded(tensor, _shape_checks(tensor, dims, checked_axes))]
        body.append(f"const c10::cuda::CUDAGuard guard_({first}.device());")
        if form == "returns":
            body += [_allocated(tensor, dims, first) for tensor in signature.outputs]
        scratch = f"{name}_scratch_bytes({', '.join(signature.dims)})"
        handed = [*(_pointer(tensor) for tensor in signature.buffers), *signature.dims]
        handed += [scalar.name for scalar in signature.scalars]
        body += [
            f"at::Tensor scratch_ = at::empty({{{scratch}}}, {first}.options().dtype(at::kByte));",
            f"const auto status_ = {name}_launch({', '.join(handed)}, scratch_.data_ptr(), {stream});",
            f'TORCH_CHECK(status_ == cudaSuccess, "{name} cannot be launched for these shapes, error ", int(status_));',
        ]
        results = ", ".join(tensor.name for tensor in signature.outputs)
        answer = f"return {f'{{{results}}}' if len(signature.outputs) > 1 else results};"
        return [*body, answer] if form == "returns" else body


def _checks(tensor: TensorSpec, first: str) -> list[str]:
    name, axes, (python, cpp) = _value(tensor), len(tensor.shape), TYPES[tensor.dtype]
    turned = tensor.layout == "column_major"
    dense = f"{name}.t().is_contiguous()" if turned else f"{name}.is_contiguous()"
    requirement = "have columns that are dense in memory" if turned else "be contiguous"
    is_on_device = f"{name}.device() == {first}.device()" if name != first else f"{name}.is_cuda()"
    device = "a GPU" if name == first else f"the device of {first}"
    rows = [
        f'TORCH_CHECK({is_on_device}, "{tensor.name} must be on {device}");',
        f'TORCH_CHECK({name}.scalar_type() == {cpp}, "{tensor.name} must be {python}");',
        f'TORCH_CHECK({name}.dim() == {axes}, "{tensor.name} must have {counted(axes, "dimension")}");',
    ]
    return rows if tensor.strides else [*rows, f'TORCH_CHECK({dense}, "{tensor.name} must {requirement}");']


def _guarded(tensor: TensorSpec, rows: list[str]) -> list[str]:
    """Write the checks of an input that may be left out, which hold where it is there."""
    return [f"if ({tensor.name}.has_value()) {{", *(f"    {row}" for row in rows), "}"] if tensor.optional else rows


def _value(tensor: TensorSpec) -> str:
    return f"(*{tensor.name})" if tensor.optional else tensor.name


def _pointer(tensor: TensorSpec) -> str:
    is_there = f"{tensor.name}.has_value() ? {tensor.name}->data_ptr() : nullptr"
    return is_there if tensor.optional else f"{tensor.name}.data_ptr()"


def _tensor_type(tensor: TensorSpec) -> str:
    return "std::optional<at::Tensor>" if tensor.optional else "at::Tensor"


def _cpp_type(scalar: ScalarSpec) -> str:
    return {"float": "double", "bool": "bool"}.get(_python_type(scalar), "int64_t")


def _python_type(scalar: ScalarSpec) -> str:
    return "bool" if scalar.dtype == "bool" else "float" if parameter(scalar) == "double" else "int"


def _shape_checks(tensor: TensorSpec, dims: dict[str, str], checked_axes: set[tuple[str, int]]) -> list[str]:
    rows = []
    for axis, text in enumerate(tensor.shape):
        if (tensor.name, axis) in checked_axes:
            continue
        wrong = f'"{tensor.name} must have the extent {text} along axis {axis}"'
        rows.append(f"TORCH_CHECK({_value(tensor)}.size({axis}) == {in_cpp(text, dims)}, {wrong});")
    for axis, text in enumerate(tensor.strides):
        size, step = (f"{_value(tensor)}.{of}({axis})" for of in ("size", "stride"))
        wrong = f'"{tensor.name} must have the stride {text} along axis {axis}"'
        rows.append(f"TORCH_CHECK({size} == 1 || {step} == {in_cpp(text, dims)}, {wrong});")
    return rows


def _allocated(tensor: TensorSpec, dims: dict[str, str], first: str) -> str:
    if tensor.initial:
        return f"at::Tensor {tensor.name} = {tensor.initial}.clone(at::MemoryFormat::Preserve);"
    extents = [in_cpp(text, dims) for text in tensor.shape]
    turned = tensor.layout == "column_major"
    shape = f"{{{', '.join(extents[::-1] if turned else extents)}}}" if extents else "std::vector<int64_t>{}"
    options = f"{first}.options().dtype({TYPES[tensor.dtype][1]})"
    return f"at::Tensor {tensor.name} = at::empty({shape}, {options}){'.t()' if turned else ''};"


def _cpp_extent(extent: Extent) -> str:
    return f"{extent.tensor}.size({extent.axis})" + (f" / {extent.divisor}" if extent.divisor > 1 else "")


def python_extent(extent: Extent) -> str:
    """Write a dim in Python."""
    return f"{extent.tensor}.shape[{extent.axis}]" + (f" // {extent.divisor}" if extent.divisor > 1 else "")
