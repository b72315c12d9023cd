"""The network before a server, which can be cut, held up, and slowed: a TCP proxy on a port of its own."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, get_args

Kind = Literal["cut", "hung", "slow"]
KINDS: tuple[Kind, ...] = get_args(Kind)

CHUNK = 65_536
HEEDS_AFTER = 0.05


class Network:
    """Passes bytes on between those who connect and one server, as long as it is whole."""

    def __init__(self, host: str, port: int) -> None:
        self._target = host, port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._whole, self._flows = threading.Event(), threading.Event()
        self._whole.set()
        self._flows.set()
        self._delay = 0.0
        self.passed = 0
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True, name="network").start()

    def cut(self) -> None:
        """Break every connection, and refuse new ones."""
        self._whole.clear()
        self._break()

    def hang(self) -> None:
        """Pass nothing on any more, and say nothing about it."""
        self._flows.clear()

    def delay(self, seconds: float) -> None:
        """Hold up whatever passes."""
        self._delay = seconds

    def mend(self) -> None:
        """Make the network whole and quick again."""
        self._delay = 0.0
        self._whole.set()
        self._flows.set()

    def end(self) -> None:
        self._listening.close()
        self.cut()

    def _break(self) -> None:
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _listen(self) -> None:
        with contextlib.suppress(OSError):  # closed: the end
            while True:
                client_socket, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client_socket,), daemon=True, name="connection").start()

    def _serve(self, client_socket: socket.socket) -> None:
        with client_socket, contextlib.suppress(OSError):
            if not self._whole.is_set():
                return
            with socket.create_connection(self._target) as target_socket:
                self._open |= {client_socket, target_socket}
                back = threading.Thread(
                    target=self._pass, args=(target_socket, client_socket), daemon=True, name="way back"
                )
                back.start()
                self._pass(client_socket, target_socket)
                back.join()
                self._open -= {client_socket, target_socket}

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK):
                time.sleep(self._delay)
                while not self._flows.wait(HEEDS_AFTER) and self._whole.is_set():
                    pass
                self.passed += len(data)
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


class Trouble:
    def __init__(self, network: Network, kind: Kind) -> None:
        self.network, self._kind = network, kind

    def kill(self) -> None:
        """Let it come."""
        begins = {"cut": self.network.cut, "hung": self.network.hang, "slow": lambda: self.network.delay(0.1)}
        begins[self._kind]()

    def start_again(self) -> None:
        """Let it pass."""
        self.network.mend()


@contextmanager
def network(address: str) -> Iterator[tuple[Network, str]]:
    """Put a network before the server of an address, until the block ends."""
    scheme, _, location = address.partition("://")
    place, slash, path = location.partition("/")
    account, at, server = place.rpartition("@")
    host, _, port = server.partition(":")
    proxy = Network(host, int(port))
    try:
        yield proxy, f"{scheme}://{account}{at}127.0.0.1:{proxy.port}{slash}{path}"
    finally:
        proxy.end()
