"""Tasks made from what others have written."""
