"""
title: Shop database
author: Parley
description: Questions about a small database that is made when it is first asked for.
version: 2.0
"""

import os
import re
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any, Optional, Union

from open_webui.config import CACHE_DIR
from pydantic import BaseModel, Field

_lock = threading.Lock()


class Tools:
    class Valves(BaseModel):
        name: str = Field(default="shop.db", description="Name of the file")
        max_rows: int = 50

    def __init__(self):
        self.valves = self.Valves()

    def _connect(self) -> sqlite3.Connection:
        path = os.path.join(CACHE_DIR, self.valves.name)
        with _lock:
            if not Path(path).exists():
                with closing(sqlite3.connect(path)) as made, made:
                    made.execute("create table item (id integer primary key, name text, price real)")
                    made.executemany(
                        "insert into item (name, price) values (?, ?)", [("tea", 2.5), ("cake", 3.75), ("jam", None)]
                    )
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        connection.row_factory = sqlite3.Row
        return connection

    def list_tables(self) -> dict[str, list[str]]:
        """Name the tables of the database with their columns."""
        with closing(self._connect()) as connection:
            names = [row["name"] for row in connection.execute("select name from sqlite_master where type = 'table'")]
            return {n: [c["name"] for c in connection.execute(f"pragma table_info({n})")] for n in names}

    def run_query(self, sql: str, parameters: Optional[list[Union[int, float, str, None]]] = None) -> str:
        """
        Run one SELECT and get its rows as a table in Markdown.
        :param sql: The statement
        :param parameters: Values for its question marks
        """
        if not re.match(r"\s*(select|with)\b", sql, re.IGNORECASE):
            return "Error: only SELECT is allowed."
        with closing(self._connect()) as connection:
            try:
                rows: list[Any] = connection.execute(sql, parameters or []).fetchmany(self.valves.max_rows)
            except sqlite3.Error as error:
                return f"Error: {error}"
        if not rows:
            return "No rows."
        head = rows[0].keys()
        lines = [head, ["---"] * len(head), *([("" if v is None else str(v)) for v in row] for row in rows)]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
