package mistake

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// A Twin checks whether the bytes of a state are complete. A newly created machine that
// has loaded those bytes takes each step a second time. If it does not do the same, a
// field that changes is missing from Fields. A host calls Before and After around a step,
// and may reuse the Twin.
type Twin struct {
	twin   host.Machine
	out    host.Output
	state  []byte
	after  []byte
	unlike []string // fields in which the twin differs before the step
}

// Before loads the state of m, which is about to take a step, into twin, a machine of the
// same seat that has taken none.
func (t *Twin) Before(m, twin host.Machine) error {
	t.twin, t.unlike = twin, nil
	t.state = m.AppendState(t.state[:0])
	if err := twin.LoadState(t.state); err != nil {
		return Unreadable("state", err)
	}
	t.unlike = new(likeness).names(m, twin)
	return nil
}

// After lets the twin take the step that m, at seat self, has just taken, and returns an
// error if the outcomes differ.
func (t *Twin) After(self host.ID, in host.Input, m host.Machine, out *host.Output) error {
	err := t.twin.Step(in, &t.out)
	t.state, t.after = m.AppendState(t.state[:0]), t.twin.AppendState(t.after[:0])
	if err == nil && Equal(&t.out, out, nil) && bytes.Equal(t.state, t.after) {
		return nil
	}
	return Forgets(self, t.unlike)
}

// Forgets returns the error that the behaviour of the machine at a seat depends on a field
// that is missing from Fields, perhaps one of the given fields. If there are none, it may
// depend on something outside its state.
func Forgets(self host.ID, fields []string) error {
	guess := ", or its behaviour depends on more than its state and inputs: randomness, the order of a map, a clock or a shared variable"
	if len(fields) > 0 {
		guess = " (perhaps " + strings.Join(fields, " or ") + ")"
	}
	return fmt.Errorf("%w: %v behaves differently after its state is written and read back: a field that changes is missing from Fields%s", host.ErrAlgorithm, self, guess)
}

// Lives returns the error that the machine at a seat, which was kept alive, differs from
// one that was rebuilt from the bytes of its state before each step: when, how, and the
// fields that may be the reason.
func Lives(self host.ID, when, how string, fields []string) error {
	guess := ""
	if len(fields) > 0 {
		guess = " (perhaps " + strings.Join(fields, " or ") + ")"
	}
	return fmt.Errorf("%w: %v %s: kept alive, it %s as rebuilt from its bytes: something that changes is missing from Fields%s, a Set has a member that is not in the view, or Fields changes what it writes", host.ErrAlgorithm, self, when, how, guess)
}

// Unlike returns the names of the fields in which m, which has taken steps, differs from
// twin, a machine of the same seat that has taken none, after twin has loaded m's state.
// Unlike those that Unwritten returns, they may be memory kept for reuse.
func Unlike(m, twin host.Machine) []string {
	if twin.LoadState(m.AppendState(nil)) != nil {
		return nil
	}
	return new(likeness).names(m, twin)
}

// Unwritten returns the names of fields that are missing from Fields: those in which m,
// which has taken steps, differs from twin, a machine of the same seat that has taken
// none, although both have loaded the same state. Only numbers, booleans, strings and
// Sets count. Lists and pointers may refer to memory kept for reuse; whether anything
// depends on them shows in what m does.
func Unwritten(m, twin host.Machine) []string {
	state := m.AppendState(nil)
	if m.LoadState(state) != nil || twin.LoadState(state) != nil {
		return nil
	}
	l := likeness{plain: true}
	return l.names(m, twin)
}

// maxCompared limits the number of places in which a field of two machines is compared: a
// site with thousands of locks would take as long as thousands of steps.
const maxCompared = 200

// A likeness compares two machines.
type likeness struct {
	left  int  // places of a field still to compare
	plain bool // whether to skip fields that are not plain
}

