"""One file a command; each has a `command` function, `knowledge` an `app` of four."""
