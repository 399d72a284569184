"""Families of measured kernels, a module each: `REPOSITORIES`, and `points(folder)`, which makes its points."""
