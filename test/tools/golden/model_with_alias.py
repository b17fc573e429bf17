from pydantic import BaseModel, ConfigDict, Field


class Query(BaseModel):
    model_config = ConfigDict(populate_by_name=True, extra="allow")

    text: str = Field(alias="q")
    page_size: int = Field(default=10, alias="pageSize", description="How many on a page")


class Tools:
    def search(self, query: Query):
        """Names on the wire differ from those in Python."""
