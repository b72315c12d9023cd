"""Proxies between the nodes of a cluster, which know by `/proc` who connects: a link may fail in one direction."""

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from servers.network import CHUNK, HEEDS_AFTER

LOOKS = 5

Direction = tuple[str, str]  # from which node to which


class Links:
    """Proxies before the transport ports of nodes."""

    def __init__(self, targets: dict[str, int], processes: Callable[[], dict[str, list[int]]]) -> None:
        self._targets, self._processes = targets, processes
        self._silent: set[Direction] = set()
        self._refused: set[Direction] = set()
        self.felt: set[Direction] = set()
        self._open: dict[Direction, set[socket.socket]] = {}
        self._listening = {name: socket.create_server(("127.0.0.1", 0), backlog=128) for name in targets}
        self.ports: dict[str, int] = {name: each.getsockname()[1] for name, each in self._listening.items()}
        for name in targets:
            threading.Thread(target=self._listen, args=(name,), daemon=True, name=f"links to {name}").start()

    def silence(self, direction: Direction) -> None:
        """Hold back every byte that one node sends to another, on any connection, and say nothing about it."""
        self.felt.discard(direction)
        self._silent.add(direction)

    def refuse(self, direction: Direction) -> None:
        """Break the connections that one node has made to another, and refuse new ones; those of the other stay."""
        self.felt.discard(direction)
        self._refused.add(direction)
        for connection in list(self._open.get(direction, ())):
            self.felt.add(direction)
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Let all links pass; what was held back arrives late."""
        self._silent.clear()
        self._refused.clear()
        self.felt.clear()

    def end(self) -> None:
        for each in self._listening.values():
            each.close()
        for direction in list(self._open):
            self.refuse(direction)

    def _listen(self, name: str) -> None:
        with contextlib.suppress(OSError):  # closed: the end
            while True:
                connection, (_, port) = self._listening[name].accept()
                threading.Thread(target=self._serve, args=(name, connection, port), daemon=True).start()

    def _serve(self, name: str, connection: socket.socket, port: int) -> None:
        direction = (self._caller(port, self.ports[name]), name)
        with connection, contextlib.suppress(OSError):
            if direction in self._refused:
                self.felt.add(direction)
                return
            with socket.create_connection(("127.0.0.1", self._targets[name])) as target:
                sockets = self._open.setdefault(direction, set())
                sockets |= {connection, target}
                back = threading.Thread(target=self._pass, args=(target, connection, direction[::-1]), daemon=True)
                back.start()
                self._pass(connection, target, direction)
                back.join()
                sockets -= {connection, target}

    def _pass(self, source: socket.socket, sink: socket.socket, direction: Direction) -> None:
        waiting = threading.Event()
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK):
                while direction in self._silent:
                    self.felt.add(direction)
                    waiting.wait(HEEDS_AFTER)
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def _caller(self, port: int, ours: int) -> str:
        """Name the node whose process has a connection from a port to ours; empty for anybody else."""
        for _ in range(LOOKS):  # the system shows its table in parts, between which an entry may move and be missed
            inode, processes = inode_of(port, ours), self._processes().items()
            for name, pids in processes:
                if inode and any(inode in sockets(pid) for pid in pids):
                    return name
        return ""


def inode_of(port: int, remote_port: int) -> str:
    """Return the inode of the socket that connects two ports: connections to other places may have the first, too."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            ports = tuple(int(address.rpartition(":")[2], 16) for address in fields[1:3])
            if ports == (port, remote_port) and fields[9] != "0":
                return f"socket:[{fields[9]}]"
    return ""


def sockets(pid: int) -> set[str]:
    """Return the sockets that a process has open."""
    return set(_links(Path(f"/proc/{pid}/fd")))


def _links(folder: Path) -> Iterator[str]:
    with contextlib.suppress(OSError):
        for each in os.scandir(folder):
            with contextlib.suppress(OSError):  # closed since
                yield str(Path(each.path).readlink())
