"""Compilers for a GPU of this machine, in fenced processes, and what their images hold."""
