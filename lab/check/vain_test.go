package check

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
)

// An aloof lock denies every request, or, if it is silent, never answers.
type aloof struct{ silent bool }

func (*aloof) Fields(*algorithm.Coder) {}

func (s *aloof) Request(out *algorithm.Out[clumsyMessage]) {
	if !s.silent {
		out.Deny()
	}
}

func (*aloof) Release(*algorithm.Out[clumsyMessage])                               {}
func (*aloof) Receive(algorithm.ID, *clumsyMessage, *algorithm.Out[clumsyMessage]) {}

func aloofSpec(silent bool) algorithm.Spec {
	return algorithm.Spec{Name: "aloof", TryLock: !silent, Kinds: []string{"NONE"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.New[clumsyMessage](self, v, &aloof{silent})
	})}
}

// Of a lock that lets nobody in all may hold, and the report says what that is
// worth; of others it says nothing, nor where the search ended before anybody
// could get in.
func TestNobodyGetsIn(t *testing.T) {
	const never = "aloof never grants a request"
	for _, c := range []struct {
		config  Config
		verdict Verdict
		hint    string
	}{
		{Config{Spec: aloofSpec(false)}, Holds, never},
		{Config{Spec: aloofSpec(false), Requests: 1}, HoldsBounded, never},
		{Config{Spec: aloofSpec(false), Properties: []string{Fence}}, Holds, never},
		{Config{Spec: aloofSpec(true)}, Violated, never},
		{Config{Spec: aloofSpec(true), First: true}, Violated, ""},
		{Config{Spec: aloofSpec(false), Starts: []algorithm.View{{N: 2, Busy: true}}, Properties: []string{MutualExclusion}}, Holds, ""},
		{Config{Spec: mutex.CentralDeny(0)}, Holds, ""},
		{Config{Spec: mutex.RicartAgrawala(), Properties: []string{MutualExclusion}}, Holds, ""},
	} {
		c.config.Nodes = 2
		r, err := Run(c.config)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != c.verdict || !strings.HasPrefix(r.Hint, c.hint) || (c.hint == "") != (r.Hint == "") {
			t.Errorf("%s: %s, hint %q; want %s, %q", c.config.Spec.Name, r.Verdict, r.Hint, c.verdict, c.hint)
		}
	}
}
