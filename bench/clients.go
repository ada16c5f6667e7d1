package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"sync/atomic"
	"time"

	"github.com/go-redsync/redsync/v4"
	redispool "github.com/go-redsync/redsync/v4/redis"
	goredis "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/go-zookeeper/zk"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"
	"go.uber.org/zap"

	"github.com/stile-lock/stile"
)

// An access says how to open a client.
type access struct {
	Kind   string
	Addrs  []string // the first is the one to prefer
	TLS    files    // empty: plain
	Lease  time.Duration
	Open   time.Duration // maximum wait for a session, 0: a minute
	Prefix string        // of the names of locks
}

// A client acquires locks, as one process of an application does. It is used by one
// goroutine at a time.
type client interface {
	acquire(ctx context.Context, name string, shared bool) (holder, error)
	lost() bool // reports whether the client knows that its holds are lost
	close() error
}

// A holder is a hold.
type holder interface{ Unlock() error }

// A release is a holder that is a function.
type release func() error

func (r release) Unlock() error { return r() }

// errNoShared means that a client has no shared locks.
var errNoShared = errors.New("this client has no shared locks")

// dial opens a client.
func dial(ctx context.Context, a *access) (client, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(a.Open, time.Minute))
	defer cancel()
	switch a.Kind {
	case kindStile:
		return openStile(ctx, a)
	case kindGRPC:
		return openGRPC(a)
	case kindJSON:
		return openJSON(ctx, a)
	case kindEtcd:
		return openEtcd(a)
	case kindZoo:
		return openZoo(ctx, a)
	case kindRedis:
		return openRedis(a)
	case kindPostgres:
		return openPostgres(ctx, a)
	}
	return nil, fmt.Errorf("no client of kind %q", a.Kind)
}

// stileClient is a client or a node of stile.
type stileClient struct {
	at     stile.Locker
	prefix string
	last   atomic.Pointer[stile.Lock]
	end    func() error
}

func openStile(ctx context.Context, a *access) (client, error) {
	c, err := stile.Dial(ctx, stile.DialConfig{Nodes: a.Addrs, TLS: stile.Certificates(a.TLS)})
	if err != nil {
		return nil, err
	}
	return &stileClient{at: c, prefix: a.Prefix, end: c.Close}, nil
}

