"""A kernel as a stand-alone project: source with its launcher, header, a self-check against stored answers, CMake."""

from __future__ import annotations

from exports.launcher import PLATFORM, Launcher
from exports.provenance import Provenance, lines_of, spoken
from exports.self_check import program, stored_cases
from records.errors import UsageError
from sandbox.candidate.parse import listing
from sandbox.gpu.compile.dialect import headers
from sandbox.target import Target

MEMORY = """\
#if defined(__CUDACC__) && !defined(__HIP_PLATFORM_AMD__)
#define KERNEL_MALLOC cudaMalloc
#define KERNEL_FREE(memory) (void)cudaFree(memory)
#define KERNEL_COPY cudaMemcpy
#define KERNEL_TO_DEVICE cudaMemcpyHostToDevice
#define KERNEL_TO_HOST cudaMemcpyDeviceToHost
#define KERNEL_SYNCHRONISE cudaDeviceSynchronize
#else
#define KERNEL_MALLOC hipMalloc
#define KERNEL_FREE(memory) (void)hipFree(memory)
#define KERNEL_COPY hipMemcpy
#define KERNEL_TO_DEVICE hipMemcpyHostToDevice
#define KERNEL_TO_HOST hipMemcpyDeviceToHost
#define KERNEL_SYNCHRONISE hipDeviceSynchronize
#endif
"""
_HEADER = """\
{said}
#pragma once

#include <{runtime}>

{platform}
// Bytes of scratch memory that a launch with these dims needs.
extern "C" long long {name}_scratch_bytes({dims});

// Queues the kernel on a stream. Every buffer is dense{layouts}.{more}
extern "C" KERNEL_STATUS {name}_launch({parameters}, void* scratch, KERNEL_STREAM stream);
"""
_CMAKE = """\
cmake_minimum_required(VERSION 3.21)
project({name} LANGUAGES CXX {language})
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_{language}_STANDARD 20)
set(CMAKE_{language}_ARCHITECTURES {arch})
add_library({name} STATIC {name}.{suffix})
target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}} ${{CMAKE_CURRENT_SOURCE_DIR}}/include)
target_compile_options({name} PRIVATE {flags})
add_executable(self_check self_check.{suffix})
target_link_libraries(self_check PRIVATE {name})
enable_testing()
add_test(NAME self_check COMMAND self_check ${{CMAKE_CURRENT_SOURCE_DIR}}/data)
"""
_README = """\
# {title}

{said}

| file | content |
|---|---|
| `{name}.{suffix}` | the kernel and its launcher |
| `{name}.h` | `{name}_launch` and `{name}_scratch_bytes` |
| `self_check.{suffix}`, `data/` | a program that runs {cases} and compares each element with the stored answer |
| `CMakeLists.txt` | builds both: `cmake -B build && cmake --build build && ctest --test-dir build` |

Without CMake: `{compiler} && ./self_check`

The self-check compares elements one by one; `kernel-scientist check` also judges the errors of an output together, on
shapes that are not stored here.
{scalars}"""


def hip_project(launcher: Launcher, target: Target, provenance: Provenance) -> dict[str, bytes]:
    """Write the files of the project by path. UsageError for a task whose outputs only its own function can judge."""
    task = launcher.task
    if task.check is not None:
        raise UsageError(
            f"the task {task.name} judges its outputs by a function of its own, which a self-check in C++ cannot do; "
            "export it --as torch"
        )
    project = _Project(launcher, target, lines_of(provenance))
    return {
        path: content if isinstance(content, bytes) else content.encode() for path, content in project.files().items()
    }


class _Project:
    def __init__(self, launcher: Launcher, target: Target, lines: list[str]) -> None:
        self._launcher, self._task, self._name = launcher, launcher.task, launcher.name
        self._is_cuda = target.vendor == "nvidia"
        self._suffix = "cu" if self._is_cuda else "hip"
        self._arch = target.arch.removeprefix("sm_")
        self._lines, self._comment = lines, "\n".join(f"// {line}" for line in lines)

    def files(self) -> dict[str, str | bytes]:
        """Everything, by path."""
        name, suffix = self._name, self._suffix
        cases = stored_cases(self._task, self._launcher.served_by)
        files: dict[str, str | bytes] = {
            f"{name}.{suffix}": self._kernel(),
            f"{name}.h": self._header(),
            f"self_check.{suffix}": program(name, self._task, self._launcher.signature, cases),
            "CMakeLists.txt": self._cmake(),
            "README.md": self._readme([stored.case.name for stored in cases]),
        }
        for stored in cases:
            files |= {f"data/{path}": content for path, content in stored.files.items()}
        if self._is_cuda:
            files |= {f"include/{path}": text for path, text in headers().items()}
        return files

    def _kernel(self) -> str:
        includes = "\n".join(f"#include {name}" for name in self._launcher.includes)
        return f'{self._comment}\n{includes}\n#include "{self._name}.h"\n\n{self._launcher.text()}'

    def _header(self) -> str:
        signature = self._launcher.signature
        strided = [f"{t.name} by {' and '.join(t.strides)} elements" for t in signature.inputs if t.strides]
        turned = [tensor.name for tensor in signature.buffers if tensor.layout == "column_major"]
        return _HEADER.format(
            said=self._comment,
            runtime="cuda_runtime.h" if self._is_cuda else "hip/hip_runtime.h",
            platform=f"{PLATFORM}\n{MEMORY}",
            name=self._name,
            dims=", ".join(f"long long {name}" for name in signature.dims),
            parameters=", ".join(self._launcher.parameters()),
            layouts=f"; {listing(turned)} column by column" if turned else ", row by row",
            more="".join(
                f"\n// {remark}"
                for remark in (
                    f"But for strided inputs: {listing(strided)}." if strided else "",
                    *(f"{t.name} may be null: it is left out." for t in signature.inputs if t.optional),
                    *(f"{t.name} is updated: it begins as {t.initial}." for t in signature.outputs if t.initial),
                )
                if remark
            ),
        )

    def _flags(self) -> str:
        if self._is_cuda:
            return "--expt-relaxed-constexpr --extra-device-vectorization"
        return "-ffp-contract=fast-honor-pragmas"

    def _cmake(self) -> str:
        return _CMAKE.format(
            name=self._name,
            language="CUDA" if self._is_cuda else "HIP",
            arch=f"{self._arch}-real" if self._is_cuda else self._arch,
            suffix=self._suffix,
            flags=self._flags(),
        )

    def _readme(self, cases: list[str]) -> str:
        name, suffix = self._name, self._suffix
        arch = f"-gencode=arch=compute_{self._arch},code=sm_{self._arch}"  # no code for other GPUs beside it
        compiler = f"nvcc {arch}" if self._is_cuda else f"hipcc --offload-arch={self._arch}"
        files = f"{name}.{suffix} self_check.{suffix}"
        fixed = [s for s in self._task.scalars if s not in self._launcher.signature.scalars]
        values = ", ".join(f"{scalar.name} = {scalar.value}" for scalar in fixed)
        scalars = f"The task's scalars have the values that the kernel was verified with: {values}.\n" if values else ""
        return _README.format(
            title=spoken(self._task.title),
            said="\n\n".join(self._lines),
            name=name,
            suffix=suffix,
            cases=listing(cases),
            compiler=f"{compiler} -std=c++20 {self._flags()} -I. -Iinclude {files} -o self_check",
            scalars=scalars,
        )
