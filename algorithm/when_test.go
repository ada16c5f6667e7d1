package algorithm_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// When describes an input in words.
func TestWhen(t *testing.T) {
	lock := algorithm.Spec{Kinds: []string{"REQUEST", "OK"}}
	site := algorithm.Spec{Kinds: lock.Kinds, Family: algorithm.Transactions}
	for _, c := range []struct {
		spec algorithm.Spec
		in   host.Input
		want string
	}{
		{lock, host.Input{Kind: host.Start}, "when it starts"},
		{lock, host.Input{Kind: host.Request}, "when its application requests"},
		{lock, host.Input{Kind: host.Release}, "when its application releases"},
		{lock, host.Input{Kind: host.Receive, From: 1, Bytes: []byte{1}}, "when it receives OK from P2"},
		{lock, host.Input{Kind: host.Receive, From: 1, Bytes: []byte{2}}, "when it receives a message of kind 2 from P2"},
		{lock, host.Input{Kind: host.Receive, From: 1}, "when it receives nothing from P2"},
		{lock, host.Input{Kind: host.Expire, Timer: 3}, "when timer 3 expires"},
		{lock, host.Input{Kind: host.Suspect, From: 2}, "when it is notified that P3 is dead"},
		{lock, host.Input{Kind: host.Trust, From: 2}, "when it is notified that P3 is back"},
		{lock, host.Input{Kind: host.Hear, Time: 41}, "when it hears of another clock"},
		{lock, host.Input{Kind: 200}, "on input 200"},
		{site, host.Input{Kind: host.Request, From: 1, Arg: 2}, "when P2 requests L3"},
		{site, host.Input{Kind: host.Release, From: 1}, "when P2 commits"},
		{site, host.Input{Kind: host.Claim, From: 1, Arg: 2}, "when P2 claims L3"},
		{site, host.Input{Kind: host.Abort, From: 1}, "when P2 aborts"},
		{site, host.Input{Kind: host.Receive, From: 1, Bytes: []byte{1}}, "when it receives OK from site 2"},
		{site, host.Input{Kind: host.Suspect, From: 1}, "when it is notified that site 2 is dead"},
	} {
		if got := c.spec.When(c.in); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// The place of a panic is one in the author's code, even if a function of this package
// panicked because the author called it wrongly.
func TestPanickedSaysWhere(t *testing.T) {
	for name, wrong := range map[string]func(){
		"its own code": func() { panic("no way") },
		"this package": func() { (*algorithm.Set)(nil).Add(1) },
	} {
		err := func() (err error) {
			defer func() { err = host.Panicked("at work", recover()) }()
			wrong()
			return nil
		}()
		if !errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), "panic at work: ") || !strings.Contains(err.Error(), ", at when_test.go:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
