def scaled_sum(a, x, y):
    return a * x + y
