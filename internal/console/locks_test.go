package console

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
)

// order returns what a document lists, in its order.
func (s *sight) order() string {
	var all []string
	for _, x := range s.doc["order"].([]any) {
		all = append(all, x.(string))
	}
	return strings.Join(all, " ")
}

// A page has 100 rows, and pages reach every lock, each once.
func TestLockPages(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		var want []string
		for i := range 1050 {
			name := fmt.Sprintf("%c/%04d", 'x'+i%2, i)
			w.holds([]string{"a", "b", "c"}[i%3], name, 1)
			if i%2 == 0 {
				want = append(want, name)
			}
		}
		var got []string
		for after := ""; ; {
			s := w.sees("view=locks&prefix=x&after=" + url.QueryEscape(after))
			s.again()
			all := strings.Fields(s.order())
			if len(all) > maxRows || len(all) != len(s.doc["rows"].(map[string]any)) {
				t.Errorf("%d rows", len(all))
			}
			got = append(got, all...)
			if after = s.doc["next"].(string); after == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d locks, want %d: %v", len(got), len(want), got)
		}
		for _, q := range w.asked {
			if q.Most != maxRows {
				t.Errorf("asked for more than a page: %+v", q)
			}
		}
	})
}

func TestLockRow(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		w.holds("b", "x", 0).Holder.Value = "v"
		w.waits("a", "x", 3)
		w.waits("c", "x", 5)
		w.at("c", "x").Unlisted = 7
		s := w.sees("view=locks")
		s.again()
		s.has("9", "rows", "x", "waiters")
		s.has("1", "rows", "x", "holders")
		s.has(`"8000000000000000"`, "rows", "x", "holder", "session")
		s.has(`"b"`, "rows", "x", "holder", "node")
		s.has(`"v"`, "rows", "x", "holder", "value")
		s.has("null", "rows", "x", "holder", "mode")
		s.has("null", "rows", "x", "holder", "delegated")
		w.locks["b"]["x"].Holder.Delegated = true
		s.again()
		s.has("true", "rows", "x", "holder", "delegated")
	})
}

// A caller administers the cluster, or only some locks.
func TestYours(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		w.rules = func(name string) bool { return name == "mine" }
		for name, want := range map[string]string{"mine": "true", "theirs": "false"} {
			s := w.sees("view=lock&name=" + name)
			s.again()
			s.has(want, "yours")
		}
	})
}

// Moments stay the same although answers take longer or shorter, and move when what they are
// of does.
func TestMoments(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		w.holds("b", "x", 0)
		s := w.sees("view=locks")
		since := func() any {
			s.again()
			return s.doc["rows"].(map[string]any)["x"].(map[string]any)["holder"].(map[string]any)["since_ms"]
		}
		first := since()
		for _, slow := range []time.Duration{200, 0, 100, 240} {
			w.slow = slow * time.Millisecond
			if got := since(); got != first {
				t.Errorf("since %v, and before %v", got, first)
			}
		}
		w.locks["b"]["x"].Holder.Held = -3 // acquired anew
		if got := since(); got == first {
			t.Error("a new hold began when the old one did")
		}
	})
}

// Sorted lists are made of what each member knows most about, and completed.
func TestSorted(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		for i := range 5 {
			name := fmt.Sprintf("x%d", i)
			w.holds("a", name, float64(10*i))
			w.waits("b", name, float64(100-i))
			w.waits("c", name, 1)
		}
		w.holds("a", "idle", 1000)
		s := w.sees("view=locks&sort=wait&prefix=x")
		s.again()
		if got := s.order(); got != "x0 x1 x2 x3 x4" {
			t.Error(got)
		}
		s.has(`"client x at a"`, "rows", "x3", "holder", "who") // a does not list it: no request waits there
		s.has("2", "rows", "x3", "waiters")
		s.has(`"requested"`, "rows", "x3", "why")
		w.waits("c", "x4", 200)
		s.again()
		if got := s.order(); got != "x4 x0 x1 x2 x3" {
			t.Error(got)
		}
		s = w.sees("view=locks&sort=hold")
		s.again()
		if got := s.order(); got != "idle x4 x3 x2 x1 x0" {
			t.Error(got)
		}
		w.asked = nil
		s.again()
		for _, q := range w.asked {
			if q.Top == 0 && len(q.Names) == 0 || len(q.Names) > maxRows {
				t.Errorf("asked for all locks: %+v", q)
			}
		}
	})
}

