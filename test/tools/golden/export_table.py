"""
title: Export a table
author: Parley
author_url: https://example.com
version: 0.3.1
license: MIT
requirements: fastapi
description: Hands a table over as a CSV or JSON file, with a link in the chat.
"""

import csv
import io
import json
import logging
from typing import Any, Callable, Literal, Optional

from fastapi import Request, UploadFile
from open_webui.models.users import Users
from open_webui.routers.files import upload_file_handler
from pydantic import BaseModel, Field
from starlette.datastructures import Headers

log = logging.getLogger(__name__)
log.setLevel(logging.DEBUG)


class Tools:
    class Valves(BaseModel):
        priority: int = Field(default=0, description="Order among tools")
        max_rows: int = Field(default=1000, ge=1, description="More rows are refused")

    def __init__(self):
        self.valves = self.Valves()
        self.file_handler = True

    async def export_table(
        self,
        rows: list[dict[str, Any]],
        filename: str = "table",
        kind: Literal["csv", "json"] = "csv",
        __user__: Optional[dict] = None,
        __request__: Optional[Request] = None,
        __event_emitter__: Optional[Callable[[dict], Any]] = None,
    ) -> str:
        """
        Write rows into a file that the user can download.

        :param rows: One object for each row
        :param filename: Name of the file, without its ending
        :param kind: Format of the file
        :return: A link to the file, to be shown as it is.
        """
        if not rows:
            return json.dumps({"error": "There are no rows."})
        if len(rows) > self.valves.max_rows:
            raise ValueError(f"at most {self.valves.max_rows} rows")
        if kind == "csv":
            text = io.StringIO()
            writer = csv.DictWriter(text, fieldnames=list(rows[0]), extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
            data, mime = text.getvalue().encode("utf-8-sig"), "text/csv"
        else:
            data, mime = json.dumps(rows, ensure_ascii=False, indent=2).encode(), "application/json"
        user = Users.get_user_by_id(id=__user__["id"])
        log.debug("Uploading %d bytes for %s", len(data), user.name)
        item = upload_file_handler(
            request=__request__,
            file=UploadFile(
                file=io.BytesIO(data),
                size=len(data),
                filename=f"{filename}.{kind}",
                headers=Headers({"content-type": mime}),
            ),
            metadata={"rows": len(rows)},
            process=True,
            user=user,
        )
        file_id = item["id"] if isinstance(item, dict) else item.id
        url = __request__.app.url_path_for("get_file_content_by_id", id=file_id)
        link = f"[{filename}.{kind}]({str(__request__.base_url).rstrip('/')}{url})"
        await __event_emitter__({"type": "message", "data": {"content": link}})
        return link
