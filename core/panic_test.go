package core_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stile-lock/stile/core"
)

// What a machine was at when it panicked is told in words.
func TestWhen(t *testing.T) {
	lock := core.Spec{Kinds: []string{"REQUEST", "OK"}}
	site := core.Spec{Kinds: lock.Kinds, Family: core.Transactions}
	for _, c := range []struct {
		spec core.Spec
		in   core.Input
		want string
	}{
		{lock, core.Input{Kind: core.Start}, "when it starts"},
		{lock, core.Input{Kind: core.Request}, "when its application asks"},
		{lock, core.Input{Kind: core.Release}, "when its application leaves"},
		{lock, core.Input{Kind: core.Receive, From: 1, Bytes: []byte{1}}, "when it gets OK of P2"},
		{lock, core.Input{Kind: core.Receive, From: 1, Bytes: []byte{2}}, "when it gets a message of kind 2 of P2"},
		{lock, core.Input{Kind: core.Receive, From: 1}, "when it gets nothing of P2"},
		{lock, core.Input{Kind: core.Expire, Timer: 3}, "when timer 3 runs out"},
		{lock, core.Input{Kind: core.Suspect, From: 2}, "when it is told that P3 is dead"},
		{lock, core.Input{Kind: core.Trust, From: 2}, "when it is told that P3 is back"},
		{lock, core.Input{Kind: core.Hear, Time: 41}, "when it hears the clock of another"},
		{lock, core.Input{Kind: 200}, "on input 200"},
		{site, core.Input{Kind: core.Request, From: 1, Arg: 2}, "when P2 asks for L3"},
		{site, core.Input{Kind: core.Release, From: 1}, "when P2 commits"},
		{site, core.Input{Kind: core.Claim, From: 1, Arg: 2}, "when P2 claims L3"},
		{site, core.Input{Kind: core.Abort, From: 1}, "when P2 aborts"},
		{site, core.Input{Kind: core.Receive, From: 1, Bytes: []byte{1}}, "when it gets OK of site 2"},
		{site, core.Input{Kind: core.Suspect, From: 1}, "when it is told that site 2 is dead"},
	} {
		if got := c.spec.When(c.in); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// Where it panicked is a place of its author, also if that is in a function of core
// which it has called wrongly.
func TestPanickedSaysWhere(t *testing.T) {
	for name, wrong := range map[string]func(){
		"its own code": func() { panic("no way") },
		"core":         func() { (*core.Set)(nil).Add(1) },
	} {
		err := func() (err error) {
			defer func() { err = core.Panicked("at work", recover()) }()
			wrong()
			return nil
		}()
		if !errors.Is(err, core.ErrAlgorithm) || !strings.Contains(err.Error(), "it panics at work: ") || !strings.Contains(err.Error(), ", at panic_test.go:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
