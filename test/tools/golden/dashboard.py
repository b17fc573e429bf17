"""
title: Dashboard
author: Parley
version: 0.2
"""

import html
import statistics
from typing import Tuple, Union

from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse


class Tools:
    async def dashboard(self, title: str, values: list[float], height: int = 300) -> Union[HTMLResponse, str]:
        """
        Show figures as bars.
        :param title: Above the bars
        :param values: The figures
        :param height: In pixels
        """
        if not values:
            return "There is nothing to show."
        mean = await run_in_threadpool(statistics.fmean, values)
        top = max(values)
        bars = "".join(f'<i style="height:{value / top * height:.0f}px"></i>' for value in values)
        page = f"<!doctype html><title>{html.escape(title)}</title><p>{mean:.1f}</p>{bars}"
        return HTMLResponse(content=page, headers={"Content-Disposition": "inline"})

    def dashboard_with_words(self, title: str) -> Tuple[HTMLResponse, dict]:
        """
        Show a title, and tell the model what was shown.
        :param title: What is shown
        """
        page = f"<h1>{html.escape(title)}</h1>"
        return HTMLResponse(page, headers={"Content-Disposition": "inline"}), {"shown": title, "status": "ok"}

    def raw(self, kind: str = "json") -> object:
        """
        Answer in another form.
        :param kind: json, text or page
        """
        if kind == "json":
            return JSONResponse({"a": [1, 2]})
        if kind == "text":
            return PlainTextResponse("text")
        return HTMLResponse("<p>not inline</p>")
