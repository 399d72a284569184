"""The nouns every other package shares: frozen records, the exception tree, the ledger and the artefact store."""
