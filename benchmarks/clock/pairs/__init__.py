"""Pairs of kernels of ours whose order on CDNA hardware is known, to try the clock's order on."""
