package document

import (
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
)

// TestWaitFollowsMessages: a message that is sent, comes or is lost changes what
// the sentences say, also if nobody's state changes.
func TestWaitFollowsMessages(t *testing.T) {
	for _, c := range []struct {
		text string
		kind string // of the event after which it is looked
		name string
		proc int
		want string
	}{
		{"algorithm suzuki-kasami\nprocesses 2\nat 0 P2 asks\nat 1.5 drop 1 -> 2 TOKEN\n", "drop", "TOKEN", 1, "waits for the token, which no process holds; TOKEN from P1 to P2 was lost"},
		{"algorithm raymond\ntopology line\nprocesses 60\nhold 9\nat 0 P1 asks\nat 0 P3 asks\nat 9.5 drop 1 -> 2 PRIVILEGE\nat 9.6 P1 asks\n", "violation", "lost-request", 2, "waits for the token: it asked P2; P2 asked P1; P1 asked P2; and so on, in a circle; PRIVILEGE from P1 to P2 was lost"},
		{"algorithm bakery\nprocesses 2\nat 0 P1 asks\n", "send", "VALUE", 0, "waits for VALUE from P2; VALUE is in flight"},
		{"algorithm central-deny\nprocesses 3\nhold 9\nat 0 P2 asks\nat 4 P3 asks\n", "send", "DENIED", 2, "waits for GRANT from P1; DENIED is in flight from there"},
	} {
		d := run(c.text, Options{}, undrawn)
		if d.Error != nil {
			t.Fatal(d.Error.Text)
		}
		i := slices.IndexFunc(d.Events, func(e Event) bool { return e.Kind == c.kind && e.Name == c.name })
		if got := d.at(i + 1).Waits[c.proc]; i < 0 || got != c.want {
			t.Errorf("%safter event %d: %q, want %q", c.text, i, got, c.want)
		}
	}
}

