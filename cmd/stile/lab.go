package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/internal/world/calls"
	"github.com/stile-lock/stile/internal/world/document"
)

// labFlags is what 'stile lab' can be told.
type labFlags struct {
	listen   string
	open     bool
	insecure bool
}

// labNew returns the command.
func labNew() *cobra.Command {
	f := &labFlags{listen: "127.0.0.1:7421"}
	c := &cobra.Command{
		Use:   "lab [FILE] [flags]",
		Short: "Watch, drive and break algorithms on a page in the browser",
		Long: `Serves the lab, until Ctrl-C: a page that runs a scenario and shows it step by
step, with the state of each process and why it waits. What is clicked there is
a line of the scenario, which can be edited beside the picture; 'stile replay'
runs the same text. The page also tries every interleaving, and compares
algorithms.

With FILE, a .stile file, the page opens that one, and without it a gallery. The
file is not written to: the page exports what was made of it.

Only this machine can open the page, unless --insecure says otherwise.`,
		Example: `  stile lab
  stile lab --open scenarios/raymond-a.stile
  stile lab --listen 127.0.0.1:0`,
		Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },

		ValidArgsFunction: cobra.FixedCompletions([]string{"stile"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(Address(&f.listen), "listen", "the `HOST:PORT` of the page; port 0 is any that is free")
	fs.BoolVar(&f.open, "open", false, "open the page in the browser")
	fs.BoolVar(&f.insecure, "insecure", false, "let other machines open it, without TLS: whoever is on the network can make this one compute")
	return c
}

func atMostOne(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return One("a scenario file", "file", "open them one by one")(c, args)
}

func (f *labFlags) run(c *cobra.Command, args []string) error {
	lab := &calls.Calls{}
	if len(args) > 0 {
		var err error
		if lab.Start, err = labRead(args[0]); err != nil {
			return err
		}
	}
	if err := f.allowed(); err != nil {
		return err
	}
	return f.serve(c, lab)
}

// labRead returns the text of a file. What is wrong with the text the page says, and
// where.
func labRead(path string) (string, error) {
	fail := func(why error) (string, error) {
		return "", fmt.Errorf("cannot open the scenario %q: %w: give a .stile file that exists", path, why)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fail(errors.New("it is a directory"))
	}
	f, err := os.Open(path)
	if err != nil {
		return fail(Reason(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, document.MaxText+1))
	switch {
	case err != nil:
		return fail(Reason(err))
	case len(text) > document.MaxText:
		return "", fmt.Errorf("the scenario %q has more than %s bytes, which is too much for a page: run it by 'stile replay'", path, words.Grouped(document.MaxText))
	}
	return string(text), nil
}

// allowed refuses to let other machines in if nobody has said so.
func (f *labFlags) allowed() error {
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return fmt.Errorf("--listen %q: want HOST:PORT, such as 127.0.0.1:7421", f.listen)
	}
	ip, err := netip.ParseAddr(host)
	if f.insecure || host == "localhost" || err == nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("--listen %q: other machines could open the lab there, and make this one compute: listen at 127.0.0.1, or give --insecure", f.listen)
}
