package storm

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/views/raft"
)

// present returns a copy of the record that the voters have.
func present(w *world) views.Record { return *w.leader().voter().Record() }

// following returns a record that may come after the present one, without some.
func following(w *world, gone ...uint64) views.Record {
	r := present(w)
	r.Before, r.Epoch = r.Epoch, r.Epoch+1
	r.Members = nil
	for _, m := range present(w).Members {
		if !slices.Contains(gone, m.Inc) {
			r.Members = append(r.Members, m)
		}
	}
	return r
}

// index is of no entry that there has been.
const index = 1 << 40

// confirms lets a process confirm a renewal of another one.
func confirms(w *world, by, of *proc, number uint64) {
	m := views.Message{Kind: views.Renewed, Cluster: 1, Inc: of.inc, Number: number}
	w.oracle.said(by, m.AppendTo(nil))
}

// still makes all processes silent and settled, so that any write is a violation.
func still(w *world) {
	w.phase = draining
	w.Wait(w.Now() + 10*lookEvery)
	for range 3 {
		w.oracle.writes()
	}
}

// write writes something to the disk of a process that it has not asked for.
func write(q *proc) { _ = q.drive.disk.Write((&raft.Batch{}).AppendTo(nil)) }

// Violations planted in the views, and in the voters that make them, are found.
func TestPlantedViews(t *testing.T) {
	for _, p := range []struct {
		what  string
		want  Invariant
		plant func(w *world, lead, a, b *proc)
	}{
		{"an epoch has two views", Views, func(w *world, lead, a, b *proc) {
			r := following(w)
			w.oracle.applied(a, index, &r)
			r.Wanted = 1
			w.oracle.applied(b, index+1, &r)
		}},
		{"an epoch is left out", Views, func(w *world, lead, a, b *proc) {
			r := following(w)
			r.Epoch++
			w.oracle.applied(a, index, &r)
		}},
		{"a view of no epoch", Views, func(w *world, lead, a, b *proc) {
			r := following(w)
			r.Epoch = 0
			w.oracle.applied(a, index, &r)
		}},
		{"somebody begins a view that is not committed", Views, func(w *world, lead, a, b *proc) {
			r := following(w)
			w.oracle.installing(a, &r)
		}},
		{"somebody begins another view than was committed", Views, func(w *world, lead, a, b *proc) {
			r := present(w)
			r.Choices = append(r.Choices, member.Choice{Prefix: "x", Algorithm: "central", Version: 1})
			w.oracle.installing(a, &r)
		}},
		{"two voters differ", Voters, func(w *world, lead, a, b *proc) {
			r := following(w)
			w.oracle.applied(a, index, &r)
			r = present(w)
			w.oracle.applied(b, index, &r)
		}},
		{"the number of a voter that lost its disk is used again", Voters, func(w *world, lead, a, b *proc) {
			w.wiped = append(w.wiped, a.voter().ID())
			a.step(process.Input{Kind: process.Wake})
		}},
		{"one that leads no more confirms", Acks, func(w *world, lead, a, b *proc) {
			w.oracle.reigns(views.Lead{Serves: true, Term: lead.voter().Lead().Term + 1})
			w.Wait(w.Now() + ms)
			a.renewing(1 << 40)
			confirms(w, lead, a, 1<<40)
		}},
		{"nobody can read what is said", Errors, func(w *world, lead, a, b *proc) {
			w.oracle.said(lead, []byte{byte(views.Renewed)})
		}},
		{"one is evicted, and is no ghost", Ghosts, func(w *world, lead, a, b *proc) {
			r := following(w, a.inc)
			w.oracle.applied(lead, index, &r)
		}},
		{"a ghost is over too soon", Ghosts, func(w *world, lead, a, b *proc) {
			r := following(w, a.inc)
			r.Ghosts = []views.Ghost{{Inc: a.inc, Nonce: 1, Rest: member.Span(a.clock.when(a.lease)-w.Now()) - 1}}
			w.oracle.applied(lead, index, &r)
		}},
		{"a ghost is forgotten", Ghosts, func(w *world, lead, a, b *proc) {
			r := following(w, a.inc)
			r.Ghosts = []views.Ghost{{Inc: a.inc, Nonce: 1, Rest: w.Settings.Lease * 2}}
			w.oracle.applied(lead, index, &r)
			r.Epoch, r.Ghosts = r.Epoch+1, nil
			w.oracle.applied(lead, index+1, &r)
		}},
		{"a ghost begins anew", Ghosts, func(w *world, lead, a, b *proc) {
			r := following(w, a.inc)
			r.Ghosts = []views.Ghost{{Inc: a.inc, Nonce: 1, Rest: w.Settings.Lease}}
			w.oracle.applied(lead, index, &r)
			w.Wait(w.Now() + ms)
			r = following(w, a.inc)
			r.Epoch, r.Ghosts = r.Epoch+1, []views.Ghost{{Inc: a.inc, Nonce: 1, Rest: w.Settings.Lease + 1}}
			w.oracle.applied(lead, index+1, &r)
		}},
		{"one that was evicted is renewed", Ghosts, func(w *world, lead, a, b *proc) {
			r := following(w, a.inc)
			rest := member.Span(a.clock.when(a.lease) - w.Now())
			r.Ghosts = []views.Ghost{{Inc: a.inc, Nonce: 1, Rest: rest}}
			w.oracle.applied(lead, index, &r)
			w.Wait(w.Now() + ms)
			a.renewing(1 << 40)
			a.confirming(1 << 40)
			a.confirmed()
		}},
		{"something is written when all is silent", Silence, func(w *world, lead, a, b *proc) {
			still(w)
			write(lead)
			w.oracle.writes()
			w.oracle.writes()
		}},
		{"the cluster does not form", Waits, func(w *world, lead, a, b *proc) {
			w.phase = forming
			w.oracle.final()
		}},
		{"a client is told what was", Reads, func(w *world, lead, a, b *proc) {
			old := present(w)
			r := following(w)
			w.oracle.applied(lead, index, &r)
			asks(w.clients[0])
			tells(w.clients[0], &old)
		}},
		{"a client is told what is not", Views, func(w *world, lead, a, b *proc) {
			asks(w.clients[0])
			r := following(w)
			tells(w.clients[0], &r)
		}},
		{"a client is told what nobody can read", Errors, func(w *world, lead, a, b *proc) {
			w.clients[0].answered([]byte{byte(views.State)})
		}},
	} {
		w := ready(t)
		lead := w.leader()
		var others []*proc
		for _, q := range w.procs[:3] {
			if q != lead {
				others = append(others, q)
			}
		}
		p.plant(w, lead, others[0], others[1])
		if v := w.result.Violation; v == nil || v.Invariant != p.want {
			t.Errorf("%s: want %s broken, got %v", p.what, p.want, v)
		}
	}
}

