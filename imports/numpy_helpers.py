"""Helpers of an imported reference.py, as text."""

from __future__ import annotations

from collections.abc import Mapping

HELPERS: Mapping[str, str] = {
    "error_function": '''
def error_function(x):
    """The error function; NumPy has none."""
    return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(x), np.asarray(x).dtype)
''',
    "in_order": '''
def in_order(x, axis, descending, count):
    """The values in order and their places; the first of equal ones first."""
    places = np.argsort(-x if descending else x, axis=axis, kind="stable")
    if count is not None:
        places = np.take(places, range(count), axis=axis)
    return np.take_along_axis(x, places, axis), places
''',
    "lower_median": '''
def lower_median(x, axis, keepdims):
    """The lower of the two in the middle, and its place."""
    places = np.argsort(x, axis=axis, kind="stable").take([(x.shape[axis] - 1) // 2], axis=axis)
    values = np.take_along_axis(x, places, axis)
    return (values, places) if keepdims else (values.squeeze(axis), places.squeeze(axis))
''',
    "scattered_sum": '''
def scattered_sum(x, axis, index, source):
    """x with the elements of source added where the index says."""
    found, places = x.copy(), list(np.indices(index.shape))
    part = source[tuple(slice(n) for n in index.shape)]
    places[axis] = index
    np.add.at(found, tuple(places), part)
    return found
''',
    "strided": '''
def strided(x, shape, strides, start):
    """The elements of a dense x that lie so far apart in memory."""
    places = start + sum(i * s for i, s in zip(np.indices(shape, sparse=True), strides))
    return np.broadcast_to(x.reshape(-1)[places], shape)
''',
    "put_at": '''
def put_at(x, places, values, adds):
    """x with values at places; of several for one place the last, or their sum."""
    found = x.copy()
    if adds:
        np.add.at(found, places, values)
    else:
        found[places] = values
    return found
''',
    "scattered": '''
def scattered(x, axis, index, source):
    """x with the elements of source where the index says; of several for one place the last."""
    found, places = x.copy(), list(np.indices(index.shape))
    places[axis] = index
    found[tuple(places)] = source if np.ndim(source) == 0 else source[tuple(slice(n) for n in index.shape)]
    return found
''',
    "windows": '''
def windows(x, kernel, stride, padding, dilation, fill, counts):
    """For each place of the kernel the values of x under it, as many as there are windows along each axis."""
    rank = len(kernel)
    ends = [max(0, (n - 1) * s + (k - 1) * d + 1 - x.shape[x.ndim - rank + i] - p)
            for i, (n, s, k, d, p) in enumerate(zip(counts, stride, kernel, dilation, padding))]
    x = np.pad(x, [(0, 0)] * (x.ndim - rank) + list(zip(padding, ends)), constant_values=fill)
    for place in np.ndindex(*kernel):
        at = tuple(slice(i * d, i * d + (n - 1) * s + 1, s) for i, d, n, s in zip(place, dilation, counts, stride))
        yield place, x[(..., *at)]
''',
    "max_pool": '''
def max_pool(x, kernel, stride, padding, dilation, shape):
    """The largest value under each window."""
    rank = len(kernel)
    found = np.full(shape, -np.inf, x.dtype)
    for _, part in windows(x, kernel, stride, padding, dilation, -np.inf, shape[-rank:]):
        found = np.maximum(found, part)
    return found
''',
    "avg_pool": '''
def avg_pool(x, kernel, stride, padding, shape, with_padding, divisor):
    """The mean under each window."""
    rank, ones = len(kernel), [1] * len(kernel)
    total = sum(part for _, part in windows(x, kernel, stride, padding, ones, 0, shape[-rank:]))
    if divisor:
        return total / x.dtype.type(divisor)
    if with_padding:
        return total / x.dtype.type(np.prod(kernel))
    count = sum(p for _, p in windows(np.ones_like(x), kernel, stride, padding, ones, 0, shape[-rank:]))
    return total / count
''',
    "recurrence": '''
def recurrence(rule, given, h, c, w, b):
    """All states of a recurrent layer, the last one, and the last cell; `given` has a row of gates for each step."""
    found = []
    for row in given:
        own = h @ w.T + b
        if rule == "lstm":
            i, f, g, o = np.split(row + own, 4, axis=-1)
            c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
            h = np.tanh(c) / (1 + np.exp(-o))
        elif rule == "gru":
            (r, z, n), (rh, zh, nh) = np.split(row, 3, axis=-1), np.split(own, 3, axis=-1)
            new = np.tanh(n + nh / (1 + np.exp(-r - rh)))
            h = new + (h - new) / (1 + np.exp(-z - zh))
        else:
            h = np.tanh(row + own) if rule == "tanh" else np.maximum(row + own, 0)
        found.append(h)
    return np.stack(found), h, c
''',
    "convolve": '''
def convolve(x, w, bias, stride, padding, dilation, groups, shape):
    """A convolution of any rank, as PyTorch counts it."""
    kernel, counts = w.shape[2:], shape[2:]
    found = np.zeros((x.shape[0], groups, w.shape[0] // groups, int(np.prod(counts))), x.dtype)
    parts = w.reshape(groups, w.shape[0] // groups, w.shape[1], *kernel)
    for place, part in windows(x, kernel, stride, padding, dilation, 0, counts):
        part = part.reshape(x.shape[0], groups, w.shape[1], -1)
        found += np.matmul(parts[(..., *place)], part)
    found = found.reshape(shape)
    return found if bias is None else found + bias.reshape(-1, *[1] * len(kernel))
''',
    "spread": '''
def spread(x, w, bias, stride, padding, dilation, groups, shape):
    """A transposed convolution of any rank, as PyTorch counts it."""
    kernel, rank = w.shape[2:], w.ndim - 2
    sizes = [max((n - 1) * s + (k - 1) * d + 1, o + p)
             for n, s, k, d, o, p in zip(x.shape[2:], stride, kernel, dilation, shape[2:], padding)]
    found = np.zeros((*shape[:2], *sizes), x.dtype)
    parts = w.reshape(groups, w.shape[0] // groups, w.shape[1], *kernel)
    flat = x.reshape(x.shape[0], groups, x.shape[1] // groups, -1)
    for place in np.ndindex(*kernel):
        value = np.matmul(np.swapaxes(parts[(..., *place)], -1, -2), flat).reshape(*shape[:2], *x.shape[2:])
        at = tuple(slice(i * d, i * d + (n - 1) * s + 1, s) for i, d, n, s in zip(place, dilation, x.shape[2:], stride))
        found[(slice(None), slice(None), *at)] += value
    found = found[(slice(None), slice(None), *(slice(p, p + o) for p, o in zip(padding, shape[2:])))]
    return found if bias is None else found + bias.reshape(-1, *[1] * rank)
''',
}
NEEDS = {"max_pool": ("windows",), "avg_pool": ("windows",), "convolve": ("windows",)}
