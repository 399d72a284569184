"""The real gfx942 compilation: toolchain, code object, registers, machine code by basic block."""
