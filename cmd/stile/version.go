package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// A version says what was built, from what.
type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision"` // empty if not built from a repository
	Modified bool   `json:"modified"` // built from a changed working tree
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersion(stdout io.Writer) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version [--json]",
		Short: "Show which stile this is",
		Args:  none,
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			if asJSON {
				return writeJSON(stdout, v)
			}
			_, err := fmt.Fprintf(stdout, "stile %s, %s, %s\n", v.Version, v.Go, v.Platform)
			return err
		},
	}
	c.DisableFlagsInUseLine = true
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, for programs")
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
