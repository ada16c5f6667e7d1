package explore

import (
	"context"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"
)

// perChunk is how many states of four bytes a chunk holds, each with its length, and with
// room for the longest length.
const perChunk = (chunkSize-binary.MaxVarintLen32-4)/5 + 1

// firstTable is the size of a table that has not grown.
const firstTable = 8 << 16

// Progress of an exploration: while it starts, every 1024 states, and then after every
// block.
func TestProgressOfExplore(t *testing.T) {
	const n = 10_000 // one start after the other, and one successor of each
	const blocks = (n + perChunk - 1) / perChunk
	var told []Progress
	e, err := Explore(fan{n, 1}, Limits{Workers: 1, Pass: "a pass", Progress: func(p Progress) {
		if p.Elapsed < 0 || p.Pass != "a pass" || p.Memory < firstTable+chunkSize {
			t.Errorf("progress %+v", p)
		}
		p.Elapsed, p.Pass = 0, ""
		told = append(told, p)
	}})
	if err != nil || e.States != 2*n {
		t.Fatalf("%+v, %v", e, err)
	}
	var want []Progress
	for k := 1024; k <= n; k += 1024 {
		full := (k - 1) / perChunk
		want = append(want, Progress{States: int64(k), Queue: full, Memory: firstTable + int64(full+1)*chunkSize})
	}
	for depth := range 2 {
		for i := range blocks {
			done := min(n, perChunk*(i+1))
			p := Progress{States: int64(n + done), Transitions: int64(done), Queue: blocks - i - 1 + (done-1)/perChunk, Depth: depth}
			if depth == 1 {
				p.States, p.Transitions, p.Queue = 2*n, n, blocks-i-1
			}
			want = append(want, p)
		}
	}
	for i := range want {
		if i >= len(told) {
			break
		}
		if want[i].Memory == 0 {
			want[i].Memory = told[i].Memory
		}
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %+v\nwant %+v", told, want)
	}
	if most := int64(firstTable + 2*blocks*chunkSize); e.Table != firstTable || e.Memory != told[len(told)-1].Memory || e.Memory > most {
		t.Errorf("%d bytes, %d of them the table, want at most %d", e.Memory, e.Table, most)
	}
}

// Progress of a graph: every 1024 states that are made or expanded.
func TestProgressOfGraph(t *testing.T) {
	var told, want []string
	note := func(p Progress) string { return fmt.Sprint(p.Pass, p.States, p.Transitions, p.Queue, p.Depth) }
	l := GraphLimits{Limits: Limits{Pass: "a pass", Progress: func(p Progress) {
		if p.Elapsed < 0 || p.Memory < 1<<14 {
			t.Errorf("progress %+v", p)
		}
		told = append(told, note(p))
	}}, Edges: true}
	const n = 5000
	if _, err := BuildGraph(line{starts: n, length: n}, l); err != nil {
		t.Fatal(err)
	}
	queue := func(bytes int) int { return (bytes + chunkSize - 1) / chunkSize }
	for k := 1024; k <= n; k += 1024 {
		want = append(want, note(Progress{Pass: "a pass", States: int64(k), Queue: queue(5 * k)}))
	}
	for k := 1024; k <= n; k += 1024 {
		want = append(want, note(Progress{Pass: "a pass", States: n, Transitions: int64(k), Queue: queue(5 * (n - k))}))
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %q\nwant %q", told, want)
	}
	told, want = nil, nil
	if _, err := BuildGraph(line{starts: 1, length: n}, l); err != nil {
		t.Fatal(err)
	}
	for k := 1024; k <= n; k += 1024 {
		want = append(want, note(Progress{Pass: "a pass", States: int64(k + 1), Transitions: int64(k), Queue: 1, Depth: k - 1}))
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %q\nwant %q", told, want)
	}
}

