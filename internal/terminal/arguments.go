package terminal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// NoArgs refuses arguments to a command that takes only flags.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes no arguments, but was given %q: see '%s --help'", c.CommandPath(), args[0], c.CommandPath())
}

// OneArg requires one argument. needs describes it and says where to find one, kind
// is its name, and instead says what to do with several.
func OneArg(needs, kind, instead string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return fmt.Errorf("%s needs %s", c.CommandPath(), needs)
		case 1:
			return nil
		}
		return fmt.Errorf("%s takes one %s, but was also given %q: %s", c.CommandPath(), kind, args[1], instead)
	}
}

// RefuseFlags refuses flags that do not apply. In text, --FLAG stands for the flag.
func RefuseFlags(c *cobra.Command, flags, text string) error {
	for flag := range strings.FieldsSeq(flags) {
		if c.Flags().Changed(flag) {
			return unfitFlag(flag, text)
		}
	}
	return nil
}

// OnlyFlags refuses all flags except these, in the same way.
func OnlyFlags(c *cobra.Command, flags, text string) error {
	var err error
	c.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(strings.Fields(flags), f.Name) {
			err = unfitFlag(f.Name, text)
		}
	})
	return err
}

func unfitFlag(flag, text string) error {
	return errors.New(strings.Replace(text, "--FLAG", "--"+flag, 1))
}

// JSONFlag defines --json.
func JSONFlag(fs *pflag.FlagSet, to *bool) {
	fs.BoolVar(to, "json", false, "JSON output, for programs")
}

// HideDefaults omits the defaults of flags from the help.
func HideDefaults(fs *pflag.FlagSet, flags ...string) {
	for _, flag := range flags {
		fs.Lookup(flag).DefValue = ""
	}
}
