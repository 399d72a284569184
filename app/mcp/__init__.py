"""The server for coding agents: tools over the Model Context Protocol, with bounded answers."""
