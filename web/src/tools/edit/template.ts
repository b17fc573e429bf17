/** A tool that works as it is, and shows each part that a tool may have. */
export const TEMPLATE = `"""
title: Greeter
description: Greets people
version: 0.1.0
"""

from pydantic import BaseModel, Field


class Tools:
    class Valves(BaseModel):
        greeting: str = Field("Hello", description="The first word of each greeting")

    def __init__(self):
        self.valves = self.Valves()

    async def greet(self, name: str, __event_emitter__=None) -> str:
        """
        Greet a person.

        :param name: The name of the person
        :return: The greeting
        """
        status = {"description": f"Greeting {name}", "done": True}
        await __event_emitter__({"type": "status", "data": status})
        return f"{self.valves.greeting}, {name}!"
`;

/** The name in the form of an id: small letters, digits and underscores. */
export const idOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
