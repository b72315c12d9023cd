"""The command line with an engine and a broker, in its own folder, and the workers that run there."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

IBIDEM = Path(sys.executable).with_name("ibidem")
DONE = (0, 3)  # exit codes of a command that did its work; with 3, some documents were refused


def surroundings(settings: Mapping[str, object]) -> dict[str, str]:
    """Return the environment of a process with these settings of ours and no others."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("IBIDEM_")}
    return environment | {name: str(value) for name, value in settings.items()}


class Way:
    """Commands and workers under the same settings."""

    def __init__(self, folder: Path, engine: str, broker: str, **settings: object) -> None:
        self.folder = folder
        self.index = f"way-{uuid4().hex}"  # the queue is named after it, and a broker is shared
        values = {"ENGINE": engine, "BROKER": broker, "INDEX": self.index, "TABLES": folder / "tables", **settings}
        self.environment = surroundings({f"IBIDEM_{name}": value for name, value in values.items()})
        self.workers: list[subprocess.Popen[bytes]] = []
        self._started: list[subprocess.Popen[bytes]] = []
        self.log = folder / "worker.log"

    def start_worker(self, concurrency: int = 1) -> "subprocess.Popen[bytes]":
        self.environment["IBIDEM_CONCURRENCY"] = str(concurrency)
        worker = self.start("worker")
        self.workers.append(worker)
        return worker

    def start(self, *arguments: str, output: Path | None = None) -> "subprocess.Popen[bytes]":
        """Start a command; what it says goes to the log, its standard output to a file where one is named."""
        with self.log.open("ab") as log, (output or self.log).open("ab") as stream:
            process = subprocess.Popen(
                [IBIDEM, *arguments],
                cwd=self.folder, env=self.environment, stdout=stream, stderr=log, start_new_session=True,
            )  # fmt: skip
        self._started.append(process)
        return process

    def json(self, *arguments: str, exit_code: int = 0, timeout: float = 120) -> Any:
        """Run a command to its end and return what it prints."""
        command = [IBIDEM, *arguments, "--json"]
        process = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=timeout, check=False
        )
        assert process.returncode == exit_code, process.stderr + (self.log.read_text() if self.log.exists() else "")
        return json.loads(process.stdout)

    def stop(self) -> None:
        """Ask the workers to end, and wait for that."""
        for worker in self.workers:
            worker.terminate()
        for worker in self.workers:
            worker.wait(timeout=60)
        self.workers.clear()

    def end(self) -> None:
        """Ask the workers to end, and leave no other command behind."""
        self.stop()
        for process in self._started:
            process.kill()
            process.wait()
