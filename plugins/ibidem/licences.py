"""The licence texts installed on this machine: real legal documents with real duplicates, for the demonstration.

Python packages carry theirs beside their metadata (PEP 639), Debian one `copyright` file for each package.
"""

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

from ibidem_ingest.document import Document

NAMED = re.compile(r"(licen[cs]e|copying|notice)[^/]*", re.IGNORECASE)
DEBIAN = Path("/usr/share/doc")
LARGEST = 1_000_000


def licences(debian: Path = DEBIAN) -> Iterator[Document]:
    """Yield the licence texts, those of the running Python's packages first.

    Args:
        debian: Folder with a folder for each Debian package; may be missing.
    """
    yield from of_python_packages()
    yield from of_debian_packages(debian)


def of_python_packages() -> Iterator[Document]:
    """Yield the licence files of the packages that this Python can import, each once."""
    seen: set[Path] = set()
    for package in sorted(distributions(), key=lambda one: (one.name or "").lower()):
        for name, path in licence_files(package):
            if path in seen or (text := readable(path)) is None:
                continue
            seen.add(path)
            yield Document(
                f"python/{package.name}/{name}",
                text,
                title=f"{package.name} {package.version}: {name}",
                source="Python packages",
                url=path.as_uri(),
            )


def licence_files(package: Distribution) -> list[tuple[str, Path]]:
    """Return the licence files beside a package's metadata, by their names there, in order."""
    beside = (file for file in package.files or () if file.parts[0].endswith(".dist-info"))
    return sorted(
        ("/".join(part for part in file.parts[1:] if part != "licenses"), Path(str(file.locate())).resolve())
        for file in beside
        if NAMED.fullmatch(file.name)
    )


def of_debian_packages(folder: Path) -> Iterator[Document]:
    """Yield the copyright files of Debian packages; several packages may point at one file, which is taken once."""
    seen: set[Path] = set()
    for path in sorted(folder.glob("*/copyright")):
        file = path.resolve()
        if file in seen or (text := readable(file)) is None:
            continue
        seen.add(file)
        name = path.parent.name
        yield Document(f"debian/{name}", text, title=f"{name}: copyright", source="Debian", url=file.as_uri())


def readable(path: Path) -> str | None:
    """Read a file of text; None when it cannot be read, is empty or is too large for a demonstration."""
    try:
        if path.stat().st_size > LARGEST:
            return None
        text = path.read_text(encoding="utf-8", errors="replace").replace("\0", "")
    except OSError:
        return None
    return text if text.strip() else None
