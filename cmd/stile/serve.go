package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/live/node"
	"github.com/stile-lock/stile/internal/live/node/cert"
)

// maxServedNodes is how many can be in one process.
const maxServedNodes = 9

// serveSettings are the flags that the environment and a file can set.
const serveSettings = "name listen advertise join data memory lease voters algorithm nodes max-clients drain record record-limit ca cert key insecure log log-level"

// serveFlags is what 'stile serve' can be told.
type serveFlags struct {
	config    string
	name      string
	listen    string
	advertise string
	join      []string
	data      string
	memory    bool
	lease     time.Duration
	voters    string
	algorithm string
	nodes     int
	clients   int
	drain     time.Duration
	tls       cert.Config
	insecure  bool
	record    string
	limit     int64
	log       string
	level     string
}

// newServe returns the command.
func newServe() *cobra.Command {
	f := &serveFlags{listen: node.DefaultListen, lease: 10 * time.Second, voters: "3", nodes: 1, clients: node.DefaultClients, drain: -1, limit: node.DefaultRecord, log: "text", level: "info"}
	c := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Run a node of a cluster",
		Long: `Runs a node until it is told to end, by Ctrl-C, TERM or 'stile leave'. It founds a
cluster, joins one with --join, or takes up the one in its folder; a second and a
third one make it bear the death of any of them. All that a node says and hears goes through one address.

What must outlive the process is kept in a folder: the views that were agreed on,
so that tokens never go back, and where the other nodes are. Without --data that
is $XDG_STATE_HOME/stile/NAME, or ~/.local/state/stile/NAME. With --memory nothing
is kept: such a node counts tokens from the time of the clock, and if most of a
cluster of such nodes are gone at once the cluster is.

On Ctrl-C or TERM it takes nothing new, gives nobody more time who holds a lock
through it, which ends within a lease, and then leaves the cluster. A second signal
ends it at once.

What flags say can also be said by the environment, such as STILE_LISTEN for
--listen, and by a TOML file with the flags' names as keys, such as
listen = "10.0.0.5:7420". Flags go before the environment, and that before the
file.`,
		Example: `  stile serve
  stile serve --name b --listen 127.0.0.1:7430 --join 127.0.0.1:7420
  stile serve --nodes 3
  stile serve --config /etc/stile.toml`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.define(c)
	return c
}

func (f *serveFlags) define(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(nodeNameFlag(&f.name), "name", "what the node is called, which no other of the cluster is (default the name of the host)")
	fs.Var(addressFlag(&f.listen), "listen", "the `HOST:PORT` for other nodes and clients; port 0 is any that is free")
	fs.Var(addressFlag(&f.advertise), "advertise", "the `HOST:PORT` at which others find it, if that is another one")
	fs.Var(addressesFlag(&f.join), "join", "the `HOST:PORT` of a node of the cluster to join; may be given again")
	fs.Var(dataDirFlag(&f.data), "data", "the `DIR` for what must outlive the process (default one below ~/.local/state/stile)")
	fs.BoolVar(&f.memory, "memory", false, "keep nothing on the disk")
	fs.Var(durationFlag(&f.lease, 100*time.Millisecond, time.Hour), "lease", "how long a node may be out of reach before its locks are lost, of who founds a cluster")
	fs.Var(choiceFlag(&f.voters, "1", "3", "5"), "voters", "how many nodes keep the views, `N` of 1, 3 or 5, of who founds a cluster")
	fs.Var(choiceFlag(&f.algorithm, serveLive()...), "algorithm", "the algorithm `NAME` that passes locks on, of who founds a cluster (default "+serveLive()[0]+")")
	fs.Var(countFlag(&f.nodes, 1, maxServedNodes), "nodes", "how many nodes to run in this process, to try it out; in memory unless --data is given")
	fs.Var(countFlag(&f.clients, 1, 1_000_000), "max-clients", "how many clients may be connected at once; fewer if the system allows fewer open files")
	fs.Var(durationFlag(&f.drain, 0, time.Hour), "drain", "how long it waits at most for those who hold locks when it is told to end (default a lease and 2s)")
	hideDefaults(fs, "drain")
	fs.Var(outputFileFlag(&f.record, ".rec"), "record", "write all that comes to the node to this new `FILE`, for 'stile replay'; it has names of locks and secrets of clients in it")
	fs.Var(sizeFlag(&f.limit), "record-limit", "end the recording when it is so long; the node goes on")
	tlsFlags(fs, &f.tls, &f.insecure)
	fs.Var(outputFileFlag(&f.config, ".toml"), "config", "read settings from this `FILE`; also STILE_CONFIG")
	fs.Var(choiceFlag(&f.log, "text", "json"), "log", "`HOW` to log on standard error: text or json")
	fs.Var(choiceFlag(&f.level, "debug", "info", "warn", "error"), "log-level", "the `LEVEL` from which on things are logged: debug, info, warn or error")
}

