"""From a candidate to a program of this machine with every access checked."""
