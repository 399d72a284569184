"""The executor of gfx942 machine code: a listing decoded once, interpreted with checks."""
