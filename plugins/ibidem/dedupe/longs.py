"""Long signatures of the documents that need them, read together when first asked for."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence

from ibidem.dedupe.overrides import Name
from ibidem_ingest.signatures.longsignatures import LongSignatures

MOST_BYTES = 256 << 20
"""What is kept at once: the long signatures of some three thousand books."""

AT_ONCE = 1_000

Read = Callable[[Sequence[Name]], Mapping[Name, bytes]]


class Longs:
    """Long signatures by index and id.

    Args:
        read: Reads those of named documents; those that were asked for longest ago make room. None: whoever asks finds
            in `missing` what to read, and gives it to `take`.
        most: Bytes that are kept; what `take` is given beyond them counts as short.
    """

    def __init__(self, read: Read | None = None, most: int = MOST_BYTES) -> None:
        self.missing: set[Name] = set()
        self._read = read
        self._most = most
        self._kept: OrderedDict[Name, tuple[LongSignatures | None, int]] = OrderedDict()
        self._bytes = 0

    def want(self, names: Iterable[Name]) -> None:
        """Read those of documents that will be asked for, in few requests."""
        unknown = [name for name in dict.fromkeys(names) if name not in self._kept]
        if self._read is None:
            self.missing.update(unknown)
            return
        for at in range(0, len(unknown), AT_ONCE):
            some = unknown[at : at + AT_ONCE]
            self._keep(some, self._read(some))
            if self._bytes >= self._most:
                return

    def take(self, values: Mapping[Name, bytes]) -> None:
        """Take what was missing; documents without long signatures are left out of the values."""
        room = self._most - self._bytes
        for name in sorted(self.missing):
            value = values.get(name, b"")
            room -= len(value)
            self._put(name, value if room >= 0 else b"")
        self.missing.clear()

    def of(self, name: Name) -> LongSignatures | None:
        """Return those of one document; None when it has none, when they are damaged, or missing so far."""
        self.want([name])
        if name not in self._kept:
            return None
        self._kept.move_to_end(name)
        return self._kept[name][0]

    def _keep(self, names: Sequence[Name], values: Mapping[Name, bytes]) -> None:
        for name in names:
            self._put(name, values.get(name, b""))
            while self._bytes > self._most and len(self._kept) > 1:
                _, (_, size) = self._kept.popitem(last=False)
                self._bytes -= size

    def _put(self, name: Name, value: bytes) -> None:
        self._kept[name] = (LongSignatures.decode(value), len(value))
        self._bytes += len(value)


def none_read(_: Sequence[Name]) -> Mapping[Name, bytes]:
    """Read nothing: where relations of long texts are not asked for."""
    return {}
