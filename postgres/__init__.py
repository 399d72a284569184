"""The ledger, its artefacts and LangGraph's checkpoints in a Postgres database that several drivers share."""
