"""Compile, execute, judge and time candidates. Needs the standard library, numpy and ml_dtypes only."""
