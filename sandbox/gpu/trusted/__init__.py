"""The judge's own kernels."""
