package tla

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/family/families"
	"github.com/stile-lock/stile/lab/check"
)

// config returns the check of a lock.
func config(t *testing.T, name string, nodes, requests int, network algorithm.Network) check.Config {
	t.Helper()
	spec, err := catalog.Make(name, algorithm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return check.Config{Spec: spec, Family: families.Of(spec), Nodes: nodes, Requests: requests, Network: network}
}

func export(t *testing.T, c check.Config) (*Export, string) {
	t.Helper()
	e, err := Explore(c)
	if err != nil {
		t.Fatal(err)
	}
	text, err := e.Module("Lock")
	if err != nil {
		t.Fatal(err)
	}
	return e, text
}

// An interpreter explores a module as TLC does: it knows only the text. The actions are
// those of the template, once more.
type interpreter struct {
	rows            [][][]row5
	starts          []world
	sorted, lossy   bool
	requests        int
	requesters      []int
	states          map[string]bool
	generated, deep int
	exclusion, dead int // steps to the first violation, or -1
}

type row5 struct {
	from, what, next int
	means            string
	sends            [][2]int
}

// A world is a state. Everything is counted from 0, except what is in rows.
type world struct {
	Machine []int
	Phase   []string
	Start   []int
	Left    []int
	Link    [][][]int
}

func (w world) clone() world {
	c := world{slices.Clone(w.Machine), slices.Clone(w.Phase), slices.Clone(w.Start), slices.Clone(w.Left), nil}
	for _, from := range w.Link {
		var to [][]int
		for _, link := range from {
			to = append(to, slices.Clone(link))
		}
		c.Link = append(c.Link, to)
	}
	return c
}

var (
	comment = regexp.MustCompile(`\\\*.*`)
	tables  = regexp.MustCompile(`(?s)\nRows == (.*?)\n\n`)
	inits   = regexp.MustCompile(`machine = (<<.*?>>) /\\ phase = (<<.*?>>) /\\ start = \{(.*?)\}`)
	asking  = regexp.MustCompile(`Requesters == \{(.*?)\}`)
	bounds  = regexp.MustCompile(`left = \[p \\in Procs \|-> (\d+)\]`)
)

// values reads TLA+ tuples, which are JSON with other brackets.
func values(t *testing.T, text string, to any) {
	t.Helper()
	text = strings.NewReplacer("<<", "[", ">>", "]").Replace(comment.ReplaceAllString(text, ""))
	if err := json.Unmarshal([]byte(text), to); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
}

func read(t *testing.T, text string) *interpreter {
	t.Helper()
	in := &interpreter{sorted: strings.Contains(text, "SelectSeq("), lossy: strings.Contains(text, "Lose(p, q) =="), states: map[string]bool{}, exclusion: -1, dead: -1}
	var rows [][][][5]json.RawMessage
	values(t, tables.FindStringSubmatch(text)[1], &rows)
	for _, seat := range rows {
		var states [][]row5
		for _, state := range seat {
			var list []row5
			for _, r := range state {
				var x row5
				for i, to := range []any{&x.from, &x.what, &x.next, &x.means, &x.sends} {
					if err := json.Unmarshal(r[i], to); err != nil {
						t.Fatal(err)
					}
				}
				list = append(list, x)
			}
			states = append(states, list)
		}
		in.rows = append(in.rows, states)
	}
	values(t, "["+asking.FindStringSubmatch(text)[1]+"]", &in.requesters)
	if m := bounds.FindStringSubmatch(text); m != nil {
		values(t, m[1], &in.requests)
	}
	for _, m := range inits.FindAllStringSubmatch(text, -1) {
		var w world
		values(t, m[1], &w.Machine)
		values(t, m[2], &w.Phase)
		values(t, "["+m[3]+"]", &w.Start)
		for range in.rows {
			w.Left = append(w.Left, in.requests)
			w.Link = append(w.Link, make([][]int, len(in.rows)))
		}
		in.starts = append(in.starts, w)
	}
	return in
}

// run explores breadth first. It returns the first input that the tables lack.
func (in *interpreter) run() error {
	level := []world{}
	add := func(w world) {
		in.generated++
		if k := fmt.Sprint(w); !in.states[k] {
			in.states[k] = true
			level = append(level, w)
		}
	}
	for _, w := range in.starts {
		add(w)
	}
	for ; len(level) > 0; in.deep++ {
		now := level
		level = nil
		for _, w := range now {
			in.look(w)
			if err := in.next(w, add); err != nil {
				return err
			}
		}
	}
	return nil
}

func (in *interpreter) look(w world) {
	inside, waiting, can := 0, 0, len(w.Start) > 0
	for p := range w.Phase {
		switch w.Phase[p] {
		case "inside":
			inside, can = inside+1, true
		case "waiting":
			waiting++
		case "intruding":
			inside += 2
		}
		for q := range w.Phase {
			can = can || len(w.Link[p][q]) > 0
		}
	}
	if inside > 1 && in.exclusion < 0 {
		in.exclusion = in.deep
	}
	if waiting > 0 && !can && in.dead < 0 {
		in.dead = in.deep
	}
}

func (in *interpreter) next(w world, add func(world)) error {
	var trouble error
	step := func(w world, p, from, what int, was string) {
		rows := in.rows[p][w.Machine[p]-1]
		i := slices.IndexFunc(rows, func(r row5) bool { return r.from == from && r.what == what })
		if i < 0 {
			trouble = fmt.Errorf("process %d in state %d: no row for <<%d, %d>>", p+1, w.Machine[p], from, what)
			return
		}
		r := rows[i]
		w.Machine[p], w.Phase[p] = r.next, was
		switch {
		case r.means == "enters" && was == "waiting":
			w.Phase[p] = "inside"
		case r.means == "enters":
			w.Phase[p] = "intruding"
		case r.means == "denied":
			w.Phase[p] = "idle"
		}
		for _, s := range r.sends {
			link := append(w.Link[p][s[0]-1], s[1])
			if in.sorted {
				slices.Sort(link)
			}
			w.Link[p][s[0]-1] = link
		}
		add(w)
	}
	for p := range in.rows {
		switch to := w.clone(); w.Phase[p] {
		case "idle":
			if slices.Contains(in.requesters, p+1) && (in.requests == 0 || w.Left[p] > 0) {
				to.Left[p] = max(0, to.Left[p]-1)
				step(to, p, 0, 1, "waiting")
			}
		case "inside", "intruding":
			step(to, p, 0, 2, "idle")
		}
		if i := slices.Index(w.Start, p+1); i >= 0 {
			to := w.clone()
			to.Start = slices.Delete(to.Start, i, i+1)
			step(to, p, 0, 3, w.Phase[p])
		}
		for q := range in.rows {
			for i, m := range w.Link[p][q] {
				if i > 0 && !in.sorted || slices.Contains(w.Link[p][q][:i], m) {
					continue
				}
				to := w.clone()
				to.Link[p][q] = slices.Delete(to.Link[p][q], i, i+1)
				if in.lossy {
					add(to.clone())
				}
				step(to, q, p+1, m, w.Phase[q])
			}
		}
	}
	return trouble
}

// The text alone has as many states, transitions and levels as the explorer has found,
// and the same verdicts.
func TestRecount(t *testing.T) {
	starts := config(t, "raymond", 3, 0, algorithm.FIFO)
	starts.Starts = check.AnyStart(3)
	few := config(t, "central", 4, 0, algorithm.FIFO)
	few.Requesters = []algorithm.ID{1, 3}
	for _, c := range []check.Config{
		starts, few,
		config(t, "token-ring", 3, 0, algorithm.FIFO),
		config(t, "central-deny", 3, 2, algorithm.FIFO),
		config(t, "ricart-agrawala", 3, 1, algorithm.FIFO),
		{Spec: pulses(), Family: families.Of(pulses()), Nodes: 2, Requests: 2},
		config(t, "suzuki-kasami", 3, 1, algorithm.Unordered),
		config(t, "lamport", 2, 1, algorithm.Unordered), // two are inside
		config(t, "central", 3, 1, algorithm.Lossy),     // a request is lost
	} {
		e, text := export(t, c)
		in := read(t, text)
		if err := in.run(); err != nil {
			t.Errorf("%s, %v: %v", c.Spec.Name, c.Network, err)
			continue
		}
		got := [...]int{len(in.states), in.generated, in.deep, in.exclusion, in.dead}
		want := [...]int{int(e.States), int(e.Generated()), e.Depth, e.Exclusion, e.Deadlock}
		if got != want {
			t.Errorf("%s, %v: states, generated, depth, steps to two inside and to a deadlock are %v in the module, %v for the explorer", c.Spec.Name, c.Network, got, want)
		}
	}
}

// pulses is a lock whose author takes PULSE for idempotent, though the second process
// enters after two of them.
func pulses() algorithm.Spec {
	return algorithm.Spec{
		Name: "pulses", Kinds: []string{"PULSE"},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &pulseState{first: self == 0})
		}),
	}
}

