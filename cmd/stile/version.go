package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/replay"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/terminal"
)

func newVersion() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version [--json]",
		Short: "Print the version",
		Args:  terminal.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return printVersion(c.OutOrStdout(), asJSON) },

		DisableFlagsInUseLine: true,
	}
	terminal.JSONFlag(c.Flags(), &asJSON)
	return c
}

func printVersion(w io.Writer, asJSON bool) error {
	v := versionInfo{terminal.CurrentBuild(), protocols{
		Nodes: versionRange{transport.MinVersion, transport.MaxVersion}, Clients: versionRange{session.OldestProtocol, session.Protocol}, Recordings: replay.Format,
	}}
	text := func(p *terminal.Printer) {
		p.Line("%v, %s, %s", v, v.Go, v.Platform)
		p.Line("protocols: nodes %v, clients %v, recordings %d", v.Protocols.Nodes, v.Protocols.Clients, v.Protocols.Recordings)
	}
	return terminal.Outcome{JSON: v, Text: text}.Print(w, asJSON)
}

// A versionInfo says which source this program was built from, and what it speaks.
type versionInfo struct {
	terminal.Build
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
