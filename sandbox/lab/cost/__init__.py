"""From counted work to a bound on the time."""