// serveLive names the algorithms that run live.
func serveLive() []string {
	var names []string
	for _, s := range catalog.Live() {
		names = append(names, s.Name)
	}
	return names
}

// settle takes what the environment and the file say, and refuses what does not go
// together.
func (f *serveFlags) settle(c *cobra.Command) error {
	if err := applyEnvironment(c, serveSettings+" config"); err != nil {
		return err
	}
	if f.config != "" {
		if err := applyConfigFile(c, "config", f.config, serveSettings); err != nil {
			return err
		}
	}
	if f.name == "" {
		host, err := os.Hostname()
		if err != nil || cert.CheckName(host) != nil {
			return fmt.Errorf("a node needs a name, and the host's, %q, cannot be one: give --name", host)
		}
		f.name = host
	}
	set := func(flag string) bool { return c.Flags().Changed(flag) }
	switch {
	case f.memory && f.data != "":
		return errors.New("--memory keeps nothing, and --data says where to keep it: give one of them")
	case f.nodes > 1 && (set("join") || set("advertise")):
		return errors.New("--nodes runs a whole cluster to try it out, which joins no other: leave --join and --advertise out")
	case f.nodes > 1 && f.record != "":
		return errors.New("--record is of one node, and --nodes runs several: run the one to be recorded in a process of its own")
	case f.record == "" && set("record-limit"):
		return errors.New("--record-limit is for --record: say with that where to record to, or leave it out")
	case len(f.join) > 0 && (set("lease") || set("voters") || set("algorithm")):
		return errors.New("--lease, --voters and --algorithm are for who founds a cluster: leave them out with --join")
	}
	if f.record != "" {
		if err := checkNewFile("record", f.record); err != nil {
			return err
		}
	}
	return checkTLSFlags(f.tls, f.insecure)
}

// configs says how to start each node. The first one founds the cluster, or joins
// another one, and the others join it.
func (f *serveFlags) configs(log *slog.Logger) ([]node.Config, error) {
	voters, err := strconv.Atoi(f.voters)
	if err != nil {
		return nil, err
	}
	var all []node.Config
	for i := range f.nodes {
		c := node.Config{
			Name: f.name, Advertise: f.advertise, Join: f.join, Voters: voters, Lease: f.lease, Algorithm: f.algorithm,
			TLS: f.tls, Insecure: f.insecure, Clients: f.clients, Log: log,
			Record: node.Record{File: f.record, Bytes: f.limit, By: buildVersion().String()},
		}
		if f.nodes > 1 {
			c.Name = fmt.Sprintf("%s-%d", f.name, i+1)
			c.Log = log.With("node", c.Name)
		}
		if c.Listen, err = nthAddress(f.listen, i); err != nil {
			return nil, err
		}
		if c.Data, err = f.folder(c.Name); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// dataPlace says where what a node keeps is.
func dataPlace(data string) string { return cmp.Or(data, "memory") }

// joinWarningAfter is after how long somebody is told why a node is no member yet.
const joinWarningAfter = 3 * time.Second

// A servedNodes is the nodes that run in this one.
type servedNodes struct {
	nodes []*node.Node
	log   *slog.Logger
	drain time.Duration
}

func (f *serveFlags) run(c *cobra.Command) error {
	if err := f.settle(c); err != nil {
		return err
	}
	log := newLogger(c.ErrOrStderr(), f.log, f.level)
	configs, err := f.configs(log)
	if err != nil {
		return err
	}
	ctx, release := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer release()
	p := &servedNodes{log: log, drain: f.drain}
	defer p.kill()
	for _, one := range configs {
		if err := p.start(ctx, one); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return p.stop(release)
		}
	}
	if err := p.printAddresses(c, configs); err != nil {
		return err
	}
	for _, n := range p.nodes {
		select {
		case <-n.Done():
		case <-ctx.Done():
			return p.stop(release)
		}
	}
	return p.endedError()
}

// start starts a node, and waits until it is a member, or the context ends. The
// others join the first one.
func (p *servedNodes) start(ctx context.Context, c node.Config) error {
	if len(p.nodes) > 0 {
		c.Join = []string{p.nodes[0].Address()}
	}
	n, err := node.Start(c)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is in use: a node may run there already ('stile status' asks it); say with --listen where else to listen, such as 127.0.0.1:7430", c.Listen)
	}
	if err != nil {
		return fmt.Errorf("cannot start node %s: %w", c.Name, err)
	}
	p.nodes = append(p.nodes, n)
	hint := time.AfterFunc(joinWarningAfter, func() {
		p.log.Warn("is no member yet, and goes on trying", "name", c.Name, "join", c.Join, "why", joinReason(n))
	})
	defer hint.Stop()
	if err := n.Ready(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("node %s: %w", c.Name, err)
	}
	return nil
}

