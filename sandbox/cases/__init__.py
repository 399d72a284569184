"""The cases that both judges draw for a candidate: shapes, inputs, and sweeps of both."""