type pulse struct{ kind uint8 }

func (m *pulse) Fields(c *algorithm.Coder) {
	c.Kind(&m.kind, 0)
	c.Idempotent()
}

type pulseState struct {
	first, waits bool
	count        int
}

func (s *pulseState) Fields(c *algorithm.Coder) {
	c.Bool("waits", &s.waits)
	c.Int("count", &s.count, 2)
}

func (s *pulseState) Request(out *algorithm.Out[pulse]) {
	if s.waits = !s.first; s.first {
		out.Enter()
	}
}

func (s *pulseState) Release(out *algorithm.Out[pulse]) {
	if s.first {
		out.Send(1, pulse{})
	}
}

func (s *pulseState) Receive(_ algorithm.ID, _ *pulse, out *algorithm.Out[pulse]) {
	if s.count = min(s.count+1, 2); s.waits && s.count == 2 {
		s.waits, s.count = false, 0
		out.Enter()
	}
}

// A change of one row changes what is found.
func TestRecountPlanted(t *testing.T) {
	e, text := export(t, config(t, "raymond", 3, 0, algorithm.FIFO))
	for _, plant := range []struct{ row, changed string }{
		{`<<0, 2, 2, "", <<<<2, 2>>>>>>`, `<<0, 2, 2, "", <<>>>>`},                      // the token is lost
		{`<<2, 1, 2, "", <<<<2, 2>>>>>>`, `<<2, 1, 1, "", <<<<2, 2>>>>>>`},              // and kept, though sent
		{`<<0, 1, 6, "", <<<<2, 1>>>>>>`, `<<0, 1, 6, "enters", <<<<2, 1>>>>>>`},        // entry without the token
		{`<<1, 2, 4, "enters", <<>>>>`, `<<1, 2, 4, "", <<>>>>`},                        // no entry with it
		{`<<3, 1, 7, "", <<>>>>`, `<<3, 1, 6, "", <<>>>>`},                              // a request is forgotten
		{`start = {}`, `start = {1}`},                                                   // one more step
		{`Requesters == {1, 2, 3}`, `Requesters == {1, 2}`},                             // fewer requests
		{`phase = <<"idle", "idle", "idle">>`, `phase = <<"idle", "waiting", "idle">>`}, // no request was made
	} {
		planted := strings.Replace(text, plant.row, plant.changed, 1)
		if planted == text {
			t.Fatalf("no row %s to change", plant.row)
		}
		in := read(t, planted)
		if err := in.run(); err == nil && len(in.states) == int(e.States) && in.generated == int(e.Generated()) && in.exclusion < 0 && in.dead < 0 {
			t.Errorf("%s instead of %s is not noticed", plant.changed, plant.row)
		}
	}
}

