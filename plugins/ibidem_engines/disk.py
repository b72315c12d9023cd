"""Disks of an index: checks for folders that are not writable, and disks that are nearly full."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from ibidem_engines.engine import HealthIssue

FULL = 0.9  # share of a disk that is used from which it counts as nearly full; servers move shards away from there on


def file_issues(path: Path) -> Iterator[HealthIssue]:
    """Check the folder and the disk of an index in a file."""
    folder = next(each for each in (path.parent, *path.parent.absolute().parents) if each.exists())
    if not folder.is_dir():
        yield HealthIssue("folder", f"{folder} is not a folder", "name another file in IBIDEM_ENGINE", stops=True)
        return
    for each in (folder, *([path] if path.exists() else [])):
        if not os.access(each, os.W_OK):
            yield HealthIssue("folder", f"{each} cannot be written", "allow it, or name another file in IBIDEM_ENGINE")
    disk = shutil.disk_usage(folder)
    if is_full(disk.total, disk.free):
        yield disk_issue(f"the disk of {folder}", disk.total, disk.free)


def is_full(size: int, free: int) -> bool:
    """Return whether a disk with a number of free bytes is nearly full."""
    return free < (1 - FULL) * size


def disk_issue(disk: str, size: int, free: int) -> HealthIssue:
    """Return the issue of a disk that is nearly full."""
    message = f"{disk} is nearly full: {free / 1e9:.1f} of {size / 1e9:.1f} GB are left"
    return HealthIssue("disk", message, "free some space, or use a larger disk")
