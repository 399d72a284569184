"""Ray as the executor: a station on each GPU or share of a lab, one desk that hands out candidates fairly."""
