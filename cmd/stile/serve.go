package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/gateway"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
)

// maxServedNodes is the maximum of --nodes.
const maxServedNodes = 9

// serveSettings lists the flags that the environment and a file can set.
const serveSettings = "name listen http health pprof advertise join founder data memory lease voters algorithm replace-after ephemeral nodes max-clients drain record record-limit ca cert key insecure rights revoked tokens require-uri jwks jwt-issuer jwt-audience audit log log-level"

// serveFlags holds the flags of 'stile serve'.
type serveFlags struct {
	config    string
	name      string
	listen    string
	http      string
	health    string
	profiles  bool
	advertise string
	join      []string
	founder   string
	data      string
	memory    bool
	lease     time.Duration
	voters    string
	algorithm string
	replace   time.Duration
	ephemeral bool
	nodes     int
	clients   int
	drain     time.Duration
	tls       cert.Config
	insecure  bool
	rights    string
	revoked   string
	tokens    string
	uri       bool
	jwks      string
	issuer    rights.Issuer
	audit     string
	record    string
	limit     int64
	log       string
	level     string
}

func newServe() *cobra.Command {
	f := &serveFlags{listen: node.DefaultListen, lease: 10 * time.Second, voters: "3", replace: 10 * time.Minute, nodes: 1, clients: node.DefaultClients, drain: -1, limit: node.DefaultRecord, log: "text", level: "info"}
	c := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Run a node of a cluster",
		Long: `Runs a node until Ctrl-C, TERM or 'stile leave'. The node founds a cluster,
joins one with --join, or returns to the one in its data directory. With --join
it never founds one, and refuses a data directory of a different cluster.
If all nodes must have the same settings, --founder names the one that founds
the cluster. It does so once: if its directory is empty, all nodes in --join
answer, and none of them belongs to a cluster.
Three nodes tolerate one failure. One address serves other nodes and clients.
A second address serves HTTP, for programs in any language: see docs/http.md.

The data directory holds what must survive a restart: the agreed views, so that
tokens never go back, and the addresses of the other nodes. The default is
$XDG_STATE_HOME/stile/NAME, or ~/.local/state/stile/NAME. With --memory nothing
is stored. Such a node numbers its tokens from the time of the clock, and a
cluster of such nodes is lost if a majority of them stops at once.

On Ctrl-C or TERM the node accepts no new requests, stops renewing locks held
through it (they expire within one lease), and then exits. It keeps its place in
the cluster: start it again with its data directory, and no lock has to wait.
With --ephemeral or --memory it leaves the cluster instead, as with 'stile
leave'. A second signal ends it at once.

Every flag can also be set by the environment, such as STILE_LISTEN for
--listen, and by a TOML file with the names of flags as keys, such as listen =
"10.0.0.5:7420". Flags override the environment, which overrides the file.`,
		Example: `  stile serve
  stile serve --name b --listen 127.0.0.1:7430 --join 127.0.0.1:7420
  stile serve --nodes 3
  stile serve --config /etc/stile.toml`,
		Args: terminal.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.define(c)
	return c
}

