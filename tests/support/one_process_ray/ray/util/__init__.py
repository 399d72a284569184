"""Parts of Ray."""
