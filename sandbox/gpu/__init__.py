"""The judge on a GPU: a child process for each candidate, verification, timing."""
