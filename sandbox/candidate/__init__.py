"""One candidate: its file, its launch plan, the plan in numbers, and the codes of its verdicts."""
