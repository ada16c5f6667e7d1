package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/cli/ask"
	"github.com/stile-lock/stile/internal/cli/tell"
)

func newVersion() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version [--json]",
		Short: "Show which stile this is",
		Args:  ask.Nothing,
		RunE:  func(c *cobra.Command, _ []string) error { return printVersion(c.OutOrStdout(), asJSON) },

		DisableFlagsInUseLine: true,
	}
	ask.JSON(c.Flags(), &asJSON)
	return c
}

func printVersion(w io.Writer, asJSON bool) error {
	v := tell.Build()
	text := func(p *tell.Page) { p.Line("stile %s, %s, %s", v.Version, v.Go, v.Platform) }
	return tell.Report{JSON: v, Text: text}.Print(w, asJSON)
}