func (f *serveFlags) define(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(nodeNameFlag(&f.name), "name", "node name, unique in the cluster (default the host name)")
	fs.Var(terminal.AddressFlag(&f.listen), "listen", "`HOST:PORT` to listen on for nodes and clients; port 0 is any free port")
	fs.Var(httpFlag(&f.http), "http", "`HOST:PORT` to serve HTTP on, for every language, or off (default "+gateway.DefaultListen+" if --listen has port 7420)")
	fs.Var(terminal.AddressFlag(&f.health), "health", "`HOST:PORT` to serve the probes /healthz and /readyz on, without TLS (default none)")
	fs.BoolVar(&f.profiles, "pprof", false, "serve profiles of the process over HTTP, to administrators")
	fs.Var(terminal.AddressFlag(&f.advertise), "advertise", "`HOST:PORT` at which others reach this node (default that of --listen)")
	fs.Var(addressesFlag(&f.join), "join", "`HOST:PORT` of a node of the cluster to join; repeatable")
	fs.Var(nodeNameFlag(&f.founder), "founder", "`NAME` of the node that founds the cluster once, if all nodes in --join answer and none has one")
	fs.Var(dataDirFlag(&f.data), "data", "`DIR` for what must survive a restart (default below ~/.local/state/stile)")
	fs.BoolVar(&f.memory, "memory", false, "store nothing on disk")
	fs.Var(durationFlag(&f.lease, 100*time.Millisecond, time.Hour), "lease", "time a node may be unreachable before its locks are lost; first node only")
	fs.Var(terminal.ChoiceFlag(&f.voters, "1", "3", "5"), "voters", "number `N` of nodes that store the views: 1, 3 or 5; first node only")
	fs.Var(algorithmsFlag(&f.algorithm), "algorithm", "algorithm `NAME` that passes locks on, or PREFIX=NAME for some locks, or several with commas; kept or kept:METHOD for kept locks; first node only (default "+catalog.Live()[0].Name+","+node.KeptPrefix+"=kept)")
	fs.Var(durationFlag(&f.replace, time.Second, 24*time.Hour), "replace-after", "time a voter may be down before another node votes in its place; first node only")
	fs.BoolVar(&f.ephemeral, "ephemeral", false, "leave the cluster when the node stops, because it will not return")
	fs.Var(terminal.CountFlag(&f.nodes, 1, maxServedNodes), "nodes", "number of nodes to run in this process, to try things out; in memory unless --data is given")
	fs.Var(terminal.CountFlag(&f.clients, 1, 1_000_000), "max-clients", "maximum number of connections of clients, over HTTP too; lower if the system allows fewer open files")
	fs.Var(durationFlag(&f.drain, 0, time.Hour), "drain", "maximum wait for holders on shutdown (default lease + 2s)")
	terminal.HideDefaults(fs, "drain", "http")
	fs.Var(terminal.OutputFileFlag(&f.record, ".rec"), "record", "new `FILE` for a recording of all inputs, for 'stile-lab replay'; contains lock names and client secrets")
	fs.Var(terminal.SizeFlag(&f.limit), "record-limit", "maximum size of the recording; the node continues without it")
	f.defineAccess(fs)
	fs.Var(terminal.OutputFileFlag(&f.config, ".toml"), "config", "settings `FILE`; also STILE_CONFIG")
	fs.Var(terminal.ChoiceFlag(&f.log, "text", "json"), "log", "log `FORMAT` on standard error: text or json")
	fs.Var(terminal.ChoiceFlag(&f.level, "debug", "info", "warn", "error"), "log-level", "lowest `LEVEL` that is logged: debug, info, warn or error")
}

// settle applies the environment and the settings file, and refuses flags that
// contradict each other.
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
			return fmt.Errorf("cannot use the host name %q as the node's name: give --name", host)
		}
		f.name = host
	}
	set := func(flag string) bool { return c.Flags().Changed(flag) }
	switch {
	case f.memory && f.data != "":
		return errors.New("--memory stores nothing, but --data says where to store it: give one of them")
	case f.nodes > 1 && (set("join") || set("advertise")):
		return errors.New("--nodes runs a whole cluster, which cannot join another: leave out --join and --advertise")
	case f.nodes > 1 && f.record != "":
		return errors.New("--record records one node, but --nodes runs several: run the node to record in its own process")
	case f.record == "" && set("record-limit"):
		return errors.New("--record-limit needs --record: give both, or leave it out")
	case f.founder != "" && len(f.join) == 0:
		return errors.New("--founder needs --join: give the addresses of all nodes, the same on each of them")
	case len(f.join) > 0 && f.founder == "" && (set("lease") || set("voters") || set("algorithm") || set("replace-after")):
		return errors.New("--lease, --voters, --algorithm and --replace-after are set on the first node of a cluster: leave them out with --join, or name the first node with --founder")
	}
	if !set("replace-after") {
		f.replace = max(f.replace, f.lease)
	}
	if f.record != "" {
		if err := terminal.CheckNewFile("record", f.record); err != nil {
			return err
		}
	}
	return f.checkAccess()
}

