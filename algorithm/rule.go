package algorithm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm/host"
)

// A Rule is one rule of an algorithm, or one case of a rule. A machine names it whenever
// it follows it: see Out.Because.
//
// Why is the sentence that says so. It names what the machine knew by the words {self},
// {who}, {other}, {site}, {set}, {n}, {lock} (L1 if the number is 0), {a} and {b}; see
// Facts. A sentence that contains "{a} comes before {b}" claims so of two stamps.
//
// Sends, Silent, Enters and Notices are what following the rule does, as data: a test
// compares them, and what a sentence claims, with what each step did. A message goes to
// {site}, to {who} or to every process of {set}, whichever Why names first in this order,
// and otherwise to all others.
//
// The zero Rule stands where a variant does without a rule of the algorithm that it derives
// from. It gives no reason.
type Rule struct {
	ID      string            // its number in the paper, or in this list, with a letter for a case: 2a
	Text    string            // the rule in one sentence
	Why     string            // what is said when a machine follows it
	Sends   string            // kind of the messages that it sends; empty if none
	Silent  bool              // whether {who} gets no message: it is deferred, queued or ignored
	Enters  bool              // whether the process enters
	Notices []host.NoticeKind // what it reports: about {who}, if Why names it
	Waits   string            // "who" or "self": that process waits because of it
	While   string            // of Waits "who": "inside" if only while {self} is inside, "other" if because of {other}
}

// Facts are what the sentence of a rule names. Those that it does not name are left out.
type Facts struct {
	Who, Other ID    // processes; at a Site, transactions
	Site       ID    // at a Site: another site
	A, B       Stamp // stamps that were compared
	Set        *Set  // processes
	N          int   // a number, or that of a lock
}

// Because says which rule of the Spec the machine follows, by its index, and what it knew.
// It costs next to nothing as long as no host listens, and must not change what is done.
func (o *outbox) Because(rule int, f Facts) {
	if o.o.Listen {
		o.because(rule, &f)
	}
}

func (o *outbox) because(rule int, f *Facts) {
	if len(o.rules) == 0 {
		return // the Spec has no rules yet
	}
	if rule < 0 || rule >= len(o.rules) {
		o.fail("%v followed rule %d: its Spec has %d rules, numbered from 0", o.self, rule, len(o.rules))
		return
	}
	if o.rules[rule].ID == "" || o.o.Waits && o.rules[rule].Waits == "" {
		return
	}
	r := host.Reason{Rule: rule, Who: f.Who, Other: f.Other, Site: f.Site, A: f.A.plain(), B: f.B.plain(), N: f.N}
	if f.Set != nil {
		r.Set = slices.Collect(f.Set.All())
	}
	o.o.Reasons = append(o.o.Reasons, r)
}

// plain returns the stamp as hosts see it.
func (s Stamp) plain() host.Stamp { return host.Stamp{Time: s.Time.v, ID: s.ID} }

// StepInner gives an input to a machine inside this one. Its reasons become reasons of
// this machine: its first rule has the given index in the Spec, and its seats are those of
// the members; nil means all processes, in order.
func (o *outbox) StepInner(m Machine, in host.Input, out *host.Output, first int, members []ID) error {
	out.Listen, out.Waits = o.o.Listen, o.o.Waits
	err := m.Step(in, out)
	if err != nil || !out.Listen {
		return err
	}
	c := Coder{seats: members}
	for _, r := range out.Reasons {
		if r.Rule += first; r.Rule < 0 || r.Rule >= len(o.rules) {
			continue // the Spec does not list the rules of its inner machine
		}
		r.Who, r.Other, r.Site = c.sits(r.Who), c.sits(r.Other), c.sits(r.Site)
		r.A.ID, r.B.ID = c.sits(r.A.ID), c.sits(r.B.ID)
		if r.Set != nil {
			r.Set = c.among(r.Set)
		}
		o.o.Reasons = append(o.o.Reasons, r)
	}
	return nil
}

// Say returns the sentence for a reason of the machine at seat self, without a full stop.
// If given, members names the process at each seat, as for Describe.
func (s Spec) Say(self ID, r host.Reason, members ...ID) string {
	c := Coder{seats: members}
	return s.SayWith(self, r, func(seat ID) string { return c.sits(seat).String() })
}

