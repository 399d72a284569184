"""Programs of the user's as authors: their command, their environment, the fence around them."""
