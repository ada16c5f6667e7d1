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

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/terminal"
)

// answerTimeout is the maximum time for a node to answer.
const answerTimeout = 5 * time.Second

// targetVariables lists the flags that the environment can set.
const targetVariables = "addr ca cert key insecure"

// A target says which nodes a command talks to, and how.
type target struct {
	addr     []string
	tls      cert.Config
	insecure bool
}

// define defines the flags.
func (t *target) define(fs *pflag.FlagSet) {
	t.addr = []string{node.DefaultListen}
	fs.Var(addressesFlag(&t.addr), "addr", "`HOST:PORT` of a node, or several separated by commas; also STILE_ADDR")
	tlsFlags(fs, &t.tls, &t.insecure)
}

// resolve applies the environment and refuses flags that contradict each other.
func (t *target) resolve(c *cobra.Command) error {
	if err := applyEnvironment(c, targetVariables); err != nil {
		return err
	}
	return checkTLSFlags(t.tls, t.insecure)
}

// at returns the target with only one node.
func (t *target) at(address string) *target {
	return &target{addr: []string{address}, tls: t.tls, insecure: t.insecure}
}

// dial connects to one of the nodes as a client of this name. It does not wait for
// a node to start, and only briefly for an answer.
func (t *target) dial(ctx context.Context, name string) (*client.Client, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, errNoAnswer)
	defer cancel()
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	probe := time.AfterFunc(probeDelay, func() { refuse(t.probe(ctx)) })
	defer probe.Stop()
	c, err := client.Dial(ctx, t.config(name))
	var none *noNodeError
	switch {
	case err == nil:
		return c, nil
	case errors.As(context.Cause(ctx), &none):
		return nil, none
	}
	return nil, t.withHint(err)
}

// config returns the configuration of a client of this name.
func (t *target) config(name string) client.Config {
	return client.Config{Name: name, Nodes: t.addr, TLS: t.tls, Insecure: t.insecure}
}

// withHint adds what to do about nodes that cannot be talked to.
func (t *target) withHint(err error) error {
	hint := "if the node uses TLS, give --ca, --cert and --key"
	var refused *client.Refused
	switch {
	case client.TurnedAway(err), client.NeedsTLS(err):
		return err // it says what to do
	case errors.As(err, &refused):
		hint = "run 'stile status' for details"
	case errors.Is(err, syscall.ECONNREFUSED):
		hint = startNode
	case t.tls.CA != "":
		hint = "check that the node uses TLS with certificates from the same authority; its log says more"
	}
	return fmt.Errorf("%w: %s", err, hint)
}

// startNode says what to do if no node is listening.
const startNode = "start one with 'stile serve', or set --addr or STILE_ADDR"

// probeDelay is the time after which dial checks that any node is listening.
const probeDelay = 50 * time.Millisecond

// A noNodeError says that no node is listening.
type noNodeError struct{ addr, why string }

func (a *noNodeError) Error() string {
	return fmt.Sprintf("no node at %s: %s: %s", a.addr, a.why, startNode)
}

// probe returns an error at once if no node is listening at any of the addresses,
// and otherwise waits until the context ends.
func (t *target) probe(ctx context.Context) error {
	err := t.checkListening(ctx)
	if err == nil {
		<-ctx.Done()
	}
	return err
}

// checkListening returns an error if no node is listening at any of the addresses.
func (t *target) checkListening(ctx context.Context) error {
	why := "it is unreachable"
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
			why = "connection refused"
		case errors.As(err, &lookup):
			why = "unknown host"
		}
	}
	return &noNodeError{strings.Join(t.addr, ", "), why}
}

// errNoAnswer is the cause of a timeout.
var errNoAnswer = errors.New("no answer in time")

// query sends a query to a node and decodes the answer, if to is not nil. It returns
// the address of the node that answered. It needs no session, so nodes that are not
// members answer too.
func (t *target) query(ctx context.Context, what uint64, about string, to any) (at string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, errNoAnswer)
	defer cancel()
	b, at, err := client.Query(ctx, t.config(""), what, []byte(about))
	if at != "" {
		return at, decodeAnswer(at, b, err, to)
	}
	if err := t.checkListening(ctx); err != nil {
		return "", err
	}
	return "", t.withHint(fmt.Errorf("cannot talk to the node at %s: %w", strings.Join(t.addr, ", "), err))
}

