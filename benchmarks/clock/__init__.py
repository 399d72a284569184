"""The clock: times that the lab predicts beside times that others measured on AMD's GPUs and published."""
