import torch


def rods(rod):
    for _ in range(6):
        left = torch.cat([rod[:1], rod[:-1]])
        right = torch.cat([rod[1:], rod[-1:]])
        rod = rod + 0.125 * (left - 2 * rod + right)
    return rod
