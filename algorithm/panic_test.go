package algorithm_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// What a machine was at when it panicked is told in words.
func TestWhen(t *testing.T) {
	lock := algorithm.Spec{Kinds: []string{"REQUEST", "OK"}}
	site := algorithm.Spec{Kinds: lock.Kinds, Family: algorithm.Transactions}
	for _, c := range []struct {
		spec algorithm.Spec
		in   algorithm.Input
		want string
	}{
		{lock, algorithm.Input{Kind: algorithm.Start}, "when it starts"},
		{lock, algorithm.Input{Kind: algorithm.Request}, "when its application asks"},
		{lock, algorithm.Input{Kind: algorithm.Release}, "when its application leaves"},
		{lock, algorithm.Input{Kind: algorithm.Receive, From: 1, Bytes: []byte{1}}, "when it gets OK of P2"},
		{lock, algorithm.Input{Kind: algorithm.Receive, From: 1, Bytes: []byte{2}}, "when it gets a message of kind 2 of P2"},
		{lock, algorithm.Input{Kind: algorithm.Receive, From: 1}, "when it gets nothing of P2"},
		{lock, algorithm.Input{Kind: algorithm.Expire, Timer: 3}, "when timer 3 runs out"},
		{lock, algorithm.Input{Kind: algorithm.Suspect, From: 2}, "when it is told that P3 is dead"},
		{lock, algorithm.Input{Kind: algorithm.Trust, From: 2}, "when it is told that P3 is back"},
		{lock, algorithm.Input{Kind: algorithm.Hear, Time: 41}, "when it hears the clock of another"},
		{lock, algorithm.Input{Kind: 200}, "on input 200"},
		{site, algorithm.Input{Kind: algorithm.Request, From: 1, Arg: 2}, "when P2 asks for L3"},
		{site, algorithm.Input{Kind: algorithm.Release, From: 1}, "when P2 commits"},
		{site, algorithm.Input{Kind: algorithm.Claim, From: 1, Arg: 2}, "when P2 claims L3"},
		{site, algorithm.Input{Kind: algorithm.Abort, From: 1}, "when P2 aborts"},
		{site, algorithm.Input{Kind: algorithm.Receive, From: 1, Bytes: []byte{1}}, "when it gets OK of site 2"},
		{site, algorithm.Input{Kind: algorithm.Suspect, From: 1}, "when it is told that site 2 is dead"},
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
		"core":         func() { (*algorithm.Set)(nil).Add(1) },
	} {
		err := func() (err error) {
			defer func() { err = algorithm.Panicked("at work", recover()) }()
			wrong()
			return nil
		}()
		if !errors.Is(err, algorithm.ErrAlgorithm) || !strings.Contains(err.Error(), "it panics at work: ") || !strings.Contains(err.Error(), ", at panic_test.go:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
