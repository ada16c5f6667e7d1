package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/world/calls"
	"github.com/stile-lock/stile/web"
)

// How long the server waits: for a request, between two, until an answer is taken,
// and at the end for answers that are under way.
const (
	readTime  = 30 * time.Second
	idleTime  = 2 * time.Minute
	writeTime = calls.LongTime + 2*time.Minute
	lastTime  = 2 * time.Second
)

// serve serves the page until the context ends or a signal comes.
func (f *labFlags) serve(c *cobra.Command, lab web.Caller) error {
	ctx, release := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer release()
	l, err := net.Listen("tcp", f.listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("--listen %q: that is in use, perhaps by another lab: open it, or give another port, such as 127.0.0.1:0 for any that is free", f.listen)
	case err != nil:
		return fmt.Errorf("--listen %q: cannot listen there: %w: give an address of this machine and another port", f.listen, cause(err))
	}
	server := &http.Server{
		Handler:           web.Handler(lab, labNames(f.insecure)...),
		ReadHeaderTimeout: readTime, ReadTimeout: readTime, IdleTimeout: idleTime, WriteTimeout: writeTime, MaxHeaderBytes: 1 << 16,
		BaseContext: func(net.Listener) context.Context { return ctx }, // so that checks end with it
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	url := labAddress(l.Addr())
	fmt.Fprintf(c.OutOrStdout(), "the lab is at %s\nCtrl-C ends it\n", url)
	if err := Flush(c.OutOrStdout()); err != nil {
		return errors.Join(fmt.Errorf("cannot say where the lab is: %w", err), server.Close())
	}
	if f.open {
		if err := browse(ctx, url); err != nil {
			fmt.Fprintf(c.ErrOrStderr(), "stile: cannot open a browser: %v: open %s yourself\n", err, url)
		}
	}
	select {
	case err := <-ended:
		return fmt.Errorf("the lab has ended: %w", err)
	case <-ctx.Done():
	}
	release() // a second signal ends it at once
	last, cancel := context.WithTimeout(context.Background(), lastTime)
	defer cancel()
	if server.Shutdown(last) != nil {
		return server.Close()
	}
	return nil
}

// cause leaves out of an error what was tried, which is said already.
func cause(err error) error {
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

// labNames are by which the page may be opened besides localhost and IP addresses.
func labNames(insecure bool) []string {
	host, err := os.Hostname()
	if !insecure || err != nil {
		return nil
	}
	return []string{strings.ToLower(host)}
}

// labAddress is what to open: of all addresses of this machine, the one that leads
// here.
func labAddress(at net.Addr) string {
	tcp, ok := at.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return "http://" + at.String() + "/"
	}
	return fmt.Sprintf("http://localhost:%d/", tcp.Port)
}

// browse opens the page in the browser of this system.
func browse(ctx context.Context, url string) error {
	name := "xdg-open"
	if runtime.GOOS == "darwin" {
		name = "open"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("there is no %s", name)
	}
	c := exec.Command(path, url)
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select { // it may go on as long as the browser does
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	case <-time.After(3 * time.Second):
	case <-ctx.Done():
	}
	return nil
}
