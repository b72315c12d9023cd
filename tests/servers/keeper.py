"""Run one server and end it when standard input closes: whatever ends the tests, the server goes with them.

A script of its own: the server's folder, then its command line. It knows nothing of the tests.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading


def end_with_parent(server: "subprocess.Popen[bytes]") -> None:
    """Wait for the end of standard input, then end the server and everything it started."""
    while sys.stdin.buffer.read(1):
        pass
    os.killpg(server.pid, signal.SIGKILL)


def keep(folder: str, command: list[str]) -> int:
    """Run the server to its end, remove its folder and return how it ended."""
    # Ctrl-C at a terminal goes to the tests, which close our standard input when they are done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=end_with_parent, args=(server,), daemon=True).start()
    ended = server.wait()
    if ended == -signal.SIGKILL:
        shutil.rmtree(folder, ignore_errors=True)
    return ended


if __name__ == "__main__":
    sys.exit(keep(sys.argv[1], sys.argv[2:]))