func TestSortedByRate(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		count := func(at, name string, n uint64) { w.at(at, name).Acquired = n }
		count("a", "old", 1000)
		count("a", "x", 10)
		count("b", "x", 100)
		s := w.sees("view=locks&sort=rate")
		s.again()
		if got := s.order(); got != "old x" {
			t.Error(got)
		}
		s.has("null", "rows", "x", "rate")
		count("a", "x", 13)
		count("b", "x", 104)
		s.again()
		if got := s.order(); got != "x old" {
			t.Error(got)
		}
		s.has("7", "rows", "x", "rate")
		s.has("0", "rows", "old", "rate")
		s.has("117", "rows", "x", "acquired")

		// A member that is silent, and counts more when it is back, has no sudden rate; and one
		// that counts anew has no negative one.
		w.silent["b"] = true
		s.again()
		s.has("0", "rows", "x", "rate")
		s.has(`[{"node":"b","why":"no connection"}]`, "silent")
		w.silent["b"] = false
		count("b", "x", 5000)
		s.again()
		s.has("0", "rows", "x", "rate")
		count("b", "x", 5)
		count("a", "x", 15)
		s.again()
		s.has("2", "rows", "x", "rate")
	})
}

func TestOneLock(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		w.holds("b", "x", 1).Acquired = 5
		w.waits("a", "x", 3)
		w.waits("a", "x", 2)
		w.waits("c", "x", 9)
		w.holds("b", "x2", 1)
		for i := range 30 {
			w.past["a"] = append(w.past["a"], node.PastHold{Party: node.Party{Who: "p", Session: 16}, Token: fmt.Sprintf("9.%d", i), Acquired: float64(200 - i), Ended: float64(100 - i), End: "released"})
		}
		w.past["c"] = []node.PastHold{{Token: "8.1", Acquired: 2, Ended: 1, End: "lost", Cause: "lease", Why: "its lease expired"}, {Token: "8.2", Acquired: 2, Ended: 1, End: "forced"}}
		for _, at := range []string{"a", "b", "c"} { // held through a, then c, then b, and still there
			w.past[at] = append(w.past[at], node.PastHold{Token: "10.1", Ended: map[string]float64{"a": 3, "b": 2.5, "c": 2}[at], End: "lost"})
		}
		for _, at := range []string{"a", "b"} { // held through a, then b
			w.past[at] = append(w.past[at], node.PastHold{Token: "10.0", Ended: map[string]float64{"a": 5, "b": 4}[at], End: "released"})
		}
		s := w.sees("view=lock&name=x")
		s.again()
		s.has("true", "yours")
		s.has(`"moved"`, "history", "10.1@c", "end")
		s.has(`"moved"`, "history", "10.1@a", "end")
		s.has(`"moved"`, "history", "10.0@a", "end")
		s.has(`"released"`, "history", "10.0@b", "end")
		s.has("false", "kept")
		s.has(`"a"`, "home")
		s.has(`["c/2/0","a/2/0","a/2/0/2"]`, "order")
		s.has(`"client y at a"`, "waiters", "a/2/0/2", "who")
		s.has(`"client x at b"`, "holders", "10.1", "who")
		s.has(`"lost: its lease expired"`, "history", "8.1@c", "end")
		s.has(`"forced"`, "history", "8.2@c", "end")
		s.has(`"10"`, "history", "9.29@a", "session")
		s.has("null", "history", "9.5@a")
		if h := s.doc["history"].(map[string]any); len(h) != maxPast {
			t.Errorf("%d holds that have ended", len(h))
		}
		s.has("5", "acquired")
		w.locks["b"]["x"].Acquired = 7
		w.silent["c"] = true
		s.again()
		s.has("2", "rate")
		s.has(`[{"node":"c","why":"no connection"}]`, "silent")
		s.has("null", "waiters", "c/2/0")
		for _, q := range w.asked {
			if len(q.Names) != 1 || q.Names[0] != "x" {
				t.Errorf("%+v", q)
			}
		}
	})
}

func TestKeptLock(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		for i, at := range []string{"a", "b"} {
			l := w.holds(at, "k", 1)
			l.Algorithm = "kept:detect-central"
			l.Holder.Token = fmt.Sprintf("10.%d", 3-i)
			l.Holder.Demand = node.Demand{Mode: "shared", Tx: uint64(i + 1)}
		}
		l := w.at("c", "k")
		w.waits("c", "k", 1)
		l.Waiters[0].Demand = node.Demand{Mode: "2 units", Units: 2, Of: 5, Tx: 9}
		l.Waiters = append(l.Waiters, node.WaiterInfo{Demand: node.Demand{Tx: 8}})
		s := w.sees("view=lock&name=k")
		s.again()
		s.has("true", "kept")
		s.has(`"shared"`, "holders", "10.3", "mode")
		s.has("2", "holders", "10.2", "tx")
		s.has(`{"mode":"units","node":"c","of":5,"session":"2","since_ms":946684799000,"tx":9,"units":2,"who":"client y at c","why":"requested"}`, "waiters", "c/2/9")
		s.has(`"exclusive"`, "waiters", "c//8", "mode")
		s = w.sees("view=locks")
		s.again()
		s.has("2", "rows", "k", "holders")
		s.has(`"10.2"`, "rows", "k", "holder", "token")
	})
}

