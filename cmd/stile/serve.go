package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/live/node"
	"github.com/stile-lock/stile/internal/live/node/cert"
)

// serveMaxNodes is how many can be in one process.
const serveMaxNodes = 9

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

// serveNew returns the command.
func serveNew() *cobra.Command {
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
		Args: Nothing,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.define(c)
	return c
}

func (f *serveFlags) define(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(Name(&f.name), "name", "what the node is called, which no other of the cluster is (default the name of the host)")
	fs.Var(Address(&f.listen), "listen", "the `HOST:PORT` for other nodes and clients; port 0 is any that is free")
	fs.Var(Address(&f.advertise), "advertise", "the `HOST:PORT` at which others find it, if that is another one")
	fs.Var(Addresses(&f.join), "join", "the `HOST:PORT` of a node of the cluster to join; may be given again")
	fs.Var(Folder(&f.data), "data", "the `DIR` for what must outlive the process (default one below ~/.local/state/stile)")
	fs.BoolVar(&f.memory, "memory", false, "keep nothing on the disk")
	fs.Var(Duration(&f.lease, 100*time.Millisecond, time.Hour), "lease", "how long a node may be out of reach before its locks are lost, of who founds a cluster")
	fs.Var(Choice(&f.voters, "1", "3", "5"), "voters", "how many nodes keep the views, `N` of 1, 3 or 5, of who founds a cluster")
	fs.Var(Choice(&f.algorithm, serveLive()...), "algorithm", "the algorithm `NAME` that passes locks on, of who founds a cluster (default "+serveLive()[0]+")")
	fs.Var(Count(&f.nodes, 1, serveMaxNodes), "nodes", "how many nodes to run in this process, to try it out; in memory unless --data is given")
	fs.Var(Count(&f.clients, 1, 1_000_000), "max-clients", "how many clients may be connected at once; fewer if the system allows fewer open files")
	fs.Var(Duration(&f.drain, 0, time.Hour), "drain", "how long it waits at most for those who hold locks when it is told to end (default a lease and 2s)")
	Unset(fs, "drain")
	fs.Var(askFile(&f.record, ".rec"), "record", "write all that comes to the node to this new `FILE`, for 'stile replay'; it has names of locks and secrets of clients in it")
	fs.Var(Size(&f.limit), "record-limit", "end the recording when it is so long; the node goes on")
	Certificates(fs, &f.tls, &f.insecure)
	fs.Var(askFile(&f.config, ".toml"), "config", "read settings from this `FILE`; also STILE_CONFIG")
	fs.Var(Choice(&f.log, "text", "json"), "log", "`HOW` to log on standard error: text or json")
	fs.Var(Choice(&f.level, "debug", "info", "warn", "error"), "log-level", "the `LEVEL` from which on things are logged: debug, info, warn or error")
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
	if err := Environment(c, serveSettings+" config"); err != nil {
		return err
	}
	if f.config != "" {
		if err := Settings(c, "config", f.config, serveSettings); err != nil {
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
		if err := Fresh("record", f.record); err != nil {
			return err
		}
	}
	return CheckCertificates(f.tls, f.insecure)
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
			Record: node.Record{File: f.record, Bytes: f.limit, By: Build().String()},
		}
		if f.nodes > 1 {
			c.Name = fmt.Sprintf("%s-%d", f.name, i+1)
			c.Log = log.With("node", c.Name)
		}
		if c.Listen, err = nth(f.listen, i); err != nil {
			return nil, err
		}
		if c.Data, err = f.folder(c.Name); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// describe says where what a node keeps is.
func describe(data string) string { return cmp.Or(data, "memory") }
