package storm

import (
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/views"
)

// struck returns a world in which a disaster has struck, and all are dead.
func struck(t *testing.T) *world {
	t.Helper()
	w := ready(t)
	w.Faults |= Restore
	w.backups.kept = [][]byte{w.leader().voter().Record().AppendTo(nil)}
	if !w.disaster(&Strike{Kind: Restore, Who: 1, For: member.Millisecond}) {
		t.Fatal("it does not strike")
	}
	return w
}

// A disaster leaves no process and no disk. One process restores the backup, and the
// others join it, also if it dies before. The next disaster restores the same backup, in
// a later epoch.
func TestDisaster(t *testing.T) {
	for _, dies := range []bool{false, true} {
		w := struck(t)
		for _, q := range w.procs {
			if q.state != dead || q.drive.disk != nil || q.inside() {
				t.Errorf("%s is left", w.Name(q.id))
			}
		}
		by := w.backups.by
		for dies && w.Pending() {
			if w.Step(); by.state == joining {
				dies = false
				by.die(true)
			}
		}
		restored(t, w)
		first, reached := w.oracle.first, w.oracle.epoch()
		if !w.disaster(&Strike{Kind: Restore, Who: 2, For: member.Millisecond}) {
			t.Fatal("it does not strike again")
		}
		restored(t, w)
		if by != w.procs[1] || w.backups.by != w.procs[2] || w.oracle.first <= reached || reached <= first {
			t.Errorf("restored in epoch %d, which reached %d, and then in %d", first, reached, w.oracle.first)
		}
	}
}

// restored continues a run until all are members again.
func restored(t *testing.T, w *world) {
	t.Helper()
	all := func() bool {
		for _, q := range w.procs[:w.Nodes] {
			if q.epoch() == 0 || q.epoch() != w.oracle.epoch() || q.lease <= q.now() {
				return false
			}
		}
		return true
	}
	for !all() && w.result.Violation == nil && w.Due() < formFor {
		w.Step()
	}
	if w.result.Violation != nil || !all() || w.oracle.first <= w.oracle.past {
		t.Fatalf("%v; restored in epoch %d, after %d", w.result.Violation, w.oracle.first, w.oracle.past)
	}
}

// Where the cluster cannot be restored, or need not be lost, there is no disaster.
func TestNoDisaster(t *testing.T) {
	for what, f := range map[string]func(w *world){
		"no backup":                          func(w *world) { w.backups.kept = nil },
		"a sheltered process":                func(w *world) { w.Shelter = true },
		"severed processes":                  func(w *world) { w.severed = true },
		"a cluster that is not yet restored": func(w *world) { w.oracle.cluster = newCluster(len(w.names), 1) },
	} {
		w := ready(t)
		w.backups.kept = [][]byte{w.leader().voter().Record().AppendTo(nil)}
		if f(w); w.disaster(&Strike{Kind: Restore}) || w.result.Restores > 0 || w.procs[0].state == dead {
			t.Errorf("it strikes in spite of %s", what)
		}
	}
}

// The resource, the tokens and the holders of locks outlast a cluster, and an epoch of the
// lost cluster is not one of the new cluster.
func TestPlantedRestores(t *testing.T) {
	for _, p := range []struct {
		what  string
		want  Invariant
		plant func(w *world, r *views.Record)
	}{
		{"the restored cluster begins in an epoch that was reached", Views, func(w *world, r *views.Record) {
			r.Epoch = w.oracle.past
			w.oracle.applied(w.procs[0], 1, r)
		}},
		{"a view of the lost cluster is begun", Views, func(w *world, r *views.Record) {
			lost := r.Clone()
			r.Epoch += views.Jump
			w.oracle.applied(w.procs[0], 1, r)
			w.oracle.installing(w.procs[0], &lost)
		}},
		{"a token is not above those of the lost cluster", Tokens, func(w *world, r *views.Record) {
			w.oracle.locks[0].last = member.Token{Epoch: r.Epoch + 2*views.Jump, Count: 1}
			r.Epoch += views.Jump
			w.oracle.applied(w.procs[0], 1, r)
			w.oracle.count(0, &hold{token: member.Token{Epoch: r.Epoch, Count: 1}})
		}},
		{"a count is left out", Tokens, func(w *world, r *views.Record) {
			r.Epoch += views.Jump
			w.oracle.applied(w.procs[0], 1, r)
			w.oracle.count(0, &hold{token: member.Token{Epoch: r.Epoch, Count: 2}})
		}},
		{"the voter of a lost disk votes", Voters, func(w *world, r *views.Record) {
			q := w.procs[0]
			w.backups.by = q
			if err := q.boot(); err != nil {
				t.Fatal(err)
			}
			for q.voter() == nil {
				w.Step()
			}
			w.wiped = append(w.wiped, q.voter().ID())
			for w.result.Violation == nil && w.Now() < formFor {
				w.Step()
			}
		}},
	} {
		w := ready(t)
		r := present(w)
		w = struck(t)
		p.plant(w, &r)
		if v := w.result.Violation; v == nil || v.Invariant != p.want {
			t.Errorf("%s: %v, want %s", p.what, v, p.want)
		}
	}
}

// A run may restore several backups, and the same one twice: each cluster begins in a
// later epoch.
func TestRestores(t *testing.T) {
	var sum Result
	twice := 0
	seeds := nightly.Pick(8, 30)
	for seed := range uint64(seeds) {
		c := pick(seed)
		c.Nodes, c.Voters, c.Shelter, c.Clients = 1+int(seed%4), 3, false, 2
		c.Faults, c.Intensity = Restore, 6
		r, err := Run(c)
		if err != nil || r.Violation != nil {
			t.Errorf("seed %d: %v, %v", seed, r.Violation, err)
		}
		if r.Restores > 1 {
			twice++
		}
		sum.Add(r)
	}
	t.Logf("%d restores, %d runs with more than one", sum.Restores, twice)
	if sum.Restores < seeds || twice < seeds/3 {
		t.Error("that is too seldom")
	}
}
