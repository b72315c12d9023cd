"""Archives of ours, unpacked as each version of Python does it best."""

import tarfile
from pathlib import Path


def extract(archive: tarfile.TarFile, folder: Path) -> None:
    """Unpack all of an archive by the filter for data, which Python has from 3.11.4 on, and asks for from 3.12 on."""
    if hasattr(tarfile, "data_filter"):
        archive.extractall(folder, filter="data")
    else:
        archive.extractall(folder)  # noqa: S202 - an archive of ours
