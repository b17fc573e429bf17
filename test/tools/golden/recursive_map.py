from __future__ import annotations

from typing import Dict, Union

from pydantic import BaseModel


class Folder(BaseModel):
    files: list[str] = []
    folders: Dict[str, Folder] = {}


class Left(BaseModel):
    right: Union[Right, None] = None


class Right(BaseModel):
    left: Union[Left, None] = None


class Tools:
    def walk(self, root: Folder, pair: Left = None) -> int:
        """
        Count the files.
        :param root: Where to begin
        """
        return len(root.files)