func TestGraph(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		for i := range 300 {
			w.holds("a", fmt.Sprintf("idle/%d", i), 1)
		}
		edge := func(at, name, from, to string) {
			l := w.at(at, name)
			l.Edges = []node.EdgeInfo{{From: node.TxInfo{Node: from, Tx: 1}, To: node.TxInfo{Node: to, Tx: 1}, Holds: true, Units: 1}}
			l.Holder = &node.HolderInfo{Party: node.Party{Who: "T of " + to, Session: 5}, Demand: node.Demand{Tx: 1}, Token: "1.1"}
			w.waits(from, name, 1)
			w.at(from, name).Waiters[0].Demand.Tx = 1
		}
		edge("b", "p", "c", "b")
		edge("c", "q", "b", "c")
		w.holds("a", "plain", 1)
		w.waits("b", "plain", 1)
		s := w.sees("view=graph")
		s.again()
		s.has(`[["c/tx 1","b/tx 1"]]`, "deadlocks")
		s.has(`{"from":"c/tx 1","lock":"p","to":"b/tx 1"}`, "edges", "c/tx 1 > b/tx 1: p")
		s.has(`{"from":"b/2 waits for plain","lock":"plain","to":"a/8000000000000000 holds plain"}`, "edges", "b/2 waits for plain > a/8000000000000000 holds plain: plain")
		s.has("false", "cut")
		if v := s.doc["vertices"].(map[string]any); len(v) != 4 {
			t.Errorf("%d vertices: %v", len(v), v)
		}
		for _, q := range w.asked {
			if q.Only != node.OnlyAwaited && len(q.Names) != 3 {
				t.Errorf("asked for more than what is waited for: %+v", q)
			}
		}
		for i := range maxGraph {
			w.waits("a", fmt.Sprintf("more/%03d", i), 1)
		}
		s.again()
		s.has("true", "cut")
	})
}

func TestElections(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		w.holds("b", "e", 1).Holder.Value = "http://b"
		w.waits("c", "e", 1)
		w.waits("a", "e", 1)
		w.waits("a", "no leader", 1)
		s := w.sees("view=elections")
		s.again()
		s.has(`["e"]`, "order")
		s.has(`{"candidates":2,"name":"e","node":"b","session":"8000000000000000","since_ms":946684799000,"term":"10.1","value":"http://b","who":"client x at b"}`, "rows", "e")
		for i := range maxElections + 50 {
			w.holds("c", fmt.Sprintf("f/%04d", i), 1)
		}
		s.again()
		s.has("true", "cut")
		if got := len(s.doc["rows"].(map[string]any)); got != maxElections {
			t.Errorf("%d elections", got)
		}
	})
}

func TestParameters(t *testing.T) {
	for query, want := range map[string]string{
		"":                             `view ""`,
		"view=x":                       `view "x": want elections, graph, lock, locks, overview, trail`,
		"view=overview&name=x":         "view overview has none",
		"view=locks&name=x":            "view locks has prefix, sort, after",
		"view=locks&prefix=a&prefix=b": "given 2 times",
		"view=locks&sort=x":            "want one of [name wait hold rate]",
		"view=locks&sort=wait&after=x": "only locks in the order of their names",
		"view=locks&prefix=" + strings.Repeat("x", member.MaxName+1): "longer than names",
		"view=lock":          "it is empty",
		"view=lock&name=%ff": "invalid UTF-8",
		"view=lock&name=" + strings.Repeat("x", member.MaxName+1): "bytes",
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := topicOf(q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50s: %v", query, err)
		}
	}
	same := map[string]bool{}
	for _, query := range []string{"view=locks&sort=name&prefix=a%2Fb", "prefix=a/b&view=locks&sort=name"} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		_, query, err := topicOf(q)
		if same[query] = true; err != nil {
			t.Error(err)
		}
	}
	if len(same) != 1 {
		t.Errorf("several topics: %v", same)
	}
}
