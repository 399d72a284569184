"""Readers: files, folders and texts to documents in Markdown; what stores and ranks them is knowledge."""
