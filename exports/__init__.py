"""Kernels in the forms that other programs take: the host half is generated from the launch plan."""
