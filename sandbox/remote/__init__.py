"""Evaluation elsewhere: requests, bundles of answers, a spool folder, a served worker."""
