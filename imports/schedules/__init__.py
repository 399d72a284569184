"""Kernels of a graph as an engineer schedules them: by iteration space, with wide loads and 32-bit indices."""
