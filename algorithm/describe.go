package algorithm

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm/host"
)

// Describe returns the fields of the state.
func (m *machine) Describe(members ...ID) []host.Field {
	c := Coder{mode: describe, n: m.n, seats: members}
	m.s.Fields(&c)
	return c.fields
}

// DescribeMessage returns the fields of a message, and of the one that it carries, if that
// can be read.
func (m *machine) DescribeMessage(b []byte, members ...ID) ([]host.Field, error) {
	c := Coder{mode: describe, n: m.n, seats: members}
	if err := m.visitMessage(b, &c); err != nil {
		return nil, err
	}
	if carrier, ok := m.s.(Carrier); ok {
		if within, b, members := carrier.Carried(m.msg); within != nil {
			if fields, err := within.DescribeMessage(b, c.among(members)...); err == nil {
				c.fields = append(c.fields, fields...)
			}
		}
	}
	return c.fields, nil
}

// errNoField is wrapped by the error for a field that a state does not have.
var errNoField = errors.New("no field")

// Assign sets one field of the state.
func (m *machine) Assign(name, text string, members ...ID) error {
	c := Coder{mode: assign, n: m.n, name: name, text: text, seats: members}
	m.s.Fields(&c)
	if c.err != nil {
		return c.err
	}
	if !c.found {
		var names []string
		for _, f := range m.Describe(members...) {
			names = append(names, f.Name)
		}
		return fmt.Errorf("%w %q: there are %s", errNoField, name, strings.Join(names, ", "))
	}
	// Fields that no longer exist, now that this one has changed, must be cleared.
	return m.LoadState(m.AppendState(nil))
}

// Tokens returns the number of tokens that the state marks.
func (m *machine) Tokens() int {
	c := Coder{mode: describe, n: m.n}
	m.s.Fields(&c)
	return c.tokens
}

// Mark returns the marks of a message.
func (m *machine) Mark(b []byte) (host.Mark, error) {
	c := Coder{mode: describe, n: m.n}
	err := m.visitMessage(b, &c)
	return host.Mark{Tokens: c.tokens, Idempotent: c.idempotent}, err
}

func (c *Coder) show(name, value string) {
	if c.of != "" {
		name = c.of + strconv.Itoa(c.which+1) + "." + name
	}
	c.fields = append(c.fields, host.Field{Name: name, Value: value})
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// nameOf returns the name of a small number, or the number if it has none. That is a
// mistake in the algorithm, but it must be shown all the same.
func nameOf(names []string, v uint8) string {
	if int(v) < len(names) {
		return names[v]
	}
	return strconv.Itoa(int(v))
}

// sits returns the member at a seat.
func (c *Coder) sits(seat ID) ID {
	if seat >= 0 && int(seat) < len(c.seats) {
		return c.seats[seat]
	}
	return seat
}

// among returns the members at the seats of an inner machine, given by their seats here;
// nil means the same as here.
func (c *Coder) among(members []ID) []ID {
	if members == nil {
		return c.seats
	}
	seats := make([]ID, len(members))
	for i, seat := range members {
		seats[i] = c.sits(seat)
	}
	return seats
}

func (c *Coder) seatNumbers(seats []ID) string {
	ids := make([]ID, len(seats))
	for i, seat := range seats {
		ids[i] = c.sits(seat)
	}
	return numbers(ids)
}

// number returns the seat as people count, from 1.
func number(id ID) string {
	if id == None {
		return "none"
	}
	return strconv.Itoa(int(id) + 1)
}

func numbers(ids []ID) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(number(id))
	}
	if len(ids) == 0 {
		return "none"
	}
	return b.String()
}

func (c *Coder) describeNumber(name string, v *uint64) {
	switch c.mode {
	case describe:
		c.show(name, strconv.FormatUint(*v, 10))
	case assign:
		if x, ok := c.setUint(name, maxTime-1); ok {
			*v = x
		}
	}
}

// describeAll shows or sets a list of numbers, one for each seat.
func (c *Coder) describeAll(name string, n int, at func(i int) *uint64) {
	switch c.mode {
	case describe:
		words := make([]string, n)
		for i := range n {
			words[i] = strconv.FormatUint(*at(i), 10)
		}
		c.show(name, strings.Join(words, " "))
	case assign:
		if c.name != name {
			return
		}
		c.found = true
		words := strings.Fields(c.text)
		if len(words) != n {
			c.wrong("want %d numbers, one for each process", n)
			return
		}
		numbers := make([]uint64, n)
		for i, w := range words {
			x, err := strconv.ParseUint(w, 10, 62)
			if err != nil {
				c.wrong("%q is not a number from 0 to %d", w, uint64(maxTime-1))
				return
			}
			numbers[i] = x
		}
		for i, x := range numbers {
			*at(i) = x
		}
	}
}

func (c *Coder) wrong(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("field %s cannot be %q: %s", c.name, c.text, fmt.Sprintf(format, args...))
	}
}

func (c *Coder) setBool(name string, v *bool) {
	if c.name != name {
		return
	}
	c.found = true
	switch c.text {
	case "yes", "no":
		*v = c.text == "yes"
	default:
		c.wrong("want yes or no")
	}
}

func (c *Coder) setName(name string, v *uint8, names []string) {
	if c.name != name {
		return
	}
	c.found = true
	for i, s := range names {
		if s == c.text {
			*v = uint8(i)
			return
		}
	}
	c.wrong("want %s", strings.Join(names, " or "))
}

func (c *Coder) setUint(name string, max uint64) (uint64, bool) {
	if c.name != name {
		return 0, false
	}
	c.found = true
	x, err := strconv.ParseUint(c.text, 10, 64)
	if err != nil || x > max {
		c.wrong("want a number from 0 to %d", max)
		return 0, false
	}
	return x, true
}

func (c *Coder) setSeat(name string, id *ID, none bool) {
	if c.name != name {
		return
	}
	c.found = true
	if none && c.text == "none" {
		*id = None
		return
	}
	if x, ok := c.seat(c.text); ok {
		*id = x
	}
}

func (c *Coder) seat(text string) (ID, bool) {
	x, err := strconv.Atoi(strings.TrimPrefix(text, "P"))
	if c.seats != nil {
		seat := slices.Index(c.seats, ID(x-1))
		if err != nil || seat < 0 {
			c.wrong("want a process, one of %s", numbers(c.seats))
		}
		return ID(seat), err == nil && seat >= 0
	}
	if err != nil || x < 1 || x > c.n {
		c.wrong("want a process, 1 to %d", c.n)
		return 0, false
	}
	return ID(x - 1), true
}

func (c *Coder) setSeats(name string, ids *[]ID) bool {
	if c.name != name {
		return false
	}
	c.found = true
	var list []ID
	if c.text != "none" {
		for _, w := range strings.Fields(c.text) {
			id, ok := c.seat(w)
			if !ok {
				return false
			}
			if slices.Contains(list, id) {
				c.wrong("process %s is listed twice", number(c.sits(id)))
				return false
			}
			list = append(list, id)
		}
	}
	*ids = list
	return true
}

func (c *Coder) setStamp(name string, s *Stamp) {
	if c.name != name {
		return
	}
	c.found = true
	if c.text == "none" {
		*s = Stamp{}
		return
	}
	a, b, ok := strings.Cut(strings.Trim(c.text, "<>"), ",")
	t, err := strconv.ParseUint(a, 10, 62)
	if !ok || err != nil || t == 0 {
		c.wrong("want none or a stamp such as <42,3>")
		return
	}
	if id, ok := c.seat(b); ok {
		*s = Stamp{Time{t}, id}
	}
}
