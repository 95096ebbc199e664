#!/usr/bin/env bash
#
# client-go 0.37.2 (Go): with ReleaseOnCancel, a leader that could not reach the API server for some seconds longer
# than its lease releases the lease of its successor, and two other instances lead.
#
# Ten leases have four instances each, with the usual 15 s, 10 s and 2 s. The requests of each leader get no answer,
# as if the network dropped them, until a second after another instance has taken its lease, 16 to 20 s later. Seen:
# all ten leaders remove the holder from the lease of their successor, which has just taken it. With about half of the
# leases, a third instance takes it then, and its predecessor, which has never failed to renew, leads on for another
# 10 s, together with it. A leader that cannot renew its lease for 10 s releases it: it waits for the answer to a read
# of the lease for another 10 s, and then writes it without a holder. But it looks up the holder in what it has read
# before, not in this answer.
#
# What one would expect: an instance does not release the lease of another one. The documentation of ReleaseOnCancel
# only asks to complete the work before the context is cancelled.
#
# Needs Go 1.26 or later, on Linux. The first build takes some minutes. Fails if client-go behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/server.go" <<'GO'
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// api is as much of an API server as leases need: reads, creations, and updates with a resource version. It calls the
// functions before and after each request, with the identity of the instance.
type api struct {
	mu     sync.Mutex
	leases map[string]map[string]any
	before func(identity, name string)
	after  func(identity, method, name, holder string)
}

func holder(lease map[string]any) string {
	spec, _ := lease["spec"].(map[string]any)
	text, _ := spec["holderIdentity"].(string)
	return text
}

func version(lease map[string]any) string {
	text, _ := lease["metadata"].(map[string]any)["resourceVersion"].(string)
	return text
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	if r.Method != http.MethodGet {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		name = body["metadata"].(map[string]any)["name"].(string)
	}
	identity := r.UserAgent()
	a.before(identity, name)
	a.mu.Lock()
	defer a.mu.Unlock()
	code, reason := http.StatusOK, ""
	lease := a.leases[name]
	switch {
	case r.Method == http.MethodPost && lease != nil:
		code, reason = http.StatusConflict, "AlreadyExists"
	case r.Method != http.MethodPost && lease == nil:
		code, reason = http.StatusNotFound, "NotFound"
	case r.Method == http.MethodPut && version(body) != version(lease):
		code, reason = http.StatusConflict, "Conflict"
	case r.Method != http.MethodGet:
		number := 0
		if lease != nil {
			fmt.Sscan(version(lease), &number)
		}
		body["metadata"].(map[string]any)["resourceVersion"] = fmt.Sprint(number + 1)
		a.leases[name] = body
		lease = body
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if code != http.StatusOK {
		json.NewEncoder(w).Encode(map[string]any{
			"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code,
		})
		return
	}
	json.NewEncoder(w).Encode(lease)
	a.after(identity, r.Method, name, holder(lease))
}
GO
cat >"$work/main.go" <<'GO'
package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func elect(url, name, identity string, event func(leads bool)) {
	client := coordinationv1.NewForConfigOrDie(&rest.Config{
		Host: url, UserAgent: identity, ContentConfig: rest.ContentConfig{ContentType: "application/json"},
	})
	leaderelection.RunOrDie(context.Background(), leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: name},
			Client:     client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration:   15 * time.Second,
		RenewDeadline:   10 * time.Second,
		RetryPeriod:     2 * time.Second,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				event(true)
				<-ctx.Done()
				event(false)
			},
			OnStoppedLeading: func() {},
		},
	})
}

// election is what has been seen of one lease.
type election struct {
	unanswered bool
	answer     chan bool
	taken      bool
	released   bool
	leaders    map[string]bool
	since      time.Time
	both       time.Duration
}

var (
	mu        sync.Mutex
	elections = map[string]*election{}
)

func event(name, identity string, leads bool) {
	mu.Lock()
	defer mu.Unlock()
	seen := elections[name]
	if identity == "first" {
		return
	}
	if leads {
		seen.leaders[identity] = true
	} else {
		delete(seen.leaders, identity)
	}
	if len(seen.leaders) > 1 && seen.since.IsZero() {
		seen.since = time.Now()
	}
	if len(seen.leaders) < 2 && !seen.since.IsZero() {
		seen.both = time.Since(seen.since)
		seen.since = time.Time{}
	}
	if leads && seen.unanswered && !seen.taken {
		seen.taken = true
		time.AfterFunc(time.Second, func() { close(seen.answer) })
	}
}

func main() {
	server := httptest.NewServer(&api{
		leases: map[string]map[string]any{},
		before: func(identity, name string) {
			mu.Lock()
			seen := elections[name]
			wait := identity == "first" && seen.unanswered
			mu.Unlock()
			if wait {
				<-seen.answer
			}
		},
		after: func(identity, method, name, holder string) {
			mu.Lock()
			defer mu.Unlock()
			seen := elections[name]
			seen.released = seen.released || identity == "first" && method == "PUT" && holder == "" && seen.taken
		},
	})
	for number := range 10 {
		name := fmt.Sprint("work", number)
		mu.Lock()
		elections[name] = &election{answer: make(chan bool), leaders: map[string]bool{}}
		mu.Unlock()
		go elect(server.URL, name, "first", func(leads bool) { event(name, "first", leads) })
	}
	time.Sleep(time.Second)
	for name := range elections {
		for _, identity := range []string{"second", "third", "fourth"} {
			go elect(server.URL, name, identity, func(leads bool) { event(name, identity, leads) })
		}
	}
	time.Sleep(4 * time.Second)
	mu.Lock()
	for _, seen := range elections {
		seen.unanswered = true
	}
	mu.Unlock()
	time.Sleep(38 * time.Second)

	mu.Lock()
	defer mu.Unlock()
	released, both, long := 0, 0, 0
	for _, seen := range elections {
		if seen.released {
			released++
		}
		if seen.both > 0 {
			both++
		}
		if seen.both > 8*time.Second {
			long++
		}
	}
	fmt.Printf("of 10 first leaders, %d release the lease of their successor\n", released)
	fmt.Printf("with %d of the leases, two of the others lead together, with %d for more than 8 s\n", both, long)
	if released == 0 || long == 0 {
		os.Exit(1)
	}
}
GO
cat >"$work/go.mod" <<'MOD'
module probe

go 1.26

require (
	k8s.io/apimachinery v0.37.2
	k8s.io/client-go v0.37.2
)
MOD
(cd "$work" && GOFLAGS=-mod=mod go build -o probe .) 2>"$work/errors" || { cat "$work/errors"; exit 1; }
echo "client-go 0.37.2"
timeout 80 "$work/probe" 2>"$work/errors" || {
    grep -v '^[IE][0-9]' "$work/errors" | tail -20
    echo "The behavior has changed."
    exit 1
}
