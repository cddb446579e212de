"""Requests that wait, run, are dropped, or take too long."""

import asyncio
import threading
import time

import pytest

from sev.app._errors import ServiceError, SupersededError
from sev.app._scheduler import Scheduler, Shared, requests_at_once


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 30))


def opened(at_once, **options):
    scheduler = Scheduler(at_once, **options)
    scheduler.open()
    return scheduler


class Gate:
    """Work that goes on when the test says so, and remembers that it ran."""

    def __init__(self):
        self.opened = threading.Event()
        self.started = []

    def work(self, name):
        def wait(ticket):
            self.started.append(name)
            assert self.opened.wait(120)
            ticket.check()
            return name

        return wait


def test_work_runs_on_threads_and_returns():
    async def go():
        scheduler = opened({"a": 2}, most_waiting=5, seconds=10)
        names = await asyncio.gather(*(scheduler.run("a", lambda ticket, n=n: n) for n in range(6)))
        assert scheduler.running == scheduler.waiting == 0
        return names

    assert run(go()) == list(range(6))


def test_of_one_client_only_the_newest_request_is_worked_on():
    async def go():
        scheduler, gate = opened({"a": 1}, most_waiting=50, seconds=20), Gate()
        first = asyncio.create_task(scheduler.run("a", gate.work("first")))
        await asyncio.sleep(0.05)
        typed = []
        for sequence in range(10):
            typed.append(
                asyncio.create_task(
                    scheduler.run("a", gate.work(sequence), client=("/api/explain", "0", "me"), sequence=sequence)
                )
            )
            await asyncio.sleep(0.01)
        other = asyncio.create_task(
            scheduler.run("a", gate.work("other"), client=("/api/explain", "0", "you"), sequence=1)
        )
        await asyncio.sleep(0.05)
        assert scheduler.waiting == 2  # the others were dropped without waiting for a thread
        gate.opened.set()
        results = await asyncio.gather(first, *typed, other, return_exceptions=True)
        late = await asyncio.gather(
            scheduler.run("a", gate.work("late"), client=("/api/explain", "0", "me"), sequence=3),
            return_exceptions=True,
        )
        return gate.started, results, late

    started, results, late = run(go())
    assert started == ["first", 9, "other"]
    assert [isinstance(one, SupersededError) for one in results] == [False, *[True] * 9, False, False]
    assert isinstance(late[0], SupersededError)


def test_running_work_stops_at_its_next_step_when_it_is_superseded():
    async def go():
        scheduler, gate = opened({"a": 2}, most_waiting=5, seconds=20), Gate()
        old = asyncio.create_task(scheduler.run("a", gate.work("old"), client=("me",), sequence=1))
        await asyncio.sleep(0.05)
        new = asyncio.create_task(scheduler.run("a", lambda ticket: "new", client=("me",), sequence=2))
        assert await new == "new"
        gate.opened.set()
        return await asyncio.gather(old, return_exceptions=True)

    assert isinstance(run(go())[0], SupersededError)


def test_a_slow_lane_does_not_block_another():
    async def go():
        scheduler, gate = opened({"slow": 1, "fast": 1}, most_waiting=5, seconds=20), Gate()
        waiting = [asyncio.create_task(scheduler.run("slow", gate.work(n))) for n in range(3)]
        await asyncio.sleep(0.05)
        assert await scheduler.run("fast", lambda ticket: "done") == "done"
        assert gate.started == [0]
        gate.opened.set()
        return await asyncio.gather(*waiting)

    assert run(go()) == [0, 1, 2]


def test_of_a_lane_one_by_one_the_next_requests_wait_and_are_worked_on_together():
    counter = Counter()

    async def go():
        scheduler, gate = opened({"a": 4}, most_waiting=50, seconds=20, one_by_one=["a"]), Gate()
        first = asyncio.create_task(scheduler.run("a", gate.work("first")))
        await asyncio.sleep(0.02)
        tasks = [asyncio.create_task(scheduler.run("a", gate.work(n), shared=counter.shared(n))) for n in "abcdef"]
        await asyncio.sleep(0.02)
        assert (scheduler.running, scheduler.waiting) == (1, 6)  # three threads are free
        gate.opened.set()
        return await asyncio.gather(first, *tasks), gate.started, scheduler

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sev.app._scheduler._PATIENCE", 20.0)
        results, started, scheduler = run(go())
    assert results == ["first", *(f"{name} done" for name in "abcdef")]
    assert (started, counter.groups) == (["first"], [list("abcdef")])
    assert scheduler.running == scheduler.waiting == 0


def test_work_that_takes_long_does_not_hold_up_a_lane_one_by_one(monkeypatch):
    monkeypatch.setattr("sev.app._scheduler._PATIENCE", 0.05)

    async def go():
        scheduler, gate = opened({"a": 2}, most_waiting=5, seconds=20, one_by_one=["a"]), Gate()
        slow = asyncio.create_task(scheduler.run("a", gate.work("slow")))
        await asyncio.sleep(0.01)
        waited = [
            await scheduler.run("a", lambda ticket, n=n: n) for n in range(3)
        ]  # one after the other on the second
        gate.opened.set()
        return waited, await slow, scheduler

    waited, slow, scheduler = run(go())
    assert (waited, slow) == ([0, 1, 2], "slow")
    assert scheduler.running == scheduler.waiting == 0


