"""Name of a stored group: made of the id of the document that began it."""

from hashlib import blake2b

SIZE = 12
"""Bytes of a name: no two of a billion ids share one by chance, and nobody finds two that do in a lifetime."""


def group_name(id_: str) -> str:
    """Name the group that a document begins.

    Args:
        id_: The document's id.

    >>> group_name("op-17")
    '06aacebfd0b36511566f04ea'
    """
    return blake2b(id_.encode(), digest_size=SIZE).hexdigest()
