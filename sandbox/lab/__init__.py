"""The lab: functional execution of a gfx942 kernel on the CPU, and a bound on its time."""
