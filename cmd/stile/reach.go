package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/live/client"
	"github.com/stile-lock/stile/internal/live/node"
	"github.com/stile-lock/stile/internal/live/node/cert"
)

// Patience is how long a node may take to answer.
const Patience = 5 * time.Second

// variables are the flags that the environment can set.
const variables = "addr ca cert key insecure"

// A Target is which nodes a command talks to, and how.
type Target struct {
	Addr     []string
	TLS      cert.Config
	Insecure bool
}

// Define defines the flags.
func (t *Target) Define(fs *pflag.FlagSet) {
	t.Addr = []string{node.DefaultListen}
	fs.Var(Addresses(&t.Addr), "addr", "the `HOST:PORT` of a node, or of several with commas between them; also STILE_ADDR")
	Certificates(fs, &t.TLS, &t.Insecure)
}

// Settle takes what the environment says, and refuses what does not go together.
func (t *Target) Settle(c *cobra.Command) error {
	if err := Environment(c, variables); err != nil {
		return err
	}
	return CheckCertificates(t.TLS, t.Insecure)
}

// At returns the same way to talk, to one node.
func (t *Target) At(address string) *Target {
	return &Target{Addr: []string{address}, TLS: t.TLS, Insecure: t.Insecure}
}

// Dial connects to one of the nodes, as a client of this name. It does not wait for
// one that is not there.
func (t *Target) Dial(ctx context.Context, name string) (*client.Client, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Patience, errLate)
	defer cancel()
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	knock := time.AfterFunc(hurry, func() { refuse(t.knock(ctx)) })
	defer knock.Stop()
	c, err := client.Dial(ctx, client.Config{Name: name, Nodes: t.Addr, TLS: t.TLS, Insecure: t.Insecure})
	var nobody *absent
	switch {
	case err == nil:
		return c, nil
	case errors.As(context.Cause(ctx), &nobody):
		return nil, nobody
	}
	return nil, t.hinted(err)
}

// hinted says what to do about nodes that are there, and cannot be talked to.
func (t *Target) hinted(err error) error {
	hint := "does it want TLS? give --ca, --cert and --key"
	var refused *client.Refused
	switch {
	case client.TurnedAway(err):
		return fmt.Errorf("cannot talk to the node at %s: %w", strings.Join(t.Addr, ", "), err) // it says what to do
	case errors.As(err, &refused):
		hint = "'stile status' says more"
	case t.TLS.CA != "":
		hint = "does it speak TLS, with certificates of the same authority? its log says more"
	}
	return fmt.Errorf("cannot talk to the node at %s: %w: %s", strings.Join(t.Addr, ", "), err, hint)
}

// hurry is after how long it is looked whether there is anybody to wait for.
const hurry = 50 * time.Millisecond

// absent says that nobody is there.
type absent struct{ addr, why string }

func (a *absent) Error() string {
	return fmt.Sprintf("no node at %s: %s: start one with 'stile serve', or say with --addr or STILE_ADDR where one is", a.addr, a.why)
}

// knock waits until the context ends if anybody listens at one of the addresses, and
// says at once if nobody does.
func (t *Target) knock(ctx context.Context) error {
	err := t.listens(ctx)
	if err == nil {
		<-ctx.Done()
	}
	return err
}

// listens says so if nobody listens at any of the addresses.
func (t *Target) listens(ctx context.Context) error {
	why := "it cannot be reached"
	for _, a := range t.Addr {
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
	return &absent{strings.Join(t.Addr, ", "), why}
}

// errLate is why nobody waits for a node any longer.
var errLate = errors.New("it did not answer in time")

// Query asks a node something, and reads its answer, if to is not nil. It needs no
// session, so that also a node answers that is no member at present, and returns the
// address of the one that has.
func (t *Target) Query(ctx context.Context, what uint64, about string, to any) (at string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Patience, errLate)
	defer cancel()
	b, at, err := client.Query(ctx, client.Config{Nodes: t.Addr, TLS: t.TLS, Insecure: t.Insecure}, what, []byte(about))
	if at != "" {
		return at, answered(at, b, err, to)
	}
	if nobody := t.listens(ctx); nobody != nil {
		return "", nobody
	}
	return "", t.hinted(err)
}

// answered reads what a node has answered, if to is not nil.
func answered(at string, b []byte, err error, to any) error {
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

// Self is what a process that does this calls itself.
func Self(what string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%.80s@%s:%d", filepath.Base(what), host, os.Getpid())
}
