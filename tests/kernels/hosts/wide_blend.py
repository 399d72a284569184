def blend(a, b):
    return a + 0.3 * (b - a)
