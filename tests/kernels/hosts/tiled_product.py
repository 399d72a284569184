import numpy as np


def product(A, B):
    return np.matmul(A, B)
