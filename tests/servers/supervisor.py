"""Run one server and end it when standard input closes; SIGTERM kills it and leaves its folder, to be started again."""

import os
import shutil
import signal
import subprocess
import sys
import threading


def end_with_parent(server: "subprocess.Popen[bytes]", end_event: threading.Event) -> None:
    """Wait for the end of standard input, then end the server and everything it started."""
    while os.read(0, 1):
        pass
    end_event.set()
    os.killpg(server.pid, signal.SIGKILL)


def keep(folder: str, command: list[str]) -> int:
    """Run the server to its end and return how it ended; the folder goes with it when the tests are done."""
    # Ctrl-C at a terminal goes to the tests, which close our standard input when they are done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_event = threading.Event()
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    signal.signal(signal.SIGTERM, lambda *_: os.killpg(server.pid, signal.SIGKILL))
    threading.Thread(target=end_with_parent, args=(server, end_event), daemon=True).start()
    status = server.wait()
    if end_event.is_set():
        shutil.rmtree(folder, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(keep(sys.argv[1], sys.argv[2:]))
