package algorithm

import (
	"errors"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/host"
)

// A talker defers whatever it receives, and says so.
type talker struct {
	rule int
	who  ID
	set  Set
}

type talk struct{ Kind uint8 }

func (m *talk) Fields(c *Coder) { c.Kind(&m.Kind, 0) }

func (s *talker) Fields(*Coder)        {}
func (s *talker) Request(o *Out[talk]) { o.Because(s.rule, s.facts()) }
func (s *talker) Release(*Out[talk])   {}

func (s *talker) Receive(from ID, _ *talk, o *Out[talk]) { o.Because(s.rule, s.facts()) }

func (s *talker) facts() Facts {
	return Facts{Who: s.who, A: Stamp{Time{3}, 0}, B: Stamp{Time{4}, 2}, Set: &s.set, N: 1}
}

func talking(rule int, rules ...Rule) Spec {
	return Spec{Name: "talker", Kinds: []string{"HELLO"}, Rules: rules, Plan: Always(func(self ID, v View) Machine {
		return New(self, v, &talker{rule: rule, who: 2, set: SetOf(0, 1, 2)})
	})}
}

func TestSay(t *testing.T) {
	spec := talking(0, Rule{ID: "1", Text: "All.", Why: "{self} {who} {set} {n} {lock} {a} comes before {b}"})
	m, err := spec.New(1, View{N: 3})
	if err != nil {
		t.Fatal(err)
	}
	out := host.Output{Listen: true}
	for range 2 { // Reset keeps Listen, and no reason
		if err := m.Step(host.Input{Kind: host.Receive, From: 0, Bytes: []byte{0}}, &out); err != nil || len(out.Reasons) != 1 {
			t.Fatal(err, out.Reasons)
		}
	}
	r := out.Reasons[0]
	if got, want := spec.Say(1, r), "P2 P3 P1, P2 and P3 1 L2 (3,P1) comes before (4,P3)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := spec.Say(1, r, 4, 5, 6), "P6 P7 P5, P6 and P7 1 L2 (3,P5) comes before (4,P7)"; got != want {
		t.Errorf("among some members: got %s, want %s", got, want)
	}
	r.Rule = 7
	if got := spec.Say(1, r); !strings.Contains(got, "does not have") {
		t.Errorf("of a rule that there is not: %s", got)
	}
}

// TestNoOneListens shows that reasons cost no memory unless a host listens, and are not
// there.
func TestNoOneListens(t *testing.T) {
	m, err := talking(0, Rule{ID: "1", Text: "All.", Why: "{self}"}).New(0, View{N: 2})
	if err != nil {
		t.Fatal(err)
	}
	var out host.Output
	in := host.Input{Kind: host.Receive, From: 1, Bytes: []byte{0}}
	if n := testing.AllocsPerRun(100, func() { err = errors.Join(err, m.Step(in, &out)) }); n > 0 || err != nil || out.Reasons != nil {
		t.Errorf("%v allocations, %v, %v", n, err, out.Reasons)
	}
}

func TestWrongRules(t *testing.T) {
	good := Rule{ID: "1", Text: "All.", Why: "{self}"}
	for _, c := range []struct {
		want  string
		rules []Rule
	}{
		{"lacks its ID, Text or Why", []Rule{{ID: "1", Text: "All."}}},
		{"two rules 1", []Rule{good, good}},
		{"not one of its Kinds", []Rule{{ID: "1", Text: "All.", Why: "{self}", Sends: "BYE"}}},
		{"is Silent", []Rule{{ID: "1", Text: "All.", Why: "{self}", Sends: "HELLO", Silent: true}}},
		{"makes \"who\" wait", []Rule{{ID: "1", Text: "All.", Why: "{self} waits", Waits: "who"}}},
		{"says {whom}", []Rule{{ID: "1", Text: "All.", Why: "{self} asks {whom}"}}},
	} {
		for _, err := range []error{talking(0, c.rules...).Accepts(2), second(talking(0, c.rules...).Group(View{N: 2}))} {
			if !errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		}
	}
	if err := talking(0, good, Rule{}).Accepts(2); err != nil {
		t.Errorf("a rule that a variant does without: %v", err)
	}
	for _, rule := range []int{-1, 1} {
		m, err := talking(rule, good).New(0, View{N: 2})
		if err != nil {
			t.Fatal(err)
		}
		in := host.Input{Kind: host.Request}
		if err := m.Step(in, &host.Output{Listen: true}); !errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), "1 rules") {
			t.Errorf("rule %d of 1: %v", rule, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
