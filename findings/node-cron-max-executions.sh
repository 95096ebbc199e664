#!/usr/bin/env bash
#
# node-cron 4.6.0 (npm): a task with maxExecutions that fails runs on without a limit, also when runsLeft() is 0, and
# one whose runs overlap is run more often. A run that was delayed by maxRandomDelay begins after stop().
#
# A task is scheduled every second. Seen: with maxExecutions 2, it is run twice if it succeeds at once. If each run
# fails, it is run every second for as long as the process lives, while runsLeft() is 0: the limit is looked at only
# after a run that succeeded. If a run takes 4 s, a limit of 2 lets several more begin before the second one has ended.
# With noOverlap, it holds if they succeed, but not if they fail. In the second part, a task has a random delay of up
# to 20 s. stop() and destroy() cancel the last delayed run only: the others begin seconds after the task was stopped.
# That one was fixed by pull request 583 of node-cron.
#
# What one would expect: "a limit on how many times the task should execute", as it is documented, and no run after
# stop() or destroy().
#
# Needs Node.js 20 or later with npm. Fails if node-cron behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

npm install --prefix "$work" --no-audit --no-fund --ignore-scripts --silent node-cron@4.6.0 </dev/null
cat >"$work/probe.mjs" <<'JS'
import { setTimeout as sleep } from 'node:timers/promises';
import cron from 'node-cron';

const silent = () => {};
cron.setLogger({ info: silent, warn: silent, error: silent, debug: silent });

const tasks = {};
function schedule(name, run, options) {
	const entry = (tasks[name] = { runs: 0 });
	entry.task = cron.schedule('* * * * * *', async () => {
		entry.runs++;
		await run();
	}, options);
}
async function fail() {
	throw new Error('failed');
}
async function failLater() {
	await sleep(1_500);
	throw new Error('failed');
}
const maxExecutions = 2;
schedule('succeeds', async () => {}, { maxExecutions });
schedule('fails', fail, { maxExecutions });
schedule('takes 4 s', () => sleep(4_000), { maxExecutions });
schedule('takes 4 s, no overlap', () => sleep(4_000), { maxExecutions, noOverlap: true });
schedule('fails after 1.5 s, no overlap', failLater, { maxExecutions, noOverlap: true });
for (const end of ['stop', 'destroy']) {
	schedule(`delayed, ${end}`, async () => {}, { maxRandomDelay: 20_000 });
}
await sleep(8_500);
const stopped = {};
for (const end of ['stop', 'destroy']) {
	const { task, runs } = tasks[`delayed, ${end}`];
	task[end]();
	stopped[end] = runs;
}
await sleep(6_500);
for (const [name, { task, runs }] of Object.entries(tasks)) {
	console.error(name, runs, task.getStatus(), task.runsLeft());
	if (!name.startsWith('delayed')) {
		const count = runs > maxExecutions ? `more than ${maxExecutions}` : runs;
		console.log(`${name}: run ${count} times in 15 s, runsLeft() is ${task.runsLeft()}, ` +
			(task.getStatus() === 'destroyed' ? 'destroyed' : 'goes on'));
	}
}
await sleep(13_500);
for (const end of ['stop', 'destroy']) {
	const { task, runs } = tasks[`delayed, ${end}`];
	console.error(end, runs - stopped[end]);
	const after = runs > stopped[end];
	console.log(`${end}() of a task with delayed runs: ${task.getStatus()}, runs begin after that: ${after}`);
}
process.exit(0);
JS
echo "node-cron 4.6.0"
seen=$(timeout 60 node "$work/probe.mjs" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "succeeds: run 2 times in 15 s, runsLeft() is 0, destroyed
fails: run more than 2 times in 15 s, runsLeft() is 0, goes on
takes 4 s: run more than 2 times in 15 s, runsLeft() is 0, destroyed
takes 4 s, no overlap: run 2 times in 15 s, runsLeft() is 0, destroyed
fails after 1.5 s, no overlap: run more than 2 times in 15 s, runsLeft() is 0, goes on
stop() of a task with delayed runs: stopped, runs begin after that: true
destroy() of a task with delayed runs: destroyed, runs begin after that: true" ]] || {
    cat "$work/errors"
    echo "The behavior has changed."
    exit 1
}
cat "$work/errors" >&2
