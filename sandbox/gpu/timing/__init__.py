"""Timed windows, levels and contrasts, and the checks on the clocks."""
