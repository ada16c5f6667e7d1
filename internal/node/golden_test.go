package node

import (
	"flag"
	"testing"

	"github.com/stile-lock/stile/internal/codec"
	"github.com/stile-lock/stile/internal/golden"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/views"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// What a node sends first, and the files that it keeps, are a contract with other versions.
func TestGolden(t *testing.T) {
	var c codec.Coder
	(&hello{cluster: 9, earlier: []uint64{4, 5}, epoch: 7, runs: []runnable{{"central", 1}, {"raymond", 2}}}).fields(&c)
	r := views.Record{Cluster: 9, Epoch: 7, Settings: member.Usual(), Wanted: 1, Members: []views.Member{{Name: "a", Address: "a:1", Nonce: 101, Inc: 64, Voter: 64}},
		Formers: []uint64{64}, Choices: []member.Choice{{Algorithm: "central", Version: 1}}, Voters: []views.Voter{{ID: 64, Name: "a", Address: "a:1"}}}
	b := &Backup{Record: r, Seen: 8}
	all := []golden.Example{
		{Name: "greeting", Bytes: c.B},
		{Name: "record", Bytes: []byte(b.Text())},
		{Name: "recover", Bytes: []byte((&recovery{Restore: views.Restore{Cluster: 10, Seen: 8, Clock: 11}, backup: b}).text())},
	}
	golden.Check(t, *update, all, func(name string, b []byte) ([]byte, error) {
		switch name {
		case "record":
			x, err := ParseBackup(string(b))
			if err != nil {
				return nil, err
			}
			return []byte(x.Text()), nil
		case "recover":
			x, err := parseRecovery(string(b))
			if err != nil {
				return nil, err
			}
			return []byte(x.text()), nil
		}
		g, err := readGreeting(b)
		var c codec.Coder
		g.fields(&c)
		return c.B, err
	})
}
