"""The confinement of a tool: what its process gives up before the source is read."""
