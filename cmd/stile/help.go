package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/spell"
)

// newHelp is cobra's help command, with an error for an unknown topic.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show what a command does",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				last := args[len(args)-1]
				return fmt.Errorf("no command %q: 'stile --help' lists the commands%s", strings.Join(args, " "), spell.DidYouMean(last, subcommandNames(root)...))
			}
			return c.Help()
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return subcommandNames(c), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// subcommandNames names the commands of a command.
func subcommandNames(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return names
}

// noSubcommand refuses arguments, naming what they might have been meant to be.
func noSubcommand(what, lists string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if other := otherUse(args[0]); other != "" {
			return fmt.Errorf("unknown %s %q: %s", what, args[0], other)
		}
		return fmt.Errorf("unknown %s %q: '%s --help' %s%s", what, args[0], c.CommandPath(), lists, spell.DidYouMean(args[0], subcommandNames(c)...))
	}
}

// flagError words what pflag has found wrong.
func flagError(c *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &value) && value.GetFlag().Value.Type() == "bool":
		return fmt.Errorf("--%s %q: want true or false, or just --%s", value.GetFlag().Name, value.GetValue(), value.GetFlag().Name)
	case errors.As(err, &value):
		return fmt.Errorf("--%s %q: %w", value.GetFlag().Name, value.GetValue(), errors.Unwrap(value))
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		return fmt.Errorf("unknown flag --%s: see '%s --help'%s", unknown.GetSpecifiedName(), c.CommandPath(), flagHint(c, unknown.GetSpecifiedName()))
	}
	return fmt.Errorf("%w: see '%s --help'", err, c.CommandPath())
}

// flagHint says which flag was meant, or which commands have it.
func flagHint(c *cobra.Command, name string) string {
	if near := spell.Nearest(name, flagNames(c)...); near != "" {
		return "; did you mean --" + near + "?"
	}
	var all, have []string
	for _, other := range c.Root().Commands() {
		all = append(all, flagNames(other)...)
	}
	near := spell.Nearest(name, all...)
	for _, other := range c.Root().Commands() {
		if near != "" && slices.Contains(flagNames(other), near) {
			have = append(have, "'"+other.CommandPath()+"'")
		}
	}
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean --%s of %s?", near, spell.Either(have[:min(len(have), 4)]...))
}

// flagNames names the flags of a command that people may give.
func flagNames(c *cobra.Command) []string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return append(names, "help")
}

// completeFlags lets shells complete what flags are set to: those that are asked
// for words know which, and nothing else is the name of a file.
func completeFlags(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		offer := cobra.CompletionFunc(cobra.NoFileCompletions)
		if typed, ok := f.Value.(completingFlag); ok {
			offer = typed.complete
		}
		if err := c.RegisterFlagCompletionFunc(f.Name, offer); err != nil {
			panic(fmt.Sprintf("cli: %s --%s: %v", c.CommandPath(), f.Name, err)) // it is registered twice
		}
	})
}
