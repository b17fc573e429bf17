import sqlite3
from typing import Any


class Tools:
    def query(self, sql: str, parameters: list[Any] = []) -> list[dict[str, Any]]:
        """
        Run SQL on an empty database in memory.
        :param sql: One statement
        :param parameters: Values for its question marks
        """
        connection = sqlite3.connect(":memory:")
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(sql, parameters)]
