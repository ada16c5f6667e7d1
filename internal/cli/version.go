package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/cli/ask"
	"github.com/stile-lock/stile/internal/cli/tell"
)

// A version says what was built, from what.
type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision"` // empty if not built from a repository
	Modified bool   `json:"modified"` // built from a changed working tree
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersion() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version [--json]",
		Short: "Show which stile this is",
		Args:  ask.Nothing,
		RunE: func(c *cobra.Command, _ []string) error {
			v := readVersion()
			text := func(p *tell.Page) { p.Line("stile %s, %s, %s", v.Version, v.Go, v.Platform) }
			return tell.Report{JSON: v, Text: text}.Print(c.OutOrStdout(), asJSON)
		},
		DisableFlagsInUseLine: true,
	}
	ask.JSON(c.Flags(), &asJSON)
	return c
}

func readVersion() version {
	v := version{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
