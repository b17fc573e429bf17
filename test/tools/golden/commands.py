"""
title: Commands
author: Parley
version: 0.1
"""

import os
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path


class Tools:
    def shell(self, command: str) -> str:
        """
        Run a command.
        :param command: The command
        """
        done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=20)
        return done.stdout or done.stderr

    def pack(self, files: dict[str, str]) -> dict:
        """
        Pack texts into an archive.
        :param files: By name
        """
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder) / "in" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            archive = shutil.make_archive(os.path.join(folder, "out"), "zip", Path(folder) / "in")
            with zipfile.ZipFile(archive) as opened:
                return {"names": sorted(n for n in opened.namelist() if not n.endswith("/")), "bytes": os.path.getsize(archive)}
