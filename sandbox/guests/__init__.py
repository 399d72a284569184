"""Languages other than HIP: from a candidate's file to a gfx942 listing, so that all that follows is the same."""