// SayWith is Say with other names for the processes at the seats.
func (s Spec) SayWith(self ID, r host.Reason, name func(seat ID) string) string {
	if r.Rule < 0 || r.Rule >= len(s.Rules) || s.Rules[r.Rule].ID == "" {
		return fmt.Sprintf("%s follows rule %d, which %s does not have", name(self), r.Rule, s.Name)
	}
	return fill(s.Rules[r.Rule].Why, func(word string) string {
		switch word {
		case "self":
			if s.Family == Transactions {
				return "site " + number(self)
			}
			return name(self)
		case "who":
			return name(r.Who)
		case "other":
			return name(r.Other)
		case "site":
			return "site " + number(r.Site)
		case "set":
			return listed(r.Set, name)
		case "n":
			return strconv.Itoa(r.N)
		case "lock":
			return "L" + strconv.Itoa(r.N+1)
		case "a":
			return stamped(r.A, name)
		case "b":
			return stamped(r.B, name)
		}
		return "{" + word + "}"
	})
}

// stamped returns a stamp as in a diagram: (42,P3).
func stamped(s host.Stamp, name func(ID) string) string {
	return "(" + strconv.FormatUint(s.Time, 10) + "," + name(s.ID) + ")"
}

// listed returns seats as a phrase: P1, P2 and P3.
func listed(seats []ID, name func(ID) string) string {
	if len(seats) == 0 {
		return "no process"
	}
	shown := seats
	if len(seats) > maxListed {
		shown = seats[:maxListed-1]
	}
	var b strings.Builder
	for i, seat := range shown {
		switch {
		case i == 0:
		case i == len(seats)-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(name(seat))
	}
	if n := len(seats) - len(shown); n > 0 {
		fmt.Fprintf(&b, " and %d others", n)
	}
	return b.String()
}

// maxListed is how many processes a sentence lists, so that it stays one.
const maxListed = 8

// words are those that may stand in braces in a sentence.
var words = [...]string{"self", "who", "other", "site", "set", "n", "lock", "a", "b"}

// fill replaces the words in braces.
func fill(text string, word func(string) string) string {
	var b strings.Builder
	for {
		before, rest, open := strings.Cut(text, "{")
		w, after, closed := strings.Cut(rest, "}")
		b.WriteString(before)
		if !open || !closed {
			return b.String()
		}
		b.WriteString(word(w))
		text = after
	}
}

// checkRules refuses rules that say nothing, or name what there is not.
func (s Spec) checkRules() error {
	for i, r := range s.Rules {
		switch {
		case r.ID == "" && r.Text == "" && r.Why == "":
		case r.ID == "" || r.Text == "" || r.Why == "":
			return fmt.Errorf("%w: rule %d of the Spec %q lacks its ID, Text or Why: give it all three", host.ErrAlgorithm, i, s.Name)
		case slices.ContainsFunc(s.Rules[:i], func(o Rule) bool { return o.ID == r.ID }):
			return fmt.Errorf("%w: the Spec %q has two rules %s: tell them apart by letters", host.ErrAlgorithm, s.Name, r.ID)
		case r.Sends != "" && !slices.Contains(s.Kinds, r.Sends):
			return fmt.Errorf("%w: rule %s of the Spec %q sends %s, which is not one of its Kinds", host.ErrAlgorithm, r.ID, s.Name, r.Sends)
		case r.Sends != "" && r.Silent:
			return fmt.Errorf("%w: rule %s of the Spec %q sends %s and is Silent: it can be only one of them", host.ErrAlgorithm, r.ID, s.Name, r.Sends)
		}
		if r.Waits != "" && (r.Waits != "who" && r.Waits != "self" || !strings.Contains(r.Why, "{"+r.Waits+"}")) {
			return fmt.Errorf("%w: rule %s of the Spec %q makes %q wait: want who or self, and name it in Why", host.ErrAlgorithm, r.ID, s.Name, r.Waits)
		}
		if r.While != "" && (r.Waits != "who" || r.While != "inside" && r.While != "other") {
			return fmt.Errorf("%w: rule %s of the Spec %q makes %q wait while %q: want inside or other, and who", host.ErrAlgorithm, r.ID, s.Name, r.Waits, r.While)
		}
		for _, rest, open := strings.Cut(r.Why, "{"); open; _, rest, open = strings.Cut(rest, "{") {
			if word, _, _ := strings.Cut(rest, "}"); !slices.Contains(words[:], word) {
				return fmt.Errorf("%w: rule %s of the Spec %q says {%s}: want one of %s", host.ErrAlgorithm, r.ID, s.Name, word, strings.Join(words[:], ", "))
			}
		}
	}
	return nil
}
