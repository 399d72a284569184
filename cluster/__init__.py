"""Ray as the executor: a station on each GPU or share of a lab, one supervisor that hands out candidates fairly."""
