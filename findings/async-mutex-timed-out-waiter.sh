#!/usr/bin/env bash
#
# async-mutex 0.5.0 (npm): a caller of a semaphore whose timeout has passed stays in the queue, and callers behind it
# that need less wait for it, or time out, although permits for them are free.
#
# A semaphore has two permits, one of which is held. A caller that needs both waits in withTimeout(semaphore, 500), and
# gets E_TIMEOUT. Seen: from then on, callers that need one permit wait until the first holder releases, and those with
# a timeout get E_TIMEOUT, too, although one permit is free (getValue() is 1, isLocked() is false). The caller that
# gave up is still the first of the queue. Without it, they get the free permit at once. This also holds for
# tryAcquire, which fails at once, and leaves the caller in the queue, too.
#
# What one would expect: a caller that gave up does not hold up the others.
#
# Needs Node.js 20 or later with npm. Fails if async-mutex behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

npm install --prefix "$work" --no-audit --no-fund --ignore-scripts --silent async-mutex@0.5.0 </dev/null
cat >"$work/probe.mjs" <<'JS'
import { setTimeout as sleep } from 'node:timers/promises';
import { Semaphore, tryAcquire, withTimeout } from 'async-mutex';

async function attempt(semaphore, weight) {
	const start = Date.now();
	try {
		const [, release] = await semaphore.acquire(weight);
		release();
		return Date.now() - start < 500 ? 'gets it at once' : 'gets it later';
	} catch (error) {
		return `"${error.message}"`;
	}
}

async function probe(name, giveUp) {
	const semaphore = new Semaphore(2);
	const [, release] = await semaphore.acquire(1);
	let ended = false;
	const holder = sleep(8_000).then(() => {
		ended = true;
		release();
	});
	console.log(`${name}: one of two permits is held`);
	if (giveUp) {
		console.log(`  caller of both, gives up: ${await attempt(giveUp(semaphore), 2)}`);
	}
	console.log(`  free permits: ${semaphore.getValue()}, locked: ${semaphore.isLocked()}`);
	console.log(`  caller of one, timeout of 1 s: ${await attempt(withTimeout(semaphore, 1_000), 1)}`);
	const last = await attempt(semaphore, 1);
	console.log(`  caller of one: ${last}, ${ended ? 'after' : 'before'} the holder has released`);
	await holder;
}

await probe('no caller gives up');
await probe('withTimeout', semaphore => withTimeout(semaphore, 500));
await probe('tryAcquire', semaphore => tryAcquire(semaphore));
JS
echo "async-mutex 0.5.0"
seen=$(timeout 60 node "$work/probe.mjs" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == 'no caller gives up: one of two permits is held
  free permits: 1, locked: false
  caller of one, timeout of 1 s: gets it at once
  caller of one: gets it at once, before the holder has released
withTimeout: one of two permits is held
  caller of both, gives up: "timeout while waiting for mutex to become available"
  free permits: 1, locked: false
  caller of one, timeout of 1 s: "timeout while waiting for mutex to become available"
  caller of one: gets it later, after the holder has released
tryAcquire: one of two permits is held
  caller of both, gives up: "mutex already locked"
  free permits: 1, locked: false
  caller of one, timeout of 1 s: "timeout while waiting for mutex to become available"
  caller of one: gets it later, after the holder has released' ]] || {
    cat "$work/errors"
    echo "The behavior has changed."
    exit 1
}
