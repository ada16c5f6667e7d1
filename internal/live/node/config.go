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
	"strconv"
	"syscall"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/node/cert"
	"github.com/stile-lock/stile/internal/live/node/transport"
	"github.com/stile-lock/stile/internal/live/views/raft"
)

// A Config says what a node is. Zero values mean what is usual.
type Config struct {
	Name      string   // of the node, of which there is one in the cluster; the host's name
	Listen    string   // address for everybody; 127.0.0.1:0 picks a port
	Advertise string   // where others find it; Listen, with the port that it has
	Join      []string // addresses of nodes of a cluster; none: found one, or take up that of Data
	Data      string   // folder for the view log; empty: memory
	Voters    int      // how many keep the view log: 1, 3 or 5; 3. Of who founds a cluster
	Lease     time.Duration
	Settings  *member.Settings // of who founds a cluster; nil: the usual ones, with Lease
	Algorithm string           // of who founds a cluster; naimi-trehel
	TLS       cert.Config      // files; none: plain TCP
	Insecure  bool             // plain TCP where others can listen in
	Clients   int              // how many may be connected at once; DefaultClients. Fewer if there may be fewer open files
	Patience  time.Duration    // how long it tries to be a member before it is a client of one meanwhile; two leases, 5 s at most
	Record    Record           // of what comes to it
	Log       *slog.Logger

	// Spec returns an algorithm by its name; nil: those of the catalog.
	Spec func(algorithm string, version int) (algorithm.Spec, error)
	// For tests: how a node listens and dials other nodes, how long a client may be
	// without a session, the process's clock, and what stands between the node and its
	// disk.
	listen  func(address string) (net.Listener, error)
	dial    func(ctx context.Context, address string) (net.Conn, error)
	silence time.Duration
	clock   func() member.Instant
	storage func(raft.Storage) raft.Storage
}

// DefaultListen is the address of a node that is told nothing else.
const DefaultListen = "127.0.0.1:7420"

// DefaultClients is how many clients a node has at most that is told nothing else.
const DefaultClients = 16_384

// reserved is how many files a node may have open beside connections of clients: those
// to and from other nodes, those of whom is not known yet who they are, and its disk.
const reserved = transport.DefaultPeers + 2*transport.DefaultPending

// files returns how many files the process may have open.
func files() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 1 << 30 // it is found out when there are too many
	}
	return int(min(l.Cur, 1<<30))
}

// room returns how many clients there may be: as many as are wanted, unless there may
// not be as many open files. Then some of these are kept for the rest all the same.
func (c *Config) room(files int) int {
	want := cmp.Or(c.Clients, DefaultClients)
	room := max(files-reserved, files/4, 1)
	if room >= want {
		return want
	}
	level := slog.LevelInfo
	if want != DefaultClients {
		level = slog.LevelWarn
	}
	c.Log.Log(context.Background(), level, "takes fewer clients, since there may be only so many open files: see ulimit -n", "clients", room, "files", files, "wanted", want)
	return room
}

func (c Config) withDefaults() (Config, error) {
	if c.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			return c, fmt.Errorf("a node needs a name, and the host has none: %w: give one", err)
		}
		c.Name = host
	}
	c.Listen = cmp.Or(c.Listen, DefaultListen)
	c.Voters = cmp.Or(c.Voters, 3)
	c.silence = cmp.Or(c.silence, silence)
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
		return c, fmt.Errorf("listen on %q: %w: want host:port", c.Listen, err)
	}
	return c, c.checkAdvertise()
}

// checkAdvertise refuses an address that nobody can dial.
func (c *Config) checkAdvertise() error {
	if c.Advertise == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(c.Advertise)
	if err != nil {
		return fmt.Errorf("advertise %q: %w: want host:port", c.Advertise, err)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || unspecified(host) {
		return fmt.Errorf("advertise %q: others cannot dial that: want the host and the port at which they find this node", c.Advertise)
	}
	return nil
}

// unspecified reports whether a host means all addresses of the machine.
func unspecified(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

// settingsFor returns the usual settings for a lease, in their usual proportions.
func settingsFor(lease time.Duration) member.Settings {
	s := member.Usual()
	s.Renew = member.Span(lease) / (s.Lease / s.Renew) // a product might be too large
	s.ViewLife = member.Span(lease) / (s.Lease / s.ViewLife)
	s.Lease = member.Span(lease)
	return s
}

// choice returns the algorithm that a new cluster begins with.
func (c *Config) choice() (member.Choice, error) {
	name := cmp.Or(c.Algorithm, catalog.Live()[0].Name)
	for _, s := range catalog.Live() {
		if s.Name == name {
			return member.Choice{Algorithm: s.Name, Version: s.Version}, nil
		}
	}
	_, err := c.Spec(name, 1)
	return member.Choice{}, cmp.Or(err, fmt.Errorf("%s does not run live: 'stile algorithms' says which do", name))
}

// random returns a number above 0 that nobody else has.
func random() uint64 {
	var b [8]byte
	for {
		_, _ = rand.Read(b[:]) // which never fails
		if n := binary.BigEndian.Uint64(b[:]) >> 1; n != 0 {
			return n
		}
	}
}
