package node

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/views/raft"
)

// A Config describes a node. Zero values select the defaults.
type Config struct {
	Name       string   // node name, unique in the cluster (default: the host name)
	Listen     string   // address for nodes and clients; 127.0.0.1:0 picks a port
	Advertise  string   // address where others reach the node (default: Listen, with the actual port)
	Join       []string // addresses of nodes of a cluster; empty: found one, or resume that of Data
	Data       string   // folder for the view log; empty: in memory
	Voters     int      // number of voters: 1, 3 or 5 (default 3); only for the founder of a cluster
	Lease      time.Duration
	Settings   *member.Settings // only for the founder of a cluster; nil: the defaults, with Lease
	Algorithm  string           // only for the founder of a cluster: an algorithm, or PREFIX=ALGORITHM, or several with commas (default naimi-trehel,kept/=kept)
	Replace    time.Duration    // time after which a member replaces a voter that is down; only for the founder of a cluster (default 10 min)
	Later      bool             // a cluster that it founds may not be the first: number its epochs from the clock, above those of earlier ones
	Ephemeral  bool             // leave the cluster when the node stops
	TLS        cert.Config      // certificate files; empty: plain TCP
	Insecure   bool             // allow plain TCP where others can listen in
	Rights     string           // file with the rights of clients; empty: rights.Default
	Revoked    string           // file with the serial numbers of revoked certificates, or lists of authorities; empty: none are
	Tokens     string           // file with the bearer tokens that are accepted; empty: none are
	JWKS       string           // file with the keys of an issuer of JWTs that are accepted; empty: none are
	Issuer     rights.Issuer    // of these JWTs
	RequireURI bool             // a certificate is not that of a client merely by its common name
	Audit      string           // file for the audit log, which is in JSON; empty: it is in Log
	Clients    int              // maximum number of connections of clients, over HTTP too (default DefaultClients, or fewer if open files are limited)
	Patience   time.Duration    // time to join before falling back to a client (default two leases, at most 5 s)
	Record     Record           // recording of its inputs
	Metrics    bool             // measure what the node does: see Node.Metrics
	Log        *slog.Logger

	// Spec returns an algorithm by its name; nil: those of the catalog.
	Spec func(algorithm string, version int) (algorithm.Spec, error)
	// For tests: how a node listens and dials other nodes, how long a client may go without
	// a session, how often files are checked, the process's clock, and a wrapper around the
	// node's disk.
	listen  func(address string) (net.Listener, error)
	dial    func(ctx context.Context, address string) (net.Conn, error)
	silence time.Duration
	check   time.Duration
	clock   func() member.Instant
	storage func(raft.Storage) raft.Storage
}

// DefaultListen is the default address of a node.
const DefaultListen = "127.0.0.1:7420"

// DefaultClients is the default maximum number of connections of clients.
const DefaultClients = 16_384

// reserved is the number of files that a node may have open besides connections that its budget
// counts: links to other nodes, those that are being dialled or greeted, and its disk.
const reserved = transport.DefaultPeers + transport.DefaultPending + transport.Reserved + transport.DefaultProbes

// files returns the limit of open files of the process.
func files() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 1 << 30 // unknown: an error occurs when there are too many
	}
	return int(min(l.Cur, 1<<30))
}

// budget returns how many connections the node may have: as many clients as configured, and a
// quarter as many strangers, unless the limit of open files is too low. Even then some files are
// kept for everything else, and an eighth of the others for strangers.
func (c *Config) budget(files int) transport.BudgetConfig {
	want := cmp.Or(c.Clients, DefaultClients)
	left := max(files-reserved, files/2, 2)
	b := transport.BudgetConfig{Clients: min(want, left-min(max(left/8, 1), maxStrangers)), Reserved: transport.Reserved}
	b.Strangers = min(max(want/4, transport.DefaultPending), maxStrangers, left-b.Clients)
	if b.Clients == want {
		return b
	}
	level := slog.LevelInfo
	if want != DefaultClients {
		level = slog.LevelWarn
	}
	c.Log.Log(context.Background(), level, "clients limited by the number of open files: raise it with ulimit -n", "clients", b.Clients, "files", files, "wanted", want)
	return b
}

// maxStrangers is the maximum number of connections that have not identified themselves yet, so
// that they cost little memory.
const maxStrangers = 1024