// Progress of questions about a graph: every 65536 rounds.
func TestProgressOfQuestions(t *testing.T) {
	const n = 70_000
	for name, c := range map[string]struct {
		ask  func(g *Graph)
		told int
	}{
		"mark":    {func(g *Graph) { g.MarkBefore(0, 5) }, 3}, // once more at the beginning
		"cut":     {func(g *Graph) { g.Cut(0) }, 2},
		"starves": {func(g *Graph) { cutOf(g).Starves() }, 1},
		"bypass":  {func(g *Graph) { cutOf(g).Bypass() }, 1},
		"longest": {func(g *Graph) { // of a line without a loop, from its end
			g.to[n-1] = 0
			c := cutOf(g)
			slices.Reverse(c.order)
			slices.Reverse(c.comp)
			if g.waiting[0] = 0; len(c.order) == n {
				c.comp[0], c.order, c.ends = -1, c.order[:n-1], c.ends[:n-1]
			}
			if run, ok := c.Longest(); !ok || len(run) != n {
				t.Errorf("the longest run has %d states", len(run))
			}
		}, 1},
		"search": {func(g *Graph) {
			c := cutOf(g)
			clear(c.comp)
			c.search(0, 0, func(uint32, uint64) bool { return false })
		}, 1},
	} {
		told := 0
		var before, most int64
		l := Limits{Progress: func(p Progress) {
			told++
			most = max(most, p.Memory)
		}}
		g, err := BuildGraph(line{starts: 1, length: n}, GraphLimits{Limits: l, Edges: true})
		if err != nil {
			t.Fatal(err)
		}
		told, before, most = 0, g.bytes(), 0
		c.ask(g)
		if told != c.told || g.Unfinished != "" || g.bytes() != before {
			t.Errorf("%s: told %d times, %q, want %d; %d bytes, %d before", name, told, g.Unfinished, c.told, g.bytes(), before)
		}
		extra := map[string]int64{"mark": 20*n + 4*n, "cut": 16*n + 4*n, "longest": 8 * (n - 1)}[name]
		if most < before || name != "cut" && most != before+extra || name == "cut" && (most < before+16*(1<<14) || most > before+2*extra) {
			t.Errorf("%s: %d bytes, %d before, want %d more", name, most, before, extra)
		}
	}
}

// wheel is a ring of states, in all of which process 0 waits. In each of them it can also
// leave, and in the last it can do so without going anywhere.
type wheel struct{ n uint32 }

func (w wheel) Worker() Worker { return w }

func (w wheel) Init(emit func([]byte) bool) error {
	emit(make([]byte, 4))
	return nil
}

func (w wheel) Next(state []byte, emit func(Step, []byte)) (Broken, error) {
	i := binary.BigEndian.Uint32(state)
	if i >= w.n {
		return 0, nil
	}
	emit(Step{Fair: true, Class: 1}, binary.BigEndian.AppendUint32(nil, (i+1)%w.n))
	to := w.n
	if i == w.n-1 {
		to = i
	}
	emit(Step{Fair: true, Class: 2}, binary.BigEndian.AppendUint32(nil, to))
	return 0, nil
}

func (w wheel) Waiting(state []byte) (waiting, calm uint32) {
	if binary.BigEndian.Uint32(state) < w.n {
		return 1, 1
	}
	return 0, 0
}

// A payment may be far away: what its search takes is counted, and it can be interrupted.
func TestPaymentFarAway(t *testing.T) {
	const n = 70_000
	ctx, cancel := context.WithCancel(context.Background())
	told, before := 0, int64(0)
	l := Limits{Context: ctx, Progress: func(p Progress) {
		if told++; told == 1 && before > 0 && (p.Memory < before+1<<16*owingBytes+2*n/8 || p.Memory > before+4*n*owingBytes) {
			t.Errorf("%d bytes more in round 65536", p.Memory-before)
		}
	}}
	g, err := BuildGraph(wheel{n}, GraphLimits{Limits: l, Edges: true})
	if err != nil {
		t.Fatal(err)
	}
	c := g.Cut(0)
	told, before = 0, g.bytes()
	walk := c.payment(0, 2|classFair)
	if len(walk) != n || told != 1 || g.bytes() != before {
		t.Fatalf("paid after %d steps, told %d times, %d bytes more", len(walk), told, g.bytes()-before)
	}
	for i, e := range walk {
		if want := 2 * uint64(i); e != want && (i < n-1 || e != want+1) {
			t.Fatalf("step %d is edge %d", i, e)
		}
	}
	if around := c.around(0); len(around.Edges) != n+1 || !c.fairWalk(*around) {
		t.Errorf("all is paid after %d steps", len(around.Edges))
	}
	if bad := c.Starves(); len(bad) != n || bad[n-1] != 0 {
		t.Errorf("it starves in %d states", len(bad))
	}
	cancel()
	if walk := c.payment(0, 2|classFair); walk != nil || g.Unfinished != Interrupted {
		t.Errorf("interrupted: paid after %d steps, %q", len(walk), g.Unfinished)
	}
}

