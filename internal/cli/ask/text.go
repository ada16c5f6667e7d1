package ask

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/spell"
)

// A Typed is a flag that knows what can be typed for it.
type Typed interface {
	pflag.Value
	Offer(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective)
}

// A text is a flag whose value is words.
type text struct {
	to    *string
	check func(s string) error // the error says what is wanted
	offer cobra.CompletionFunc
}

func (t text) Set(s string) error {
	err := t.check(s)
	if err == nil {
		*t.to = s
	}
	return err
}

func (t text) String() string {
	if t.to == nil {
		return ""
	}
	return *t.to
}

func (t text) Type() string { return "string" }

// Offer implements Typed.
func (t text) Offer(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return t.offer(c, args, begun)
}

// Text is anything but nothing: who gives a flag means something by it. want says
// what, and offer what can be typed for it; nil means nothing.
func Text(to *string, want string, offer cobra.CompletionFunc) pflag.Value {
	if offer == nil {
		offer = cobra.NoFileCompletions
	}
	return text{to, func(s string) error {
		if strings.TrimSpace(s) == "" {
			return fmt.Errorf("want %s", want)
		}
		return nil
	}, offer}
}

// List is some processes, as Processes reads them.
func List(to *string) pflag.Value { return Text(to, "processes such as 1,2,5-7", nil) }

// Choice is one of some words.
func Choice(to *string, from ...string) pflag.Value {
	return text{to, func(s string) error {
		if slices.Contains(from, s) {
			return nil
		}
		return fmt.Errorf("want %s%s", spell.Either(from...), spell.DidYouMean(s, from...))
	}, cobra.FixedCompletions(from, cobra.ShellCompDirectiveNoFileComp)}
}

// File is the name of a file that is to be written, which ends in one of these.
// Where there is one ending only the name may do without, as that of a pipe does.
// A name that ends otherwise was meant for something else than what would be in
// the file.
func File(to *string, endings ...string) pflag.Value {
	return text{to, func(s string) error {
		ending := strings.TrimSuffix(strings.ToLower(filepath.Ext(s)), ".") // the name of a directory may be a dot
		switch {
		case strings.TrimSpace(s) == "":
			return fmt.Errorf("want the name of a file, %s", ends(endings))
		case s == "-":
			return fmt.Errorf("want the name of a file, %s; one that is called so is ./-", ends(endings))
		case ending == "" && len(endings) == 1 || slices.Contains(endings, ending):
			return nil
		}
		return fmt.Errorf("the name must end in %s", spell.Either(endings...))
	}, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var bare []string
		for _, e := range endings {
			bare = append(bare, e[1:])
		}
		return bare, cobra.ShellCompDirectiveFilterFileExt
	}}
}

// ends says how the name of a file ends.
func ends(endings []string) string { return "such as x" + spell.Either(endings...) }

// FileOrNone is a File, or "" for none.
func FileOrNone(to *string, endings ...string) pflag.Value {
	file := File(to, endings...).(text)
	check := file.check
	file.check = func(s string) error {
		if s == "" {
			return nil
		}
		return check(s)
	}
	return file
}