def test_too_many_requests_are_refused_at_once():
    async def go():
        scheduler, gate = opened({"a": 1}, most_waiting=2, seconds=20), Gate()
        tasks = [asyncio.create_task(scheduler.run("a", gate.work(n))) for n in range(4)]
        await asyncio.sleep(0.05)
        gate.opened.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    *answered, refused = run(go())
    assert answered == [0, 1, 2]
    assert isinstance(refused, ServiceError)
    assert refused.code == "too_many_requests"


def test_time_ends_for_work_that_runs_and_work_that_waits():
    async def go():
        scheduler, gate = opened({"a": 1}, most_waiting=5, seconds=0.2), Gate()
        tasks = [asyncio.create_task(scheduler.run("a", gate.work(n))) for n in range(2)]
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert scheduler.running == 1  # the thread keeps its place until it ends
        gate.opened.set()
        for _ in range(100):
            await asyncio.sleep(0.01)
            if not scheduler.running:
                break
        return results, scheduler.running, await scheduler.run("a", lambda ticket: "again")

    results, running, again = run(go())
    assert [one.code for one in results] == ["timeout", "timeout"]
    assert (running, again) == (0, "again")


def test_people_who_have_gone_are_not_worked_for():
    async def go():
        scheduler, gate = opened({"a": 1}, most_waiting=5, seconds=20), Gate()

        async def is_gone():
            return True

        first = asyncio.create_task(scheduler.run("a", gate.work("first")))
        await asyncio.sleep(0.05)
        gone = asyncio.create_task(scheduler.run("a", gate.work("gone"), is_gone=is_gone))
        await asyncio.sleep(0.05)
        gate.opened.set()
        results = await asyncio.gather(first, gone, return_exceptions=True)
        assert scheduler.running == 0
        return gate.started, results

    started, results = run(go())
    assert started == ["first"]
    assert isinstance(results[1], SupersededError)


def test_a_cancelled_request_gives_its_place_back():
    async def go():
        scheduler, gate = opened({"a": 1}, most_waiting=5, seconds=20), Gate()
        first = asyncio.create_task(scheduler.run("a", gate.work("first")))
        await asyncio.sleep(0.05)
        waiting = asyncio.create_task(scheduler.run("a", gate.work("waiting")))
        await asyncio.sleep(0.05)
        waiting.cancel()
        gate.opened.set()
        await first
        assert scheduler.waiting == 0
        return await scheduler.run("a", lambda ticket: "next")

    assert run(go()) == "next"


def test_a_desk_that_is_closed_says_so_and_can_be_opened_again():
    async def go():
        scheduler = Scheduler({"a": 1}, most_waiting=2, seconds=5)
        with pytest.raises(ServiceError, match="starting or ending"):
            await scheduler.run("a", lambda ticket: 1)
        scheduler.open()
        first = await scheduler.run("a", lambda ticket: 1)
        scheduler.close()
        scheduler.open()
        return first, await scheduler.run("a", lambda ticket: 2)

    assert run(go()) == (1, 2)


@pytest.mark.parametrize(("predict", "many"), [(lambda: time.sleep(0.1), True), (lambda: sum(range(10)), False)])
def test_models_that_wait_are_called_more_often_at_once(predict, many):
    import os

    number = requests_at_once(predict)
    assert (number > (os.cpu_count() or 1)) == many


def test_a_machine_that_is_busy_with_other_things_does_not_look_like_a_model_that_waits(monkeypatch):
    import os

    class Clock:
        """The first calls that are measured wait for other processes; the processor's time is always the same."""

        seconds, worked, calls = 0.0, 0.0, 0

        def perf_counter(self):
            return self.seconds

        def thread_time(self):
            return self.worked

        def predict(self):
            self.calls += 1
            self.seconds += 0.2 if self.calls < 4 else 0.03
            self.worked += 0.03

    clock = Clock()
    monkeypatch.setattr("sev.app._scheduler.time", clock)
    assert requests_at_once(clock.predict) == (os.cpu_count() or 1)


def test_the_time_in_which_others_have_the_processor_is_not_a_model_that_waits(monkeypatch):
    import os

    class Clock:
        """Every call that is measured waits for other processes, longer than it works."""

        seconds = queued = 0.0

        def perf_counter(self):
            return self.seconds

        def thread_time(self):
            return self.seconds - self.queued

        def predict(self):
            self.seconds += 0.2
            self.queued += 0.17

    clock = Clock()
    monkeypatch.setattr("sev.app._scheduler.time", clock)
    monkeypatch.setattr("sev.app._scheduler._queued_seconds", lambda: clock.queued)
    assert requests_at_once(clock.predict) == (os.cpu_count() or 1)


