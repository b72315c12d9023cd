"""Stored groups of five collections, held equal: `python .ci/groups.py [--write] COLLECTIONS`.

Each collection is ingested into an SQLite file by the command, and its stored groups are exported. `.ci/groups.json`
has the number of groups, of documents in them, and a hash of the pairs (document, lead). A change on purpose is written
by `--write`, in a commit of its own that explains it.
"""

import argparse
import csv
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

NAMES = ("reuters21578", "newspaper_ocr_overproof", "civil_code_sections", "copyright_files", "manual_pages")
KEPT = Path(__file__).with_name("groups.json")


def stored_groups(collection: Path) -> Mapping[str, object]:
    """Ingest a collection into a new file, settle it, and describe its stored groups."""
    with tempfile.TemporaryDirectory() as folder:
        export = Path(folder, "groups.csv")
        settings = {name: value for name, value in os.environ.items() if not name.startswith("IBIDEM_")}
        settings["IBIDEM_CONCURRENCY"] = "1"  # leads depend on the order in which documents are written
        for arguments in (
            ["ingest", str(collection / "docs.jsonl.xz")],
            ["regroup", "--all"],
            ["groups", "--stored", "--export", str(export)],
        ):
            command = [str(Path(sys.executable).with_name("ibidem")), *arguments]
            subprocess.run(command, cwd=folder, env=settings, check=True, capture_output=True)  # noqa: S603 - ours
        with export.open(encoding="utf-8", newline="") as file:
            rows = sorted((row["id"], row["lead"]) for row in csv.DictReader(file))
    digest = hashlib.sha256("\n".join(map("\t".join, rows)).encode()).hexdigest()[:16]
    return {"documents": len(rows), "groups": len({lead for _, lead in rows}), "pairs": digest}


def main() -> int:
    """Compare, or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collections", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    found = {name: stored_groups(arguments.collections.resolve() / name) for name in NAMES}
    if arguments.write:
        KEPT.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    for name in NAMES:
        sys.stdout.write(f"{name}: {found[name]}{'' if found[name] == kept[name] else f', kept: {kept[name]}'}\n")
    return 0 if found == kept else 1


if __name__ == "__main__":
    sys.exit(main())
