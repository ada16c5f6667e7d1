package terminal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/spell"
)

// Finish gives the root command of a program, and all its subcommands, what they have in
// common: help, errors and shell completion. version is the text of --version. other says
// what a word that is not a command stands for, or returns ""; it may be nil.
//
// It sets no templates: they make a program larger by 4 MB, because the linker must then keep
// every method that a template could call.
func Finish(root *cobra.Command, version string, other func(word string) string) {
	root.SilenceErrors, root.SilenceUsage = true, true
	which := root.Flags().Bool("version", false, "print the version")
	run := root.RunE
	root.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case *which:
			_, err := fmt.Fprintln(c.OutOrStdout(), version)
			return err
		case run == nil:
			return c.Help()
		}
		return run(c, args)
	}
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(usage)
	root.SetHelpCommand(newHelp(root))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	finishCommand(root, other)
	standard := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c == root {
			fmt.Fprint(c.OutOrStdout(), overview(c))
			return
		}
		standard(c, args)
	})
}

// AddGroup adds commands to a root command, in a group of its help.
func AddGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

// finishCommand finishes c and its subcommands.
func finishCommand(c *cobra.Command, other func(word string) string) {
	if c.HasSubCommands() {
		what := "command"
		if c.Name() == "completion" {
			what = "shell"
		}
		c.Args = noSubcommand(what, other)
		if c.RunE == nil {
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
	if c.ValidArgsFunction == nil && !c.HasSubCommands() {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	completeFlags(c)
	for _, sub := range c.Commands() {
		finishCommand(sub, other)
	}
}

// usage prints how a command is used, its examples and its flags.
func usage(c *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:")
	if c.Runnable() && !c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n  %s", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n  %s [command]", c.CommandPath())
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\n\nExamples:\n%s", c.Example)
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\n\nAvailable Commands:")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, "\n  %-11s %s", sub.Name(), sub.Short)
			}
		}
	}
	for _, part := range []struct {
		title string
		flags *pflag.FlagSet
	}{{"Flags", c.LocalFlags()}, {"Global Flags", c.InheritedFlags()}} {
		if part.flags.HasAvailableFlags() {
			fmt.Fprintf(&b, "\n\n%s:\n%s", part.title, strings.TrimRight(part.flags.FlagUsagesWrapped(ScreenWidth), " \n"))
		}
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n\nUse '%s [command] --help' to see more of a command.", c.CommandPath())
	}
	_, err := fmt.Fprintln(c.OutOrStderr(), b.String())
	return err
}

// overview is the help of a root command, which fits one screen: its description, its
// commands by group, and its example.
func overview(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", root.Long)
	for _, g := range root.Groups() {
		title := g.Title
		for _, c := range root.Commands() {
			if c.GroupID == g.ID && !c.Hidden {
				fmt.Fprintf(&b, "%-8s%-15s%s\n", title, c.Name(), c.Short)
				title = ""
			}
		}
	}
	return b.String() + "\n" + root.Example + "\n"
}

// newHelp is cobra's help command, with an error for an unknown topic.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show help for a command",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				last := args[len(args)-1]
				return fmt.Errorf("unknown command %q: run '%s --help' for a list%s", strings.Join(args, " "), root.Name(), spell.DidYouMean(last, subcommandNames(root)...))
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

// subcommandNames lists the visible subcommands of a command.
func subcommandNames(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return names
}

// noSubcommand refuses an argument that is not a subcommand, and suggests what was
// meant.
func noSubcommand(what string, other func(word string) string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if other != nil && other(args[0]) != "" {
			return fmt.Errorf("unknown %s %q: %s", what, args[0], other(args[0]))
		}
		return fmt.Errorf("unknown %s %q: run '%s --help' for a list%s", what, args[0], c.CommandPath(), spell.DidYouMean(args[0], subcommandNames(c)...))
	}
}

// flagError rewords pflag's errors.
func flagError(c *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &value) && value.GetFlag().Value.Type() == "bool":
		return fmt.Errorf("--%s %q: must be true or false, or just --%s", value.GetFlag().Name, value.GetValue(), value.GetFlag().Name)
	case errors.As(err, &value):
		return fmt.Errorf("--%s %q: %w", value.GetFlag().Name, value.GetValue(), errors.Unwrap(value))
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		return fmt.Errorf("unknown flag --%s: see '%s --help'%s", unknown.GetSpecifiedName(), c.CommandPath(), flagHint(c, unknown.GetSpecifiedName()))
	}
	return fmt.Errorf("%w: see '%s --help'", err, c.CommandPath())
}

// flagHint suggests the flag that was meant, or the commands that have it.
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

// flagNames lists the flags of a command.
func flagNames(c *cobra.Command) []string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return append(names, "help")
}

// completeFlags registers shell completion for the values of all flags. Only flags
// that say so complete file names.
func completeFlags(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		completion := cobra.CompletionFunc(cobra.NoFileCompletions)
		if typed, ok := f.Value.(CompletingFlag); ok {
			completion = typed.Complete
		}
		if err := c.RegisterFlagCompletionFunc(f.Name, completion); err != nil {
			panic(fmt.Sprintf("complete: %s --%s: %v", c.CommandPath(), f.Name, err)) // it is registered twice
		}
	})
}
