"""RabbitMQ, from Debian's `rabbitmq-server`, as an ordinary process with a name server of its own."""

import shutil
from pathlib import Path

from servers.missing import Missing
from servers.process import Launch, free_ports, greets

# The wrapper in `sbin` insists on another user; the script below it does not.
SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
GREETING = b"AMQP\x00\x00\x09\x01"


def prepare(folder: Path) -> Launch:
    """Say how a node is started whose every file and port is its own."""
    if not (SERVER.exists() and shutil.which("erl")):
        raise Missing(f"{SERVER} or Erlang is not there: install rabbitmq-server (tests/servers/install.sh)")
    port, distribution, names = free_ports(3)
    (folder / "plugins").write_text("[].")
    # Erlang's name server detaches itself when a node starts it; started here first, it ends with its group.
    script = f"epmd -port {names} -address 127.0.0.1 & exec {SERVER}"
    environment = {
        "ERL_EPMD_PORT": str(names),
        "HOME": str(folder),
        "RABBITMQ_NODENAME": f"ibidem{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(distribution),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
    }
    url, command = f"amqp://guest:guest@127.0.0.1:{port}//", ["sh", "-c", script]
    return Launch(url, command, lambda: greets(port, GREETING, b"\x01"), environment)
