"""The author that needs no model: rewrites of a source, each with its conditions."""
