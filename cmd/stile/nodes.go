package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/live/client"
	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/node"
	"github.com/stile-lock/stile/internal/live/node/cert"
)

// answerTimeout is how long a node may take to answer.
const answerTimeout = 5 * time.Second

// targetVariables are the flags that the environment can set.
const targetVariables = "addr ca cert key insecure"

// A target is which nodes a command talks to, and how.
type target struct {
	addr     []string
	tls      cert.Config
	insecure bool
}

// define defines the flags.
func (t *target) define(fs *pflag.FlagSet) {
	t.addr = []string{node.DefaultListen}
	fs.Var(addressesFlag(&t.addr), "addr", "the `HOST:PORT` of a node, or of several with commas between them; also STILE_ADDR")
	tlsFlags(fs, &t.tls, &t.insecure)
}

// resolve takes what the environment says, and refuses what does not go together.
func (t *target) resolve(c *cobra.Command) error {
	if err := applyEnvironment(c, targetVariables); err != nil {
		return err
	}
	return checkTLSFlags(t.tls, t.insecure)
}

// at returns the same way to talk, to one node.
func (t *target) at(address string) *target {
	return &target{addr: []string{address}, tls: t.tls, insecure: t.insecure}
}

// dial connects to one of the nodes, as a client of this name. It does not wait for
// one that is not there.
func (t *target) dial(ctx context.Context, name string) (*client.Client, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, errNoAnswer)
	defer cancel()
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	knock := time.AfterFunc(probeDelay, func() { refuse(t.probe(ctx)) })
	defer knock.Stop()
	c, err := client.Dial(ctx, client.Config{Name: name, Nodes: t.addr, TLS: t.tls, Insecure: t.insecure})
	var nobody *noNodeError
	switch {
	case err == nil:
		return c, nil
	case errors.As(context.Cause(ctx), &nobody):
		return nil, nobody
	}
	return nil, t.withHint(err)
}

// withHint says what to do about nodes that are there, and cannot be talked to.
func (t *target) withHint(err error) error {
	hint := "does it want TLS? give --ca, --cert and --key"
	var refused *client.Refused
	switch {
	case client.TurnedAway(err):
		return fmt.Errorf("cannot talk to the node at %s: %w", strings.Join(t.addr, ", "), err) // it says what to do
	case errors.As(err, &refused):
		hint = "'stile status' says more"
	case t.tls.CA != "":
		hint = "does it speak TLS, with certificates of the same authority? its log says more"
	}
	return fmt.Errorf("cannot talk to the node at %s: %w: %s", strings.Join(t.addr, ", "), err, hint)
}

// probeDelay is after how long it is looked whether there is anybody to wait for.
const probeDelay = 50 * time.Millisecond

// noNodeError says that nobody is there.
type noNodeError struct{ addr, why string }

func (a *noNodeError) Error() string {
	return fmt.Sprintf("no node at %s: %s: start one with 'stile serve', or say with --addr or STILE_ADDR where one is", a.addr, a.why)
}

// probe waits until the context ends if anybody listens at one of the addresses, and
// says at once if nobody does.
func (t *target) probe(ctx context.Context) error {
	err := t.checkListening(ctx)
	if err == nil {
		<-ctx.Done()
	}
	return err
}

// checkListening says so if nobody listens at any of the addresses.
func (t *target) checkListening(ctx context.Context) error {
	why := "it cannot be reached"
	for _, a := range t.addr {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", a)
		var lookup *net.DNSError
		switch {
		case err == nil:
			c.Close()
			return nil
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, syscall.ECONNREFUSED):
			why = "nobody listens there"
		case errors.As(err, &lookup):
			why = "there is no such host"
		}
	}
	return &noNodeError{strings.Join(t.addr, ", "), why}
}

// errNoAnswer is why nobody waits for a node any longer.
var errNoAnswer = errors.New("it did not answer in time")

// query asks a node something, and reads its answer, if to is not nil. It needs no
// session, so that also a node answers that is no member at present, and returns the
// address of the one that has.
func (t *target) query(ctx context.Context, what uint64, about string, to any) (at string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, errNoAnswer)
	defer cancel()
	b, at, err := client.Query(ctx, client.Config{Nodes: t.addr, TLS: t.tls, Insecure: t.insecure}, what, []byte(about))
	if at != "" {
		return at, decodeAnswer(at, b, err, to)
	}
	if nobody := t.checkListening(ctx); nobody != nil {
		return "", nobody
	}
	return "", t.withHint(err)
}

// decodeAnswer reads what a node has answered, if to is not nil.
func decodeAnswer(at string, b []byte, err error, to any) error {
	if err != nil {
		return fmt.Errorf("the node at %s: %w", at, err)
	}
	if to == nil {
		return nil
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("the node at %s answers what cannot be read: %w: use the same version of stile on both sides", at, err)
	}
	return nil
}

