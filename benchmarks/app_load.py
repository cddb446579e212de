"""Many people who edit at once: how long they wait, how many errors they see, and whether memory stays flat.

Starts `sev app` on 127.0.0.1 with a pipeline of 200 trees of depth 3 on 20 columns, lets people type for a while, and
prints what they saw. Each person edits a random column of a random row about once a second, and closes the connection
when a new edit comes before the answer, as the page does.

    python benchmarks/app_load.py --people 50 --seconds 60
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


async def edit(client, number, rows, pause, end, seen, mode):
    """One person: an edit, an answer, a moment to think."""
    chance = random.Random(number)
    row, sequence, edits = chance.randrange(len(rows)), 0, {}
    await asyncio.sleep(chance.uniform(0, pause))
    while time.monotonic() < end:
        if chance.random() < 0.05:
            row, edits = chance.randrange(len(rows)), {}
        column = chance.choice(list(rows.columns))
        value = rows[column].iloc[chance.randrange(len(rows))]
        edits[column] = value.item() if isinstance(value, np.generic) else value
        sequence += 1
        body = {"row": row, "edits": edits, "client": f"person-{number}", "sequence": sequence, "mode": mode}
        begin = time.perf_counter()
        try:
            answer = await client.post("/api/explain", json=body)
            seen.append((answer.status_code, time.perf_counter() - begin))
        except httpx.HTTPError as error:
            seen.append((type(error).__name__, time.perf_counter() - begin))
        await asyncio.sleep(chance.expovariate(1 / pause))


async def watch_memory(client, end, seen):
    while time.monotonic() < end:
        text = (await client.get("/metrics")).text
        seen.append(float(re.search(r"^process_resident_memory_bytes (\S+)", text, re.MULTILINE)[1]))
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


async def load(process, address, rows, people, seconds, pause, mode):
    limits = httpx.Limits(max_connections=people + 5, max_keepalive_connections=people + 5)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=30) as client:
        await wait_until_ready(client)
        warm, seen, memory = [], [], []
        await asyncio.gather(
            *(edit(client, number, rows, pause, time.monotonic() + 3, warm, mode) for number in range(people))
        )
        worked = processor_seconds(process)
        end = time.monotonic() + seconds
        await asyncio.gather(
            *(edit(client, number, rows, pause, end, seen, mode) for number in range(people)),
            watch_memory(client, end, memory),
        )
        worked = processor_seconds(process) - worked
    return seen, memory, worked


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--pause", type=float, default=2.0, help="mean seconds between an answer and the next edit")
    parser.add_argument("--mode", choices=["reference", "typical", "any"], default="reference")
    parser.add_argument("--json", help="file for the figures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        rows = write_files(Path(name))
        process, address = start(Path(name))
        try:
            seen, memory, worked = asyncio.run(
                load(process, address, rows, options.people, options.seconds, options.pause, options.mode)
            )
        finally:
            process.terminate()
            process.wait(10)
    times = np.array([taken for status, taken in seen if status == 200]) * 1000
    errors = [status for status, _ in seen if status not in (200, 409)]
    half = len(memory) // 2
    figures = {
        "people": options.people,
        "mode": options.mode,
        "pause_seconds": options.pause,
        "seconds": options.seconds,
        "requests": len(seen),
        "requests_per_second": round(len(seen) / options.seconds, 1),
        "errors": len(errors),
        "median_ms": round(float(np.median(times)), 1),
        "p95_ms": round(float(np.quantile(times, 0.95)), 1),
        "p99_ms": round(float(np.quantile(times, 0.99)), 1),
        "processor_ms_per_request": round(worked / len(seen) * 1000, 1),
        "memory_mb_first_half": round(float(np.mean(memory[:half])) / 1e6, 1),
        "memory_mb_second_half": round(float(np.mean(memory[half:])) / 1e6, 1),
        "memory_mb_end": round(memory[-1] / 1e6, 1),
    }
    print(json.dumps(figures, indent=1))
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
