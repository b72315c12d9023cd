"""`ibidem groups --versions`: the versions of each work, and the current one."""

import json
from pathlib import Path

import pytest

from support.command_line import Run

LEASE = "The rent of {} marks for the house at the harbour is due on the first of May, and the roof is the landlord's."


@pytest.mark.slow
def test_a_row_is_written_for_each_document_and_counts_add_up(run: Run) -> None:
    folder = Path("leases")
    folder.mkdir()
    for name, rent in (("lease (2).txt", 60), ("lease.txt", 30)):
        (folder / name).write_text(f"Lease\n\n{LEASE.format(rent)}", encoding="utf-8")
    assert run("ingest", "leases")[0] == 0
    code, out, _ = run("groups", "--versions", "--export", "versions.jsonl", "--json")
    assert code == 0
    counts = json.loads(out)
    written = [json.loads(line) for line in Path("versions.jsonl").read_text(encoding="utf-8").splitlines()]
    first, second = "lease.txt", "lease (2).txt"
    rows = [row for row in written if row["id"] in (first, second)]
    changed = [row.pop("changed") for row in rows]
    assert changed[0] == ""
    assert "rent of [30 → 60] marks for" in changed[1]
    assert rows == [
        {"work": first, "id": first, "version": 1, "current": False, "replaces": None, "by": None},
        {"work": first, "id": second, "version": 2, "current": True, "replaces": first, "by": "name"},
    ]
    assert counts["documents"] == counts["current"] + counts["replaced"] == counts["works"] + sum(counts["by"].values())
    assert counts["documents"] == len(written)
    assert f"{len(written)} documents of {counts['works']} works; " in run("groups", "--versions")[1]
    assert run("groups", "--versions", "--export", "versions.csv")[0] == 0


def test_versions_go_with_no_figures_and_not_with_threads(run: Run) -> None:
    for other in (("--level", "partial"), ("--stored",)):
        code, _, err = run("groups", "--versions", *other)
        assert code == 2
        assert "--versions cannot be combined with --level, --similarity, --preset or --stored" in err
        assert "leave them out" in err
    code, _, err = run("groups", "--versions", "--threads")
    assert code == 2
    assert "--threads cannot be combined with --versions" in err
    assert "ask for one of them" in err
