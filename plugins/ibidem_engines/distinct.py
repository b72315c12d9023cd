"""Fields that must not differ: whether an index was signed with those of the settings."""

from collections.abc import Sequence

from ibidem_engines.engine import Engine
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.packed import guard, unpack

SAMPLE = 100  # documents that are looked at; one that changed since it was signed decides nothing alone


def check_distinct(engine: Engine, distinct: Sequence[str], *, writes: bool = False) -> None:
    """Refuse fields that an index was not signed with; whoever only reads may name none."""
    if not (distinct or writes):
        return
    hits = next(iter(engine.scan(size=SAMPLE)), [])
    values = [(hit, unpack(hit.packed)) for hit in hits if hit.packed]
    stored = {(hit.index, hit.id): packed.guard for hit, packed in values if packed is not None}
    wanted = dict.fromkeys(stored, bytes(4))
    if distinct and stored:
        wanted |= {(each.index, each.document.id): guard(each.document, distinct) for each in engine.fetch([*stored])}
    judged = [stored[name] == wanted[name] for name in stored if any(stored[name]) or any(wanted[name])]
    if sum(judged) * 2 < len(judged):
        raise UsageError(
            f"IBIDEM_DISTINCT={','.join(distinct)!r}, but index {engine.index!r} was signed with another value",
            "set it to the value of that time; or sign again: on a cluster with ibidem backfill, else with ibidem "
            "ingest into another IBIDEM_INDEX",
        )
