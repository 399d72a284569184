"""Task folders of the form that GPU MODE's boards have, of our own writing, and a checker by their rules."""

from __future__ import annotations

from pathlib import Path

import numpy as np

UTILS = '''"""A checker: shapes and types are the same, and every element is close."""
import torch


def make_match_reference(reference, rtol=1e-5, atol=1e-8):
    def check(data, output):
        want = reference(data)
        good = output.shape == want.shape and torch.allclose(output, want, rtol=rtol, atol=atol, equal_nan=True)
        return good, "" if good else "mismatch"

    return check
'''
TYPES = "import torch\nfrom typing import TypeVar\n\ninput_t = TypeVar('input_t')\noutput_t = TypeVar('output_t')\n"
SUBMISSION = "from task import input_t, output_t\n\n\ndef custom_kernel(data: input_t) -> output_t:\n    return None\n"
HEAD = "from utils import make_match_reference\nfrom task import input_t, output_t\nimport torch\n\n\n"
ADD = (
    HEAD
    + """def generate_input(size: int, seed: int) -> input_t:
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    a = torch.randn(size, size, device="cuda", dtype=torch.float32, generator=gen).contiguous()
    b = torch.randn(size, size, device="cuda", dtype=torch.float32, generator=gen).contiguous()
    return a, b


def ref_kernel(data: input_t) -> output_t:
    a, b = data
    return a + 2 * b


check_implementation = make_match_reference(ref_kernel)
"""
)
SUMS = (
    HEAD
    + """def generate_input(rows: int, cols: int, seed: int) -> input_t:
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    x = torch.rand(rows, cols, device="cuda", generator=gen) + 0.5
    out = torch.empty(rows, device="cuda")
    return x, out


def ref_kernel(data: input_t) -> output_t:
    x, out = data
    out[...] = x.to(torch.float64).sum(dim=1).to(torch.float32)
    return out


check_implementation = make_match_reference(ref_kernel, rtol=2e-2, atol=1e-3)
"""
)
UPDATE = (
    HEAD
    + """def generate_input(n: int, scale: float, use_abs: bool, seed: int):
    torch.manual_seed(seed)
    return torch.randn(n).cuda(), torch.randn(n).cuda(), scale, use_abs


def ref_kernel(data):
    state, step, scale, use_abs = data
    state.add_((step.abs() if use_abs else step) * scale)
    return state


def check_implementation(data, output):
    return torch.allclose(output, ref_kernel(data), rtol=1e-4, atol=1e-4), ""
"""
)
FOLDERS = {
    "add": (ADD, "- {size: 64, seed: 1}\n- {size: 127, seed: 5}", "- {size: 2048, seed: 3}"),
    "sums": (SUMS, "- {rows: 16, cols: 100, seed: 1}", "- {rows: 4096, cols: 1024, seed: 3}"),
    "update": (
        UPDATE,
        "- {n: 1000, scale: 0.5, use_abs: false, seed: 1}\n- {n: 1000, scale: 0.5, use_abs: true, seed: 1}",
        "- {n: 1048576, scale: 0.25, use_abs: true, seed: 3}",
    ),
}
GREY = (
    HEAD
    + """def generate_input(size: int, seed: int):
    return torch.rand(size, size, 3, device="cuda"), torch.empty(size, size, device="cuda")


def ref_kernel(data):
    data, output = data
    parts = torch.tensor([0.2989, 0.5870, 0.1140], device=data.device, dtype=data.dtype)
    output[...] = torch.sum(data * parts, dim=-1)
    return output
"""
)
TOTAL = (
    HEAD
    + """from dataclasses import dataclass


@dataclass
class Given:
    size: "int"


def generate_input(size: int, seed: int):
    return torch.randn(Given(size).size, device="cuda"), torch.empty(1, device="cuda")


def ref_kernel(data):
    data, output = data
    output = data.to(torch.float64).sum().to(torch.float32)
    return output
"""
)
GROUPS = (
    HEAD
    + """def generate_input(tokens: int, width: int, group: int, seed: int):
    x = torch.randn(tokens, width, device="cuda")
    return x, torch.empty(tokens, width // group, device="cuda")


def ref_kernel(data):
    x, largest = data
    group = x.shape[1] // largest.shape[1]
    largest[...] = x.reshape(x.shape[0], largest.shape[1], group).abs().amax(dim=-1).clamp(min=1e-10)
    return largest
"""
)
SCALED = (  # a slice that takes all there is, where the columns come in whole blocks, is no operation
    HEAD
    + """def generate_input(rows: int, cols: int, seed: int):
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    x = torch.randn((cols, rows), device="cuda", generator=gen)
    scale = torch.randn(((cols + 127) // 128, rows), device="cuda", generator=gen)
    out = torch.empty((rows, cols), device="cuda")
    return x.T, scale.T, out


def ref_kernel(data):
    x, scale, out = data
    wide = scale.contiguous().unsqueeze(-1).repeat(1, 1, 128).reshape(x.shape[0], scale.shape[1] * 128)
    out[...] = x.contiguous() * wide[:, : x.shape[1]]
    return out


check_implementation = make_match_reference(ref_kernel, rtol=2e-2, atol=1e-3)
"""
)
BLOCKS = (
    HEAD
    + """def generate_input(rows: int, cols: int, seed: int):
    return torch.randn(rows, cols, device="cuda"), torch.randn(rows, -(-cols // 128), device="cuda")


def ref_kernel(data):
    x, scale = data
    return x * scale.sum(dim=1, keepdim=True) if scale.shape[1] > 1 else x + scale
"""
)
HANDED = {  # results in buffers that are not written, constants of the file, sizes that only go together
    "grey": (GREY, "- {size: 128, seed: 1}", "- {size: 4096, seed: 3}"),
    "total": (TOTAL, "- {size: 1023, seed: 1}", "- {size: 1048576, seed: 3}"),
    "groups": (
        GROUPS,
        "- {tokens: 4, width: 512, group: 64, seed: 1}\n- {tokens: 8, width: 512, group: 128, seed: 2}",
        "- {tokens: 256, width: 4096, group: 128, seed: 3}\n- {tokens: 256, width: 8192, group: 128, seed: 4}",
    ),
    "scaled": (
        SCALED,
        "- {rows: 32, cols: 64, seed: 1}\n- {rows: 64, cols: 256, seed: 2}",
        "- {rows: 1024, cols: 4096, seed: 3}\n- {rows: 512, cols: 576, seed: 4}\n- {rows: 512, cols: 1536, seed: 5}",
    ),
    "blocks": (BLOCKS, "- {rows: 4, cols: 64, seed: 1}", "- {rows: 1024, cols: 4096, seed: 3}"),
}
TASK = """files:
  - {{name: submission.py, source: "@SUBMISSION@"}}
  - {{name: task.py, source: task.py}}
  - {{name: utils.py, source: ../utils.py}}
  - {{name: reference.py, source: reference.py}}
  - {{name: eval.py, source: ../eval.py}}
lang: py
description: |
  A task of our own.
config: {{main: eval.py}}
tests:
{tests}
benchmarks:
{benchmarks}
test_timeout: 180
ranking_by: geom
"""


def write_board(root: Path, name: str) -> Path:
    """The folder of one of FOLDERS or HANDED below the root, with the files beside it."""
    reference, tests, benchmarks = {**FOLDERS, **HANDED}[name]
    folder = root / name
    folder.mkdir(parents=True)
    (root / "utils.py").write_text(UTILS)
    listed = {
        role: "\n".join(f"  {row}" for row in rows.splitlines()) for role, rows in (("tests", tests), ("b", benchmarks))
    }
    (folder / "task.yml").write_text(TASK.format(tests=listed["tests"], benchmarks=listed["b"]))
    (folder / "task.py").write_text(TYPES)
    (folder / "submission.py").write_text(SUBMISSION)
    (folder / "reference.py").write_text(reference)
    return folder


def is_close(output: np.ndarray, want: np.ndarray, rtol: float, atol: float) -> bool:
    """The rule of the boards: the same shape, and each element within atol + rtol times the reference's."""
    return output.shape == want.shape and bool(np.allclose(output, want, rtol=rtol, atol=atol, equal_nan=True))
