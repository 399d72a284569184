"""Executes gfx942 listings: what a GPU would do, instruction by instruction."""
