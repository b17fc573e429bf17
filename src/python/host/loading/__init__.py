"""From the source of a tool to its instance: manifest, packages, imports."""
