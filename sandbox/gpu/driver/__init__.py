"""The vendors' drivers behind one interface, called through ctypes."""
