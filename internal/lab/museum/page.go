package museum

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/lab/check"
)

// An Interrupted is the error of a page whose last parts are missing because the context
// of its limits was done.
type Interrupted struct{ After string } // such as "3 of 12 exhibits"

func (i Interrupted) Error() string { return "interrupted after " + i.After }

// errInterrupted is the error of a check that did not complete for that reason.
var errInterrupted = errors.New("interrupted")

// A builder makes a page.
type builder struct {
	strings.Builder
	limits check.Limits
	parse  Parser            // for the actions of a template
	told   func(line string) // receives each row of a table as soon as it is known

	done, total int    // parts of the page
	things      string // what the parts are called
}

// newPage begins the page that a flag of 'stile check', and make, know by name.
func newPage(title, name string, l check.Limits, told func(line string)) *builder {
	b := &builder{limits: l, told: told}
	b.line("# %s\n\n<!-- made by 'stile check --%s': do not edit, run 'make %s' -->", title, name, name)
	return b
}

// part makes one part of the page, as a whole or not at all: if it is interrupted, the
// page ends before it and says so.
func (b *builder) part(title string, do func() error) error {
	before := b.Len()
	err := do()
	switch {
	case errors.Is(err, errInterrupted):
		far := fmt.Sprintf("%d of %d %s", b.done, b.total, b.things)
		page := b.String()[:before]
		b.Reset()
		b.WriteString(page)
		b.text(fmt.Sprintf("**Interrupted after %s.** Everything from %s on is missing.", far, title))
		return Interrupted{far}
	case err != nil:
		return fmt.Errorf("%s: %w", title, err)
	}
	b.done++
	return nil
}

// over reports whether the page was interrupted.
func (b *builder) over() bool { return b.limits.Context != nil && b.limits.Context.Err() != nil }

// ended returns the page, as far as it goes if it was interrupted.
func (b *builder) ended(err error) (string, error) {
	if err != nil && !errors.As(err, new(Interrupted)) {
		return "", err
	}
	return b.String(), err
}

func (b *builder) line(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }

// text writes a paragraph, after an empty line.
func (b *builder) text(s string) { b.line("\n%s", s) }

// row writes a row of a table, and reports it.
func (b *builder) row(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	b.told(line)
	b.line("%s", line)
}

// check runs a check, within these limits, and shows which part of the page it is for.
func (b *builder) check(c check.Config, l check.Limits) (*check.Report, error) {
	c.Limits = l
	if show := l.Progress; show != nil {
		c.Progress = func(p check.Progress) {
			p.Pass = fmt.Sprintf("%d of %d %s, %s", b.done, b.total, b.things, p.Pass)
			show(p)
		}
	}
	r, err := check.Run(c)
	if err == nil && b.over() && unfinished(r) {
		err = errInterrupted
	}
	return r, err
}

// times says how often a process may ask; 0 means without bound.
func times(n int) string {
	if n < 1 {
		return "any"
	}
	return strconv.Itoa(n)
}
