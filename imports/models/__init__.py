"""Models as graphs of operators: how they are traced, which regions can be one kernel, and what each is worth."""
