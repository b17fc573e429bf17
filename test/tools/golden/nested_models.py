from typing import List, Optional

from pydantic import BaseModel, Field


class Address(BaseModel):
    """Where somebody lives."""

    street: str
    city: str = Field(default="Bern", description="The town")


class Person(BaseModel):
    name: str = Field(..., min_length=1, max_length=80)
    age: Optional[int] = Field(default=None, ge=0)
    homes: List[Address] = []


class Tools:
    def register(self, person: Person, friends: List[Person] = []):
        """
        Register somebody.
        :param person: Who
        """
