package check

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/mutex"
)

// An aloof lock denies every request, or, if it is silent, never answers.
type aloof struct{ silent bool }

func (*aloof) Fields(*core.Coder) {}

func (s *aloof) Request(out *core.Out[clumsyMessage]) {
	if !s.silent {
		out.Deny()
	}
}

func (*aloof) Release(*core.Out[clumsyMessage])                          {}
func (*aloof) Receive(core.ID, *clumsyMessage, *core.Out[clumsyMessage]) {}

func aloofSpec(silent bool) core.Spec {
	return core.Spec{Name: "aloof", TryLock: !silent, Kinds: []string{"NONE"}, Plan: core.Always(func(self core.ID, v core.View) core.Machine {
		return core.New[clumsyMessage](self, v, &aloof{silent})
	})}
}

// Of a lock that lets nobody in all may hold, and the report says what that is
// worth; of others it says nothing, nor where the search ended before anybody
// could get in.
func TestNobodyGetsIn(t *testing.T) {
	const never = "aloof never lets in anybody who asks"
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
		{Config{Spec: aloofSpec(false), Starts: []core.View{{N: 2, Busy: true}}, Properties: []string{MutualExclusion}}, Holds, ""},
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
