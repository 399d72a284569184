"""The host half of a kernel in C++, generated from its launch plan: one function that checks, and launches in order.

The text is the same for HIP and CUDA; the few names that differ are macros at its top. Arguments are those of the plan:
buffers as pointers, dims and tunables as 32-bit or 64-bit integers, the task's scalars with the values that the kernel
was verified with. Scratch memory is handed in by the caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.exports.arithmetic import FUNCTIONS, condition_in_cpp, in_cpp
from app.exports.kernel_text import DetachedText, kernel_text, names_of, qualified
from app.exports.signature import ELEMENT_TYPES, Signature, identifier, signature_of
from records.errors import UsageError
from sandbox.candidate.plan import Launch, Workspace
from sandbox.candidate.prepare import Prepared
from sandbox.gpu.compile.dialect import spell
from sandbox.target import Target
from tasks.dtypes import size_bytes
from tasks.task import Task

ALIGNMENT_BYTES = 256  # of each workspace within the scratch memory
PLATFORM = """\
#if defined(__CUDACC__) && !defined(__HIP_PLATFORM_AMD__)
#define KERNEL_STREAM cudaStream_t
#define KERNEL_STATUS cudaError_t
#define KERNEL_OK cudaSuccess
#define KERNEL_BAD_VALUE cudaErrorInvalidValue
#define KERNEL_LAUNCH(f, grid, block, args, lds, stream) cudaLaunchKernel(f, grid, block, args, lds, stream)
#define KERNEL_ALLOW(f, lds) cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, lds)
#else
#define KERNEL_STREAM hipStream_t
#define KERNEL_STATUS hipError_t
#define KERNEL_OK hipSuccess
#define KERNEL_BAD_VALUE hipErrorInvalidValue
#define KERNEL_LAUNCH(f, grid, block, args, lds, stream) hipLaunchKernel(f, grid, block, args, lds, stream)
#define KERNEL_ALLOW(f, lds) hipFuncSetAttribute(f, hipFuncAttributeMaxDynamicSharedMemorySize, lds)
#endif
"""


@dataclass(frozen=True)
class _Row:
    """One kernel of the file, and the condition under which it serves; empty for the rest."""

    prepared: Prepared
    when: str


class Launcher:
    """The C++ text of a candidate for a task, and the names of the functions that it offers."""

    def __init__(self, prepared: Prepared, target: Target) -> None:
        """UsageError for a candidate that cannot be judged."""
        self.task: Task = prepared.task
        self.signature: Signature = signature_of(self.task)
        self.name = identifier(self.task.name)
        self._is_cuda = target.vendor == "nvidia"
        self._rows = [_Row(prepared, "")]
        if prepared.arms:
            self._rows = [
                _Row(arm.prepared, " and ".join(w for w in (arm.variant.when, arm.prepared.requires) if w))
                for arm in prepared.arms
            ]
        for row in self._rows:
            if row.prepared.refusal is not None:
                said = [finding.message for finding in row.prepared.refusal.findings]
                raise UsageError(f"the kernel cannot be exported: {said[0] if said else 'its plan is refused'}")
        self.includes = list(dict.fromkeys(name for row in self._rows for name in self._text(row).includes))

    def parameters(self, is_const: bool = True) -> list[str]:
        """The parameters of `launch`, but for scratch memory and stream."""
        made = [f"{'const ' if is_const else ''}void* {t.name}" for t in self.signature.inputs]
        made += [f"void* {t.name}" for t in self.signature.outputs]
        return made + [f"long long {name}" for name in self.signature.dims]

    def kernels(self) -> list[str]:
        """The names of all kernels that are launched, as the source has them."""
        return [launch.kernel for row in self._rows for launch in row.prepared.candidate.plan.launches]

    def text(self) -> str:
        """The whole file but for its includes and `PLATFORM`: device code, `NAME_scratch_bytes`, `NAME_launch`."""
        parts = [self._device(number, row) for number, row in enumerate(self._rows)]
        host = ["namespace {", FUNCTIONS, FITS.rstrip(), "}  // namespace", "", self._scratch(), self._launch()]
        return "\n".join([*parts, *host])

    def _text(self, row: _Row) -> DetachedText:
        return kernel_text(row.prepared.source)

    def _names(self, number: int, row: _Row) -> dict[str, str]:
        """The kernels of a row under the names that they have in this file."""
        kernels = dict.fromkeys(launch.kernel for launch in row.prepared.candidate.plan.launches)
        return {name: f"{name}_{number}" if len(self._rows) > 1 else name for name in kernels}

    def _device(self, number: int, row: _Row) -> str:
        text = self._text(row)
        body = spell("nvcc" if self._is_cuda else "hipcc", text.body)
        tunables, kernels = row.prepared.tunables, self._names(number, row)
        gone = [*tunables, *(n for n, other in kernels.items() if n != other), *text.macros]
        closed = "\n".join(f"#undef {name}" for name in dict.fromkeys(gone))
        if len(self._rows) == 1:
            return f"{names_of(tunables, kernels)}\n\n{body}\n{closed}\n"
        said = row.when or "every other shape"
        space = f"variant_{number}"
        opened = f"// For {said}.\n{names_of(tunables, kernels)}\nnamespace {space} {{\n"
        return f"{opened}\n{body}\n}}  // namespace {space}\n{closed}\n"

    def _dims(self, row: _Row) -> dict[str, str]:
        """The names of a plan's expressions in C++."""
        return {n: n for n in self.signature.dims} | {n: f"{v}ll" for n, v in row.prepared.tunables.items()}

    def _scratch(self) -> str:
        dims = ", ".join(f"long long {name}" for name in self.signature.dims)
        rows = [
            f'// Bytes of scratch memory for these dims.\nextern "C" long long {self.name}_scratch_bytes({dims}) {{'
        ]
        for row in self._rows:
            sizes = [self._bytes(workspace, row) for workspace in row.prepared.candidate.plan.workspaces]
            rows.append(f"    {self._guard(row)}return {' + '.join(sizes) or '0'};")
        return "\n".join([*rows, "}", ""])

    def _bytes(self, workspace: Workspace, row: _Row) -> str:
        """Bytes of a workspace, rounded up to the alignment of the next."""
        names = self._dims(row)
        extents = " * ".join(in_cpp(text, names) for text in workspace.shape)
        return f"plan::ceil_div({size_bytes(workspace.dtype)}ll * {extents}, {ALIGNMENT_BYTES}) * {ALIGNMENT_BYTES}"

    def _guard(self, row: _Row) -> str:
        return f"if ({condition_in_cpp(row.when, self._dims(row))}) " if row.when else ""

    def _launch(self) -> str:
        parameters = ", ".join([*self.parameters(), "void* scratch_", "KERNEL_STREAM stream_"])
        least = " || ".join(f"{name} < 1" for name in self.signature.dims)
        rows = [
            "// Queues the kernel on the stream. Every buffer is dense; the contents of `scratch_` are undefined.",
            f'extern "C" KERNEL_STATUS {self.name}_launch({parameters}) {{',
            *([f"    if ({least}) return KERNEL_BAD_VALUE;"] if least else []),
        ]
        for number, row in enumerate(self._rows):
            rows += [f"    {self._guard(row)}{{", *self._launches(number, row), "        return KERNEL_OK;", "    }"]
        return "\n".join([*rows, "}", ""])

    def _launches(self, number: int, row: _Row) -> list[str]:
        plan, names = row.prepared.candidate.plan, self._dims(row)
        rows = [f"        if (!({in_cpp(text, names)})) return KERNEL_BAD_VALUE;" for text in plan.constraints.values()]
        if plan.workspaces:
            rows.append("        char* next_ = static_cast<char*>(scratch_);")
        for workspace in plan.workspaces:
            rows += [f"        void* {workspace.name} = next_;", f"        next_ += {self._bytes(workspace, row)};"]
        for launch in plan.launches:
            rows += [
                "        {",
                *(f"            {line}" for line in self._one(launch, number, row, names)),
                "        }",
            ]
        return rows

    def _one(self, launch: Launch, number: int, row: _Row, names: Mapping[str, str]) -> list[str]:
        grid, block = (", ".join(_three(texts, names)) for texts in (launch.grid, launch.block))
        spaces = {workspace.name for workspace in row.prepared.candidate.plan.workspaces}
        rows = [
            f"const long long grid_[3] = {{{grid}}};",
            f"const long long block_[3] = {{{block}}};",
            f"const long long lds_ = {in_cpp(launch.lds, names)};",
            "if (!plan::fits(grid_, block_, lds_)) return KERNEL_BAD_VALUE;",
        ]
        for at, text in enumerate(launch.args):
            rows += self._argument(f"argument{at}_", text, spaces, names)
        places = ", ".join(f"&argument{at}_" for at in range(len(launch.args)))
        kernel = qualified(row.prepared.source, launch.kernel)
        kernel = kernel.removesuffix(launch.kernel) + self._names(number, row)[launch.kernel]
        # From the global namespace on: a dim or a buffer may have the kernel's name.
        kernel = f"::variant_{number}::{kernel}" if len(self._rows) > 1 else f"::{kernel}"
        return [
            *rows,
            f"void* arguments_[] = {{{places}}};",
            f"const void* kernel_ = reinterpret_cast<const void*>({kernel});",
            "KERNEL_STATUS status_ = lds_ > 48 * 1024 ? KERNEL_ALLOW(kernel_, static_cast<int>(lds_)) : KERNEL_OK;",
            "if (status_ != KERNEL_OK) return status_;",
            "status_ = KERNEL_LAUNCH(kernel_, dim3(grid_[0], grid_[1], grid_[2]),",
            "                        dim3(block_[0], block_[1], block_[2]), arguments_, lds_, stream_);",
            "if (status_ != KERNEL_OK) return status_;",
        ]

    def _argument(self, place: str, text: str, spaces: set[str], names: Mapping[str, str]) -> list[str]:
        name, _, width = text.partition(":")
        if name in spaces or name in {t.name for t in self.signature.buffers}:
            return [f"const void* {place} = {name};"]
        if name in names:
            if width == "i64":
                return [f"long long {place} = {names[name]};"]
            checked = f"if ({names[name]} != static_cast<int>({names[name]})) return KERNEL_BAD_VALUE;"
            return [checked, f"int {place} = static_cast<int>({names[name]});"]
        scalar = next(s for s in self.task.scalars if s.name == name)
        if scalar.dtype not in ELEMENT_TYPES:
            raise UsageError(f"the scalar {name} is {scalar.dtype}, which has no C++ type that an export can pass")
        return [f"{ELEMENT_TYPES[scalar.dtype]} {place} = {_number(scalar.value or 0, scalar.dtype)};  // {name}"]


FITS = """\
namespace plan {
inline bool fits(const long long (&grid)[3], const long long (&block)[3], long long lds) {
    for (int axis = 0; axis < 3; ++axis) {
        if (grid[axis] < 1 || grid[axis] > 2147483647ll || block[axis] < 1 || block[axis] > 1024) return false;
    }
    return lds >= 0 && lds <= 1 << 20;
}
}  // namespace plan
"""


def _three(texts: Sequence[str], names: Mapping[str, str]) -> list[str]:
    return ([in_cpp(text, names) for text in texts] + ["1", "1"])[:3]


def _number(value: float, dtype: str) -> str:
    """An exact literal."""
    if dtype in ("f32", "f64"):
        return f"{float(value).hex()}{'f' if dtype == 'f32' else ''}" if value == value else "NAN"
    return f"{int(value)}ll" if dtype == "i64" else str(int(value))
