"""Definitions of FlashInfer-Bench of our own, with workloads, as a folder of trace sets has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NORM = """import torch

def run(hidden_states, weight):
    tokens, hidden = hidden_states.shape
    assert hidden == 2048
    x = hidden_states.to(torch.float32)
    y = x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + 1e-5)
    return (y * weight.to(torch.float32)).to(torch.bfloat16)
"""
FUSED = """import torch

def run(hidden_states, residual, weight):
    total = hidden_states + residual
    scale = torch.rsqrt(total.pow(2).mean(dim=-1, keepdim=True) + 1e-6)
    return {"output": total * scale * weight, "sums": total}
"""
PRODUCT = """import torch

def run(A, B):
    return torch.matmul(A, B.T)
"""
GATED = """import torch.nn.functional as F

def run(x):
    half = x.shape[-1] // 2
    gate, up = x[:, :half], x[:, half:]
    return F.silu(gate) * up
"""
LAYER = """import torch

def run(x, eps, scale, shift):
    mean = x.mean(dim=-1, keepdim=True)
    var = x.var(dim=-1, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(var + eps) * scale + shift
"""
SOFTMAX = """import torch

def run(logits, temperature):
    return torch.softmax(logits / temperature, dim=-1)
"""


def _tensor(dtype: str, *shape: str) -> dict[str, Any]:
    return {"shape": list(shape), "dtype": dtype, "description": f"a tensor of {dtype}"}


def _scalar(dtype: str) -> dict[str, Any]:
    return {"shape": None, "dtype": dtype}


def _definition(
    name: str, axes: dict[str, int | None], inputs: dict[str, Any], outputs: dict[str, Any], reference: str
) -> dict[str, Any]:
    specs = {n: {"type": "var"} if v is None else {"type": "const", "value": v} for n, v in axes.items()}
    return {
        "name": name,
        "description": f"Our own {name}, μ included.",
        "op_type": name.split("_")[0],
        "tags": ["status:verified", "fi_api:none"],
        "axes": specs,
        "constraints": [],
        "inputs": inputs,
        "outputs": outputs,
        "reference": reference,
    }


ROW = ("tokens", "hidden")
DEFINITIONS: dict[str, dict[str, Any]] = {
    d["name"]: d
    for d in (
        _definition(
            "rmsnorm_h2048",
            {"tokens": None, "hidden": 2048},
            {"hidden_states": _tensor("bfloat16", *ROW), "weight": _tensor("bfloat16", "hidden")},
            {"output": _tensor("bfloat16", *ROW)},
            NORM,
        ),
        _definition(
            "fused_add_norm_h512",
            {"tokens": None, "hidden": 512},
            {
                "hidden_states": _tensor("float32", *ROW),
                "residual": _tensor("float32", *ROW),
                "weight": _tensor("float32", "hidden"),
            },
            {"output": _tensor("float32", *ROW), "sums": _tensor("float32", *ROW)},
            FUSED,
        ),
        _definition(
            "gemm_n512_k1024",
            {"M": None, "N": 512, "K": 1024},
            {"A": _tensor("float16", "M", "K"), "B": _tensor("float16", "N", "K")},
            {"C": _tensor("float16", "M", "N")},
            PRODUCT,
        ),
        _definition(
            "silu_and_mul_d1024",
            {"tokens": None, "half": 1024, "whole": 2048},
            {"x": _tensor("float32", "tokens", "whole")},
            {"y": _tensor("float32", "tokens", "half")},
            GATED,
        ),
        _definition(
            "layer_norm_eps",
            {"tokens": None, "hidden": 768},
            {
                "x": _tensor("float32", *ROW),
                "eps": _scalar("float32"),
                "scale": _tensor("float32", "hidden"),
                "shift": _tensor("float32", "hidden"),
            },
            {"y": _tensor("float32", *ROW)},
            LAYER,
        ),
        _definition(
            "softmax_temperature",
            {"batch": None, "vocabulary": 1000},
            {"logits": _tensor("float32", "batch", "vocabulary"), "temperature": _scalar("float32")},
            {"probabilities": _tensor("float32", "batch", "vocabulary")},
            SOFTMAX,
        ),
    )
}
SCALARS = {"eps": [1e-5, 1e-5], "temperature": [1.5, 0.75]}
SIZES = (7, 1024)


def workloads(definition: dict[str, Any]) -> list[dict[str, Any]]:
    """Two for each definition."""
    rows = []
    for number, size in enumerate(SIZES):
        inputs = {
            n: {"type": "scalar", "value": SCALARS[n][number]} if s["shape"] is None else {"type": "random"}
            for n, s in definition["inputs"].items()
        }
        axes = {n: size for n, a in definition["axes"].items() if a["type"] == "var"}
        uuid = f"00000000-0000-4000-8000-{number:012d}"
        workload = {"uuid": uuid, "axes": axes, "inputs": inputs}
        rows.append({"definition": definition["name"], "solution": None, "workload": workload, "evaluation": None})
    return rows


def write_trace_set(root: Path, *names: str) -> dict[str, bytes]:
    """The files of these definitions, by path below the root."""
    files = {}
    for name in names or DEFINITIONS:
        definition = DEFINITIONS[name]
        kind = definition["op_type"]
        text = json.dumps(definition, indent=3, ensure_ascii=False) + "\n\n"
        files[f"definitions/{kind}/{name}.json"] = text.encode()
        lines = "\n".join(json.dumps(row, separators=(", ", ":")) for row in workloads(definition))
        files[f"workloads/{kind}/{name}.jsonl"] = lines.encode()
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return files
