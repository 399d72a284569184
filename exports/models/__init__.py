"""Verified kernels put back into a model of PyTorch: a package that replaces regions of its graph."""
