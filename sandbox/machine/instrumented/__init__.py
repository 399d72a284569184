"""A second gfx942 build of a candidate, for what optimisation hides: probes that only lanes at fault reach."""
