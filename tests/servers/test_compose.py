"""The compose file names settings that there are, and the image holds what the package needs."""

import re
from pathlib import Path

from ibidem_workers.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]


def test_every_setting_in_the_compose_file_is_one() -> None:
    named = set(re.findall(rf"^\s+({PREFIX}\w+):", (ROOT / "docker-compose.yml").read_text(), re.MULTILINE))
    assert named
    assert named <= {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}


def test_every_folder_that_the_image_copies_is_there_and_let_in() -> None:
    copied = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    names = [name for line in copied for name in line.split()]
    let_in = (ROOT / ".dockerignore").read_text().split()
    for name in names:
        assert (ROOT / name).exists(), name
        assert f"!{name}" in let_in
