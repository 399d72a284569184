"""`python -m app`: the same as the console script."""

from app.cli import main

main()
