class Tools:
    def __init__(self):
        self.status = {}

    class EventEmitter:
        def __init__(self, emitter=None):
            self.emitter = emitter

        async def progress(self, text):
            if self.emitter:
                await self.emitter({"type": "status", "data": {"description": text, "done": False}})

    async def scrape(self, urls: list[str], __event_emitter__=None) -> dict[str, str]:
        """
        Read several pages.
        :param urls: Their addresses
        """
        emitter = self.EventEmitter(__event_emitter__)
        await emitter.progress("reading")
        return {}
