import base64
import hashlib
import re
from typing import Literal


class Tools:
    def hash(self, text: str, algorithm: Literal["md5", "sha1", "sha256"] = "sha256") -> str:
        """
        Hash a text.
        :param algorithm: Which function
        """
        return hashlib.new(algorithm, text.encode()).hexdigest()

    def encode(self, text: str) -> str:
        """Encode as base64."""
        return base64.b64encode(text.encode()).decode()

    def count_words(self, text: str, pattern: str = r"\w+") -> int:
        """
        Count the words.
        :param pattern: What a word is, as a regular expression
        """
        return len(re.findall(pattern, text))
