package cluster

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/nightly"
)

var (
	count   = flag.Int("faults", 4, "how many faults strike")
	seed    = flag.Uint64("seed", nightly.Pick(1, uint64(time.Now().UnixNano())), "of what strikes; at night always another")
	figures = flag.String("figures", "", "write what came of it to this file")
	only    = flag.String("only", "", "only faults whose names contain this")
)

// lease is that of the nodes: short, so that much happens.
const lease = time.Second

func TestMain(m *testing.M) {
	if text := os.Getenv(workerEnv); text != "" {
		os.Exit(work(text))
	}
	if text := os.Getenv(streamEnv); text != "" {
		os.Exit(stream(text))
	}
	if text := os.Getenv(candidateEnv); text != "" {
		os.Exit(candidate(text))
	}
	_ = flag.Set("test.parallel", "8") // processes mostly wait; the command line overrides it
	flag.Parse()
	code := m.Run()
	os.RemoveAll(built)
	os.Exit(code)
}

// A plan is what a fleet is made of.
type plan struct {
	nodes, clients int
	voters         int
	change         func(o *orders, i int)
	got            func(w *wish)
}

// sail makes a fleet in a world of its own, and waits until all use locks.
func sail(t *testing.T, p plan) *nemesis {
	t.Helper()
	needWorld(t)
	f := &fleet{t: t, net: makeWorld(t, p.nodes+p.clients), journal: newJournal(), things: serve(t, p.got), dir: t.TempDir()}
	change := p.change
	p.change = func(o *orders, i int) {
		o.Listen = f.net.address(i) + ":7420"
		for j := range p.nodes {
			if j != i {
				o.Join = append(o.Join, f.net.address(j)+":7420")
			}
		}
		if !o.Client && small(i) {
			smallDisk(t, o.Data)
		}
		if change != nil {
			change(o, i)
		}
	}
	return crew(f, p)
}

// crew starts the processes of a fleet.
func crew(f *fleet, p plan) *nemesis {
	f.t.Helper()
	f.t.Logf("seed %d", *seed)
	n := &nemesis{fleet: f, voters: p.voters, lease: lease, chance: rand.New(rand.NewPCG(*seed, uint64(p.voters))), kinds: faults(), struck: map[string]int{}}
	for i := range p.nodes + p.clients {
		o := orders{
			Name: fmt.Sprintf("n%d", i), Client: i >= p.nodes, Data: filepath.Join(f.dir, fmt.Sprint("data", i)),
			Voters: p.voters, Lease: lease, Locks: []string{"a", "b", "c"}, Apps: 2, Long: 1, Seed: *seed + uint64(i)<<20,
		}
		if o.Client {
			o.Name = fmt.Sprintf("c%d", i-p.nodes)
		}
		p.change(&o, i)
		q := f.add(o)
		if !o.Client {
			n.nodes = append(n.nodes, q)
		}
	}
	f.t.Cleanup(f.end)
	if err := n.form(); err != nil {
		f.t.Fatal(err)
	}
	return n
}

// form starts all processes, and waits until there are all voters. The first
// process founds the cluster, once.
func (n *nemesis) form() error {
	for i, p := range n.procs {
		join := p.Join
		if i == 0 {
			p.Join = nil
		}
		if err := p.launch(); err != nil {
			return err
		}
		p.Join = join
		if err := p.begin(n.bound()); err != nil {
			return err
		}
	}
	for deadline := time.Now().Add(n.bound()); !n.complete(); time.Sleep(n.lease / 20) {
		if time.Now().After(deadline) {
			return fmt.Errorf("there are no %d voters within %v", n.voters, n.bound())
		}
	}
	return nil
}

// judge judges what was seen so far.
func (n *nemesis) judge() error {
	errs := []error{judgeLocks(n.journal.all())}
	n.things.mu.Lock()
	defer n.things.mu.Unlock()
	errs = append(errs, judgeCells(n.things.history))
	for _, l := range n.things.lost {
		errs = append(errs, fmt.Errorf("an increment without a fence is lost, and nobody was late: %s", l))
	}
	return errors.Join(errs...)
}

// settle lets everybody enter every lock once, when all is well again.
func (n *nemesis) settle() (time.Duration, error) {
	begun := time.Now()
	for _, p := range n.procs {
		p.tell(probe)
	}
	for _, p := range n.procs {
		if !n.journal.await(n.bound()-time.Since(begun), p.is(func(p *process) bool { return p.probed })) {
			return 0, fmt.Errorf("%s has not entered every lock within %v after all was repaired", p.Name, n.bound())
		}
	}
	took := time.Since(begun)
	for _, p := range n.procs {
		p.tell(rest)
	}
	for _, p := range n.procs {
		if !n.journal.await(n.bound(), p.is(func(p *process) bool { return p.rested })) {
			return 0, fmt.Errorf("%s does not come to an end", p.Name)
		}
	}
	return took, nil
}

// run lets so many faults strike, judges, and writes the figures.
func (n *nemesis) run(count int) {
	t := n.t
	begun := time.Now()
	err := n.storm(count)
	var took time.Duration
	if err == nil {
		took, err = n.settle()
	}
	if err := errors.Join(err, n.judge()); err != nil {
		t.Fatal(err)
	}
	text := n.figures(time.Since(begun), took)
	t.Log("\n" + text)
	if *figures == "" {
		return
	}
	f, err := os.OpenFile(*figures, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// conforms ends all processes, and checks their recordings against the model.
func (n *nemesis) conforms(folder string) {
	for _, p := range n.procs {
		p.kill()
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.rec"))
	if err != nil || len(files) < len(n.nodes) {
		n.t.Fatal(len(files), err)
	}
	path, err := command()
	if err != nil {
		n.t.Fatal(err)
	}
	begun := time.Now()
	var r struct {
		Views, Locks       struct{ All, Whole int }
		Steps              int
		Unchecked, Refused []any
	}
	out, err := exec.Command(path+"-lab", append([]string{"replay", "--check", "--json"}, files...)...).Output()
	if err := errors.Join(err, json.Unmarshal(out, &r)); err != nil || r.Steps == 0 || len(r.Refused) > 0 {
		n.t.Fatalf("%v\n%s", err, out)
	}
	n.t.Logf("%d recordings, checked in %v: %+v", len(files), time.Since(begun), r)
}

// Five nodes and two clients in a storm of faults.
func TestCluster(t *testing.T) {
	if err := traces(); err != nil {
		t.Log("LEFT OUT: no write and no sync fails here, since strace does not work: install it: ", err)
	}
	for _, voters := range nightly.Pick([]int{3}, []int{3, 5}) {
		t.Run(fmt.Sprintf("%d voters", voters), func(t *testing.T) {
			recordings := t.TempDir()
			n := sail(t, plan{nodes: 5, clients: 2, voters: voters, change: func(o *orders, _ int) { o.Record = recordings }})
			n.run(*count / 2)
			n.conforms(recordings)
		})
	}
}