// configs returns the configuration of each node. The first one founds a cluster or
// joins one, and the others join the first.
func (f *serveFlags) configs(log *slog.Logger) ([]node.Config, error) {
	voters, err := strconv.Atoi(f.voters)
	if err != nil {
		return nil, err
	}
	var all []node.Config
	for i := range f.nodes {
		c := node.Config{
			Name: f.name, Advertise: f.advertise, Join: f.join, Voters: voters, Lease: f.lease, Algorithm: f.algorithm, Replace: f.replace, Ephemeral: f.ephemeral,
			TLS: f.tls, Insecure: f.insecure, Rights: f.rights, Revoked: f.revoked, Tokens: f.tokens, JWKS: f.jwks, Issuer: f.issuer, RequireURI: f.uri, Audit: f.audit, Clients: f.clients, Log: log, Metrics: true,
			Record: node.Record{File: f.record, Bytes: f.limit, By: terminal.CurrentBuild().String()},
		}
		if f.nodes > 1 {
			c.Name = fmt.Sprintf("%s-%d", f.name, i+1)
		}
		if c.Listen, err = nthAddress("listen", f.listen, i); err != nil {
			return nil, err
		}
		if c.Data, err = f.dataDir(c.Name); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// dataPlace says where a node stores its data.
func dataPlace(data string) string { return cmp.Or(data, "memory") }

// joinWarningAfter is the time after which the log says why a node is not a member.
const joinWarningAfter = 3 * time.Second

// servedNodes are the nodes that run in this process.
type servedNodes struct {
	nodes      []*node.Node
	gates      []*gateway.Gateway
	probes     []*gateway.HealthServer
	log        *slog.Logger
	drain      time.Duration
	supervisor *supervisor
	page       http.Handler // of the console; made when it is first served
}

func (f *serveFlags) run(c *cobra.Command) error {
	if err := f.settle(c); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // a node outlives the reader of its log
	log := newLogger(c.ErrOrStderr(), f.log, f.level)
	configs, err := f.configs(log)
	if err != nil {
		return err
	}
	api, err := httpAddresses(f.listen, f.http, f.nodes)
	if err != nil {
		return err
	}
	health, err := healthAddresses(f.health, f.nodes)
	if err != nil {
		return err
	}
	ctx, release := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer release()
	again := make(chan os.Signal, 1)
	if f.audit != "" {
		signal.Notify(again, syscall.SIGHUP)
		defer signal.Stop(again)
	}
	p := &servedNodes{log: log, drain: f.drain}
	if p.supervisor, err = findSupervisor(os.Getenv, os.Getpid(), func(err error) { log.Warn("service manager not notified", "err", err) }); err != nil {
		return err
	}
	defer p.kill()
	defer p.supervisor.close()
	p.supervisor.notify("", "joining the cluster")
	if f.founder == f.name && ctx.Err() == nil {
		if err := p.found(ctx, &configs[0]); err != nil {
			return err
		}
	}
	for i, one := range configs {
		if ctx.Err() != nil {
			return p.stop(release)
		}
		if err := p.start(ctx, one, health[i]); err != nil {
			return err
		}
		if api[i] != "" && ctx.Err() == nil {
			if err := p.serveHTTP(p.nodes[i], gateway.Config{Listen: api[i], TLS: p.nodes[i].Keys(), Insecure: f.insecure, Log: one.Log, Profiles: f.profiles}); err != nil {
				return err
			}
		}
	}
	if ctx.Err() != nil {
		return p.stop(release)
	}
	if err := p.printAddresses(c, configs); err != nil {
		return err
	}
	if f.audit != "" {
		go p.reopen(ctx, again)
	}
	p.supervisor.notify("READY=1", p.turn())
	p.supervisor.watch(p.turn)
	for _, n := range p.nodes {
		select {
		case <-n.Done():
		case <-ctx.Done():
			return p.stop(release)
		}
	}
	return p.endedError()
}

// found waits until it is known whether the founder founds the cluster now. If so, it has
// no node to join.
func (p *servedNodes) found(ctx context.Context, c *node.Config) error {
	founds, err := node.MayFound(ctx, *c, func(waits string) {
		p.log.Info("waiting to found the cluster: not all nodes answer", "node", c.Name, "missing", waits)
		p.supervisor.notify("", "waiting to found the cluster: no answer from "+waits)
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("node %s cannot found a cluster: %w", c.Name, err)
	}
	if founds {
		c.Join, c.Later = nil, true
	}
	return nil
}

// start starts a node, with an address for probes if that is not empty, and waits until it is a
// member, or the context ends. Every node joins the first one.
func (p *servedNodes) start(ctx context.Context, c node.Config, health string) error {
	if len(p.nodes) > 0 {
		c.Join = []string{p.nodes[0].Address()}
	}
	n, err := node.Start(c)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is in use, perhaps by another node (see 'stile status'): give another address with --listen, such as 127.0.0.1:7430", c.Listen)
	}
	if err != nil {
		return fmt.Errorf("cannot start node %s: %w", c.Name, err)
	}
	p.nodes = append(p.nodes, n)
	if health != "" {
		if err := p.serveHealth(n, health); err != nil {
			return err
		}
	}
	hint := time.AfterFunc(joinWarningAfter, func() {
		p.log.Warn("not yet a member, retrying", "node", c.Name, "join", c.Join, "why", n.Status().Why)
	})
	defer hint.Stop()
	if err := n.Ready(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("node %s: %w", c.Name, err)
	}
	return nil
}

// printAddresses prints the addresses of the nodes and a command to try.
func (p *servedNodes) printAddresses(c *cobra.Command, configs []node.Config) error {
	w := c.OutOrStdout()
	for i, n := range p.nodes {
		fmt.Fprintf(w, "node %s listening on %s, data in %s\n", n.Name(), n.Address(), dataPlace(configs[i].Data))
	}
	for _, g := range p.gates {
		fmt.Fprintf(w, "HTTP on %s\n", g.URL())
	}
	for _, s := range p.probes {
		fmt.Fprintf(w, "probes on %s\n", s.URL())
	}
	where := ""
	if a := p.nodes[0].Address(); a != node.DefaultListen {
		where = "--addr " + a + " "
	}
	fmt.Fprintf(w, "try it: stile exec %sdemo -- sh -c 'echo $STILE_TOKEN'\n", where)
	if err := terminal.Flush(w); err != nil && !errors.Is(err, syscall.EPIPE) {
		return fmt.Errorf("cannot print the address of the node: %w", err)
	}
	return nil
}

// stop shuts all nodes down cleanly, the last one first. Another signal ends the
// process at once.
func (p *servedNodes) stop(release func()) error {
	release()
	if len(p.nodes) == 0 {
		return nil
	}
	drain := p.drain
	if drain < 0 { // sessions that are no longer renewed end within a lease
		drain = time.Duration(p.nodes[0].Status().Lease*float64(time.Second)) + 2*time.Second
	}
	p.supervisor.stopping(drain + stopMargin)
	p.log.Info("node stopping: exits when no lock is held through it", "drain", drain)
	ctx, cancel := context.WithTimeoutCause(context.Background(), drain, fmt.Errorf("waited for %v", drain))
	defer cancel()
	var f terminal.Findings
	for i := len(p.nodes) - 1; i >= 0; i-- {
		if err := p.nodes[i].Stop(ctx); err != nil {
			f.Lines = append(f.Lines, fmt.Sprintf("node %s could not stop cleanly: %v; locks held through it are free when its lease expires", p.nodes[i].Name(), err))
		}
	}
	if len(f.Lines) > 0 {
		return f
	}
	return nil
}

// stopMargin is how long a node may take to end after its drain time, on a slow disk.
const stopMargin = 30 * time.Second

// turn has every node take a turn of its loop, and returns the status of the first.
func (p *servedNodes) turn() string {
	for _, n := range p.nodes {
		n.Turn()
	}
	s := p.nodes[0].Status()
	text := fmt.Sprintf("%s of cluster %s, epoch %d, %s", s.State, s.Cluster, s.Epoch, words.Plural(len(s.Members), "member"))
	if s.Why != "" {
		text += ": " + s.Why
	}
	return text
}

// endedError returns the errors of nodes that ended without being stopped here.
func (p *servedNodes) endedError() error {
	var f terminal.Findings
	for _, n := range p.nodes {
		if err := n.Err(); err != node.ErrEnded { // which all errors wrap
			f.Lines = append(f.Lines, fmt.Sprintf("node %s: %v", n.Name(), err))
		}
	}
	if len(f.Lines) > 0 {
		return f
	}
	return nil
}

// kill frees the resources of nodes that were not stopped, and stops to serve HTTP.
func (p *servedNodes) kill() {
	for _, n := range p.nodes {
		n.Kill()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, g := range p.gates {
		_ = g.Close(ctx) // clients that read no answer
	}
	for _, s := range p.probes {
		_ = s.Close() // probes ask again elsewhere
	}
}

// nthAddress returns the address of the i-th node in this process. Ports are
// consecutive, so that they are the same after a restart.
func nthAddress(flag, listen string, i int) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	n, wrong := strconv.Atoi(port)
	switch {
	case err != nil || wrong != nil:
		return "", fmt.Errorf("--%s %q: must be HOST:PORT", flag, listen)
	case n == 0:
		return listen, nil
	case n+i > 65535:
		return "", fmt.Errorf("--%s %q: too few ports above it: give a lower port", flag, listen)
	}
	return net.JoinHostPort(host, strconv.Itoa(n+i)), nil
}

// dataDir returns the data directory of a node, or "" for memory. It creates the
// directories above it.
func (f *serveFlags) dataDir(name string) (string, error) {
	switch {
	case f.memory, f.nodes > 1 && f.data == "":
		return "", nil
	case f.nodes > 1:
		return filepath.Join(f.data, name), os.MkdirAll(f.data, 0o700)
	case f.data != "":
		return f.data, nil
	}
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) { // the XDG specification ignores relative paths
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("there is no home directory for the node's data: give --data or --memory")
		}
		state = filepath.Join(home, ".local", "state")
	}
	dir := filepath.Join(state, "stile")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot create %s for the node's data: %w: give --data or --memory", dir, err)
	}
	return filepath.Join(dir, name), nil
}

// algorithmsFlag takes the algorithms of a new cluster.
func algorithmsFlag(to *string) pflag.Value {
	var names []string
	for _, s := range catalog.Live() {
		names = append(names, s.Name)
	}
	names = append(names, "kept")
	for _, m := range member.KeptMethods() {
		names = append(names, member.Kept(m))
	}
	return terminal.CheckedFlag(to, func(s string) error {
		if s == "" {
			return errors.New("must be the name of an algorithm that runs live, or PREFIX=NAME, or several with commas: 'stile-lab algorithms' lists them")
		}
		return node.CheckAlgorithm(s)
	}, cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}
