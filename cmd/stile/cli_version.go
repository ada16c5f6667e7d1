package main

import (
	"io"

	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version [--json]",
		Short: "Show which stile this is",
		Args:  Nothing,
		RunE:  func(c *cobra.Command, _ []string) error { return printVersion(c.OutOrStdout(), asJSON) },

		DisableFlagsInUseLine: true,
	}
	JSON(c.Flags(), &asJSON)
	return c
}

func printVersion(w io.Writer, asJSON bool) error {
	v := Build()
	text := func(p *Page) { p.Line("stile %s, %s, %s", v.Version, v.Go, v.Platform) }
	return Report{JSON: v, Text: text}.Print(w, asJSON)
}
