"""A model before and after: outputs against float64, times of every mode side by side, and what each kernel gives."""