// Progress of an outlook: first at once, then every 1024 rounds.
func TestProgressOfOutlook(t *testing.T) {
	const n, size = 3000, 1000
	var told []int64
	o, err := OutlookOf(line{starts: 1, length: n, bytes: size}, Limits{Progress: func(p Progress) {
		// In each round a state is visited. The path begins with a place for the starts.
		if want := max(0, 1024*int64(len(told))-1); p.States != want || p.Depth != int(want)+1 || p.Transitions != 0 || p.Queue != 0 {
			t.Errorf("progress %+v, want %d states", p, want)
		}
		if least := firstTable + 2*size + int64(p.Depth)*(16+40); p.Memory < least || p.Memory > least+64 {
			t.Errorf("progress %+v, want at least %d bytes, and hardly more", p, least)
		}
		told = append(told, p.States)
	}})
	if err != nil || o.Runs != SomeGoOn || o.States != n || len(told) != 3 {
		t.Errorf("%+v, %v, told %v", o, err, told)
	}
	o, err = OutlookOf(fan{3, 5}, Limits{})
	if err != nil || o != (Outlook{Runs: AllEnd, States: 18}) {
		t.Errorf("a fan: %+v, %v", o, err)
	}
	o, err = OutlookOf(counter{fails: 3}, Limits{})
	if err != errCounter || o.Runs != Unknown {
		t.Errorf("a failing counter: %+v, %v", o, err)
	}
}

