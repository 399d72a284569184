// CUDA's own 8-bit floats: this hardware does not have them.
#pragma once
