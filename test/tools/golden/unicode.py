class Tools:
    def grüßen(self, wen: str = "Welt") -> str:
        """
        Grüßt jemanden – höflich. 你好 🙂
        :param wen: Wer gegrüßt wird
        """
        return f"Grüß Gott, {wen}"
