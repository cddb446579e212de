"""Work on threads: so much at once, so many waiting, of each person only the newest, and what is alike together."""

from __future__ import annotations

import asyncio
import os
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Sequence
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, TypeVarTuple

from sev.app._errors import ServiceError, SupersededError
from sev.backends import SearchStopped, stopping_when

Result = TypeVar("Result")
_Arguments = TypeVarTuple("_Arguments")

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
#: Requests that one thread works on together at most.
_MOST_TOGETHER = 16
#: Seconds after which a request no longer holds up the next one of a lane whose requests run one after the other.
_PATIENCE = 0.25


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
        #: Its turn: None when a thread is free for it, or the answer of a thread that works on it with others.
        self.ready: asyncio.Future[Future[Any] | None] | None = None
        self.shared: Shared | None = None
        #: Ends the time in which it holds up the next one of its lane; None when it holds up nobody.
        self.holding: asyncio.TimerHandle | None = None

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


class Shared(NamedTuple):
    """A request that can be worked on together with others.

    Parameters
    ----------
    kind : hashable
        Requests of the same kind fit together.
    request : object
        What is asked.
    work : callable
        Takes requests and their tickets; returns for each, in order and each as soon as it is there, the answer or the
        error.
    """

    kind: Hashable
    request: object
    work: Callable[[Sequence[Any], Sequence[Ticket]], Iterable[object]]


def timeout_error() -> ServiceError:
    """The time per request is over."""
    return ServiceError("timeout", "The answer took longer than a request may take: the model may be busy or slow.")


@dataclass
class _Lane:
    """Threads that serve one kind of work."""

    name: str
    at_once: int
    one_by_one: bool = False
    threads: ThreadPoolExecutor | None = None
    running: int = 0
    holding: int = 0
    waiting: deque[Ticket] = field(default_factory=deque)

    @property
    def is_free(self) -> bool:
        """Whether another request may run now."""
        return self.running < self.at_once and not self.holding

    @property
    def sharers(self) -> int:
        """Threads that share what waits."""
        return 1 if self.one_by_one else self.at_once


