"""Values of inputs: families of them, values of one size, and inputs made for one candidate."""
