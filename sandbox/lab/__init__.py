"""The lab: execute HIP kernels functionally on the CPU, count what the profiler would, bound the time."""
