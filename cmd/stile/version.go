package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/replay"
	"github.com/stile-lock/stile/internal/session"
)

func newVersion() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version [--json]",
		Short: "Print the version",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return printVersion(c.OutOrStdout(), asJSON) },

		DisableFlagsInUseLine: true,
	}
	jsonFlag(c.Flags(), &asJSON)
	return c
}

func printVersion(w io.Writer, asJSON bool) error {
	v := buildVersion()
	text := func(p *printer) {
		p.line("%v, %s, %s", v, v.Go, v.Platform)
		p.line("protocols: nodes %v, clients %v, recordings %d", v.Protocols.Nodes, v.Protocols.Clients, v.Protocols.Recordings)
	}
	return outcome{json: v, text: text}.print(w, asJSON)
}

// A versionInfo says which source this program was built from.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision"` // empty if not built from a repository
	Modified bool   `json:"modified"` // built from a changed working tree
	Go       string `json:"go"`
	Platform string `json:"platform"`

	Protocols protocols `json:"protocols"`
}

// protocols are the versions of formats that this program can read and write.
type protocols struct {
	Nodes      versionRange `json:"nodes"`      // between nodes
	Clients    versionRange `json:"clients"`    // between clients and nodes
	Recordings uint64       `json:"recordings"` // of 'stile serve --record'
}

// A versionRange is a range of versions.
type versionRange struct {
	Min uint64 `json:"min"`
	Max uint64 `json:"max"`
}

func (r versionRange) String() string {
	if r.Min == r.Max {
		return fmt.Sprint(r.Max)
	}
	return fmt.Sprintf("%d to %d", r.Min, r.Max)
}

// buildVersion returns the version of this program.
func buildVersion() versionInfo {
	v := versionInfo{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Protocols: protocols{
		Nodes: versionRange{transport.MinVersion, transport.MaxVersion}, Clients: versionRange{session.OldestProtocol, session.Protocol}, Recordings: replay.Format,
	}}
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

// String names the build on one line.
func (v versionInfo) String() string { return "stile " + v.Version + ", commit " + v.commit() }

// commit returns the abbreviated commit, with a plus if the working tree was
// modified. It is unknown if stile was not built from a repository.
func (v versionInfo) commit() string {
	switch {
	case v.Revision == "":
		return "unknown"
	case v.Modified:
		return v.Revision[:min(len(v.Revision), 12)] + "+"
	}
	return v.Revision[:min(len(v.Revision), 12)]
}
