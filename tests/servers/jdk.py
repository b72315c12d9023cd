"""Find a JDK that is new enough for the search engines."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from servers.missing import Missing

MIN_VERSION = 21


def candidates() -> Iterator[Path]:
    """Yield every `java` of JAVA_HOME, of the path and of Debian's folder, in this order."""
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if path := shutil.which("java"):
        yield Path(path)
    yield from sorted(Path("/usr/lib/jvm").glob("*/bin/java"), reverse=True)


def release(java: Path) -> int:
    """Return the major release of a `java`, 0 when unknown."""
    try:
        output = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False).stderr
    except OSError:
        return 0
    match = re.search(r'version "(\d+)', output)
    return int(match[1]) if match else 0


def java() -> Path:
    for path in candidates():
        if path.exists() and release(path) >= MIN_VERSION:
            return path
    raise Missing(f"no JDK of {MIN_VERSION} or later in JAVA_HOME, on the path or in /usr/lib/jvm")


if __name__ == "__main__":
    print(java().resolve().parents[1])  # noqa: T201 - for JAVA_HOME of the Makefile
