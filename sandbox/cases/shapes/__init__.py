"""Shapes of a task: derived from a plan, long in a dim, swept, or many at once."""
