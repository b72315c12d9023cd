"""Some texts of a stream, drawn by lot."""

import random


class Lot:
    """Draws some texts, each as likely as any other (reservoir sampling); the same ones of the same stream.

    Args:
        count: How many at most.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.drawn: list[str] = []
        self._seen = 0
        self._random = random.Random(1)  # noqa: S311 - a sample, nothing secret

    def add(self, text: str) -> None:
        """Let one more take part."""
        self._seen += 1
        if len(self.drawn) < self.count:
            self.drawn.append(text)
        elif (place := self._random.randrange(self._seen)) < self.count:
            self.drawn[place] = text
