"""Many people who edit at once: how long they wait, how many errors they see, and whether memory stays flat.

Starts `sev app` on 127.0.0.1 with a pipeline of 200 trees of depth 3 on 20 columns, lets people type for a while, and
prints what they saw. Each person edits a random column of a random row, waits for the answer, thinks for ``--pause``
seconds on average, and edits again. With ``--mixed`` they also do what else the page offers: prices after every
answer, curves, letters, locks, other references, sorted lists, thresholds, groups, files of scenarios.

An hour's worth of requests is 50 people with one edit every 5 seconds: 36,000 edits. ``--edits 36000`` ends after as
many, or after ``--seconds``; memory is noted every 2 seconds.

    python benchmarks/app_load.py --people 50 --seconds 60
    python benchmarks/app_load.py --mixed --pause 0.5 --edits 36000 --seconds 900
"""

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np

import sev


def write_files(folder):
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    X, y = sev.datasets.load_german_credit(return_X_y=True)
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        (StandardScaler(), make_column_selector(dtype_include="number")),
    )
    model = make_pipeline(encode, GradientBoostingClassifier(n_estimators=200, max_depth=3, random_state=0)).fit(X, y)
    sev.Explainer(model, X, y, labels=sev.Labels(classes={0: "approved", 1: "refused"})).save(folder / "loans.sev")
    X.to_csv(folder / "applicants.csv", index=False)
    return X


