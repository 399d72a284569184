"""A coding agent as the author: any program that works in a folder with the tools of the bench."""
