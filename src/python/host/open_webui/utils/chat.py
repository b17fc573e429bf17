"""Models answer in channels, never inside tools."""

import bridge

generate_chat_completion = bridge.not_offered("generate_chat_completion")
