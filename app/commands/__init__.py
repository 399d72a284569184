"""One file a command, `NAME_command.py` where a package has the name; each has a `command`, `knowledge` an `app`."""
