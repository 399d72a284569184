// The older name of a header of PyTorch.
#pragma once
#include <ATen/cuda/Atomic.cuh>
