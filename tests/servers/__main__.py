"""Start servers by hand and keep them until Ctrl-C: `python -m servers opensearch redis` in the folder `tests`."""

import signal
import sys

from servers.session import PREPARE, Servers, variable

ENDS = {signal.SIGINT, signal.SIGTERM}


def main(names: list[str]) -> None:
    """Start the named servers, all four when none is named, and print their addresses for the environment."""
    servers = Servers(names or PREPARE)
    try:
        for name in sorted(servers.wanted):
            sys.stdout.write(f"export {variable(name)}={servers.url(name)}\n")
        sys.stdout.flush()
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
        signal.sigwait(ENDS)
    finally:
        servers.stop()


main(sys.argv[1:])
