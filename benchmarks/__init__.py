"""One script a figure, run as `python -m benchmarks.NAME`: a ratio against an anchor measured in the same run."""
