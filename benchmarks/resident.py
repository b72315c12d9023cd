"""Resident memory of processes, and its growth from five minutes to an hour."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SETTLED_S = 300.0  # seconds after which a process holds all that it keeps: the memory to compare with

WITHIN_S = 60.0  # the memory at a time is the median over so many seconds, since it varies with each batch


def resident_mb(pid: int) -> float | None:
    """Return the megabytes that a process holds in memory; None when it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return None
    sizes = (line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return next((int(each) / 1024 for each in sizes), None)


def children(pid: int) -> list[int]:
    """Return the child processes of a process; none when it has ended."""
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of processes over time."""

    pids: Mapping[str, int]  # the processes by their names in the table
    # For each of them the seconds since the start and the megabytes, in order.
    samples: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def sample(self, at: float) -> None:
        """Take a sample of every process."""
        for name, pid in self.pids.items():
            size = resident_mb(pid)
            if size is None:
                raise RuntimeError(f"{name}, process {pid}, ended {at:.0f} s after the start")
            self.samples.setdefault(name, []).append((at, size))

    def rows(self) -> list[str]:
        """Write a row of a table for each process: after five minutes, at the end, the most, and the growth."""
        rows = []
        for name, samples in self.samples.items():
            end = samples[-1][0]
            settled, last = median_memory(samples, min(SETTLED_S, end / 2)), median_memory(samples, end - WITHIN_S)
            peak = max(size for _, size in samples)
            rows.append(f"| {name} | {settled:.0f} | {last:.0f} | {peak:.0f} | {last / settled:.2f} |")
        return rows


def median_memory(samples: Sequence[tuple[float, float]], begin: float) -> float:
    """Return the median memory of the minute that begins then."""
    return statistics.median(size for at, size in samples if begin <= at <= begin + WITHIN_S)
