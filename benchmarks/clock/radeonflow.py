"""RadeonFlow's kernels as candidates: their files in one, and the launches that their launchers make.

Sizes are constants of the templates, so a plan has launches for the benchmark's shape and for that of the small case.
"""

from __future__ import annotations

from pathlib import Path

REPOSITORY = "RadeonFlow/RadeonFlow_Kernels"
_HEADERS = ("src/utils/arithmetic.h", "include/gpu_libs.h", "include/gpu_types.h")
# The launchers' choice of the template's form. The two marks only declare printf and the like once more.
_BEFORE = "#define PARAMETERIZE_LIBRARY\n#define HOST_CODE_BELOW\n#define DEVICE_CODE_BELOW\n"


def joined(fetched: Path, *kernels: str) -> str:
    """Join several files: the headers, then these files, without the lines that include or guard one another."""
    parts = [_BEFORE, *((fetched / path).read_text(encoding="utf-8") for path in (*_HEADERS, *kernels))]
    lines = "\n".join(parts).splitlines()
    return "\n".join("" if line.startswith(('#include "', "#pragma once")) else line for line in lines) + "\n"


def launch(kernel: str, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[str, ...], when: str) -> str:
    """Write one launch of a plan, made only where the condition holds."""
    quoted = ", ".join(f'"{arg}"' for arg in args)
    return (
        f'[[launch]]\nkernel = "{kernel}"\ngrid = {list(grid)}\nblock = {list(block)}\nargs = [{quoted}]\n'
        f'when = "{when}"\n'
    )


def transpose(out: str, x: str, rows: int, cols: int, shape: tuple[int, int, int], when: str) -> str:
    """Plan the launch that transposes rows x cols bytes by square tiles; `shape` is tile, work-items, bytes of each."""
    tile, block, width = shape
    kernel = f"transpose_kernel::transpose_kernel<__FP8_TYPE, {rows}, {cols}, {tile}, {block}, {width}>"
    across = tile // width
    return launch(kernel, (cols // tile, rows // tile), (across, block // across), (out, x), when)