// Progress of a dive: the states that were visited, and the length of the last run.
func TestProgressOfDive(t *testing.T) {
	var told []string
	l := Limits{Progress: func(p Progress) { told = append(told, fmt.Sprint(p.States, p.Depth)) }}
	var made uint32
	d := Dive{Stop: 2, Tries: 5, Steps: 4}
	if c, err := d.Run(line{starts: 3, length: 3, made: &made}, l); c != nil || err != nil {
		t.Fatalf("%+v, %v", c, err)
	}
	if want := []string{"5 5", "10 5", "15 5", "20 5", "25 5"}; !slices.Equal(told, want) || made != 3 {
		t.Errorf("told %q, want %q; %d starts", told, want, made)
	}
	d.Tries = 2
	if _, err := d.Run(line{starts: 3, length: 3, made: &made}, l); err != nil || made != 5 {
		t.Errorf("%d starts were made for 3 and 2 tries (%v), want 5", made, err)
	}
	told = nil
	for why, l := range ends() {
		l.Progress = func(Progress) { told = append(told, why) }
		if c, err := d.Run(line{starts: 3, length: 3}, l); c != nil || err != nil || (told == nil) != (why != OutOfMemory) {
			t.Errorf("%s: %+v, %v, told %q", why, c, err, told)
		}
		told = nil
	}
	for start := range uint32(3) { // each try begins at the next start
		c, err := Dive{Stop: 1, Tries: 3, Steps: 1}.Run(line{starts: 3, length: 4, broken: start}, Limits{})
		if broken := start > 0; err != nil || (c != nil) != broken || broken && (c.Start != int(start) || len(c.States) != 1) {
			t.Errorf("what start %d violates: %+v, %v", start, c, err)
		}
	}
	if c, err := (Dive{Stop: 1, Tries: 3, Steps: 1}).Run(counter{fails: 0}, Limits{}); c != nil || err != nil {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := (Dive{Stop: 1, Tries: 3, Steps: 5}).Run(counter{fails: 1}, Limits{}); c != nil || err != errCounter {
		t.Errorf("a failing counter: %+v, %v", c, err)
	}
}

// heavy is a line whose workers keep more with every step.
type heavy struct{ line }

func (h heavy) Worker() Worker { return &heavyWorker{line: h.line} }

type heavyWorker struct {
	line
	steps int64
}

func (w *heavyWorker) Next(state []byte, emit func(Step, []byte)) (Broken, error) {
	w.steps++
	return w.line.Next(state, emit)
}

func (w *heavyWorker) Bytes() int64 { return 100 * w.steps }

// Memory is the table, the blocks, and what the model and its workers keep by now.
func TestMemoryOfExplore(t *testing.T) {
	e, err := Explore(heavy{line{starts: 1, length: 50, bytes: 7}}, Limits{Workers: 1})
	if err != nil || e.Memory != firstTable+2*chunkSize+7+100*50 {
		t.Errorf("%d bytes, %v, want a table, 2 blocks, 7 and 5000", e.Memory, err)
	}
	// A table of 65536 grows at three quarters, if there is room for one twice as large.
	const grows = 1<<16*3/4 + 1
	const need = firstTable + (grows+perChunk-1)/perChunk*chunkSize + 2*firstTable
	for less, want := range []string{"", OutOfMemory + ": --memory does not allow a larger table"} {
		e, err := Explore(fan{grows + 100, 0}, Limits{Workers: 1, Memory: need - int64(less)})
		if err != nil || e.Unfinished != want || less == 0 && e.Table != 2*firstTable || less > 0 && (e.Table != firstTable || e.States != grows) {
			t.Errorf("%d bytes: unfinished because %q (%v), %d states, table of %d", need-less, e.Unfinished, err, e.States, e.Table)
		}
	}
	for less, want := range []string{"", OutOfMemory} {
		const need = firstTable + 8 + grows*(16+40) + 2*firstTable
		o, err := OutlookOf(line{starts: 1, length: grows + 5}, Limits{Memory: need - int64(less)})
		if err != nil || o.Unfinished != want || less > 0 && o.States != grows {
			t.Errorf("outlook: %d bytes: unfinished because %q (%v), %d states", need-less, o.Unfinished, err, o.States)
		}
	}
}

// Memory of a graph is that of its arrays, of what remains to be expanded, and of what it
// takes to find components and to grow the largest array, unless there is room for all.
func TestMemoryOfGraph(t *testing.T) {
	const n, size = 3000, 777
	for _, edges := range []bool{false, true} {
		for _, known := range []int64{0, n} {
			g, err := BuildGraph(line{starts: 1, length: n, bytes: size}, GraphLimits{Edges: edges, States: known, Transitions: known})
			if err != nil || g.States() != n {
				t.Fatalf("%d states, %v", g.States(), err)
			}
			want, most := int64(2*size)+g.queue.bytes(), int64(0)
			v := reflect.ValueOf(g).Elem()
			for i := range v.NumField() {
				f := v.Field(i)
				if f.Kind() != reflect.Slice {
					continue
				}
				bytes := int64(f.Cap()) * int64(f.Type().Elem().Size())
				if name := v.Type().Field(i).Name; known > 0 && name != "slots" && name != "first" && f.Cap() > 0 && int64(f.Cap()) != known {
					t.Errorf("edges %v: there is room for %d %s, want %d", edges, f.Cap(), name, known)
				}
				want += bytes
				grown := bytes * 5 / 4
				if v.Type().Field(i).Name == "slots" {
					grown = 2 * bytes
				}
				most = max(most, grown)
			}
			if known == 0 {
				want += most
			}
			if edges {
				want += 32 * n
			}
			if got := g.bytes(); got != want {
				t.Errorf("edges %v, known %d: %d bytes, want %d", edges, known, got, want)
			}
			if known > 0 && (cap(g.first) != n+1 || cap(g.to) != n || cap(g.class) != n) {
				t.Errorf("there is room for %d, %d and %d edges", cap(g.first), cap(g.to), cap(g.class))
			}
			if known > 0 && edges {
				if most := GraphBytes(n, n, false) + g.queue.bytes() + 2*size; want > most {
					t.Errorf("%d bytes, announced as %d", want, most)
				}
			}
		}
	}
	for states, want := range map[uint32]int{2048: 4096, 2049: 8192, 4096: 8192, 4097: 16384} {
		for _, known := range []int64{0, int64(states)} {
			g, err := BuildGraph(line{starts: 1, length: states}, GraphLimits{States: known})
			if err != nil || len(g.slots) != want || g.roomy != (known > 0) {
				t.Errorf("%d states, known %d: %d slots, %v, want %d", states, known, len(g.slots), err, want)
			}
		}
	}
	if plain, renames := GraphBytes(1000, 5000, false), GraphBytes(1000, 5000, true); plain != 76_000+40_000 || renames != plain+20_000 {
		t.Errorf("a graph takes %d bytes, with renamings %d", plain, renames)
	}
}

// Why to end, and at which point.
func TestOver(t *testing.T) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	hour := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		l      Limits
		memory int64
		want   string
	}{
		{Limits{}, 1 << 60, ""},
		{Limits{Memory: 1000}, 1000, ""},
		{Limits{Memory: 1000}, 1001, OutOfMemory},
		{Limits{Memory: 1}, 1, ""},
		{Limits{Time: time.Minute}, 0, OutOfTime},
		{Limits{Time: 2 * time.Hour}, 0, ""},
		{Limits{Time: time.Minute, Memory: 1}, 2, OutOfTime},
		{Limits{Context: context.Background()}, 0, ""},
		{Limits{Context: gone, Time: time.Minute}, 0, Interrupted},
	} {
		if got := (&watch{Limits: c.l, start: hour}).over(c.memory); got != c.want {
			t.Errorf("%+v, %d bytes: %q, want %q", c.l, c.memory, got, c.want)
		}
	}
}

