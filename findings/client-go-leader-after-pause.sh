#!/usr/bin/env bash
#
# client-go 0.37.2 (Go): a leader that learns that another instance holds the lease goes on leading for its renew
# deadline, 10 s.
#
# The process of the leader is stopped (SIGSTOP) for longer than its lease of 15 s, as by a suspended virtual machine,
# until another instance leads, and is continued. Seen: at once, it reads the lease, and so it knows that the other
# instance holds it. It reads that every 2 s, four more times, before it stops: 10 s after the first time, when the
# renew deadline is over. Both instances lead meanwhile, although the API server can be reached all the time, and
# OnNewLeader is called only then, too. The leader takes any failure to renew for one that may pass.
#
# What one would expect: the leader stops when it reads that it has lost the lease. Its renew deadline is for
# repeating a renewal, but a valid lease of another instance cannot be renewed.
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
	"bufio"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"syscall"
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
		ReleaseOnCancel: false,
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

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func await[T comparable](events chan T, event T) {
	limit := time.After(30 * time.Second)
	for {
		select {
		case seen := <-events:
			if seen == event {
				return
			}
		case <-limit:
			panic(fmt.Sprint("no ", event))
		}
	}
}

func main() {
	if len(os.Args) > 1 {
		stopped := make(chan bool, 1)
		elect(os.Args[1], "work", "first", func(leads bool) {
			fmt.Println(leads)
			if !leads {
				stopped <- true
			}
		})
		<-stopped
		return
	}
	reads := make(chan time.Time, 100)
	server := httptest.NewServer(&api{
		leases: map[string]map[string]any{},
		before: func(string, string) {},
		after: func(identity, method, name, holder string) {
			if identity == "first" && holder == "second" {
				reads <- time.Now()
			}
		},
	})
	first := exec.Command(os.Args[0], server.URL)
	output, err := first.StdoutPipe()
	check(err)
	check(first.Start())
	defer first.Process.Kill()
	firstLeads := make(chan string, 10)
	go func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			firstLeads <- lines.Text()
		}
	}()
	await(firstLeads, "true")
	secondLeads := make(chan bool, 10)
	go elect(server.URL, "work", "second", func(leads bool) { secondLeads <- leads })
	time.Sleep(3 * time.Second)

	check(first.Process.Signal(syscall.SIGSTOP))
	await(secondLeads, true)
	fmt.Println("the first instance is stopped, the second one leads")
	time.Sleep(time.Second)
	check(first.Process.Signal(syscall.SIGCONT))
	continued := time.Now()
	at := <-reads
	await(firstLeads, "false")
	longer := time.Since(at)
	if at.Sub(continued) < time.Second {
		fmt.Println("the first instance is continued, and reads at once that the second one holds the lease")
	}
	fmt.Fprintf(os.Stderr, "after %.1f s and %d more reads, it stops leading\n", longer.Seconds(), len(reads))
	switch {
	case longer < 3*time.Second:
		fmt.Println("it stops leading")
	case longer > 8*time.Second && len(reads) >= 3:
		fmt.Println("it goes on leading for about 10 s, and reads the same several times")
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
seen=$(timeout 80 "$work/probe" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
grep 'more reads' "$work/errors" || true
[[ $seen == "the first instance is stopped, the second one leads
the first instance is continued, and reads at once that the second one holds the lease
it goes on leading for about 10 s, and reads the same several times" ]] || {
    echo "The behavior has changed."
    exit 1
}
