"""Freed memory stays with the process for the next batch."""

_KEPT = 24 << 20


def keep_freed_memory() -> None:
    """Let glibc keep the memory of freed arrays, where it would give it back to the system after each.

    The size from which it gives blocks back grows with the greatest such block that was freed (mallopt(3), "dynamic
    mmap threshold"): so one is made, never written to, and freed. Without this a quarter of the time of signing goes
    into taking the same pages again. Other allocators take no notice.
    """
    bytes(_KEPT)
