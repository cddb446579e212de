"""Work on threads: so much at once, so many waiting, and of each person only what was asked last."""

from __future__ import annotations

import asyncio
import os
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sev.app._errors import ServiceError, SupersededError
from sev.backends import SearchStopped, stopping_when

Result = TypeVar("Result")

#: Seconds after which it is looked whether the person who asked is still there, again and again.
_LOOK_AFTER = 0.1
#: Clients whose newest request is remembered.
_MOST_CLIENTS = 10_000
#: Calls of a model that waits for something else (a network, a disk) that run at once.
MOST_AT_ONCE = 32
#: Seconds of a prediction that is too short to wait for anything.
_QUICK = 0.02
#: Calls of a model that are measured, as many as fit into the seconds.
_MEASURED_CALLS, _MEASURED_SECONDS = 5, 1.0


class Ticket:
    """A request that waits or runs; work looks at it between its steps.

    Parameters
    ----------
    seconds : float
        How long it may take, waiting included.
    sequence : int
        Its place among the requests of its client.
    """

    def __init__(self, seconds: float, sequence: int = 0) -> None:
        self.sequence = sequence
        self.deadline = time.monotonic() + seconds
        self.dropped = False
        self.ready: asyncio.Future[None] | None = None

    @property
    def seconds_left(self) -> float:
        """Time that is left."""
        return max(0.0, self.deadline - time.monotonic())

    def check(self) -> None:
        """Stop work whose answer nobody waits for."""
        if self.dropped:
            raise SupersededError
        if not self.seconds_left:
            raise timeout_error()


def timeout_error() -> ServiceError:
    """The time per request is over."""
    return ServiceError("timeout", "The answer took longer than a request may take: the model may be busy or slow.")


@dataclass
class _Lane:
    """Threads that serve one kind of work."""

    name: str
    at_once: int
    threads: ThreadPoolExecutor | None = None
    running: int = 0
    waiting: deque[Ticket] = field(default_factory=deque)


