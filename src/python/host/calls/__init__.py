"""The process of a loaded tool: messages of the server, calls, events, questions."""
