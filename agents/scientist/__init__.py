"""The author over a language model: its five roles, their prompts and what they answer."""
