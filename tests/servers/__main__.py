"""Start servers by hand: `python -m servers opensearch redis` in the folder `tests` keeps them until Ctrl-C.

With a command behind `--` it is run with their addresses, as `make test` does, so that several processes share them.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from servers.missing import Missing
from servers.session import PREPARE, Servers, variable

ENDS = {signal.SIGINT, signal.SIGTERM}


def main(arguments: Sequence[str]) -> int:
    """Start the named servers, all four when none is named; print their addresses, or run a command with them."""
    at = list(arguments).index("--") if "--" in arguments else len(arguments)
    names, command = arguments[:at], arguments[at + 1 :]
    servers = Servers(names or PREPARE)
    try:
        return run(servers, command) if command else keep(servers)
    finally:
        servers.stop()


def keep(servers: Servers) -> int:
    """Print addresses for the environment, and wait."""
    for name in sorted(servers.names):
        sys.stdout.write(f"export {variable(name)}={servers.url(name)}\n")
    sys.stdout.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    signal.sigwait(ENDS)
    return 0


def run(servers: Servers, command: Sequence[str]) -> int:
    """Run a command, and say at its end what could not be started for it."""
    environment = dict(os.environ)
    for name in sorted(servers.names):
        with suppress(Missing):
            environment[variable(name)] = servers.url(name)
    process = subprocess.run(command, env=environment, check=False)
    for name, why in sorted(servers.missing.items()):
        sys.stderr.write(f"not run: what needs {name}: {why}\n")
    return process.returncode


sys.exit(main(sys.argv[1:]))
