"""
title: Send e-mail
author: Parley
version: 1.2.0
"""

import asyncio
import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formataddr
from typing import Optional

from pydantic import BaseModel, Field, SecretStr, field_validator


class Attachment(BaseModel):
    """What goes along."""

    name: str = Field(..., description="Name of the file")
    text: str = Field(..., description="Its content")


class Tools:
    class Valves(BaseModel):
        smtp_host: str = Field(default="localhost", description="Server for outgoing mail")
        smtp_port: int = Field(default=587, ge=1, le=65535)
        use_tls: bool = Field(default=True)
        username: str = ""
        password: SecretStr = Field(default=SecretStr(""), description="Of the mailbox")
        sender: str = Field(default="assistant@example.com")

        @field_validator("sender")
        @classmethod
        def has_an_at(cls, value: str) -> str:
            if "@" not in value:
                raise ValueError("must be an address")
            return value

    def __init__(self):
        self.valves = self.Valves()

    def _send(self, message: EmailMessage) -> dict:
        with smtplib.SMTP(self.valves.smtp_host, self.valves.smtp_port, timeout=10) as server:
            if self.valves.use_tls:
                server.starttls(context=ssl.create_default_context())
            if self.valves.username:
                server.login(self.valves.username, self.valves.password.get_secret_value())
            return server.send_message(message)

    async def send_mail(
        self,
        to: list[str],
        subject: str,
        body: str,
        attachments: Optional[list[Attachment]] = None,
        __user__: dict = {},
        __event_emitter__=None,
    ) -> str:
        """
        Send an e-mail in the name of the user.
        :param to: Addresses of the recipients
        :param subject: What it is about
        :param body: Plain text
        :param attachments: Files that go along
        """
        message = EmailMessage()
        message["From"] = formataddr((__user__["name"], self.valves.sender))
        message["To"] = ", ".join(to)
        message["Reply-To"] = __user__["email"]
        message["Subject"] = subject
        message.set_content(body)
        for one in attachments or []:
            message.add_attachment(one.text.encode(), maintype="text", subtype="plain", filename=one.name)
        await __event_emitter__({"type": "status", "data": {"description": f"Sending to {len(to)}", "done": False}})
        try:
            loop = asyncio.get_running_loop()
            refused = await loop.run_in_executor(None, self._send, message)
        except smtplib.SMTPAuthenticationError as error:
            return f"The mailbox refused the password ({error.smtp_code})."
        await __event_emitter__({"type": "status", "data": {"description": "Sent", "done": True}})
        return f"Sent to {len(to) - len(refused)} of {len(to)}."
