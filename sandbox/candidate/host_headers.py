"""Headers of libraries that only a host uses, and the header that HIP's own compiler reads before every file.

A file that a framework builds includes the framework's headers. Their names that device code uses (`c10::Half`,
`at::BFloat16`) stand in one header of ours; the others declare nothing for the device and become empty lines. In a file
with a host half, a header that nobody has here becomes a comment: what device code uses of it is then missing by name.

A declaration of one of CUDA's number types, as `struct __nv_bfloat16;`, gives way to its header: on AMD's GPUs the
name is another one for HIP's type, so that it cannot be declared as a class.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache
from itertools import accumulate

from sandbox.candidate.header_names import is_header
from sandbox.candidate.pp_tokens import first_row, scan

_FRAMEWORK = re.compile(r"(?:torch|ATen|c10|caffe2|THC)/")
_LIBRARIES = re.compile(  # of the host, or of a whole device
    r"""(?:nvtx3|gtest|gmock|benchmark|boost|fmt|spdlog|glog|gflags|nlohmann|pybind11|tbb|opencv2|Eigen|GL|GLFW|glad|vulkan
    |thrust|rccl|miopen|MIOpen|rocsolver|hipsolver|rocsparse|hipsparse|rocalution|roctracer|rocm_smi|rocfft|hipfft
    |rocrand|hiprand|rocblas|hipblas|hipblaslt|hipcub/device|cub/device|cub/iterator|rocprim/device|sys|linux|asm|arpa
    |netinet|hsa|hsakmt|rocprofiler[\w-]*|roctx|amd_smi|EGL|OpenMPI|tvm|dlpack|json|cudnn_frontend|cereal|yaml-cpp|rapidjson|absl|CL|OpenCL|catch2|paddle|folly|grpc|google|xxhash|half|experimental)/\S*
    |(?:nccl|mpi|Python|cublas\w*|cudnn\w*|cusparse\w*|cusolver\w*|cufft\w*|curand\w*|nvml|nvrtc|cudaTypedefs|cuda_profiler\w*
    |cudaProfiler|cuda_gl_interop|cuda_d3d\w*|hipblas\w*|rocblas\w*|numa|omp|popt|getopt|pthread|helper_(?:cuda|functions|timer|string|image|gl)
    |roctx|roctracer\w*|windows|driver_types|\w*intrin|half|catch|pnetcdf|netcdf|hdf5|nvshmem\w*|cuda_egl\w*|hip/hip_hcc|hip/hiprtc|hip/hip_gl_interop|GL/glew|png|jpeglib|zlib|zconf)(?:\.h|\.hpp)""",
    re.X,
)
_INCLUDE = re.compile(r'^([ \t]*#[ \t]*include[ \t]*)([<"])([\w./+-]+)([>"])[^\n]*', re.M)
_FIRST = "#include <hip/hip_runtime.h>"
_SPELLED = ["#", "include", "<hip/hip_runtime.h>"]
_COMPILERS = frozenset(
    {"float.h", "limits.h", "stdalign.h", "stdarg.h", "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h"}
)
_NOT_HERE = "is not here"
_LEFT_OUT = re.compile(rf'^[ \t]*// ([<"][\w./+-]+[>"]) {_NOT_HERE}$', re.M)
_FORWARD = re.compile(r"^[ \t]*(?:struct|class)[ \t]+__nv_(?P<kind>bfloat16|fp8)\w*[ \t]*;[ \t]*(?://[^\n]*)?$", re.M)
_END, _PART = "+++*/", re.compile(r"^//\+\+\+ part ", re.M)


def with_device_headers(text: str, *, has_host_half: bool = False) -> str:
    """Put HIP's header first, as its compilers read it, and leave the headers of host libraries out.

    With a host half, headers that are not here go as well.

    The header takes the place behind the plan's end, so that lines keep their numbers. A file without a plan, and a
    table of several kernels, stay as they are.
    """
    text = _INCLUDE.sub(lambda match: _replaced(match, has_host_half), text)
    text = _with_number_headers(text) if _FORWARD.search(text) else text
    end = text.find(_END) + len(_END)
    if not text.lstrip().startswith("/*+++") or end < len(_END) or text[end : end + 1] not in ("", "\n"):
        return text
    if _PART.search(text) or [token.text for token in first_row(text[end:])] == _SPELLED:
        return text
    return f"{text[:end]} {_FIRST}{text[end:]}"


def headers_not_here(text: str) -> tuple[str, ...]:
    """List the headers that were left out since they are not here, as the file spells them."""
    return tuple(_LEFT_OUT.findall(text))


def _replaced(match: re.Match[str], has_host_half: bool) -> str:
    name = match[3]
    if _is_ours(name):
        return match[0]
    if _FRAMEWORK.match(name):
        return f"{match[1]}<torch/types.h>"
    if is_host_library(name):
        return ""
    return f"// {match[2]}{name}{match[4]} {_NOT_HERE}" if has_host_half else match[0]


def _with_number_headers(text: str) -> str:
    """Include headers for declarations outside of all braces; within braces they declare other types."""
    braces = [token for token in scan(text) if token.kind == "mark" and token.text in ("{", "}")]
    depths = [0, *accumulate(1 if token.text == "{" else -1 for token in braces)]
    starts = [token.start for token in braces]

    def header(match: re.Match[str]) -> str:
        kind = "bf16" if match["kind"] == "bfloat16" else match["kind"]
        return match[0] if depths[bisect_left(starts, match.start())] else f"#include <cuda_{kind}.h>"

    return _FORWARD.sub(header, text)


def is_host_library(name: str) -> bool:
    """Tell whether a header declares nothing that device code uses."""
    return _LIBRARIES.fullmatch(name) is not None


@cache
def _is_ours(name: str) -> bool:
    return name in _COMPILERS or (".." not in name and is_header(name))