func (c Config) withDefaults() (Config, error) {
	if c.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			return c, fmt.Errorf("cannot use the host name as the node's name: %w: give a name", err)
		}
		c.Name = host
	}
	c.Listen = cmp.Or(c.Listen, DefaultListen)
	c.Voters = cmp.Or(c.Voters, 3)
	c.silence = cmp.Or(c.silence, silence)
	c.check = cmp.Or(c.check, CheckEvery)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Spec == nil {
		c.Spec = catalog.MakeLive
	}
	if c.Voters != 1 && c.Voters != 3 && c.Voters != 5 {
		return c, fmt.Errorf("%d voters: want 1, 3 or 5", c.Voters)
	}
	if c.Settings == nil {
		s := member.Usual()
		if c.Lease != 0 {
			s = settingsFor(c.Lease)
		}
		s.Replace = cmp.Or(member.Span(c.Replace), s.Replace)
		c.Settings = &s
	}
	if err := c.Settings.Check(); err != nil {
		return c, err
	}
	c.Patience = cmp.Or(c.Patience, min(2*time.Duration(c.Settings.Lease), 5*time.Second))
	if _, err := c.TLS.Given(); err != nil {
		return c, err
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return c, fmt.Errorf("invalid listen address %q: %w: want host:port", c.Listen, err)
	}
	return c, c.checkAdvertise()
}

// checkAdvertise refuses an address that cannot be dialled.
func (c *Config) checkAdvertise() error {
	if c.Advertise == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(c.Advertise)
	if err != nil {
		return fmt.Errorf("invalid advertise address %q: %w: want host:port", c.Advertise, err)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || unspecified(host) {
		return fmt.Errorf("invalid advertise address %q: want the host and port at which other nodes reach this node", c.Advertise)
	}
	return nil
}

// unspecified reports whether a host means all addresses of the machine.
func unspecified(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

// settingsFor returns the default settings, scaled in proportion to a lease.
func settingsFor(lease time.Duration) member.Settings {
	s := member.Usual()
	s.Renew = member.Span(lease) / (s.Lease / s.Renew) // the product might overflow
	s.ViewLife = member.Span(lease) / (s.Lease / s.ViewLife)
	s.Lease = member.Span(lease)
	s.Replace = max(s.Replace, s.Lease)
	return s
}

// KeptPrefix begins the names of locks that a new cluster keeps, unless another algorithm is
// chosen for them.
const KeptPrefix = "kept/"

// CheckAlgorithm returns why a new cluster cannot start with these algorithms, which are in
// the form of Config.Algorithm, or nil.
func CheckAlgorithm(text string) error {
	_, err := (&Config{Algorithm: text, Spec: catalog.MakeLive}).choices()
	return err
}

// choices returns the algorithms that a new cluster starts with.
func (c *Config) choices() ([]member.Choice, error) {
	all, err := c.chosen(c.Algorithm)
	if err != nil {
		return nil, err
	}
	return merged([]member.Choice{
		{Algorithm: catalog.Live()[0].Name, Version: catalog.Live()[0].Version},
		{Prefix: KeptPrefix, Algorithm: member.Kept(member.KeptMethods()[0]), Version: 1},
	}, all), nil
}

// merged returns choices with some of them replaced or added, sorted.
func merged(old, with []member.Choice) []member.Choice {
	all := slices.Clone(with)
	for _, c := range old {
		if !slices.ContainsFunc(with, func(o member.Choice) bool { return o.Prefix == c.Prefix }) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b member.Choice) int { return strings.Compare(a.Prefix, b.Prefix) })
	return all
}

// chosen returns the choices that a text in the form of Config.Algorithm names.
func (c *Config) chosen(texts string) (all []member.Choice, err error) {
	for text := range strings.SplitSeq(texts, ",") {
		prefix, name, ok := strings.Cut(text, "=")
		if !ok {
			prefix, name = "", text
		}
		switch {
		case texts == "":
			continue
		case len(prefix) > member.MaxName || !utf8.ValidString(prefix):
			return nil, fmt.Errorf("algorithm %q: invalid prefix: want up to %d bytes of UTF-8", text, member.MaxName)
		case slices.ContainsFunc(all, func(o member.Choice) bool { return o.Prefix == prefix }):
			return nil, fmt.Errorf("algorithm %q: there is another one for the prefix %q: choose one", text, prefix)
		}
		choice, err := c.choice(name)
		if err != nil {
			return nil, err
		}
		choice.Prefix = prefix
		all = append(all, choice)
	}
	return all, nil
}

// choice returns an algorithm, or a method for kept locks, by its name.
func (c *Config) choice(name string) (member.Choice, error) {
	if name == "kept" {
		name = member.Kept(member.KeptMethods()[0])
	}
	if method, kept := member.IsKept(name); kept {
		return member.Choice{Algorithm: name, Version: 1}, member.CheckKept(method, 1)
	}
	for _, s := range catalog.Live() {
		if s.Name == name {
			return member.Choice{Algorithm: s.Name, Version: s.Version}, nil
		}
	}
	_, err := c.Spec(name, 1)
	return member.Choice{}, cmp.Or(err, fmt.Errorf("%s does not run live: 'stile-lab algorithms' shows which do", name))
}

// random returns a unique number above 0.
func random() uint64 {
	var b [8]byte
	for {
		_, _ = rand.Read(b[:]) // never fails
		if n := binary.BigEndian.Uint64(b[:]) >> 1; n != 0 {
			return n
		}
	}
}