class Counter:
    """Work for several requests at once that remembers its groups."""

    def __init__(self):
        self.groups = []

    def work(self, requests, tickets):
        self.groups.append(list(requests))
        for request, ticket in zip(requests, tickets, strict=True):
            if request == "bad" or ticket.dropped:
                yield ServiceError("bad_input", f"{request}")
            elif request == "worst":
                raise ValueError(request)
            else:
                yield f"{request} done"

    def shared(self, request, kind="k"):
        return Shared(kind, request, self.work)


async def behind_a_gate(at_once, submit):
    """Results of requests that all waited while the threads were taken."""
    scheduler, gate = opened({"a": at_once}, most_waiting=50, seconds=20), Gate()
    first = [asyncio.create_task(scheduler.run("a", gate.work(n))) for n in range(at_once)]
    await asyncio.sleep(0.05)
    tasks = [asyncio.create_task(one) for one in submit(scheduler)]
    await asyncio.sleep(0.05)
    assert scheduler.waiting == len(tasks)
    gate.opened.set()
    await asyncio.gather(*first)
    results = await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0.05)
    assert scheduler.running == scheduler.waiting == 0
    return results


def test_requests_of_a_kind_that_wait_are_worked_on_together():
    counter = Counter()

    def alone(ticket):
        return "alone"

    def submit(scheduler):
        for name in ("a", "b", "bad", "c"):
            yield scheduler.run("a", alone, shared=counter.shared(name))
        yield scheduler.run("a", alone, shared=counter.shared("other", kind="l"))
        yield scheduler.run("a", alone)

    *results, other, single = run(behind_a_gate(1, submit))
    assert [results[0], results[1], results[3], other, single] == ["a done", "b done", "c done", "alone", "alone"]
    assert isinstance(results[2], ServiceError)
    assert counter.groups == [["a", "b", "bad", "c"]]


def test_a_group_leaves_the_other_threads_their_part():
    counter = Counter()
    results = run(
        behind_a_gate(
            2, lambda scheduler: (scheduler.run("a", lambda t: "x", shared=counter.shared(n)) for n in range(9))
        )
    )
    assert max(map(len, counter.groups)) <= 5
    assert all(one == "x" or one == f"{n} done" for n, one in enumerate(results))
    assert len(results) == 9


def test_a_group_that_fails_answers_everybody():
    counter = Counter()
    names = ["a", "worst", "b"]
    results = run(
        behind_a_gate(1, lambda scheduler: (scheduler.run("a", lambda t: "x", shared=counter.shared(n)) for n in names))
    )
    assert results[0] == "a done"
    assert [type(one) for one in results[1:]] == [ValueError, ValueError]


def test_of_a_group_a_person_who_types_on_is_dropped_and_the_others_are_answered():
    counter, entered, go_on = Counter(), threading.Event(), threading.Event()

    def slow(requests, tickets):
        entered.set()
        assert go_on.wait(20)
        yield from counter.work(requests, tickets)

    async def go():
        scheduler, gate = opened({"a": 1}, most_waiting=50, seconds=20), Gate()
        first = asyncio.create_task(scheduler.run("a", gate.work("first")))
        await asyncio.sleep(0.05)
        tasks = [
            asyncio.create_task(
                scheduler.run("a", lambda t: "x", shared=Shared("k", name, slow), client=(name,), sequence=1)
            )
            for name in ("me", "you", "them")
        ]
        await asyncio.sleep(0.05)
        gate.opened.set()
        await asyncio.to_thread(entered.wait, 20)
        newer = asyncio.create_task(scheduler.run("a", lambda t: "newer", client=("you",), sequence=2))
        tasks[2].cancel()
        await asyncio.sleep(0.05)
        go_on.set()
        await first
        results = await asyncio.gather(*tasks, newer, return_exceptions=True)
        await asyncio.sleep(0.05)
        assert scheduler.running == scheduler.waiting == 0
        return results

    me, you, them, newer = run(go())
    assert (me, newer) == ("me done", "newer")
    assert isinstance(you, ServiceError)
    assert isinstance(them, asyncio.CancelledError)


def test_a_person_who_goes_when_a_group_takes_them_along_frees_no_thread():
    counter = Counter()

    async def go():
        scheduler, gate = opened({"a": 1}, most_waiting=50, seconds=20), Gate()
        first = asyncio.create_task(scheduler.run("a", gate.work("first")))
        await asyncio.sleep(0.05)
        tasks = [asyncio.create_task(scheduler.run("a", lambda t: "x", shared=counter.shared(n))) for n in "abc"]
        await asyncio.sleep(0.05)
        start = scheduler._start_work

        def start_and_cancel(*arguments):
            running = start(*arguments)
            tasks[1].cancel()
            return running

        scheduler._start_work = start_and_cancel
        gate.opened.set()
        results = await asyncio.gather(first, *tasks, return_exceptions=True)
        await asyncio.sleep(0.05)
        return results, scheduler.running

    (_, first, gone, last), running = run(go())
    assert (first, last, running) == ("a done", "c done", 0)
    # Python 3.11 lets a wait that is over in the moment of its end go on
    assert gone == "b done" or isinstance(gone, asyncio.CancelledError)