def start(folder):
    command = [sys.executable, "-m", "sev.cli", "app", folder / "loans.sev", "--data", folder / "applicants.csv"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    return process, re.search(r"http://\S+", line)[0].rstrip("/")


def processor_seconds(process):
    """User and system time of a process so far; NaN where the system does not tell."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Visit:
    """One person with the page open: a row, edits, locks, whom to compare with."""

    def __init__(self, number, rows, mode):
        self.chance, self.rows, self.mode, self.number = random.Random(number), rows, mode, number
        self.sequence = 0
        self.open_row()

    def open_row(self):
        self.row, self.edits, self.limits, self.reference = self.chance.randrange(len(self.rows)), {}, {}, {}

    def value_of(self, column):
        value = self.rows[column].iloc[self.chance.randrange(len(self.rows))]
        return value.item() if isinstance(value, np.generic) else value

    def edit(self):
        """The body of the next request."""
        if self.chance.random() < 0.05:
            self.open_row()
        column = self.chance.choice(list(self.rows.columns))
        self.edits[column] = self.value_of(column)
        self.sequence += 1
        return self.body()

    def body(self):
        return {
            "row": self.row, "edits": dict(self.edits), "limits": dict(self.limits), "reference": self.reference,
            "client": f"person-{self.number}", "sequence": self.sequence, "mode": self.mode,
        }  # fmt: skip

    def look_around(self, answer):
        """What a person asks for after an answer: pairs of a path and a body, or of a path and a query."""
        chance = self.chance
        column = chance.choice(list(self.rows.columns))
        changed = list(dict.fromkeys(name for one in answer["sets"] for name in one["features"]))
        if changed:
            yield "/api/price", {**self.body(), "locks": changed[:8]}
        one = chance.random()
        if one < 0.2:
            yield "/api/curve", {**self.body(), "feature": column}
        elif one < 0.3:
            yield "/api/reasons", self.body()
        elif one < 0.4:
            self.limits[column] = {"frozen": True}
        elif one < 0.45:
            self.limits["credit_amount"] = {"low": 250 + chance.randrange(5000), "high": 9000 + chance.randrange(9000)}
        elif one < 0.5:
            own = {"key": "own", "values": {column: self.value_of(column)}}
            others = ({"key": key} for key in ("median", "cluster", "nearest"))
            self.reference = chance.choice([{}, own, *others])
        elif one < 0.6:
            query = {"offset": chance.randrange(900), "sort": column, "search": chance.choice(["", "car", "12"])}
            yield "/api/rows?" + str(httpx.QueryParams(query)), None
        elif one < 0.62:
            yield f"/api/threshold?value={chance.random():.3f}", None
        elif one < 0.64:
            yield f"/api/groups?by={column}", None
        elif one < 0.65:
            scenario = {"name": "one", "request": self.body()}
            yield "/api/scenarios", {"format": chance.choice(["html", "json"]), "scenarios": [scenario]}


async def ask(client, path, body, seen):
    """One request; returns the answer, or None where there was none."""
    begin = time.perf_counter()
    try:
        answer = await (client.get(path) if body is None else client.post(path, json=body))
        seen.append((path.partition("?")[0], answer.status_code, time.perf_counter() - begin))
        return answer
    except httpx.HTTPError as error:
        seen.append((path.partition("?")[0], type(error).__name__, time.perf_counter() - begin))
        return None


async def edit(client, visit, pause, end, edits, seen, *, mixed):
    """One person: an edit, an answer, a moment to think."""
    await asyncio.sleep(visit.chance.uniform(0, pause))
    last = visit.sequence + edits
    while time.monotonic() < end and visit.sequence < last:
        answer = await ask(client, "/api/explain", visit.edit(), seen)
        if mixed and answer is not None and answer.status_code == 200:
            for path, body in visit.look_around(answer.json()):
                await ask(client, path, body, seen)
        await asyncio.sleep(visit.chance.expovariate(1 / pause))


async def watch_memory(client, end, done, requests, seen):
    """Note seconds, requests so far and resident bytes."""
    begin = time.monotonic()
    while time.monotonic() < end and not done.is_set():
        text = (await client.get("/metrics")).text
        held = float(re.search(r"^process_resident_memory_bytes (\S+)", text, re.MULTILINE)[1])
        seen.append((time.monotonic() - begin, len(requests), held))
        await asyncio.sleep(2)


async def wait_until_ready(client):
    for _ in range(600):
        try:
            answer = (await client.get("/api/rows", params={"limit": 1})).json()
            if answer["known"] == answer["table_rows"]:
                return
        except httpx.HTTPError:
            pass
        await asyncio.sleep(0.1)


async def load(process, address, rows, options):
    people, pause = options.people, options.pause
    each = options.edits // people if options.edits else sys.maxsize
    visits = [Visit(number, rows, options.mode) for number in range(people)]
    limits = httpx.Limits(max_connections=people + 5, max_keepalive_connections=people + 5)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=30) as client:
        await wait_until_ready(client)

        async def all_edit(seconds, each, seen):
            end = time.monotonic() + seconds
            await asyncio.gather(
                *(edit(client, visit, pause, end, each, seen, mixed=options.mixed) for visit in visits)
            )

        await all_edit(3, each, [])
        seen, memory, done = [], [], asyncio.Event()
        worked, begin = processor_seconds(process), time.monotonic()
        watching = asyncio.create_task(watch_memory(client, begin + options.seconds, done, seen, memory))
        await all_edit(options.seconds, each, seen)
        done.set()
        await watching
        worked, seconds = processor_seconds(process) - worked, time.monotonic() - begin
    return seen, memory, worked, seconds


def memory_figures(memory):
    """Megabytes at twenty moments, and by how much they grew in each half for 1,000 requests."""
    seconds, requests, held = np.array(memory).T
    places = np.unique(np.linspace(0, len(memory) - 1, 20).astype(int))
    half = len(memory) // 2

    def slope(part):
        return round(float(np.polyfit(requests[part] / 1000, held[part] / 1e6, 1)[0]), 3) if half > 1 else None

    return {
        "mb_first": round(held[0] / 1e6, 1),
        "mb_highest": round(held.max() / 1e6, 1),
        "mb_last": round(held[-1] / 1e6, 1),
        "mb_per_1000_requests_first_half": slope(slice(None, half)),
        "mb_per_1000_requests_second_half": slope(slice(half, None)),
        "seconds_requests_mb": [
            [round(seconds[one]), int(requests[one]), round(held[one] / 1e6, 1)] for one in places
        ],
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--pause", type=float, default=2.0, help="mean seconds between an answer and the next edit")
    parser.add_argument("--mode", choices=["reference", "typical", "any"], default="reference")
    parser.add_argument("--mixed", action="store_true", help="all that the page offers, not only edits")
    parser.add_argument("--edits", type=int, help="end after so many edits of all people together")
    parser.add_argument("--json", help="file for the figures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        rows = write_files(Path(name))
        process, address = start(Path(name))
        try:
            seen, memory, worked, seconds = asyncio.run(load(process, address, rows, options))
        finally:
            process.terminate()
            process.wait(10)
    times = np.array([taken for path, status, taken in seen if status == 200 and path == "/api/explain"]) * 1000
    errors = sorted({f"{path} {status}" for path, status, _ in seen if status not in (200, 409)})
    figures = {
        "people": options.people,
        "mode": options.mode,
        "mixed": options.mixed,
        "pause_seconds": options.pause,
        "seconds": round(seconds, 1),
        "edits": sum(path == "/api/explain" for path, _, _ in seen),
        "requests": len(seen),
        "requests_per_second": round(len(seen) / seconds, 1),
        "errors": sum(status not in (200, 409) for _, status, _ in seen),
        "kinds_of_errors": errors,
        "median_ms": round(float(np.median(times)), 1),
        "p95_ms": round(float(np.quantile(times, 0.95)), 1),
        "p99_ms": round(float(np.quantile(times, 0.99)), 1),
        "processor_ms_per_request": round(worked / len(seen) * 1000, 1),
        "load_average": os.getloadavg()[0],
        "memory": memory_figures(memory),
    }
    print(json.dumps(figures, indent=1))
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