class Scheduler:
    """Hands work to threads, from one event loop.

    Parameters
    ----------
    at_once : mapping of str to int
        For each lane, how many requests run at the same time; lanes do not wait for each other.
    most_waiting : int
        Requests that may wait in one lane.
    seconds : float
        Time for one request, waiting included.
    one_by_one : collection of str, default=()
        Lanes whose next request starts when the one before is done, or has taken long. Python runs one thread at a
        time: requests that wait are answered together sooner than on two threads that hinder each other.
    """

    def __init__(
        self, at_once: dict[str, int], *, most_waiting: int, seconds: float, one_by_one: Collection[str] = ()
    ) -> None:
        self._lanes = {name: _Lane(name, number, name in one_by_one) for name, number in at_once.items()}
        self._most_waiting = most_waiting
        self._seconds = seconds
        self._newest: OrderedDict[tuple[str, ...], Ticket] = OrderedDict()

    @property
    def lanes(self) -> Collection[str]:
        """Names of the lanes."""
        return self._lanes.keys()

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
        shared: Shared | None = None,
    ) -> Result:
        """Run work on a thread of a lane when its turn comes.

        Requests that wait may be worked on together: a model takes about as long for a few rows as for one.

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
        shared : Shared, default=None
            The same work, for several requests of a kind that wait when its turn comes.
        """
        place = self._lanes[lane]
        ticket = Ticket(self._seconds, sequence)
        ticket.shared = shared
        if client:
            self._replace_older(client, ticket)
        running = await self._wait_for_turn(place, ticket)
        if running is None:
            try:
                if is_gone is not None and await is_gone():
                    raise SupersededError
                ticket.check()
                running = self._start_work(place, ticket, work)
            except BaseException:
                self._release_place(place, ticket)
                raise
        return await self._answer_of(running, ticket, is_gone)

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

    async def _wait_for_turn(self, place: _Lane, ticket: Ticket) -> Future[Any] | None:
        """Wait for a thread, or for one that works on it with others: then its answer is returned."""
        if place.is_free:
            self._occupy_place(place, ticket)
            return None
        if len(place.waiting) >= self._most_waiting:
            raise ServiceError("too_many_requests", "Too many requests are waiting: try again in a moment.")
        ticket.ready = asyncio.get_running_loop().create_future()
        place.waiting.append(ticket)
        try:
            return await asyncio.wait_for(ticket.ready, ticket.seconds_left)
        except TimeoutError:
            raise timeout_error() from None
        except asyncio.CancelledError:
            ticket.dropped = True
            ended = ticket.ready.cancelled() or not ticket.ready.done() or ticket.ready.exception() is not None
            if not ended and ticket.ready.result() is None:
                self._release_place(place, ticket)  # its turn came in the same moment
            raise
        finally:
            if ticket in place.waiting:
                place.waiting.remove(ticket)

    def _start_work(self, place: _Lane, ticket: Ticket, work: Callable[[Ticket], Result]) -> Future[Result]:
        """Hand a request to a thread, together with those that wait and fit to it."""
        if place.threads is None:
            raise ServiceError("unavailable", "The service is starting or ending: try again in a moment.")
        loop = asyncio.get_running_loop()
        others = self._take_along(place, ticket)
        if not others:
            running = place.threads.submit(_work_while_wanted, work, ticket)
            whole: Future[Any] = running
        else:
            answers: list[Future[Any]] = [Future() for _ in range(1 + len(others))]
            running = answers[0]
            whole = place.threads.submit(_work_together, [ticket, *others], answers)
            for other, answer in zip(others, answers[1:], strict=True):
                assert other.ready is not None
                other.ready.set_result(answer)
        # a thread that goes on after its time is over keeps its place until it ends
        whole.add_done_callback(lambda _: _call_soon(loop, self._release_place, place, ticket))
        return running

    def _take_along(self, place: _Lane, ticket: Ticket) -> list[Ticket]:
        """Waiting requests of the same kind; as many as leave the other threads of the lane their part."""
        if ticket.shared is None:
            return []
        most = min(_MOST_TOGETHER - 1, len(place.waiting) // place.sharers)
        found = [
            one
            for one in place.waiting
            if one.shared is not None and one.shared.kind == ticket.shared.kind and one.ready and not one.ready.done()
        ][:most]
        for one in found:
            place.waiting.remove(one)
        return found

    async def _answer_of(
        self, running: Future[Result], ticket: Ticket, is_gone: Callable[[], Awaitable[bool]] | None
    ) -> Result:
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

    def _occupy_place(self, place: _Lane, ticket: Ticket) -> None:
        place.running += 1
        if place.one_by_one:
            place.holding += 1
            ticket.holding = asyncio.get_running_loop().call_later(_PATIENCE, self._stop_holding, place, ticket)

    def _stop_holding(self, place: _Lane, ticket: Ticket) -> None:
        """Let the next request of the lane run beside this one, which takes long."""
        if ticket.holding is not None:
            ticket.holding.cancel()
            ticket.holding = None
            place.holding -= 1
        self._admit_waiting(place)

    def _release_place(self, place: _Lane, ticket: Ticket) -> None:
        place.running -= 1
        self._stop_holding(place, ticket)

    def _admit_waiting(self, place: _Lane) -> None:
        while place.waiting and place.is_free:
            following = place.waiting.popleft()
            if following.ready is not None and not following.ready.done():
                self._occupy_place(place, following)
                following.ready.set_result(None)

    def open(self) -> None:
        """Make the threads."""
        for lane in self._lanes.values():
            lane.threads = ThreadPoolExecutor(lane.at_once, thread_name_prefix=f"sev-{lane.name}")
            lane.running = lane.holding = 0

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


def _work_together(tickets: Sequence[Ticket], answers: Sequence[Future[Any]]) -> None:
    """Work on several requests until nobody waits for any of them; each gets its answer as soon as it is there."""
    requests = [one.shared for one in tickets]
    first = requests[0]
    assert first is not None
    problem: BaseException = SupersededError()
    try:
        with stopping_when(lambda: all(ticket.dropped for ticket in tickets)):
            found = first.work([one.request for one in requests if one is not None], tickets)
            for answer, outcome in zip(answers, found, strict=True):
                _settle_answer(answer, outcome)
    except SearchStopped:
        pass
    except Exception as error:  # of the work as a whole: whoever has no answer yet is told
        problem = error
    for answer in answers:
        _settle_answer(answer, problem)


def _settle_answer(answer: Future[Any], outcome: object) -> None:
    """Set an answer or an error, unless one is set or nobody waits for it any more."""
    with suppress(InvalidStateError):
        if isinstance(outcome, BaseException):
            answer.set_exception(outcome)
        else:
            answer.set_result(outcome)


def _call_soon(
    loop: asyncio.AbstractEventLoop, function: Callable[[*_Arguments], None], *arguments: *_Arguments
) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(function, *arguments)


def requests_at_once(predict: Callable[[], object]) -> int:
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
        start, cpu, queued = time.perf_counter(), time.thread_time(), _queued_seconds()
        predict()
        elapsed, worked = time.perf_counter() - start - (_queued_seconds() - queued), time.thread_time() - cpu
        if elapsed < _QUICK:
            return cores
        waits.append(elapsed / max(worked, 1e-6))
    return max(cores, min(MOST_AT_ONCE, round(cores * min(waits))))


def _queued_seconds() -> float:
    """How long this thread has been ready to run while others had the processor; 0 where the system does not tell."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