// The time that is spent on what is seen violated does not count as progress.
func TestTimeAway(t *testing.T) {
	begun := time.Now()
	var away time.Duration
	told := 0
	l := Limits{Workers: 1, Progress: func(p Progress) {
		if told++; p.Elapsed > time.Since(begun)-away {
			t.Errorf("progress %+v, of which %v were spent elsewhere", p, away)
		}
	}}
	if _, err := ExploreTelling(line{starts: 1, length: 10, broken: 2}, l, func(Broken, Exploration) {
		left := time.Now()
		for time.Since(left) < time.Millisecond {
		}
		away = time.Since(left)
	}); err != nil || away == 0 || told != 10 {
		t.Errorf("%v away, told %d times, %v", away, told, err)
	}
}

// big is a model with one long line of states, each as large as its number says.
type big []int

func (b big) Worker() Worker { return b }

func (b big) Init(emit func([]byte) bool) error {
	emit(make([]byte, b[0]))
	return nil
}

func (b big) Next(state []byte, emit func(Step, []byte)) (Broken, error) {
	if i := slices.Index(b, len(state)); i+1 < len(b) {
		for _, n := range b[i+1:] {
			emit(Step{}, make([]byte, n))
		}
	}
	return 0, nil
}

// States may be of any size: none, more than a block, or with a length of two bytes.
func TestSizesOfStates(t *testing.T) {
	sizes := big{0, 1, 127, 128, 255, 256, 300, chunkSize - 6, chunkSize - 5, chunkSize - 4, chunkSize, 40_000}
	n := int64(len(sizes))
	e, err := Explore(sizes, Limits{Workers: 1})
	if err != nil || e.States != n || e.Transitions != n*(n-1)/2 || e.Depth != 2 {
		t.Errorf("%+v, %v", e, err)
	}
	g, err := BuildGraph(sizes, GraphLimits{Edges: true})
	if err != nil || g.States() != n || g.Transitions() != n*(n-1)/2 || g.Levels() != 2 {
		t.Errorf("%d states, %d transitions, %v", g.States(), g.Transitions(), err)
	}
	if o, err := OutlookOf(sizes, Limits{}); err != nil || o != (Outlook{Runs: AllEnd, States: n}) {
		t.Errorf("%+v, %v", o, err)
	}
}
