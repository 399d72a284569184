import torch.nn.functional as F


def bias_gelu(x, bias):
    return F.gelu(x + bias)
