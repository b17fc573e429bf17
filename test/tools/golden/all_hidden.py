class Tools:
    def f(
        self,
        __user__,
        __id__,
        __request__,
        __messages__,
        __files__,
        __metadata__,
        __model__,
        __chat_id__,
        __message_id__,
        __event_emitter__,
        __event_call__,
        __oauth_token__,
        _internal=None,
    ):
        """Nothing for the model to fill."""