// joinReason says why a node is no member yet.
func joinReason(n *node.Node) string {
	s := n.Status()
	switch {
	case s.Why != "":
		return s.Why
	case len(s.Members) > 0:
		return "it does not hear of most voters: start the other nodes"
	}
	return "nobody has let it in yet"
}

// printAddresses says where the nodes are, and what can be done with them.
func (p *servedNodes) printAddresses(c *cobra.Command, configs []node.Config) error {
	w := c.OutOrStdout()
	for i, n := range p.nodes {
		fmt.Fprintf(w, "node %s serves at %s, data in %s\n", n.Name(), n.Address(), dataPlace(configs[i].Data))
	}
	where := ""
	if a := p.nodes[0].Address(); a != node.DefaultListen {
		where = "--addr " + a + " "
	}
	fmt.Fprintf(w, "try it: stile exec %sdemo -- sh -c 'echo $STILE_TOKEN'\n", where)
	if err := flush(w); err != nil {
		return fmt.Errorf("cannot say where the node is: %w", err)
	}
	return nil
}

// stop ends all nodes in good order, the last one first. A signal during that ends
// the process at once.
func (p *servedNodes) stop(release func()) error {
	release()
	drain := p.drain
	if drain < 0 { // sessions end within a lease when they are prolonged no more
		drain = time.Duration(p.nodes[0].Status().Lease*float64(time.Second)) + 2*time.Second
	}
	p.log.Info("stops: it takes nothing new, and leaves when nobody holds a lock through it", "drain", drain)
	ctx, cancel := context.WithTimeoutCause(context.Background(), drain, fmt.Errorf("somebody still holds a lock through it after %v, or the others do not answer", drain))
	defer cancel()
	var f findings
	for i := len(p.nodes) - 1; i >= 0; i-- {
		if err := p.nodes[i].Stop(ctx); err != nil {
			f.lines = append(f.lines, fmt.Sprintf("node %s could not leave in good order: %v; what it held is free when its lease is over", p.nodes[i].Name(), err))
		}
	}
	if len(f.lines) > 0 {
		return f
	}
	return nil
}

// endedError says how nodes have ended that nobody has stopped here.
func (p *servedNodes) endedError() error {
	var f findings
	for _, n := range p.nodes {
		if err := n.Err(); err != node.ErrEnded { // which is part of all others
			f.lines = append(f.lines, fmt.Sprintf("node %s: %v", n.Name(), err))
		}
	}
	if len(f.lines) > 0 {
		return f
	}
	return nil
}

// kill frees what nodes have that were not stopped.
func (p *servedNodes) kill() {
	for _, n := range p.nodes {
		n.Kill()
	}
}

// nthAddress returns the address of a node of several in one process: the ports follow each
// other, so that they are the same the next time.
func nthAddress(listen string, i int) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	n, wrong := strconv.Atoi(port)
	switch {
	case err != nil || wrong != nil:
		return "", fmt.Errorf("--listen %q: want HOST:PORT", listen)
	case n == 0:
		return listen, nil
	case n+i > 65535:
		return "", fmt.Errorf("--listen %q: there are not enough ports above it: give a lower one", listen)
	}
	return net.JoinHostPort(host, strconv.Itoa(n+i)), nil
}

// folder returns where a node keeps what must outlive it, or nothing if that is
// memory. What is above it is made.
func (f *serveFlags) folder(name string) (string, error) {
	switch {
	case f.memory, f.nodes > 1 && f.data == "":
		return "", nil
	case f.nodes > 1:
		return filepath.Join(f.data, name), os.MkdirAll(f.data, 0o700)
	case f.data != "":
		return f.data, nil
	}
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) { // as that standard wants it
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("there is no place for what must outlive the node, since there is no home folder: give --data, or --memory")
		}
		state = filepath.Join(home, ".local", "state")
	}
	dir := filepath.Join(state, "stile")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot make %s for what must outlive the node: %w: give --data, or --memory", dir, err)
	}
	return filepath.Join(dir, name), nil
}
