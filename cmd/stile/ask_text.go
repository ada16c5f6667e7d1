package main

import (
	"errors"
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

// A askText is a flag whose value is words.
type askText struct {
	to    *string
	check func(s string) error // the error says what is wanted
	offer cobra.CompletionFunc
}

func (t askText) Set(s string) error {
	err := t.check(s)
	if err == nil {
		*t.to = s
	}
	return err
}

func (t askText) String() string {
	if t.to == nil {
		return ""
	}
	return *t.to
}

func (t askText) Type() string { return "string" }

// Offer implements Typed.
func (t askText) Offer(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return t.offer(c, args, begun)
}

// Text is anything but nothing: who gives a flag means something by it. want says
// what, and offer what can be typed for it; nil means nothing.
func Text(to *string, want string, offer cobra.CompletionFunc) pflag.Value {
	if offer == nil {
		offer = cobra.NoFileCompletions
	}
	return askText{to, func(s string) error {
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
	return askText{to, func(s string) error {
		if slices.Contains(from, s) {
			return nil
		}
		return fmt.Errorf("want %s%s", spell.Either(from...), spell.DidYouMean(s, from...))
	}, cobra.FixedCompletions(from, cobra.ShellCompDirectiveNoFileComp)}
}

// Several is one of the words that stand alone, or a list of other words, each
// once. why says of a word that is none of them why it is not, if that is known;
// it may be nil.
func Several(to *string, from []string, why func(word string) string, alone ...string) pflag.Value {
	want := fmt.Sprintf("want %s, or some of %s", spell.Either(alone...), strings.Join(from, ","))
	return askText{to, func(s string) error {
		if slices.Contains(alone, s) {
			return nil
		}
		words := strings.Split(s, ",")
		for i, word := range words {
			if slices.Contains(words[:i], word) && word != "" {
				return fmt.Errorf("%.40q is named twice: name each once", word)
			}
			if slices.Contains(from, word) {
				continue
			}
			if why != nil && why(word) != "" {
				return errors.New(why(word))
			}
			return fmt.Errorf("%s%s", want, spell.DidYouMean(word, from...))
		}
		return nil
	}, OfferListed(func([]string) []string { return from }, alone...)}
}

// OfferListed offers words that are not in the list yet that is being typed, and
// as the first also those that stand alone. The words may follow from the
// arguments.
func OfferListed(from func(args []string) []string, alone ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		listed := strings.Split(begun, ",")
		listed = listed[:len(listed)-1]
		before := strings.Join(append(listed, ""), ",")
		var list []string
		if len(listed) == 0 {
			list = append(list, alone...)
		}
		for _, word := range from(args) {
			if !slices.Contains(listed, word) {
				list = append(list, before+word)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// askFile is the name of a file that is to be written, which ends in one of these.
// Where there is one ending only the name may do without, as that of a pipe does.
// A name that ends otherwise was meant for something else than what would be in
// the file.
func askFile(to *string, endings ...string) pflag.Value {
	return askText{to, func(s string) error {
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

// Dir is the name of a directory.
func Dir(to *string) pflag.Value {
	return Text(to, "the name of a directory", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
}

// FileOrNone is a File, or "" for none.
func FileOrNone(to *string, endings ...string) pflag.Value {
	file := askFile(to, endings...).(askText)
	check := file.check
	file.check = func(s string) error {
		if s == "" {
			return nil
		}
		return check(s)
	}
	return file
}
