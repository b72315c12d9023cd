"""Queue of a broker in memory, which keeps less order than real ones: clocks differ, and others come between steps."""

from collections import deque
from dataclasses import dataclass, field

from simulation.scheduler import Process, Scheduler

BEATS = 6  # renewals of a lease in the time after which one without any has lapsed
LOOKS_EVERY = 5.0  # seconds after which a process looks for messages whose lease has lapsed


@dataclass(eq=False, slots=True)
class Lease:
    """Right of one process to its messages."""

    process: Process | None
    touched: float  # by the clock of its machine
    is_over: bool = False

    @property
    def is_lost(self) -> bool:
        """Whether its process was ended, as a broker sees by the connection."""
        return self.is_over or bool(self.process and self.process.is_over)


@dataclass(eq=False, slots=True)
class Message:
    body: bytes
    sent: tuple[float, int]  # when, and a number that orders those of the same time
    tries: int = 0  # how often it was taken before and its lease lapsed
    lease: Lease | None = None


@dataclass(slots=True)
class Messages:
    scheduler: Scheduler
    seconds: float  # of a lease
    kept: list[Message] = field(default_factory=list)

    def put(self, body: bytes) -> None:
        self.kept.append(Message(body, self._now()))

    def has_lapsed(self, lease: Lease) -> bool:
        """Return whether a lease was given up, or is not renewed, as the machine of this process sees it."""
        return lease.is_lost or self.scheduler.wall_clock() - lease.touched > self.seconds

    def recover(self) -> None:
        """Put messages with a lapsed lease behind the others."""
        for message in [each for each in self.kept if each.lease is not None and self.has_lapsed(each.lease)]:
            lease = message.lease
            self._step()
            if message in self.kept and message.lease is lease:
                message.lease, message.tries, message.sent = None, message.tries + 1, self._now()

    def waiting(self) -> list[Message]:
        """Return the messages that nobody has, the oldest first."""
        return sorted((each for each in self.kept if each.lease is None), key=lambda each: each.sent)

    def take(self, message: Message, lease: Lease) -> bool:
        """Take a message; False if another process took it first."""
        self._step()
        if message not in self.kept or message.lease is not None:
            return False
        message.lease = lease
        return True

    def _step(self) -> None:
        self.scheduler.pause(self.scheduler.rng.random() * 0.01)

    def _now(self) -> tuple[float, int]:
        return self.scheduler.wall_clock(), self.scheduler.rng.getrandbits(64)


class MemoryQueue:
    def __init__(self, messages: Messages) -> None:
        self._messages, self._scheduler = messages, messages.scheduler
        self._lease: Lease | None = None
        self._backlog = deque[Message]()
        self._last_recovery = -LOOKS_EVERY

    def get(self) -> Message | None:
        """Take a message under the lease of this process."""
        if self._lease is None:
            self._lease = Lease(self._scheduler.current, self._scheduler.wall_clock())
            self._beat()
        if self._scheduler.now - self._last_recovery >= LOOKS_EVERY:
            self._last_recovery = self._scheduler.now
            self._messages.recover()
        if not self._backlog:
            self._backlog.extend(self._messages.waiting())
        while self._backlog:
            message = self._backlog.popleft()
            if self._messages.take(message, self._lease):
                return message
        return None

    def ack(self, message: Message) -> None:
        """Remove a message, unless another process has it by now."""
        if message.lease is self._lease and message in self._messages.kept:
            self._messages.kept.remove(message)

    def close(self) -> None:
        if self._lease is not None:
            self._lease.is_over = True

    def _beat(self) -> None:
        """Renew the lease, as a thread or the parent of a worker does."""
        lease = self._lease
        if lease is not None and not lease.is_lost:
            lease.touched = self._scheduler.wall_clock()
            self._scheduler.later(self._messages.seconds / BEATS, self._beat)
