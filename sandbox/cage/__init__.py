"""Confinement of processes that run what others wrote: what they see, what they may call, how much they may take."""
