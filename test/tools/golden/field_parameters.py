from typing import Annotated, List

from pydantic import Field


class Tools:
    def search(
        self,
        query: str = Field(..., description="What to look for"),
        limit: int = Field(5, ge=1, le=50, description="At most this many"),
        kind: Annotated[str, Field(pattern="^(web|news)$")] = "web",
        sites: List[str] = Field(default_factory=list),
    ):
        """Search the web."""
