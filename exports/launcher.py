"""The host half of a kernel in C++, generated from its launch plan: one function that checks, and launches in order.

The text is the same for HIP and CUDA; the few names that differ are macros at its top. Arguments are those of the plan:
buffers as pointers, null for an input that is left out, dims and tunables as 32-bit or 64-bit integers, the task's
scalars with the values that the kernel was verified with, or as parameters where the cases give several. Scratch memory
is handed in by the caller.
"""

from __future__ import annotations

from dataclasses import dataclass

from exports.argument_text import ArgumentText, parameter
from exports.arithmetic import FUNCTIONS, condition_in_cpp, in_cpp
from exports.kernel_text import DetachedText, kernel_text, names_of, qualified, without_c_linkage
from exports.launch_text import FITS, LaunchText, step_text, variable_kernel, variable_text
from exports.signature import Signature, identifier, signature_of
from records.errors import UsageError
from sandbox.candidate.instances import address, bare, is_plain, macros, with_tunables
from sandbox.candidate.plan import Launch, Workspace
from sandbox.candidate.prepare import Prepared
from sandbox.gpu.compile.dialect import spell
from sandbox.target import Target
from tasks.dtypes import size_bytes
from tasks.task import Case, Task

ALIGNMENT_BYTES = 256  # of each workspace within the scratch memory
PLATFORM = """\
#if defined(__CUDACC__) && !defined(__HIP_PLATFORM_AMD__)
#define KERNEL_STREAM cudaStream_t
#define KERNEL_STATUS cudaError_t
#define KERNEL_OK cudaSuccess
#define KERNEL_BAD_VALUE cudaErrorInvalidValue
#define KERNEL_LAUNCH(f, grid, block, args, lds, stream) cudaLaunchKernel(f, grid, block, args, lds, stream)
#define KERNEL_LAUNCH_TOGETHER(f, grid, block, args, lds, stream) \\
    cudaLaunchCooperativeKernel(f, grid, block, args, lds, stream)
#define KERNEL_ALLOW(f, lds) cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, lds)
#else
#define KERNEL_STREAM hipStream_t
#define KERNEL_STATUS hipError_t
#define KERNEL_OK hipSuccess
#define KERNEL_BAD_VALUE hipErrorInvalidValue
#define KERNEL_LAUNCH(f, grid, block, args, lds, stream) hipLaunchKernel(f, grid, block, args, lds, stream)
#define KERNEL_LAUNCH_TOGETHER(f, grid, block, args, lds, stream) \\
    hipLaunchCooperativeKernel(f, grid, block, args, lds, stream)
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
        self._is_cuda, self._prepared = target.vendor == "nvidia", prepared
        self._rows = [_Row(prepared, "")]
        if prepared.arms:
            self._rows = [
                _Row(arm.prepared, " and ".join(w for w in (arm.variant.when, arm.prepared.requires) if w))
                for arm in prepared.arms
            ]
        for row in self._rows:
            if row.prepared.refusal is not None:
                messages = [finding.message for finding in row.prepared.refusal.findings]
                raise UsageError(f"the kernel cannot be exported: {messages[0] if messages else 'its plan is refused'}")
        if self._is_cuda and any(x.writes_variable for x in self._all_launches()):
            raise UsageError("a plan that fills variables of the device (symbol) is for AMD's GPUs")
        self.includes = list(dict.fromkeys(name for row in self._rows for name in self._text(row).includes))

    def parameters(self, is_const: bool = True) -> list[str]:
        """List the parameters of `launch`, but for scratch memory and stream."""
        parameters = [f"{'const ' if is_const else ''}void* {t.name}" for t in self.signature.inputs]
        parameters += [f"void* {t.name}" for t in self.signature.outputs]
        parameters += [f"long long {name}" for name in self.signature.dims]
        return parameters + [f"{parameter(s)} {s.name}" for s in self.signature.scalars]

    def served_by(self, case: Case) -> int:
        """Return the number of the kernel of a table that serves the case."""
        arms = self._prepared.arms
        return arms.index(self._prepared.arm(case)) if arms else 0

    def kernels(self) -> list[str]:
        """List the names of all kernels that are launched, as the source has them."""
        return [bare(x.kernel) for x in self._all_launches() if not x.is_step and not x.writes_variable]

    def _all_launches(self) -> list[Launch]:
        return [launch for row in self._rows for launch in row.prepared.candidate.plan.launches]

    def text(self) -> str:
        """Write all of the file but its includes and `PLATFORM`: device code, `NAME_scratch_bytes`, `NAME_launch`."""
        parts = [self._device(number, row) for number, row in enumerate(self._rows)]
        variables, steps = variable_text(self._all_launches()), step_text(self._all_launches())
        host = [
            *([steps] if steps else []),
            "namespace {",
            FUNCTIONS,
            FITS.rstrip(),
            "}  // namespace",
            "",
            self._scratch(),
            self._launch(),
        ]
        return "\n".join([*([variables] if variables else []), *parts, *host])

    def _text(self, row: _Row) -> DetachedText:
        return kernel_text(row.prepared.source)

    def _names(self, number: int, row: _Row) -> dict[str, str]:
        """Map the kernels of a row to the names that they have in this file."""
        launches = row.prepared.candidate.plan.launches
        kernels = dict.fromkeys(x.kernel for x in launches if is_plain(x.kernel) and not x.is_step)
        return {name: f"{name}_{number}" if len(self._rows) > 1 else name for name in kernels}

    def _device(self, number: int, row: _Row) -> str:
        text = self._text(row)
        has_header = any(name[1:-1] == "hip/hip_runtime.h" for name in text.includes)
        body = spell("nvcc" if self._is_cuda else "hipcc", text.body, has_header=has_header)
        tunables, kernels = macros(row.prepared.source, row.prepared.tunables), self._names(number, row)
        body += self._addresses(row)
        undefined = [*tunables, *(n for n, other in kernels.items() if n != other), *text.macros]
        closed = "\n".join(f"#undef {name}" for name in dict.fromkeys(undefined))
        if len(self._rows) == 1:
            return f"{names_of(tunables, kernels)}\n\n{body}\n{closed}\n"
        condition = row.when or "every other shape"
        space = f"variant_{number}"
        opened = f"// For {condition}.\n{names_of(tunables, kernels)}\nnamespace {space} {{\n"
        return f"{opened}\n{without_c_linkage(body)}\n}}  // namespace {space}\n{closed}\n"

    def _dims(self, row: _Row) -> dict[str, str]:
        """Map the names of a plan's expressions to their C++."""
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
            "// Queues the kernel on the stream. The contents of `scratch_` are undefined.",
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
        tensors = {t.name: (t.dtype, t.shape) for t in self.signature.buffers}
        tensors |= {workspace.name: (workspace.dtype, workspace.shape) for workspace in plan.workspaces}
        text = LaunchText(
            ArgumentText(
                names,
                {s.name: s for s in self.task.scalars},
                {n: size_bytes(t) for n, (t, _) in tensors.items()},
                frozenset(s.name for s in self.signature.scalars),
            ),
            self._expressions(number, row),
            {name: dtype for name, (dtype, _) in tensors.items()},
            {
                n: " * ".join([f"{size_bytes(t)}ll", *(in_cpp(e, names) for e in shape)])
                for n, (t, shape) in tensors.items()
            },
        )
        return [*rows, *(f"        {line}" for line in text.rows(plan.launches))]

    def _expressions(self, number: int, row: _Row) -> dict[str, str]:
        """Write each kernel's address in C++, from the global namespace on: a dim or a buffer may have its name."""
        space = f"::variant_{number}::" if len(self._rows) > 1 else "::"
        expressions = dict[str, str]()
        for index, name in enumerate(dict.fromkeys(x.kernel for x in row.prepared.candidate.plan.launches)):
            if is_plain(name):
                full_name = qualified(row.prepared.source, name)
                expressions[name] = f"{space}{full_name.removesuffix(name)}{self._names(number, row).get(name, name)}"
            else:
                expressions[name] = f"{space}kernel_at_{index}_()"
        return expressions

    @staticmethod
    def _addresses(row: _Row) -> str:
        """Functions that give the addresses of kernels which only an expression names."""
        functions = ""
        variables = {x.kernel for x in row.prepared.candidate.plan.launches if x.writes_variable}
        for index, name in enumerate(dict.fromkeys(x.kernel for x in row.prepared.candidate.plan.launches)):
            if not is_plain(name):
                instance = with_tunables(name, row.prepared.tunables)
                pointer = f"&{variable_kernel(instance)}" if name in variables else address(instance)
                address_cpp = f"reinterpret_cast<const void*>({pointer})"
                functions += f"static inline const void* kernel_at_{index}_() {{ return {address_cpp}; }}\n"
        return functions
