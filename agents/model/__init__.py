"""The gateway to a language model: transport, structured output, endpoint, budget."""
