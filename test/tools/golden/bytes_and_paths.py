from pathlib import Path


class Tools:
    def save(self, path: Path, content: bytes = b"", mode: complex = None):
        """Save a file."""
