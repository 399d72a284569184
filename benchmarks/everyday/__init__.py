"""Twenty everyday functions, and beside each the kernel that a tutorial would give for it."""