// The module does not depend on which worker sees a state first.
func TestWorkers(t *testing.T) {
	c := config(t, "ricart-agrawala", 3, 1, algorithm.FIFO)
	c.Workers = 1
	_, one := export(t, c)
	c.Workers = 4
	if _, four := export(t, c); one != four {
		t.Error("the module differs with 4 workers")
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []check.Config{
		config(t, "ricart-agrawala", 3, 0, algorithm.FIFO), // times grow
		config(t, "suzuki-kasami", 3, 0, algorithm.FIFO),   // counters grow
		config(t, "central", 2, 1, algorithm.Duplicating),  // copies accumulate
		config(t, "central+bully", 3, 1, algorithm.FIFO),   // processes crash
		config(t, "bully", 3, 0, algorithm.FIFO),           // not a lock
		config(t, "token-ring", 1<<10, 0, algorithm.FIFO),  // too many
	} {
		if _, err := Explore(c); err == nil {
			t.Errorf("%s, %d processes, %d requests, %v: exported", c.Spec.Name, c.Nodes, c.Requests, c.Network)
		}
	}
	c := config(t, "naimi-trehel", 4, 0, algorithm.FIFO)
	c.Memory = 1
	if e, err := Explore(c); err != nil || e.Unfinished == "" {
		t.Errorf("without memory: %+v, %v", e, err)
	}
	for name, good := range map[string]bool{"Lock": true, "a_1": true, "ricart-agrawala": false, "1": false, "": false, "a b": false} {
		if err := CheckName(name); (err == nil) != good {
			t.Errorf("module %q: %v", name, err)
		}
	}
}
