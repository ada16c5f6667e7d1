package cluster

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/nightly"
)

// With -page the trials are long, and what came of them is written to a page.
var (
	page    = flag.String("page", "", "run long trials of restarts, and write what came of them to this file")
	commit  = flag.String("at", "unknown", "commit that the page names")
	rolling = flag.Duration("rolling", 5*time.Second, "how long nodes are restarted under load")
	jobs    = flag.Int("jobs", 5, "how many commands run while nodes are restarted")
	working = flag.Duration("working", 2*time.Second, "how long each of them runs at least")
	kills   = flag.Int("kills", 2, "how often the node of holders is killed, for each lease")
)

// A section is a part of the page, and the trial that gives it.
type section struct {
	name string
	try  func(t *testing.T) string
	text string
}

// Restarts cost nothing, crashes little, and lost disks are survived or explained.
func TestRestarts(t *testing.T) {
	nightly.Only(t)
	if _, err := command(); err != nil {
		t.Fatal(err)
	}
	table, jobs, load, kills := &section{name: "table", try: testTable}, &section{name: "jobs", try: testJobs}, &section{name: "load", try: testLoad}, &section{name: "kills", try: testKills}
	groups := [][]*section{{table}, {jobs}, {load}, {kills}}
	if *page != "" { // one after the other, so that they disturb each other less
		groups = [][]*section{{load}, {jobs, table, kills}}
	}
	t.Run("groups", func(t *testing.T) {
		for _, g := range groups {
			t.Run("of "+g[0].name, func(t *testing.T) {
				t.Parallel()
				for _, s := range g {
					t.Run(s.name, func(t *testing.T) { s.text = s.try(t) })
				}
			})
		}
	})
	text := fmt.Sprintf(intro, *commit, runtime.NumCPU(), runtime.GOOS+"/"+runtime.GOARCH, runtime.Version()) + table.text + jobs.text + load.text + kills.text
	t.Log("\n" + text)
	if *page == "" || t.Failed() {
		return
	}
	if err := os.WriteFile(*page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const intro = `# Restarts, crashes and lost disks

<!-- made by 'make restarts' at commit %s, %d cores, %s, %s: do not edit -->

Real ` + "`stile serve`" + ` processes with data directories, on one machine. In every trial, clients use
locks all the time: no two holders were valid at the same moment, tokens always rose, and no request
failed.

`

// table prints what the combinations gave. Trials of one that differ are all printed.
func table(rows map[string]row) string {
	var b strings.Builder
	b.WriteString(`## Two nodes, one after the other

Two nodes are struck: the first, then the second. A stop is TERM, a crash is kill -9, and a lost disk is
kill -9 and a removed directory. Then the two nodes are started again in the same order, with --join and,
after a lost disk, an empty directory. "Serves" means that a lock was acquired through each running node.
"Waits for a majority" means that every running node's status says so, and no lock could be acquired.
"Lost" means that every node's status names the command, and that it was followed. The lease is 1 s. Each
row is three trials: the leader is struck first, and the second node at once; the leader is struck second,
or not at all, when the others serve again.

| voters | first | second | then it | with the first node back | with both back | after the command |
|--:|---|---|---|---|---|---|
`)
	for _, voters := range []int{3, 5} {
		for _, first := range blows {
			for _, second := range blows {
				var seen []row
				for leads := range 3 {
					x := combination{voters, first, second, leads}
					if r, ok := rows[x.String()]; ok && (len(seen) == 0 || seen[len(seen)-1] != r) {
						seen = append(seen, r)
					}
				}
				for _, r := range seen {
					fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s | %s |\n", voters, first.name, second.name, r[0], r[1], r[2], r[3])
				}
			}
		}
	}
	b.WriteString("\n")
	return b.String()
}
