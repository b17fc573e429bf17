"""Helpers for lists of messages: `[{"role", "content"}]`, where a content is a text or a list of parts."""

from typing import Any, Optional

Message = dict[str, Any]


def get_content_from_message(message: Message) -> Optional[str]:
    """The text of a message; the first text of one that has parts."""
    content = message.get("content")
    if isinstance(content, list):
        return next((part.get("text") for part in content if part.get("type") == "text"), None)
    return content


def _last(messages: list[Message], role: str) -> Optional[Message]:
    return next((message for message in reversed(messages) if message.get("role") == role), None)


def get_last_user_message_item(messages: list[Message]) -> Optional[Message]:
    return _last(messages, "user")


def get_last_user_message(messages: list[Message]) -> Optional[str]:
    message = _last(messages, "user")
    return None if message is None else get_content_from_message(message)


def get_last_assistant_message_item(messages: list[Message]) -> Optional[Message]:
    return _last(messages, "assistant")


def get_last_assistant_message(messages: list[Message]) -> Optional[str]:
    message = _last(messages, "assistant")
    return None if message is None else get_content_from_message(message)


def get_system_message(messages: list[Message]) -> Optional[Message]:
    return next((message for message in messages if message.get("role") == "system"), None)


def remove_system_message(messages: list[Message]) -> list[Message]:
    return [message for message in messages if message.get("role") != "system"]


def pop_system_message(messages: list[Message]) -> tuple[Optional[Message], list[Message]]:
    return get_system_message(messages), remove_system_message(messages)


def add_or_update_system_message(content: str, messages: list[Message], append: bool = False) -> list[Message]:
    """Adds a text to the system message, before or after its content; makes a system message when there is
    none.
    """
    system = get_system_message(messages)
    if system is None:
        messages.insert(0, {"role": "system", "content": content})
    else:
        said = get_content_from_message(system) or ""
        system["content"] = f"{said}\n{content}" if append else f"{content}\n{said}"
    return messages


def add_or_update_user_message(content: str, messages: list[Message], append: bool = True) -> list[Message]:
    """Adds a text to the last message when that is the user's; otherwise adds a message."""
    if messages and messages[-1].get("role") == "user":
        said = get_content_from_message(messages[-1]) or ""
        messages[-1]["content"] = f"{said}\n{content}" if append else f"{content}\n{said}"
    else:
        messages.append({"role": "user", "content": content})
    return messages
