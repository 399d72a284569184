"""The real gfx942 compilation: toolchain, code object, registers, the lines of its machine code."""
