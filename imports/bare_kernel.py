"""A kernel without host code: what its parameters say, and a host half that launches it as somebody states."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.source import KernelText, SourceError, look, mask
from imports.declared_inputs import DeclaredInputs
from records.errors import UsageError

TYPES = {
    **{"double": "f64", "float": "f32", "half": "f16", "_Float16": "f16", "__half": "f16"},
    **{"hip_bfloat16": "bf16", "__hip_bfloat16": "bf16", "__nv_bfloat16": "bf16", "bool": "bool"},
    **{"int": "i32", "unsigned": "i32", "unsigned int": "i32", "int32_t": "i32", "uint32_t": "i32"},
    **{"long": "i64", "long long": "i64", "int64_t": "i64", "size_t": "i64", "unsigned long long": "i64"},
    **{"short": "i16", "int16_t": "i16", "char": "i8", "signed char": "i8", "int8_t": "i8"},
    **{"unsigned char": "u8", "uint8_t": "u8"},
}
LAUNCHES = re.compile(r"<<<|\b(?:hip|cuda)Launch(?:Cooperative)?Kernel\w*|\bhipLaunchKernelGGL|\bhipModuleLaunchKernel")
REAL = ("f64", "f32", "f16", "bf16")


@dataclass(frozen=True)
class BareParameter:
    """One parameter of the kernel."""

    name: str
    cpp: str  # its type, without qualifiers and the star
    dtype: str  # empty for one that no task has
    is_pointer: bool
    is_constant: bool

    @property
    def is_size(self) -> bool:
        """True for a whole number."""
        return not self.is_pointer and self.dtype[:1] in ("i", "u")


@dataclass(frozen=True)
class BareKernel:
    """One kernel of a file in which nothing launches it."""

    name: str
    text: str
    parameters: tuple[BareParameter, ...]

    @property
    def sizes(self) -> list[str]:
        """Whole numbers, which are sizes."""
        return [p.name for p in self.parameters if p.is_size]

    @property
    def reals(self) -> list[str]:
        """Real numbers that are handed over."""
        return [p.name for p in self.parameters if not p.is_pointer and p.dtype in REAL]

    @property
    def pointers(self) -> list[BareParameter]:
        """Buffers; those that are not `const` are results."""
        return [p for p in self.parameters if p.is_pointer]

    @property
    def is_planar(self) -> bool:
        """True where the kernel asks for a second axis of its grid."""
        return "threadIdx.y" in self.text

    def block(self) -> tuple[str, ...]:
        """Guess the workgroup."""
        return ("16", "16") if self.is_planar else ("256",)

    def grid(self) -> tuple[str, ...]:
        """Guess the grid: an element a work-item, or a row a workgroup."""
        sizes = self.sizes or ["n"]
        if self.is_planar:
            return f"ceil_div({sizes[-1]}, 16)", f"ceil_div({sizes[0]}, 16)"
        is_flat = re.search(r"blockIdx\.x\s*\*|\*\s*blockIdx\.x", self.text) is not None
        by_block = re.search(r"blockIdx\.x\s*\*\s*blockDim\.x|blockDim\.x\s*\*\s*blockIdx\.x", self.text) is not None
        if by_block or (is_flat and len(sizes) == 1):
            shape = self.shape()
            return (f"ceil_div({' * '.join(shape)}, 256)",)
        return (sizes[0],)

    def shape(self) -> list[str]:
        """Guess the axes of a buffer: all sizes up to two."""
        return (self.sizes or ["n"])[:2]


def bare_kernels(text: str) -> list[BareKernel]:
    """Read the kernels of a file that launches none; empty where it has a host half, or no kernel."""
    code = mask(text)
    if LAUNCHES.search(code) or "__global__" not in code:
        return []
    try:
        file = look(f'/*+++\n[[launch]]\nkernel = "none"\n+++*/\n{text}')
    except SourceError:
        return []
    return [_kernel(k, file.source) for k in file.kernels]


def _kernel(kernel: KernelText, source: str) -> BareKernel:
    parameters = []
    for p in kernel.parameters:
        words = re.sub(r"\b(?:const|volatile|__restrict__|__restrict|restrict)\b|[*&]", " ", p.text)
        cpp = " ".join(words.rpartition(p.name)[0].split())
        is_constant = "const" in p.text.partition("*")[0].split()
        parameters.append(BareParameter(p.name, cpp, TYPES.get(cpp, ""), p.is_pointer, is_constant))
    return BareKernel(kernel.name, source[slice(*kernel.body)], tuple(parameters))


@dataclass(frozen=True)
class StatedLaunch:
    """A launch in words of the plan: expressions over the sizes."""

    grid: Sequence[str]
    block: Sequence[str]
    lds: str = "0"


def host_half(kernel: BareKernel, inputs: DeclaredInputs, launch: StatedLaunch, given: Sequence[str]) -> str:
    """Write a `main` that allocates, copies, launches and copies back; `given` are the buffers that have values before.

    UsageError for what is not stated.
    """
    if unknown := [p.name for p in kernel.parameters if not p.dtype]:
        raise UsageError(
            f"the parameter {unknown[0]} of {kernel.name} has a type that no task has; launch it from a main"
        )
    lines = ["", "#include <cstdlib>", "", "int main() {"]
    sizes = dict(inputs.sizes)
    typed_sizes = {p.name: p.cpp for p in kernel.parameters if p.is_size}
    lines += [f"    const {typed_sizes.get(n, 'int')} {n} = {v};" for n, v in sizes.items()]
    reals = {p.name: p.cpp for p in kernel.parameters if p.name in kernel.reals}
    lines += [f"    const {cpp} {name} = {float(inputs.numbers[name])!r};" for name, cpp in reals.items()]
    for p in kernel.pointers:
        bytes_text = f"({' * '.join(_cpp(d) for d in inputs.specs[p.name][1])}) * sizeof({p.cpp})"
        lines += [f"    {p.cpp}* h_{p.name} = ({p.cpp}*)malloc({bytes_text});", f"    {p.cpp}* {p.name};"]
        lines += [f"    hipMalloc((void**)&{p.name}, {bytes_text});"]
        if p.name in given:
            lines += [f"    hipMemcpy({p.name}, h_{p.name}, {bytes_text}, hipMemcpyHostToDevice);"]
    grid, block = (f"dim3({', '.join(map(_cpp, axes))})" for axes in (launch.grid, launch.block))
    arguments = ", ".join(p.name for p in kernel.parameters)
    lines += [f"    {kernel.name}<<<{grid}, {block}, {_cpp(launch.lds)}>>>({arguments});"]
    for p in kernel.pointers:
        if not p.is_constant:
            bytes_text = f"({' * '.join(_cpp(d) for d in inputs.specs[p.name][1])}) * sizeof({p.cpp})"
            lines += [f"    hipMemcpy(h_{p.name}, {p.name}, {bytes_text}, hipMemcpyDeviceToHost);"]
    return "\n".join([*lines, "    return 0;", "}", ""])


def as_cuda(text: str) -> str:
    """Write the same with CUDA's names."""
    return re.sub(r"\bhip(Malloc|Memcpy)", r"cuda\1", text)


def parameter_text(kernel: BareKernel) -> str:
    """Write the kernel's parameters as C++ has them, for its exports."""
    return ", ".join(
        f"{'const ' if p.is_constant and p.is_pointer else ''}{p.cpp}{'*' if p.is_pointer else ''} {p.name}"
        for p in kernel.parameters
    )


def _cpp(expression: str) -> str:
    """Write an expression of the plan in C++; UsageError for one that is none."""
    try:
        return _written(ast.parse(str(expression), mode="eval").body)
    except (SyntaxError, KeyError):
        raise UsageError(f"{expression!r} is no size: write it as ceil_div(n, 256), n * 2 or a number") from None


_SIGNS: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Div: "/"}


def _written(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=int() as number):
            return str(number)
        case ast.Name(id=name):
            return name
        case ast.BinOp(left=left, op=op, right=right):
            return f"({_written(left)} {_SIGNS[type(op)]} {_written(right)})"
        case ast.Call(func=ast.Name(id="ceil_div"), args=[left, right]):
            by = _written(right)
            return f"(({_written(left)} + {by} - 1) / {by})"
    raise KeyError(ast.unparse(node))
