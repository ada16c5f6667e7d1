package explain

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/member"
)

// A fleet is three members on reliable links, and a lock whose home is the first.
type fleet struct {
	t       *testing.T
	members []*member.Member
	lock    string
}

func specs(name string, _ int) (algorithm.Spec, error) {
	return catalog.Make(name, algorithm.Options{})
}

func newFleet(t *testing.T, name string) *fleet {
	f := &fleet{t: t}
	v := member.View{Epoch: 1, Choices: []member.Choice{{Algorithm: name, Version: 1}}}
	for i := range 3 {
		v.Members = append(v.Members, member.Who{Name: fmt.Sprint("m", i+1), Inc: uint64(i + 1)})
		m, err := member.New(member.Config{Inc: uint64(i + 1), Settings: member.Usual(), Spec: specs})
		if err != nil {
			t.Fatal(err)
		}
		f.members = append(f.members, m)
	}
	for i := 0; f.lock == "" || v.Home(f.lock) != 0; i++ {
		f.lock = fmt.Sprint("lock", i)
	}
	for _, m := range f.members {
		if err := m.Install(0, v); err != nil {
			t.Fatal(err)
		}
		m.Renewed(0, m.Out.Renew)
	}
	f.settle()
	return f
}

// settle delivers all frames.
func (f *fleet) settle() {
	f.t.Helper()
	for sent := true; sent; {
		sent = false
		for _, m := range f.members {
			frames := slices.Clone(m.Out.Frames)
			for i := range frames {
				frames[i].Bytes = bytes.Clone(frames[i].Bytes)
			}
			m.Out.Reset()
			for _, x := range frames {
				sent = true
				if err := f.members[x.To-1].Deliver(0, m.Inc, x.Bytes); err != nil {
					f.t.Fatal(err)
				}
			}
		}
	}
}

func (f *fleet) ask(i int) {
	f.t.Helper()
	if _, err := f.members[i].Lock(0, f.lock, member.Ask{Deadline: member.Never}); err != nil {
		f.t.Fatal(err)
	}
	f.settle()
}

func (f *fleet) release(i int) {
	f.t.Helper()
	if err := f.members[i].Unlock(0, f.lock, f.at(i).Holder.Token); err != nil {
		f.t.Fatal(err)
	}
	f.settle()
}

// at returns what a member knows of the lock.
func (f *fleet) at(i int) *member.Snapshot {
	f.t.Helper()
	s, ok := f.members[i].Inspect(f.lock)
	if !ok {
		f.t.Fatalf("m%d does not know %s", i+1, f.lock)
	}
	return &s
}

func (f *fleet) why(i int) string {
	return Why(f.at(i), "this node", 0, func(session uint64) string { return fmt.Sprint("client ", session) })
}

// A member says what its algorithm waits for, and from which members.
func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		algorithm, needs string
		from             []uint64 // whom the third member waits for; the second is inside
		why              string
	}{
		{"ricart-agrawala", "OK", []uint64{2}, "requested with ricart-agrawala: waits for OK from m2"},
		{"carvalho-roucairol", "OK", []uint64{2}, "requested with carvalho-roucairol: waits for OK from m2"},
		{"central", "GRANT", []uint64{1}, "requested with central: waits for GRANT from m1"},
		{"raymond", "PRIVILEGE", []uint64{1}, "requested with raymond: waits for PRIVILEGE from m1"},
		{"suzuki-kasami", "", nil, "requested from the other members with suzuki-kasami"},
	} {
		f := newFleet(t, c.algorithm)
		f.ask(1)
		f.ask(2)
		kind, from := Needs(f.at(2))
		var got []uint64
		for _, w := range from {
			got = append(got, w.Inc)
		}
		if kind != c.needs || !slices.Equal(got, c.from) || f.why(2) != c.why {
			t.Errorf("%s: it needs %q from %v, and says %q", c.algorithm, kind, got, f.why(2))
		}
		f.release(1)
		if kind, _ := Needs(f.at(2)); kind != "" || f.why(2) != "held by client 0" {
			t.Errorf("%s: it has the lock, needs %q, and says %q", c.algorithm, kind, f.why(2))
		}
	}
}

// A member says by which decisions of its algorithm others wait, as long as they stand.
func TestDecided(t *testing.T) {
	for _, c := range []struct{ algorithm, inside string }{
		{"ricart-agrawala", "m2 defers m3, because it is inside"},
		{"suzuki-kasami", "m2 notes request 1 of m3, because it is inside"},
		{"ricart-agrawala-token", "m2 notes request 1 of m3, because it is inside"},
		{"naimi-trehel", "m2 will pass the token to m3 when it leaves"},
	} {
		f := newFleet(t, c.algorithm)
		decided := func() string {
			var all []string
			for _, d := range Decisions(f.at(1)) {
				if d.Who.Inc == 3 {
					all = append(all, d.Text)
				}
			}
			return strings.Join(all, "; ")
		}
		f.ask(1)
		if got := decided(); got != "" {
			t.Errorf("%s: before the third member asks: %s", c.algorithm, got)
		}
		f.ask(2)
		if got := decided(); got != c.inside {
			t.Errorf("%s: decided %q, want %q", c.algorithm, got, c.inside)
		}
		for f.at(2).Holder == nil {
			f.ask(1) // in the end its turn is after that of the third member
			f.release(1)
		}
		if got := decided(); got != "" || len(f.at(1).Waiters) != 1 {
			t.Errorf("%s: after it has left, with %d that wait: %q", c.algorithm, len(f.at(1).Waiters), got)
		}
	}
}

// Two members that ask at the same time compare their stamps.
func TestDecidedByStamp(t *testing.T) {
	f := newFleet(t, "ricart-agrawala")
	f.ask(1)
	f.ask(0) // waits for the second, and is before the third
	f.ask(2)
	d := Decisions(f.at(0))
	if len(d) != 1 || d[0].Who.Inc != 3 || !strings.HasPrefix(d[0].Text, "m1 defers m3, because (") || !strings.Contains(d[0].Text, ",m1) comes before (") {
		t.Errorf("the first member decided %+v", d)
	}
}

// A decision because of another process stands only until something is sent, and its rule says
// so: where its sentence names that process, and nowhere else.
func TestRulesSayWhile(t *testing.T) {
	n := 0
	for _, spec := range catalog.Every() {
		for _, r := range spec.Rules {
			if r.Waits != "who" {
				continue
			}
			n++
			if other := strings.Contains(r.Why, "{other}"); other != (r.While == "other") || r.While == "inside" && strings.Contains(r.Why, "{a}") {
				t.Errorf("%s, rule %s: while %q, but %q", spec.Name, r.ID, r.While, r.Why)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d rules make others wait", n)
	}
}
