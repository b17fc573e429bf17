"""
title: Charts
author: Parley
version: 1.0
"""

import json
from typing import Dict, List

from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field


class Series(BaseModel):
    name: str = Field(..., description="What is counted")
    values: List[float] = Field(..., min_length=1)


class Tools:
    def chart(self, series: List[Series], colors: Dict[str, str] = {}, title: str = "") -> tuple:
        """
        Show a chart.

        :param series: What it shows
        :param colors: By the name of a series
        :param title: Above it
        """
        data = json.dumps([one.model_dump() for one in series])
        page = f"<html><h1>{title}</h1><script>draw({data})</script></html>"
        return HTMLResponse(content=page, headers={"Content-Disposition": "inline"}), f"{len(series)} series are shown"
