package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/replay"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/internal/calls"
	"github.com/stile-lock/stile/lab/internal/document"
	"github.com/stile-lock/stile/lab/web"
)

// labFlags holds the flags of a command that opens the lab.
type labFlags struct {
	listen    string
	noBrowser bool
	insecure  bool
	embed     []string
}

func newLabFlags() *labFlags { return &labFlags{listen: "127.0.0.1:7422"} }

// define defines the flags.
func (f *labFlags) define(fs *pflag.FlagSet) {
	fs.SortFlags = false
	fs.Var(terminal.AddressFlag(&f.listen), "listen", "`HOST:PORT` to listen on; port 0 is any free port")
	fs.BoolVar(&f.noBrowser, "no-browser", false, "print the address of the page, and do not open it")
	fs.BoolVar(&f.insecure, "insecure", false, "let other machines open the page, without TLS; anyone on the network can then make this machine compute")
	fs.StringArrayVar(&f.embed, "embed", nil, "`ORIGIN` whose pages may show the lab in a frame, such as https://example.com; may be repeated")
}

func newOpen() *cobra.Command {
	f := newLabFlags()
	c := &cobra.Command{
		Use:   "open FILE [flags]",
		Short: "Show a scenario or the recording of a lock in the browser",
		Long: `Opens the lab in the browser with a .stile file: a scenario, or the recording of a
lock that a node's console has downloaded. The page shows it step by step, with
the state of each process and why it waits. Each click adds a line to the
scenario, which can be edited beside the diagram; 'stile-lab replay' runs the same
text. The page also explores every interleaving and compares algorithms.

The lab never writes to the file: export your changes from the page. It runs until
Ctrl-C. Only this machine can open the page, unless --insecure is given. Without a
file, 'stile-lab' opens the lab with a gallery.`,
		Example: `  stile-lab open lab/scenarios/raymond-a.stile
  stile-lab open door.stile --no-browser --listen 127.0.0.1:0`,
		Args: terminal.OneArg("a scenario file: lab/scenarios/ holds examples", "file", "open them one at a time"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },

		ValidArgsFunction: cobra.FixedCompletions([]string{"stile"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	f.define(c.Flags())
	return c
}

// run serves the lab, with a file unless the path is empty.
func (f *labFlags) run(c *cobra.Command, path string) error {
	lab := &calls.Calls{}
	if path != "" {
		var err error
		if lab.Start, err = readScenarioText(path); err != nil {
			return err
		}
	}
	if err := f.allowed(); err != nil {
		return err
	}
	for _, origin := range f.embed {
		if err := web.CheckOrigin(origin); err != nil {
			return fmt.Errorf("--embed %w", err)
		}
	}
	return f.serve(c, lab)
}

// readScenarioText returns the text of a file. The page reports errors in the text.
func readScenarioText(path string) (string, error) {
	fail := func(why error) (string, error) {
		return "", fmt.Errorf("cannot open scenario %q: %w: give an existing .stile file", path, why)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fail(errors.New("it is a directory"))
	}
	f, err := os.Open(path)
	if err != nil {
		return fail(terminal.FileReason(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, document.MaxText+1))
	switch {
	case err != nil:
		return fail(terminal.FileReason(err))
	case bytes.HasPrefix(text, []byte(replay.Magic)):
		return "", fmt.Errorf("%q is the recording of a node, not of a lock: 'stile-lab replay' replays it", path)
	case len(text) > document.MaxText:
		return "", fmt.Errorf("scenario %q has more than %s bytes, too many for the page: run it with 'stile-lab replay'", path, words.Grouped(document.MaxText))
	}
	return string(text), nil
}

// allowed refuses addresses that other machines can reach, without --insecure.
func (f *labFlags) allowed() error {
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return fmt.Errorf("--listen %q: must be HOST:PORT, such as 127.0.0.1:7422", f.listen)
	}
	ip, err := netip.ParseAddr(host)
	if f.insecure || host == "localhost" || err == nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("--listen %q: other machines could open the lab there and make this one compute: listen on 127.0.0.1, or give --insecure", f.listen)
}

// Timeouts of the server: to read a request, between requests, to write a response,
// and on shutdown for responses in flight.
const (
	readTime     = 30 * time.Second
	idleTime     = 2 * time.Minute
	writeTime    = calls.LongTime + 2*time.Minute
	shutdownTime = 2 * time.Second
)

// serve serves the page until the context ends or a signal arrives.
func (f *labFlags) serve(c *cobra.Command, lab web.Caller) error {
	ctx, release := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer release()
	l, err := net.Listen("tcp", f.listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("--listen %q: address in use, perhaps by another lab: open that one, or give another port, such as 127.0.0.1:0 for any free one", f.listen)
	case err != nil:
		return fmt.Errorf("--listen %q: cannot listen: %w: give an address of this machine and another port", f.listen, listenReason(err))
	}
	server := &http.Server{
		Handler:           web.HandlerOf(web.Bundle, lab, web.Options{Names: labHosts(f.insecure), Frames: f.embed}),
		ReadHeaderTimeout: readTime, ReadTimeout: readTime, IdleTimeout: idleTime, WriteTimeout: writeTime, MaxHeaderBytes: 1 << 16,
		BaseContext: func(net.Listener) context.Context { return ctx }, // so that checks end with the server
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	url := labURL(l.Addr())
	fmt.Fprintf(c.OutOrStdout(), "the lab is at %s\npress Ctrl-C to stop\n", url)
	if err := terminal.Flush(c.OutOrStdout()); err != nil {
		return errors.Join(fmt.Errorf("cannot print the address of the lab: %w", err), server.Close())
	}
	if !f.noBrowser {
		if err := openBrowser(ctx, url); err != nil {
			terminal.Notify(c.ErrOrStderr(), "stile-lab", "cannot open a browser: %v: open %s yourself", err, url)
		}
	}
	select {
	case err := <-ended:
		return fmt.Errorf("the lab stopped: %w", err)
	case <-ctx.Done():
	}
	release() // a second signal ends the process at once
	last, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if server.Shutdown(last) != nil {
		return server.Close()
	}
	return nil
}

// listenReason returns the cause of a network error without the address.
func listenReason(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		return call.Err
	}
	return err
}

// labHosts lists the host names of the page besides localhost and IP addresses.
func labHosts(insecure bool) []string {
	host, err := os.Hostname()
	if !insecure || err != nil {
		return nil
	}
	return []string{strings.ToLower(host)}
}

// labURL returns the URL to open in a browser on this machine.
func labURL(at net.Addr) string {
	tcp, ok := at.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return "http://" + at.String() + "/"
	}
	return fmt.Sprintf("http://localhost:%d/", tcp.Port)
}

// openBrowser opens the page in the default browser.
func openBrowser(ctx context.Context, url string) error {
	name := "xdg-open"
	if runtime.GOOS == "darwin" {
		name = "open"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("%s not found", name)
	}
	c := exec.Command(path, url)
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select { // the command may run as long as the browser
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	case <-time.After(3 * time.Second):
	case <-ctx.Done():
	}
	return nil
}
