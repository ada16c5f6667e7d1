package trail

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/member"
)

// A builder writes the scenario of a run while its group takes the steps.
type builder struct {
	*group
	spec    algorithm.Spec
	name    string
	b       strings.Builder
	entries []string
	steps   int
	from    member.Instant // time of the first step
	to      member.Instant
	asides  []string // captions since the last step
	ended   *ending
}

// An ending is a place where the run can end.
type ending struct {
	text, steps, entries int
	to                   member.Instant
	states               [][]byte
}

func (b *builder) say(format string, args ...any) { fmt.Fprintf(&b.b, format+"\n", args...) }

// apply takes a step that is not shown.
func (b *builder) apply(e *event) error {
	if e.mark.Kind != member.MarkStep {
		return nil
	}
	return b.step(e)
}

// begin writes the head.
func (b *builder) begin(flying []flight) error {
	v := b.m.view()
	b.say("title %s", plain(fmt.Sprintf("Lock %q, as it was used in epoch %d", shortened(b.name), v.Epoch)))
	for seat := range v.Members {
		what := ""
		if seat == 0 {
			what = ", the home of the lock in this view"
		}
		b.say("# %v is member %s%s", algorithm.ID(seat), plain(b.called(algorithm.ID(seat))), what)
	}
	b.say("algorithm %s\nprocesses %d\nschedule steps", b.spec.Name, len(b.machines))
	born, err := b.spec.Group(algorithm.View{N: len(b.machines)})
	if err != nil {
		return err
	}
	for i, m := range b.machines {
		if err := b.state(algorithm.ID(i), born[i], m); err != nil {
			return err
		}
	}
	for _, f := range flying {
		if err := b.message(f); err != nil {
			return err
		}
	}
	b.say("")
	b.settled(len(flying) > 0)
	return nil
}

// state writes the state of one machine: the fields in which it differs from one that is
// born, or, if it cannot be made of these, its bytes.
func (b *builder) state(seat algorithm.ID, born, m algorithm.Machine) error {
	phase, ok := algorithm.PhaseOf(m)
	if !ok {
		return fmt.Errorf("%s is not a lock among processes", b.spec.Name)
	}
	state := m.AppendState(nil)
	var lines []string
	was := map[string]string{}
	for _, f := range born.Describe() {
		was[f.Name] = f.Value
	}
	fits := algorithm.SetPhase(born, phase) == nil
	for _, f := range m.Describe() {
		if old, known := was[f.Name]; known && old == f.Value {
			continue
		}
		fits = fits && f.Value != "" && !strings.ContainsAny(f.Name, " \t") && born.Assign(f.Name, f.Value) == nil
		lines = append(lines, fmt.Sprintf("set %v %s %s", seat, f.Name, f.Value))
	}
	if fits && bytes.Equal(born.AppendState(nil), state) {
		if phase != host.Idle {
			b.say("begin %v %s", seat, word(phase))
		}
		for _, line := range lines {
			b.say("%s", line)
		}
		return nil
	}
	b.say("begin %v %s %x # %s", seat, word(phase), state, fieldText(m.Describe()))
	return nil
}

// word returns the word of scenarios.
func word(p host.Phase) string { return [...]string{"idle", "waits", "inside"}[p] }

// message writes a message in flight.
func (b *builder) message(f flight) error {
	fields, err := b.machines[f.to].DescribeMessage(f.bytes)
	if err != nil {
		return fmt.Errorf("a message from %s to %s: %w", b.called(f.from), b.called(f.to), err)
	}
	line := fmt.Sprintf("begin %d -> %d %s %s", f.from+1, f.to+1, b.kind(f.bytes), hex.EncodeToString(f.bytes))
	if text := fieldText(fields); text != "" {
		line += " # " + text
	}
	b.say("%s", line)
	return nil
}

func (b *builder) kind(message []byte) string { return b.spec.Kinds[message[0]] }

func fieldText(fields []host.Field) string {
	var all []string
	for _, f := range fields {
		all = append(all, f.Name+" "+f.Value)
	}
	return strings.Join(all, ", ")
}

// add takes an event, and writes it.
func (b *builder) add(e *event) error {
	if e.mark.Kind != member.MarkStep {
		b.aside(e)
		return nil
	}
	line := ""
	switch k := e.mark; k.Input {
	case host.Request:
		line = e.seat.String() + " asks"
	case host.Release:
		line = e.seat.String() + " leaves"
	case host.Receive:
		if _, err := b.machines[e.seat].DescribeMessage(k.Message); err != nil {
			return fmt.Errorf("a message to %s: %w", b.name, err)
		}
		line = fmt.Sprintf("deliver %d -> %d %s", k.From+1, e.seat+1, b.kind(k.Message))
	default:
		return fmt.Errorf("the trail of %s has a step with input %d: use the same version of stile on all nodes", b.called(e.seat), k.Input)
	}
	if err := b.step(e); err != nil {
		return err
	}
	b.flush()
	if b.steps == 0 {
		b.from = e.at
	}
	b.steps++
	b.to = max(b.to, e.at)
	b.say("%-28s# %s", line, since(e.at-b.from))
	if e.mark.Entered {
		b.entries = append(b.entries, fmt.Sprint(int(e.seat)+1))
	}
	return nil
}

// since formats a time after the first step.
func since(d member.Instant) string {
	return fmt.Sprintf("%.3f ms", float64(d)/float64(member.Millisecond))
}

// settled notes that the run can end here.
func (b *builder) settled(flying bool) {
	if !flying && b.waitsInVain() {
		return
	}
	b.ended = &ending{b.b.Len(), b.steps, len(b.entries), b.to, slices.Clone(b.states)}
}

// end writes what is true at the end.
func (b *builder) end() (*Scenario, error) {
	x := b.ended
	if x == nil {
		return nil, fmt.Errorf("%w: a message that was sent before the recording began is still in flight", ErrNone)
	}
	if x.steps == b.steps {
		b.flush()
		x.text = b.b.Len()
	}
	head := b.b.String()[:x.text]
	b.b.Reset()
	b.b.WriteString(head)
	entries := "none"
	if x.entries > 0 {
		entries = strings.Join(b.entries[:x.entries], " ")
	}
	b.say("\nexpect entries %s", entries)
	for i, m := range b.machines {
		if err := m.LoadState(x.states[i]); err != nil {
			return nil, err
		}
		phase, _ := algorithm.PhaseOf(m)
		b.say("expect P%d %s", i+1, word(phase))
		for _, f := range m.Describe() {
			if f.Value != "" && !strings.ContainsAny(f.Name, " \t") {
				b.say("expect P%d %s %s", i+1, f.Name, f.Value)
			}
		}
	}
	return &Scenario{Text: b.b.String(), Steps: x.steps, From: b.from, To: x.to, States: x.states}, nil
}