func (c *stileClient) acquire(ctx context.Context, name string, shared bool) (holder, error) {
	if c.prefix != "" {
		name = c.prefix + name
	}
	var l *stile.Lock
	var err error
	if shared || isShared(name) {
		l, err = c.shared(ctx, name, shared)
	} else {
		l, err = c.at.Lock(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	c.last.Store(l)
	return l, nil
}

func (c *stileClient) shared(ctx context.Context, name string, shared bool) (*stile.Lock, error) {
	if shared {
		return c.at.RLock(ctx, "kept/"+name)
	}
	return c.at.Lock(ctx, "kept/"+name)
}

func (c *stileClient) lost() bool {
	l := c.last.Load()
	return l != nil && errors.Is(l.Err(), stile.ErrLost)
}

func (c *stileClient) close() error { return c.end() }

// etcdClient is a session of etcd, with the lock of its own library.
type etcdClient struct {
	c *clientv3.Client
	s *concurrency.Session
}

func openEtcd(a *access) (client, error) {
	t, err := a.TLS.config()
	if err != nil {
		return nil, err
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: a.Addrs, TLS: t, DialTimeout: 10 * time.Second, Logger: zap.NewNop()})
	if err != nil {
		return nil, err
	}
	var options []concurrency.SessionOption
	if a.Lease > 0 {
		options = append(options, concurrency.WithTTL(int(a.Lease.Seconds())))
	}
	s, err := concurrency.NewSession(c, options...)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &etcdClient{c, s}, nil
}

func (c *etcdClient) acquire(ctx context.Context, name string, shared bool) (holder, error) {
	if isShared(name) {
		m := recipe.NewRWMutex(c.s, "/"+name)
		if shared {
			return release(m.RUnlock), m.RLock()
		}
		return release(m.Unlock), m.Lock()
	}
	m := concurrency.NewMutex(c.s, "/"+name)
	if err := m.Lock(ctx); err != nil {
		return nil, err
	}
	return release(func() error { return m.Unlock(context.Background()) }), nil
}

func (c *etcdClient) lost() bool {
	select {
	case <-c.s.Done():
		return true
	default:
		return false
	}
}

func (c *etcdClient) close() error { return errors.Join(c.s.Close(), c.c.Close()) }

// zooClient is a session of ZooKeeper.
type zooClient struct {
	c    *zk.Conn
	gone atomic.Bool
}

func openZoo(ctx context.Context, a *access) (client, error) {
	t, err := a.TLS.config()
	if err != nil {
		return nil, err
	}
	lease := a.Lease
	if lease == 0 {
		lease = 10 * time.Second
	}
	c, events, err := zk.Connect(a.Addrs, lease, zk.WithLogger(quiet{}), zk.WithLogInfo(false), zk.WithDialer(func(network, address string, timeout time.Duration) (net.Conn, error) {
		d := &net.Dialer{Timeout: timeout}
		if t == nil {
			return d.Dial(network, address)
		}
		return tls.DialWithDialer(d, network, address, t)
	}))
	if err != nil {
		return nil, err
	}
	z, ready := &zooClient{c: c}, make(chan struct{})
	go func() {
		waits := true
		for e := range events {
			if e.State == zk.StateHasSession && waits {
				close(ready)
				waits = false
			}
			if e.State == zk.StateExpired {
				z.gone.Store(true)
			}
		}
	}()
	select {
	case <-ready:
		return z, nil
	case <-ctx.Done():
		c.Close()
		return nil, fmt.Errorf("ZooKeeper opens no session: %w", ctx.Err())
	}
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func (c *zooClient) acquire(_ context.Context, name string, shared bool) (holder, error) {
	if shared {
		return nil, errNoShared
	}
	l := zk.NewLock(c.c, "/"+name, zk.WorldACL(zk.PermAll))
	err := l.Lock()
	if err != nil {
		c.gone.Store(true) // its place in the queue may be left behind, until the session is closed
	}
	return l, err
}

func (c *zooClient) lost() bool   { return c.gone.Load() }
func (c *zooClient) close() error { c.c.Close(); return nil }

// redisClient is redsync on one or several servers.
type redisClient struct {
	all   []*redis.Client
	sync  *redsync.Redsync
	lease time.Duration
	last  atomic.Pointer[redsync.Mutex]
}

func openRedis(a *access) (client, error) {
	t, err := a.TLS.config()
	if err != nil {
		return nil, err
	}
	c := &redisClient{lease: a.Lease}
	var pools []redispool.Pool
	for _, address := range a.Addrs {
		x := redis.NewClient(&redis.Options{Addr: address, TLSConfig: t})
		c.all, pools = append(c.all, x), append(pools, goredis.NewPool(x))
	}
	c.sync = redsync.New(pools...)
	return c, nil
}

func (c *redisClient) acquire(ctx context.Context, name string, shared bool) (holder, error) {
	if shared {
		return nil, errNoShared
	}
	options := []redsync.Option{redsync.WithTries(1 << 30)} // the default gives up after 32
	if c.lease > 0 {
		options = append(options, redsync.WithExpiry(c.lease))
	}
	m := c.sync.NewMutex(name, options...)
	if err := m.LockContext(ctx); err != nil {
		return nil, err
	}
	c.last.Store(m)
	return release(func() error { _, err := m.Unlock(); return err }), nil
}

func (c *redisClient) lost() bool {
	m := c.last.Load()
	return m != nil && time.Now().After(m.Until())
}

func (c *redisClient) close() error {
	var errs []error
	for _, x := range c.all {
		errs = append(errs, x.Close())
	}
	return errors.Join(errs...)
}

// postgresClient is a connection to PostgreSQL.
type postgresClient struct{ c *pgx.Conn }

func openPostgres(ctx context.Context, a *access) (client, error) {
	c, err := pgx.ParseConfig(fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable", a.Addrs[0]))
	if err != nil {
		return nil, err
	}
	if c.TLSConfig, err = a.TLS.config(); err != nil {
		return nil, err
	}
	if c.TLSConfig != nil {
		c.TLSConfig.ServerName = "127.0.0.1"
	}
	x, err := pgx.ConnectConfig(ctx, c)
	return &postgresClient{x}, err
}

func (c *postgresClient) acquire(ctx context.Context, name string, shared bool) (holder, error) {
	h := fnv.New64a()
	h.Write([]byte(name))
	key, lock, unlock := int64(h.Sum64()), "SELECT pg_advisory_lock($1)", "SELECT pg_advisory_unlock($1)"
	if shared {
		lock, unlock = "SELECT pg_advisory_lock_shared($1)", "SELECT pg_advisory_unlock_shared($1)"
	}
	if _, err := c.c.Exec(ctx, lock, key); err != nil {
		return nil, err
	}
	return release(func() error { _, err := c.c.Exec(context.Background(), unlock, key); return err }), nil
}

func (c *postgresClient) lost() bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return c.c.Ping(ctx) != nil
}

func (c *postgresClient) close() error { return c.c.Close(context.Background()) }

// sharedName is the lock of readers and writers.
const sharedName = "rw"

// isShared reports whether some acquire the lock in shared mode.
func isShared(name string) bool { return len(name) >= 2 && name[:2] == sharedName }
