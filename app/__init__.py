"""The edge: command line, settings, wiring, reports. The only package that reads the environment or prints."""