// names returns the names of the fields, of what the author wrote, in which two machines
// differ.
func (l *likeness) names(m, twin host.Machine) []string {
	if a, ok := m.(bundle); ok {
		var all []string
		parts := a.Parts()
		for i, other := range twin.(bundle).Parts() {
			all = append(all, l.names(parts[i], other)...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	a, ok := innermost(m).(author)
	b, same := innermost(twin).(author)
	if !ok || !same {
		return nil
	}
	return l.unlike(nil, reflect.ValueOf(a.Author()), reflect.ValueOf(b.Author()))
}

// An author is a machine that gives the state that its author wrote.
type author interface{ Author() any }

// A bundle is a machine that is made of several.
type bundle interface{ Parts() []host.Machine }

// innermost returns the innermost of nested machines; an outer one has a method Unwrap.
func innermost(m host.Machine) host.Machine {
	for {
		w, ok := m.(interface{ Unwrap() host.Machine })
		if !ok {
			return m
		}
		m = w.Unwrap()
	}
}

// unlike appends the names of the fields in which two structs differ, including those of
// embedded structs.
func (l *likeness) unlike(names []string, a, b reflect.Value) []string {
	for a.Kind() == reflect.Pointer && !a.IsNil() && !b.IsNil() {
		a, b = a.Elem(), b.Elem()
	}
	if a.Kind() != reflect.Struct || a.Type() != b.Type() {
		return names
	}
	for i := range a.NumField() {
		l.left = maxCompared
		switch f := a.Type().Field(i); {
		case l.alike(a.Field(i), b.Field(i), 0):
		case f.Anonymous:
			names = l.unlike(names, a.Field(i), b.Field(i))
		case l.plain && !isPlain(f.Type):
		default:
			names = append(names, fmt.Sprintf("%q", f.Name))
		}
	}
	return names
}

// isPlain reports whether a value of type t is complete in itself.
func isPlain(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.Array:
		return isPlain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if t != reflect.TypeFor[algorithm.Set]() && !isPlain(t.Field(i).Type) {
				return false
			}
		}
		return true
	default:
		return k >= reflect.Bool && k <= reflect.Complex128 && k != reflect.Uintptr || k == reflect.String
	}
}

// maxNested is how deep alike looks: deep enough to name a field, and bounded because a
// list may contain itself.
const maxNested = 8

// alike reports whether two values of one type are equal as far as can be told. Functions
// count as equal, and so do machines: the bytes of a machine contain those of its inner
// machines.
func (l *likeness) alike(a, b reflect.Value, depth int) bool {
	if l.left--; l.left < 0 || depth > maxNested || a.Type() == reflect.TypeFor[host.Machine]() {
		return true
	}
	switch a.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return true
	case reflect.Slice, reflect.Array:
		return l.alikeLists(a, b, depth+1)
	case reflect.Struct:
		for i := range a.NumField() {
			if !l.alike(a.Field(i), b.Field(i), depth+1) {
				return false
			}
		}
		return true
	case reflect.Map:
		return l.alikeMaps(a, b, depth+1)
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		if a.Kind() == reflect.Pointer && a.Pointer() == b.Pointer() {
			return true
		}
		a, b = a.Elem(), b.Elem()
		return a.Type() == b.Type() && l.alike(a, b, depth+1)
	}
	return a.Equal(b)
}

func (l *likeness) alikeLists(a, b reflect.Value, depth int) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := 0; i < a.Len() && l.left > 0; i++ {
		if !l.alike(a.Index(i), b.Index(i), depth) {
			return false
		}
	}
	return true
}

func (l *likeness) alikeMaps(a, b reflect.Value, depth int) bool {
	if a.Len() != b.Len() {
		return false
	}
	for it := a.MapRange(); it.Next(); {
		if other := b.MapIndex(it.Key()); !other.IsValid() || !l.alike(it.Value(), other, depth) {
			return false
		}
	}
	return true
}
