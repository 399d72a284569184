"""Kernel tasks: what to compute, on which shapes, how exactly. One folder a task; adding one touches no code."""

from tasks.loader import load_task, task_names
from tasks.task import Case, ScalarSpec, Task, TensorSpec

__all__ = ["Case", "ScalarSpec", "Task", "TensorSpec", "load_task", "task_names"]
