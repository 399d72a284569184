"""The modules of a package that puts kernels into a model; they need PyTorch alone and are copied into each package."""