// decodeAnswer decodes the answer of a node, if to is not nil.
func decodeAnswer(at string, b []byte, err error, to any) error {
	if err != nil {
		return fmt.Errorf("the node at %s: %w", at, err)
	}
	if to == nil {
		return nil
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("cannot read the answer from the node at %s: %w: use the same version of stile on both sides", at, err)
	}
	return nil
}

// clientName is the name of this process as a client that runs what.
func clientName(what string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	what = filepath.Base(what)
	what = strings.ToValidUTF8(what[:min(len(what), 48)], "") // nodes accept 128 bytes of UTF-8 in all
	return fmt.Sprintf("%s@%.64s:%d", what, host, os.Getpid())
}

// checkLockName refuses invalid lock names.
func checkLockName(name string) error {
	switch {
	case strings.TrimSpace(name) == "" || strings.ContainsRune(name, 0):
		return fmt.Errorf("invalid lock name %.60q: give some text, such as orders/42", name)
	case !utf8.ValidString(name):
		return fmt.Errorf("invalid lock name %.60q: it is invalid UTF-8", name)
	case len(name) > member.MaxName:
		return fmt.Errorf("invalid lock name %.60q...: it has %d bytes, at most %d are allowed", name, len(name), member.MaxName)
	}
	return nil
}

// nodeNameFlag takes the name of a node.
func nodeNameFlag(to *string) pflag.Value {
	return terminal.NewFlag(to, "NAME", func(s string) (string, error) {
		if cert.CheckName(s) != nil {
			return "", fmt.Errorf("must be up to 63 letters, digits, dots, hyphens and underscores, start with a letter or digit, and not be %s", cert.CAName)
		}
		return s, nil
	}, func(s string) string { return s })
}

// addressesFlag takes several addresses, as a list or by repeating the flag.
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
		if err := terminal.CheckAddress(one); err != nil {
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

// durationFlag takes a length of real time, in seconds or with a unit.
func durationFlag(to *time.Duration, low, high time.Duration) pflag.Value {
	return terminal.NewFlag(to, "TIME", func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if _, wrong := strconv.ParseFloat(s, 64); wrong == nil && err != nil {
			d, err = time.ParseDuration(s + "s")
		}
		if err != nil || d < low || d > high {
			return 0, fmt.Errorf("must be a time from %v to %v, in seconds or with a unit, such as 5 or 500ms", low, high)
		}
		return d, nil
	}, func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	})
}

// dataDirFlag takes the name of a directory, which is created if it is missing.
func dataDirFlag(to *string) pflag.Value { return dataDir{terminal.DirFlag(to)} }

type dataDir struct{ pflag.Value }

func (f dataDir) Set(s string) error {
	if strings.ContainsRune(s, 0) {
		return fmt.Errorf("must be a directory name")
	}
	return f.Value.Set(s)
}

func (f dataDir) Type() string { return "DIR" }

// Complete implements terminal.CompletingFlag.
func (f dataDir) Complete(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return f.Value.(terminal.CompletingFlag).Complete(c, args, begun)
}

// inputFileFlag takes the name of a file to read.
func inputFileFlag(to *string, what string) pflag.Value {
	return terminal.TextFlag(to, what, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveDefault
	})
}

// tlsFlags defines the flags for TLS.
func tlsFlags(fs *pflag.FlagSet, to *cert.Config, insecure *bool) {
	const what = "the name of a file made by 'stile cert'"
	fs.Var(inputFileFlag(&to.CA, what), "ca", "`FILE` with the authority's certificate, ca.crt; turns on TLS")
	fs.Var(inputFileFlag(&to.Cert, what), "cert", "`FILE` with this process's certificate")
	fs.Var(inputFileFlag(&to.Key, what), "key", "`FILE` with the key of that certificate")
	fs.BoolVar(insecure, "insecure", false, "talk to other machines without TLS; anyone on the network then has full access")
}

// checkTLSFlags refuses incomplete and contradictory TLS flags.
func checkTLSFlags(c cert.Config, insecure bool) error {
	some, all := c.CA+c.Cert+c.Key != "", c.CA != "" && c.Cert != "" && c.Key != ""
	switch {
	case some && !all:
		return fmt.Errorf("--ca, --cert and --key belong together: give all three or none")
	case all && insecure:
		return fmt.Errorf("--insecure turns TLS off, but --ca, --cert and --key turn it on: give one or the other")
	}
	return nil
}
