import asyncio


class Tools:
    async def slow(self, seconds: float = 0.1):
        """Wait a little."""
        await asyncio.sleep(seconds)

    def fast(self):
        """Do not wait."""