// asks lets a client ask for the record.
func asks(c *client) {
	for n := len(c.curious.open); len(c.curious.open) == n; {
		c.wonder()
	}
}

// tells answers its last question.
func tells(c *client, r *views.Record) {
	open := r.Open()
	m := views.Message{Kind: views.State, Cluster: 1, Number: c.curious.number, Record: open.AppendTo(nil)}
	c.answered(m.AppendTo(nil))
}

// A correct run is not reported as a violation.
func TestNotPlanted(t *testing.T) {
	for _, p := range []struct {
		what  string
		plant func(w *world, lead, a, b *proc)
	}{
		{"the same view, of all", func(w *world, lead, a, b *proc) {
			r := following(w)
			for _, q := range []*proc{lead, a, b} {
				w.oracle.applied(q, index, &r)
				w.oracle.installing(q, &r)
			}
		}},
		{"one is evicted, and waited for", func(w *world, lead, a, b *proc) {
			r := following(w, a.inc)
			r.Ghosts = []views.Ghost{{Inc: a.inc, Nonce: 1, Rest: w.Settings.Patience()}}
			w.oracle.applied(lead, index, &r)
		}},
		{"one confirms what was sent before another led", func(w *world, lead, a, b *proc) {
			a.renewing(1 << 40)
			w.Wait(w.Now() + ms)
			w.oracle.reigns(views.Lead{Serves: true, Term: lead.voter().Lead().Term + 1})
			confirms(w, lead, a, 1<<40)
		}},
		{"a clock beyond the margin lets one act by an older loan", func(w *world, lead, a, b *proc) {
			home, one, other := at(w)
			w.Faults |= Beyond
			lent(w, one)
			next(w, home, other)
			lent(w, other)
			enters(one, tok(w, 1, 1))
		}},
		{"nothing is written", func(w *world, lead, a, b *proc) {
			still(w)
			w.oracle.writes()
		}},
		{"what is written is a view", func(w *world, lead, a, b *proc) {
			still(w)
			write(lead)
			r := following(w)
			w.oracle.applied(a, index, &r)
			w.oracle.writes()
			w.oracle.writes()
		}},
		{"a client is told what has come since", func(w *world, lead, a, b *proc) {
			c := w.clients[0]
			asks(c)
			r := following(w)
			w.oracle.applied(lead, index, &r)
			tells(c, &r)
			tells(c, &r)
			if w.result.Reads != 1 {
				t.Errorf("%d answers to one question", w.result.Reads)
			}
		}},
	} {
		w := ready(t)
		lead := w.leader()
		var others []*proc
		for _, q := range w.procs[:3] {
			if q != lead {
				others = append(others, q)
			}
		}
		p.plant(w, lead, others[0], others[1])
		if v := w.result.Violation; v != nil {
			t.Errorf("%s: %v", p.what, v)
		}
	}
}
