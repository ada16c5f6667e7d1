package storm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/trace"
)

// What people see of the bank: the balances in its messages, and beside the lane of the
// store what it does with them.

// moneyField is the field of the bank's messages that is written beside their arrows.
const moneyField = "money"

// describeMoney fills in what people see of a message to or from the bank.
func (w *world) describeMoney(e *trace.Event, kind byte, l numbers) {
	e.Section = w.names[l.next()]
	token := fmt.Sprint(member.Token{Epoch: l.next(), Count: l.next()})
	e.Fields = []host.Field{{Name: "token", Value: token}}
	if kind == savedMsg {
		return
	}
	a, b := l.next(), l.next()
	text := accountName(a) + " " + accountName(b)
	if kind != readMsg {
		text = fmt.Sprintf("%s %s, %s %s", accountName(a), grouped(l.next()), accountName(b), grouped(l.next()))
	}
	e.Fields = append(e.Fields, host.Field{Name: moneyField, Value: text})
}

// book writes beside the lane of the store what a process does with a branch.
func (w *world) book(from algorithm.ID, lock uint64, t member.Token, format string, args ...any) {
	if w.Observed() {
		w.Note(trace.Event{
			Kind: trace.Note, Proc: storeID, Peer: algorithm.None, Name: fmt.Sprintf(format, args...), Section: w.names[lock],
			Fields: []host.Field{{Name: customerField, Value: w.Name(from)}, {Name: "token", Value: fmt.Sprint(t)}},
		})
	}
}

// customerField is the field of notes about a branch that names the customer.
const customerField = "customer"

// staleMark is the prefix of notes about a stale fencing token.
const staleMark = "STALE"

// An Entry is an event at a branch of a bank, or at a customer.
type Entry struct {
	At   member.Span
	Text string
}

// Lost returns how money was lost or created in a recorded run that ends that way: the
// events at the branch, and at the customer that came too late, from its read on. It is
// empty if no money was lost or created.
func Lost(t *trace.Trace) []Entry {
	notes := booksOf(t)
	if len(notes) == 0 {
		return nil
	}
	begin, who := culprit(t, notes)
	section := t.Events[begin].Section
	var all []Entry
	for i := begin; i < len(t.Events); i++ {
		e := &t.Events[i]
		text := ""
		switch {
		case isBook(e) && e.Section == section:
			text = e.Name
		case e.Kind == trace.Pause && t.Names[e.Proc] == who:
			text = who + " is paused"
		case e.Kind == trace.Resume && t.Names[e.Proc] == who:
			text = who + " resumes"
		}
		if text != "" {
			all = append(all, Entry{member.Span(e.At), text})
		}
	}
	return all
}

// booksOf returns the notes about the branch of the last note.
func booksOf(t *trace.Trace) []int {
	var notes []int
	for i := len(t.Events) - 1; i >= 0; i-- {
		if e := &t.Events[i]; isBook(e) && (len(notes) == 0 || e.Section == t.Events[notes[0]].Section) {
			notes = append(notes, i)
		}
	}
	slices.Reverse(notes)
	return notes
}

// isLate reports whether a note is about a customer that came too late.
func isLate(e *trace.Event) bool { return isBook(e) && strings.HasPrefix(e.Name, staleMark) }

func isBook(e *trace.Event) bool {
	return e.Kind == trace.Note && len(e.Fields) > 0 && e.Fields[0].Name == customerField
}

// culprit returns the customer that came too late, and its read: the last one that wrote,
// or the one that came too late while that one was there.
func culprit(t *trace.Trace, notes []int) (read int, who string) {
	last := notes[len(notes)-1]
	read = firstOf(t, notes, last)
	for _, i := range notes {
		if i > read && isLate(&t.Events[i]) {
			last = i
			break
		}
	}
	return firstOf(t, notes, last), t.Events[last].Fields[0].Value
}

// firstOf returns the first note with the fencing token of another note.
func firstOf(t *trace.Trace, notes []int, last int) int {
	return notes[slices.IndexFunc(notes, func(i int) bool { return slices.Equal(t.Events[i].Fields, t.Events[last].Fields) })]
}

// accountName names an account.
func accountName(i uint64) string { return string(rune('A' + i)) }

// pair writes two accounts with their balances.
func pair(a, x, b, y uint64) string {
	return fmt.Sprintf("%s %s and %s %s", accountName(a), grouped(x), accountName(b), grouped(y))
}

func grouped(n uint64) string { return words.Grouped(int64(n)) }
