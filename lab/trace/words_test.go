package trace

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// TestSentences: whoever leads is not said to know itself, and every sentence ends
// as one.
func TestSentences(t *testing.T) {
	for want, e := range map[string]Event{
		"P3 becomes the leader.": {Kind: Lead, Proc: 2, Peer: 2},
		"P1 follows P3.":         {Kind: Lead, Proc: 0, Peer: 2},
		"P1: P2 asks for L1.":    {Kind: Note, Proc: 0, Name: "P2 asks for L1"},
		"P1 asks.":               {Kind: Note, Proc: 0, Name: "P1 asks"},
		"The end.":               {Kind: Note, Proc: algorithm.None, Name: "The end."},
	} {
		if got := e.Sentence(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for k := Ask; k <= Note; k++ {
		e := Event{Kind: k, Name: "NAME"}
		if s := e.Sentence(); !strings.HasSuffix(s, ".") {
			t.Errorf("%v: %q", k, s)
		}
	}
}