class Desk:
    """Hands work to threads, from one event loop.

    Parameters
    ----------
    at_once : mapping of str to int
        For each lane, how many requests run at the same time; lanes do not wait for each other.
    most_waiting : int
        Requests that may wait in one lane.
    seconds : float
        Time for one request, waiting included.
    """

    def __init__(self, at_once: dict[str, int], *, most_waiting: int, seconds: float) -> None:
        self._lanes = {name: _Lane(name, number) for name, number in at_once.items()}
        self._most_waiting = most_waiting
        self._seconds = seconds
        self._newest: OrderedDict[tuple[str, ...], Ticket] = OrderedDict()

    @property
    def running(self) -> int:
        """Requests that run now."""
        return sum(lane.running for lane in self._lanes.values())

    @property
    def waiting(self) -> int:
        """Requests that wait for a thread."""
        return sum(len(lane.waiting) for lane in self._lanes.values())

    async def run(
        self,
        lane: str,
        work: Callable[[Ticket], Result],
        *,
        client: tuple[str, ...] = (),
        sequence: int = 0,
        is_gone: Callable[[], Awaitable[bool]] | None = None,
    ) -> Result:
        """Run work on a thread of a lane when its turn comes.

        Parameters
        ----------
        lane : str
            One of the lanes.
        work : callable
            Takes the ticket, whose ``check`` it calls between its steps.
        client : tuple of str, default=()
            Who asks for what; of the same client only the request with the highest ``sequence`` is worked on. Empty:
            nothing takes its place.
        sequence : int
            See there.
        is_gone : callable, default=None
            Whether the person has closed the connection.
        """
        place = self._lanes[lane]
        ticket = Ticket(self._seconds, sequence)
        if client:
            self._replace_older(client, ticket)
        await self._wait_for_turn(place, ticket)
        try:
            if is_gone is not None and await is_gone():
                raise SupersededError
            ticket.check()
        except BaseException:
            self._release(place)
            raise
        return await self._run_on_thread(place, ticket, work, is_gone)

    def _replace_older(self, client: tuple[str, ...], ticket: Ticket) -> None:
        known = self._newest.pop(client, None)
        if known is not None and known.sequence > ticket.sequence:
            self._newest[client] = known
            raise SupersededError
        self._newest[client] = ticket
        while len(self._newest) > _MOST_CLIENTS:
            self._newest.popitem(last=False)
        if known is None or known.sequence == ticket.sequence:
            return
        known.dropped = True
        if known.ready is not None and not known.ready.done():
            known.ready.set_exception(SupersededError())

    async def _wait_for_turn(self, place: _Lane, ticket: Ticket) -> None:
        if place.running < place.at_once:
            place.running += 1
            return
        if len(place.waiting) >= self._most_waiting:
            raise ServiceError("too_many_requests", "Too many requests are waiting: try again in a moment.")
        ticket.ready = asyncio.get_running_loop().create_future()
        place.waiting.append(ticket)
        try:
            await asyncio.wait_for(ticket.ready, ticket.seconds_left)
        except TimeoutError:
            raise timeout_error() from None
        except asyncio.CancelledError:
            if ticket.ready.done() and not ticket.ready.cancelled() and ticket.ready.exception() is None:
                self._release(place)  # its turn came in the same moment
            raise
        finally:
            if ticket in place.waiting:
                place.waiting.remove(ticket)

    async def _run_on_thread(
        self,
        place: _Lane,
        ticket: Ticket,
        work: Callable[[Ticket], Result],
        is_gone: Callable[[], Awaitable[bool]] | None,
    ) -> Result:
        loop = asyncio.get_running_loop()
        try:
            if place.threads is None:
                raise ServiceError("unavailable", "The service is starting or ending: try again in a moment.")
            running = place.threads.submit(_work_while_wanted, work, ticket)
        except BaseException:
            self._release(place)
            raise
        # a thread that goes on after its time is over keeps its place until it ends
        running.add_done_callback(lambda _: _call_soon(loop, self._release, place))
        answer = asyncio.wrap_future(running)
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # of work that nobody waits for
        try:
            while not answer.done():
                if not ticket.seconds_left:
                    raise timeout_error()
                await asyncio.wait({answer}, timeout=min(_LOOK_AFTER, ticket.seconds_left))
                if is_gone is not None and not answer.done() and await is_gone():
                    raise SupersededError
            return answer.result()
        finally:
            ticket.dropped = True  # whatever still runs, nobody waits for it

    def _release(self, place: _Lane) -> None:
        while place.waiting:
            following = place.waiting.popleft()
            if following.ready is not None and not following.ready.done():
                following.ready.set_result(None)  # the place goes over to it
                return
        place.running -= 1

    def open(self) -> None:
        """Make the threads."""
        for lane in self._lanes.values():
            lane.threads = ThreadPoolExecutor(lane.at_once, thread_name_prefix=f"sev-{lane.name}")
            lane.running = 0

    def close(self) -> None:
        """End the threads when their work is done."""
        for lane in self._lanes.values():
            if lane.threads is not None:
                lane.threads.shutdown(wait=False, cancel_futures=True)
                lane.threads = None


def _work_while_wanted(work: Callable[[Ticket], Result], ticket: Ticket) -> Result:
    """Work until somebody drops the ticket."""
    try:
        with stopping_when(lambda: ticket.dropped):
            return work(ticket)
    except SearchStopped:
        raise SupersededError from None


def _call_soon(loop: asyncio.AbstractEventLoop, function: Callable[..., None], *arguments: Any) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(function, *arguments)


def requests_at_once(predict: Callable[[], Any]) -> int:
    """How many calls of a model should run at the same time.

    Python runs one thread at a time: more threads than cores only make everybody wait for everybody. A model that
    spends its time waiting is another matter, and is measured here.

    Parameters
    ----------
    predict : callable
        Scores a row.
    """
    predict()  # the first call of a model often loads something
    cores = os.cpu_count() or 1
    end = time.perf_counter() + _MEASURED_SECONDS
    waits: list[float] = []  # elapsed time over the processor's; other processes of the machine make it longer
    while not waits or (len(waits) < _MEASURED_CALLS and time.perf_counter() < end):
        start, cpu = time.perf_counter(), time.thread_time()
        predict()
        elapsed, worked = time.perf_counter() - start, time.thread_time() - cpu
        if elapsed < _QUICK:
            return cores
        waits.append(elapsed / max(worked, 1e-6))
    return max(cores, min(MOST_AT_ONCE, round(cores * min(waits))))
