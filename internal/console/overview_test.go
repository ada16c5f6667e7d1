package console

import (
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/node"
)

func TestOverviewRates(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		s := w.sees("view=overview")
		a, b := w.pulses["a"], w.pulses["b"]
		a.Acquired, b.Acquired, b.Sent["a"] = 1000, 50, 7
		s.again()
		s.has("null", "rate")
		s.has("null", "members", "b", "rate")
		s.has("7", "traffic", "b", "a", "sent")
		a.Acquired, b.Acquired, b.Sent["a"], b.Sent["c"] = 1010, 52, 10, 1
		s.again()
		s.has("10", "members", "a", "rate")
		s.has("12", "rate")
		s.has(`{"rate":3,"sent":10}`, "traffic", "b", "a")
		s.has(`{"sent":1}`, "traffic", "b", "c")

		// A member that does not answer keeps its data, and has no rate.
		w.silent["b"] = true
		heard := s.doc["members"].(map[string]any)["b"].(map[string]any)["heard_ms"]
		s.again()
		s.has(`"no connection"`, "members", "b", "error")
		s.has("52", "members", "b", "acquired")
		s.has("null", "members", "b", "rate")
		s.has("null", "members", "a", "error")
		if got := s.doc["members"].(map[string]any)["b"].(map[string]any)["heard_ms"]; got != heard {
			t.Errorf("heard at %v, before at %v", got, heard)
		}
		// When it answers again, what happened meanwhile is spread over that time.
		s.again()
		w.silent["b"] = false
		b.Acquired = 82
		s.again()
		s.has("10", "members", "b", "rate")
		s.has("null", "members", "b", "error")

		// After a restart it counts anew, whether to less or to more than before.
		for i, n := range []uint64{5, 5000} {
			b.Started, b.Acquired, b.Sent["a"] = int64(i+2), n, n
			s.again()
			s.has("null", "members", "b", "rate")
			s.has("null", "traffic", "b", "a", "rate")
			b.Acquired++
			s.again()
			s.has("1", "members", "b", "rate")
		}
	})
}

func TestOverviewMember(t *testing.T) {
	inVillage(t, func(_ *testing.T, w *village) {
		b := w.pulses["b"]
		b.Margin, b.Lost, b.Complains, b.Known = 3.25, map[string]uint64{"lease": 2, "forced": 1}, []string{"c"}, 9
		w.silent["c"] = true
		s := w.sees("view=overview")
		s.again()
		s.has(`["c"]`, "members", "b", "complains")
		s.has("3", "members", "b", "lost")
		s.has("3.25", "members", "b", "lease_margin_s")
		s.has("null", "members", "a", "lease_margin_s")
		s.has(`"http://b"`, "members", "b", "http")
		s.has(`{"acquired":0,"address":"c:1","clients":0,"complains":[],"epoch":0,"error":"no connection","held":0,"incarnation":3,"known":0,"leader":"","lease_left_s":0,"linked":true,"lost":0,"name":"c","state":"","voter":true,"waiting":0}`, "members", "c")
		w.status.Members = w.status.Members[:2]
		s.again()
		s.has("null", "members", "c")
	})
}

func TestOverviewTimes(t *testing.T) {
	inVillage(t, func(_ *testing.T, w *village) {
		s := w.sees("view=overview")
		a, b := w.pulses["a"], w.pulses["b"]
		a.Wait.Counts = []uint64{1000, 0, 0, 0}
		s.again()
		s.has("null", "wait")
		s.has("[1000,0,0,0]", "wait_hist", "counts")
		a.Wait.Counts = []uint64{1000, 90, 0, 0}
		b.Wait.Counts = []uint64{0, 0, 10, 0}
		s.again()
		s.has(`{"p50_s":0.006,"p99_s":0.091}`, "wait")
		s.has("[1000,90,10,0]", "wait_hist", "counts")
		s.has("[0.001,0.01,0.1]", "wait_hist", "bounds_s")
		s.has("null", "hold")
		a.Wait.Counts = []uint64{1000, 90, 0, 5}
		b.Started, b.Wait.Counts = 2, []uint64{7, 0, 0, 0} // restarted
		s.again()
		s.has(`{"p50_s":0.1,"p99_s":0.1}`, "wait")
		b.Wait = node.Durations{Bounds: []float64{1}, Counts: []uint64{9, 9}} // another version
		s.again()
		s.has("[1000,90,0,5]", "wait_hist", "counts")
	})
}

