"""What a kernel in a trace is, by the name that its library gives it."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class KernelKind:
    """A kind of kernels, and what to expect of one's own in its place."""

    pattern: re.Pattern[str]
    kind: str
    outlook: str


PRODUCT = "matrix product"
ATTENTION = "attention"
OURS = "scan the module for the region around it"
LIBRARY = "a library's kernel: worth a try only where its shape is unusual"
BETWEEN, RUNTIME = "between GPUs: no kernel of one", "the runtime's copy: avoid it in the model"


def _family(pattern: str, kind: str, outlook: str) -> KernelKind:
    return KernelKind(re.compile(pattern, re.IGNORECASE), kind, outlook)


FAMILIES = (
    _family(
        r"nccl|rccl|all_?reduce|all_?gather|reduce_?scatter|cross_device", "communication", "between GPUs: no kernel"
    ),
    _family(
        r"^memcpy|^memset|copyBuffer|fillBuffer|^copy ", "memory copy", "the runtime's copy: avoid it in the model"
    ),
    _family(r"flash|fmha|_mha_|attention|attn|sdpa|\bmla\b|_mla_", ATTENTION, LIBRARY),
    _family(
        r"conv|miopen.*(igemm|winograd|fwd|bwd)|winograd|implicit_gemm|cudnn.*(fprop|dgrad|wgrad)",
        "convolution",
        LIBRARY,
    ),
    _family(r"gemm|gemv|cijk_|cutlass|xmma|wgmma|nvjet|cublas|matmul|_mm_|splitk|bmm|tensile", PRODUCT, LIBRARY),
    _family(r"softmax", "softmax", OURS),
    _family(r"layer_?norm|rms_?norm|batch_?norm|group_?norm|\bbn_|norm", "normalisation", OURS),
    _family(r"rotary|rope", "rotary embedding", OURS),
    _family(r"topk|sort|multinomial|sample|argmax", "sampling", OURS),
    _family(r"embedding|index|gather|scatter", "gather or scatter", OURS),
    _family(r"multi_tensor_apply|adam|optimizer", "optimiser", "an update of weights: fused already"),
    _family(r"dropout|philox|distribution|random", "random numbers", "it draws random numbers"),
    _family(r"triton_", "compiled chain", "torch.compile has fused it: " + OURS),
    _family(r"reduce|sum_functor|welford", "reduction", OURS),
    _family(r"elementwise|vectorized|unrolled|pointwise|silu|gelu|sigmoid|cat(Array|_)|copy", "element-wise", OURS),
)
UNKNOWN = _family("", "other kernel", "its name is no hint: " + OURS)


def family_of(name: str) -> KernelKind:
    """Find the first family that knows a kernel's name."""
    return next((family for family in FAMILIES if family.pattern.search(name)), UNKNOWN)