// TestWhyAfterADeath: in the view that a lock makes after a death, nobody waits for the
// dead, and whoever is named is called as everywhere else.
func TestWhyAfterADeath(t *testing.T) {
	// named lists the sentences that name who is dead.
	named := func(spec algorithm.Spec) (said int, wrong []string) {
		text := "algorithm " + spec.Name + "\nprocesses 4\nhold 3\nat 0 crash P1\nat 40 P2 asks\nat 41 P3 asks\nat 41.5 P4 asks\nuntil 80\n"
		d := run(text, Options{Specs: func(string, algorithm.Options) (algorithm.Spec, error) { return spec, nil }}, undrawn)
		if d.Error != nil {
			t.Fatal(spec.Name, d.Error.Text)
		}
		for _, x := range d.Deltas {
			if x.Wait == nil || *x.Wait == "" {
				continue
			}
			said++
			if strings.Contains(*x.Wait, "P1") {
				wrong = append(wrong, d.Names[x.Proc]+" "+*x.Wait)
			}
		}
		return said, wrong
	}
	for _, lock := range catalog.Sound() {
		spec, err := catalog.Make(lock.Name+"+bully", algorithm.Options{})
		if err != nil {
			continue
		}
		if said, wrong := named(spec); said == 0 || len(wrong) > 0 {
			t.Errorf("%s: %d sentences, of which name the dead: %q", spec.Name, said, wrong)
		}
	}
	// Who takes part is not known: then the sets of the whole group are believed in.
	bad, err := catalog.Make("maekawa+bully", algorithm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bad.Shape.Members = ""
	if _, wrong := named(bad); len(wrong) == 0 {
		t.Error("nobody is said to wait for the dead, though it is not known who takes part")
	}
}

// TestWhyAt: what is said at a cursor where it was once said wrongly.
func TestWhyAt(t *testing.T) {
	const (
		rooms   = "algorithm ricart-agrawala\nprocesses 2\nsection seats among 1,2\nsection films among 1,2\nhold manual\nat 0 P1 asks seats\nat 3 P2 asks films\nat 6 P1 asks films\nat 6 P2 asks seats\n"
		banker  = "algorithm banker\nprocesses 2\nsite 1 P1 P2 L1 L2\nat 0 P1 takes L1 L2\nat 0.5 P2 takes L2 L1\n"
		older   = "algorithm banker\nprocesses 3\nsite 1 P1 P2 P3 L1 L2\nhold 4\nat 0 P1 takes L1\nat 0.5 P2 takes L1 L2\nat 0.7 P3 takes L2\n"
		heir    = "algorithm banker\nprocesses 3\nsite 1 P1 L1\nsite 2 P2 L2\nsite 3 P3\nschedule steps\ncrash site 1\nsite 2 suspects site 1\nP2 takes L2\n"
		lost    = "algorithm banker\nprocesses 2\nsite 1 P1 L1\nsite 2 P2 L2\nschedule steps\nP2 takes L2\ndrop 2 -> 1\n"
		all     = "algorithm ricart-agrawala\nprocesses 3\nschedule steps\nP1 asks\nP2 asks\ndeliver all\n"
		raymond = "algorithm raymond\ntopology line\nprocesses 3\nschedule steps\nP2 asks\nP3 asks\ndeliver all\n"
		die     = "algorithm priority-requester\nprocesses 2\nsite 1 P1 L1\nsite 2 P2\nat 0 P1 takes L1 for 9\nat 0.5 P2 takes L1\nat 1.6 drop 1 -> 2 DIE\n"
		dead    = "algorithm none\nprocesses 3\nsite 1 P1 L1\nsite 2 P2 L2\nsite 3 P3\nat 0 P2 takes L2 for 9\nat 0.5 P1 takes L2\nat 3 crash site 2\n"
		steps   = "algorithm none\nprocesses 3\nsite 1 P1 L1\nsite 2 P2 L2\nsite 3 P3\nschedule steps\nP1 takes L1\nP2 takes L1\nP3 takes L1\ndeliver all\n"
	)
	// Who stands still may wait, too, and may be inside where others wait.
	const (
		still = "algorithm ricart-agrawala\nprocesses 3\nhold 9\nat 0 P1 asks\nat 3 P2 asks\nat 6 pause P2\n"
		two   = "algorithm central\nprocesses 2\nsection a among 1,2\nsection b among 1,2\nhold manual\nat 0 P1 asks a\nat 3 P2 asks a\nat 6 pause P2\n"
		hub   = "algorithm central\nprocesses 2\nhold 9\nat 0 P2 asks\nat 3 P1 asks\nat 4 pause P1\n"
		calls = "algorithm bully\nprocesses 3\nat 0 P1 asks\nat 0.5 pause P1\n"
	)
	// Decisions stand as long as what they say.
	const (
		stamps  = "algorithm ricart-agrawala\nprocesses 3\nset P1 clock 41\nset P2 clock 34\nat 0 P1 asks\nat 0 P2 asks\n"
		queue   = "algorithm central\nprocesses 4\nhold 3\nat 0 P2 asks\nat 1 P3 asks\nat 2 P4 asks\n"
		lamport = "algorithm lamport\nprocesses 2\nset P1 clock 9\nat 0 P1 asks\nat 0 P2 asks\n"
	)
	for _, c := range []struct {
		text, after string // the sentence of the last event
		proc        int
		want        string
	}{
		{rooms, "P1 receives seats REQUEST (time 2) from P2.", 0, "films: waits for OK from P2; P2 defers P1, because it is inside"},
		{rooms, "P1 receives seats REQUEST (time 2) from P2.", 1, "seats: waits for OK from P1; P1 defers P2, because it is inside"},
		{banker, "site 1: P2 asks for L2.", 2, "waits for L2, which is free: the banker keeps it, because granting it to P2 would not be safe"},
		{heir, "site 2: P2 asks for L2.", 4, "waits for L2, which is free: site 2 becomes the banker only when all other sites have reported that its predecessor has crashed"},
		{lost, "REQUEST (clock 1, tx 2, attempt 1, stamp 1, request 1, lock 2, shared no, units 0, ext no, claims 2) from site 2 to site 1 is lost.", 3, "waits for L2, which is free; no message about it is in flight"},
		{older, "site 1: P3 asks for L2.", 3, "waits for L2, which is free: the banker keeps it for P2, which is older and claims it too"},
		{all, "P1 receives OK (time 2) from P2.", 0, "waits for OK from P3; OK is in flight"},
		{raymond, "P2 enters.", 2, "waits for the token: it asked P2, which is inside"},
		{die, "DIE (clock 1, tx 2, attempt 1, stamp 1, request 1) from site 1 to site 2 is lost.", 3, "waits for L1, held by P1; no message about it is in flight"},
		{dead, "P2 crashes.", 3, "waits for L2: site 2, which must grant it, has crashed"},
		{still, "P2 is paused.", 1, "is paused, and waits for OK from P1; P1 defers P2, because it is inside"},
		{two, "P2 is paused.", 1, "is paused; a: waits for GRANT from P1; P2 is number 1 in the queue at P1; P1 queues P2, because it has granted P1"},
		{hub, "P1 is paused.", 0, "is paused, and waits for GRANT from itself; P1 is number 1 in the queue at P1; P1 queues P1, because it has granted P2"},
		{stamps, "P2 receives REQUEST (time 41) from P1.", 0, "waits for OK from P2 and P3; P2 defers P1, because (34,P2) comes before (41,P1)"},
		{stamps, "P2 sends OK (time 42) to P1.", 0, "waits for OK from P2; OK is in flight"},
		{queue, "P1 receives REQUEST from P4.", 3, "waits for GRANT from P1; P4 is number 2 in the queue at P1; P1 queues P4, because it has granted P2"},
		{queue, "P1 sends GRANT to P3.", 3, "waits for GRANT from P1, which has let P3 go first; P4 is number 1 in the queue at P1"},
		{lamport, "P1 receives REPLY (clock 10, time 9) from P2.", 0, "waits for RELEASE from P2, which is inside; P1 waits for P2, because (1,P2) comes before (9,P1)"},
		{calls, "P1 is paused.", 0, "is paused, and waits for an answer from P2 and P3"},
		{steps, "site 1 receives REQUEST (clock 1, tx 2, attempt 1, stamp 1, request 1, lock 1, shared no, units 0, ext no, claims none) from site 2.", 4, "waits for L1, held by P1"},
	} {
		d := run(c.text, Options{}, undrawn)
		if d.Error != nil {
			t.Fatal(d.Error.Text)
		}
		i := slices.IndexFunc(d.Events, func(e Event) bool { return e.Text == c.after })
		if got := d.at(i + 1).Waits[c.proc]; i < 0 || got != c.want {
			t.Errorf("%safter event %d: %q, want %q", c.text, i, got, c.want)
		}
	}
}

// TestWhyNew: who is new waits for the group, and for nothing that its own view of
// itself alone may have.
func TestWhyNew(t *testing.T) {
	const text = "algorithm suzuki-kasami+bully\nprocesses 4\nhold 5\nat 0 crash P4\nat 8 P1 asks for 12\nat 12 restart P4\nat 13 P4 asks\n"
	// said is what P4 waits for, one after the other.
	said := func(spec algorithm.Spec) (all []string) {
		d := run(text, Options{Specs: func(string, algorithm.Options) (algorithm.Spec, error) { return spec, nil }}, undrawn)
		if d.Error != nil {
			t.Fatal(d.Error.Text)
		}
		for _, x := range d.Deltas {
			if x.Proc == 3 && x.Wait != nil && *x.Wait != "" {
				all = append(all, *x.Wait)
			}
		}
		return all
	}
	spec, err := catalog.Make("suzuki-kasami+bully", algorithm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const first, then = "is new, and waits until the group admits it", "waits for the token, held by P1: P1 is inside"
	if got := said(spec); len(got) < 2 || got[0] != first || got[1] != then {
		t.Errorf("P4 is said to wait so: %q", got)
	}
	spec.Shape.Fresh = "" // then its view of itself is believed in
	if got := said(spec); len(got) == 0 || got[0] == first || strings.Contains(strings.Join(got, " "), "held by P4") {
		t.Errorf("if it is not known who is new, P4 is said to wait so: %q", got)
	}
}

// TestWhyUnshaped: of an algorithm whose state is not told, it is said at least who is
// inside, also if that one stands still.
func TestWhyUnshaped(t *testing.T) {
	const text = "algorithm ricart-agrawala\nprocesses 2\nhold manual\nat 0 P1 asks\nat 3 pause P1\nat 4 P2 asks\nuntil 9\n"
	spec, err := catalog.Make("ricart-agrawala", algorithm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spec.Shape = algorithm.Shape{}
	d := run(text, Options{Specs: func(string, algorithm.Options) (algorithm.Spec, error) { return spec, nil }}, undrawn)
	if d.Error != nil {
		t.Fatal(d.Error.Text)
	}
	if got, want := d.at(len(d.Events)).Waits[1], "has been waiting since 4; P1 is inside"; got != want {
		t.Errorf("P2 %q, want %q", got, want)
	}
}