// Only what lasts longer than one look is a disagreement.
func TestDisagreements(t *testing.T) {
	inVillage(t, func(_ *testing.T, w *village) {
		s := w.sees("view=overview")
		b, c := w.pulses["b"], w.pulses["c"]
		b.Epoch = 11
		s.again()
		s.has("[]", "disagree")
		b.Epoch, c.Epoch = 10, 12
		s.again()
		s.has("[]", "disagree")
		c.Epoch, c.Leader = 13, "c"
		s.again()
		s.has(`["c sees epoch 13, and a epoch 10"]`, "disagree")
		s.again()
		s.has(`["c sees c as the leader, and a sees b","c sees epoch 13, and a epoch 10"]`, "disagree")
		c.Epoch, c.Leader = 10, ""
		c.Members = c.Members[:2:2]
		s.again()
		s.again()
		s.has(`["c sees the members a (1, voter), b (2, voter), and a sees a (1, voter), b (2, voter), c (3, voter)"]`, "disagree")
		w.silent["c"] = true
		s.again()
		s.has("[]", "disagree")
		w.silent["c"] = false
		c.Cluster, c.Members = "c2", w.status.Members
		s.again()
		s.again()
		s.has(`["c belongs to cluster c2, and a to cluster c1"]`, "disagree")
	})
}

func TestHistory(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		s := w.sees("view=overview")
		begun := time.Now().UnixMilli()
		view := func(at string, epoch uint64, text string, known bool) {
			p := w.pulses[at]
			clock := map[string]int64{"a": 1e9, "b": 2e9, "c": 3e9}[at]
			p.History = append(p.History, node.ViewChange{Epoch: epoch, At: begun + clock, Cause: "evict", Text: text, Known: known, Members: []string{"a", "b"}})
		}
		view("b", 9, "b saw it", false)
		view("b", 10, "b has seen it", false)
		s.again()
		s.has(`"b has seen it"`, "history", "10", "text")
		view("a", 10, "a has seen it", false)
		view("c", 10, "c was evicted: the others could not reach it", true)
		s.again()
		s.has(`"c was evicted: the others could not reach it"`, "history", "10", "text")
		if at, _ := s.doc["history"].(map[string]any)["10"].(map[string]any)["at_ms"].(interface{ Int64() (int64, error) }); at == nil {
			t.Error("no time")
		} else if ms, err := at.Int64(); ms != begun {
			t.Errorf("at %d, want %d, %v", ms, begun, err)
		}
		view("a", 9, "a saw it", false)
		w.pulses["c"].History = nil
		s.again()
		s.has(`"a saw it"`, "history", "9", "text")
		s.has(`"c was evicted: the others could not reach it"`, "history", "10", "text")
		for epoch := range uint64(60) {
			view("a", 100+epoch, "", false)
		}
		s.again()
		if h := s.doc["history"].(map[string]any); len(h) != maxHistory || h["159"] == nil || h["109"] != nil {
			t.Errorf("%d views", len(h))
		}
	})
}

func TestVictims(t *testing.T) {
	inVillage(t, func(t *testing.T, w *village) {
		w.reads = func(name string) bool { return !strings.HasPrefix(name, "secret") }
		for i, locks := range [][2]string{{"x", "y"}, {"x", "secret"}, {"secret", "x"}} {
			w.pulses["b"].Victims = append(w.pulses["b"].Victims, node.VictimInfo{
				TxInfo: node.TxInfo{Node: "b", Tx: uint64(i + 1)}, At: 2e9 + 1000, Lock: locks[0], How: "cycle", Why: "it was the youngest",
				Cycle: []node.CycleInfo{{TxInfo: node.TxInfo{Node: "b", Tx: 1}, Lock: locks[0]}, {TxInfo: node.TxInfo{Node: "c", Tx: 2}, Lock: locks[1]}},
			})
		}
		for _, view := range []string{"overview", "graph"} {
			s := w.sees("view=" + view)
			s.again()
			if all := s.doc["victims"].(map[string]any); len(all) != 1 {
				t.Fatalf("%v", all)
			}
			s.has(`{"at_ms":1000,"cycle":[{"lock":"x","node":"b","tx":1},{"lock":"y","node":"c","tx":2}],"how":"cycle","lock":"x","node":"b","tx":1,"waits":false,"who":"","why":"it was the youngest"}`, "victims", "b/1/2000001000")
		}
	})
}

func TestQuantiles(t *testing.T) {
	h := histogram{[]float64{1, 2, 4}, []uint64{1, 1, 2, 0}}
	for part, want := range map[float64]float64{0.25: 1, 0.5: 2, 0.75: 3, 1: 4, 0.125: 0.5} {
		if got := h.quantile(part, 4); got != want {
			t.Errorf("%v: %v, want %v", part, got, want)
		}
	}
	for x, want := range map[float64]float64{0: 0, 1234.5: 1230, 0.0012345: 0.00123, 9.996: 10, 1: 1} {
		if got := significant(x); got != want {
			t.Errorf("%v: %v, want %v", x, got, want)
		}
	}
}
