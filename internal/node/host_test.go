package node

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/views"
)

// The log line of a view names the members that joined, those that are gone and how, and
// changes of voters.
func TestViewIsExplained(t *testing.T) {
	var log journal
	h := &Node{c: Config{Log: log.logger()}}
	a, b, c := views.Member{Inc: 64, Name: "a", Voter: 64}, views.Member{Inc: 128, Name: "b"}, views.Member{Inc: 192, Name: "c"}
	h.logView(&views.Record{Members: []views.Member{a, b, c}})
	a.Voter, b.Voter = 0, 200
	h.logView(&views.Record{Members: []views.Member{a, b, c}})
	h.logView(&views.Record{Members: []views.Member{b}, Ghosts: []views.Ghost{{Inc: c.Inc}}})
	for _, want := range []string{`joined="[a b c]"`, `votes="[b votes a no longer votes]"`, `gone="[c was evicted a left]" ghosts=1`} {
		if !strings.Contains(log.b.String(), want) {
			t.Errorf("no %s in\n%s", want, &log.b)
		}
	}
}
