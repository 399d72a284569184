"""Region add_rms_norm of Rows: aten.add.Tensor, aten.rms_norm.default."""

import torch

n0 = 512
n1 = 1024


def region(x, r, weight):
    add = torch.ops.aten.add.Tensor(x, r)
    rms_norm = torch.ops.aten.rms_norm.default(add, [n1], weight, 1e-06)
    return add, rms_norm


def get_inputs():
    return [
        torch.randn(n0, n1, dtype=torch.bfloat16),
        torch.randn(n0, n1, dtype=torch.bfloat16),
        1 + 0.1 * torch.randn(n1, dtype=torch.bfloat16),
    ]