// clientName is what a process that does this calls itself.
func clientName(what string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%.80s@%s:%d", filepath.Base(what), host, os.Getpid())
}

// checkLockName refuses what no lock can be called.
func checkLockName(name string) error {
	switch {
	case strings.TrimSpace(name) == "" || strings.ContainsRune(name, 0) || !utf8.ValidString(name):
		return fmt.Errorf("a lock cannot be called %.60q: want some text, such as orders/42", name)
	case len(name) > member.MaxName:
		return fmt.Errorf("a lock cannot be called %.60q...: the name has %d bytes, want at most %d", name, len(name), member.MaxName)
	}
	return nil
}

// nodeNameFlag is what a node is called.
func nodeNameFlag(to *string) pflag.Value {
	return newFlag(to, "NAME", func(s string) (string, error) {
		if cert.CheckName(s) != nil {
			return "", fmt.Errorf("want up to 63 letters, digits, dots, hyphens and underscores, a letter or digit first, and not %s", cert.CAName)
		}
		return s, nil
	}, func(s string) string { return s })
}

// checkAddress refuses what is no host and port.
func checkAddress(s string) error {
	host, port, err := net.SplitHostPort(s)
	n, wrong := strconv.ParseUint(port, 10, 16)
	if err != nil || wrong != nil || n > 65535 || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == ',' }) {
		return fmt.Errorf("want HOST:PORT, such as 127.0.0.1:7420")
	}
	return nil
}

// addressFlag is a host and a port.
func addressFlag(to *string) pflag.Value {
	return newFlag(to, "HOST:PORT", func(s string) (string, error) { return s, checkAddress(s) }, func(s string) string { return s })
}

// addressesFlag is some of them, in a list or by giving the flag again.
func addressesFlag(to *[]string) pflag.Value {
	return &addressList{to: to}
}

type addressList struct {
	to    *[]string
	given bool
}

func (a *addressList) Set(s string) error {
	var all []string
	for one := range strings.SplitSeq(s, ",") {
		if err := checkAddress(one); err != nil {
			return err
		}
		all = append(all, one)
	}
	if a.given {
		all = append(slices.Clone(*a.to), all...)
	}
	*a.to, a.given = all, true
	return nil
}

func (a *addressList) String() string {
	if a.to == nil {
		return ""
	}
	return strings.Join(*a.to, ",")
}

func (a *addressList) Type() string { return "HOST:PORT" }

// durationFlag is a length of real time, with a unit or in seconds.
func durationFlag(to *time.Duration, low, high time.Duration) pflag.Value {
	return newFlag(to, "TIME", func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if _, wrong := strconv.ParseFloat(s, 64); wrong == nil && err != nil {
			d, err = time.ParseDuration(s + "s")
		}
		if err != nil || d < low || d > high {
			return 0, fmt.Errorf("want a time from %v to %v, in seconds or with a unit, such as 5 or 500ms", low, high)
		}
		return d, nil
	}, func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	})
}

// dataDirFlag is the name of a directory that is made if it is not there.
func dataDirFlag(to *string) pflag.Value { return dataDir{dirFlag(to)} }

type dataDir struct{ pflag.Value }

func (f dataDir) Set(s string) error {
	if strings.ContainsRune(s, 0) {
		return fmt.Errorf("want the name of a directory")
	}
	return f.Value.Set(s)
}

func (f dataDir) Type() string { return "DIR" }

// complete implements Typed.
func (f dataDir) complete(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return f.Value.(completingFlag).complete(c, args, begun)
}

// inputFileFlag is the name of a file that is to be read.
func inputFileFlag(to *string, want string) pflag.Value {
	return textFlag(to, want, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveDefault
	})
}

// tlsFlags defines the flags for TLS.
func tlsFlags(fs *pflag.FlagSet, to *cert.Config, insecure *bool) {
	const want = "the name of a file that 'stile cert' has made"
	fs.Var(inputFileFlag(&to.CA, want), "ca", "the `FILE` with the authority's certificate, ca.crt: talk over TLS")
	fs.Var(inputFileFlag(&to.Cert, want), "cert", "the `FILE` with the own certificate")
	fs.Var(inputFileFlag(&to.Key, want), "key", "the `FILE` with its key")
	fs.BoolVar(insecure, "insecure", false, "talk to other machines without TLS: whoever is on the network can then do anything")
}

// checkTLSFlags refuses a part of what TLS needs, and both with and without it.
func checkTLSFlags(c cert.Config, insecure bool) error {
	some, all := c.CA+c.Cert+c.Key != "", c.CA != "" && c.Cert != "" && c.Key != ""
	switch {
	case some && !all:
		return fmt.Errorf("--ca, --cert and --key belong together: give all three, or none")
	case all && insecure:
		return fmt.Errorf("--insecure is for talking without TLS, and --ca for talking over it: leave one of them out")
	}
	return nil
}
