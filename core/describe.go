package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Field is one labelled value of a state or a message, for people.
type Field struct{ Name, Value string }

// Describe returns the state of m, field by field.
func Describe(m Machine, n int) []Field {
	c := Coder{mode: describe, n: n}
	m.Visit(&c)
	return c.fields
}

// Apart gives fields of one name names of their own: the second state is called
// state (2).
func Apart(fields []Field) []Field {
	for i := range fields {
		name, n := fields[i].Name, 1
		for j := range i {
			if f := fields[j].Name; f == name || strings.HasPrefix(f, name) && isAgain(f[len(name):]) {
				n++
			}
		}
		if n > 1 {
			fields[i].Name = name + " (" + strconv.Itoa(n) + ")"
		}
	}
	return fields
}

// isAgain reports whether Apart has put this behind a name.
func isAgain(s string) bool { return strings.HasPrefix(s, " (") && strings.HasSuffix(s, ")") }

// DescribeMessage returns the fields of a message of m's algorithm.
func DescribeMessage(m Machine, n int, b []byte) ([]Field, error) {
	c := Coder{mode: describe, n: n}
	err := m.VisitMessage(b, &c)
	return c.fields, err
}

// Assign sets one field of the state of m from text, as Describe shows it.
func Assign(m Machine, n int, name, text string) error {
	c := Coder{mode: assign, n: n, name: name, text: text}
	m.Visit(&c)
	if c.err != nil {
		return c.err
	}
	if !c.found {
		var names []string
		for _, f := range Describe(m, n) {
			names = append(names, f.Name)
		}
		return fmt.Errorf("no field %q: there are %s", name, strings.Join(names, ", "))
	}
	// Fields that exist no more, after this one has changed, must be cleared.
	return m.LoadState(m.AppendState(nil))
}

// Tokens returns how many tokens the state of m marks.
func Tokens(m Machine, n int) int {
	c := Coder{mode: describe, n: n}
	m.Visit(&c)
	return c.tokens
}

// A Mark says what a message is besides its fields.
type Mark struct {
	Tokens     int  // how many tokens it carries
	Idempotent bool // a second copy changes nothing
}

// MarkOf returns the marks of a message of m's algorithm.
func MarkOf(m Machine, n int, b []byte) (Mark, error) {
	c := Coder{mode: describe, n: n}
	err := m.VisitMessage(b, &c)
	return Mark{c.tokens, c.idempotent}, err
}

func (c *Coder) show(name, value string) {
	c.fields = append(c.fields, Field{name, value})
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func seatNumber(id ID) string {
	if id == None {
		return "none"
	}
	return strconv.Itoa(int(id) + 1)
}

func seatNumbers(ids []ID) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(seatNumber(id))
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
				c.wrong("process %s is there twice", seatNumber(id))
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
