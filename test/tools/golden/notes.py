"""
title: Notes
description: Keeps notes while the tool is loaded
"""


class Tools:
    def __init__(self):
        self.notes: dict[str, str] = {}

    def write_note(self, name: str, text: str) -> str:
        """
        Keep a note.
        :param name: Under which name
        :param text: What to keep
        """
        self.notes[name] = text
        return "kept"

    def read_note(self, name: str) -> str:
        """Read a note.
        :param name: Its name"""
        return self.notes.get(name, "")

    def list_notes(self) -> list[str]:
        """Names of all notes."""
        return list(self.notes)
