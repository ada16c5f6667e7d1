package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/clock"
	"github.com/stile-lock/stile/internal/origin"
)

// A door is what every HTTP request to a node passes. In this order it
//
//   - finds the route of the request, which says what the caller needs,
//   - finds out who calls, by a token or a certificate,
//   - refuses pages of other sites,
//   - refuses callers without an identity, or whose certificate or token is revoked,
//   - refuses callers without the right that the route needs,
//   - takes a place in each pool that the call uses: of the caller's share, and of all,
//   - and audits what it refuses.
//
// When the files that say who may do what have changed, it ends the calls in progress that it
// would not let in any more, and closes the connections of revoked certificates.
type door struct {
	node   *node.Node
	local  bool // only this machine can connect
	origin origin.Guard
	mux    mux
	pools  [len(shares)]pool

	mu     sync.Mutex
	inside map[*call]struct{}               // calls in progress
	chains map[net.Conn][]*x509.Certificate // of open connections with a certificate
}

func newDoor(n *node.Node, names ...string) *door {
	d := &door{node: n, origin: origin.Guard{Names: names}, inside: map[*call]struct{}{}, chains: map[net.Conn][]*x509.Certificate{}}
	d.mux.routes = map[string]*route{}
	for i := range d.pools {
		d.pools[i].most = shares[i].most
	}
	return d
}

// ServeHTTP implements http.Handler.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{ctx: r.Context(), received: clock.Now(), control: http.NewResponseController(w)}
	if r.Body != http.NoBody { // in HTTP/1.1, the deadline would end a call without a body
		_ = c.control.SetReadDeadline(time.Now().Add(bodyTimeout)) // recorders in tests have none
	}
	origin.Isolate(w.Header())
	var h http.Handler
	h, c.route = d.mux.find(r)
	err := d.admit(c, r)
	if err == nil && !c.route.need.open() {
		if full := settled(r.Context(), c.who); full != nil {
			err = manyCalls.error(full)
		}
	}
	if err == nil {
		err = d.takePlaces(c, r)
	}
	if err != nil {
		d.node.Denied(c.who, c.route.what, err.Message())
		refuse(w, r, err)
		return
	}
	defer d.leave(c)
	if !c.route.need.open() {
		d.node.Visited(c.who)
	}
	h.ServeHTTP(w, d.enter(c, r))
}

// admit returns why a call is refused, whatever else is going on.
func (d *door) admit(c *call, r *http.Request) *connect.Error {
	var unknown error
	c.who, unknown = d.identify(r)
	if err := d.origin.Check(r, c.route.need == aPage); err != nil {
		return otherSite.error(err)
	}
	switch {
	case c.route.need.open():
		return nil
	case unknown != nil:
		return noIdentity.error(unknown)
	case c.route.need == profile && r.TLS == nil && !fromHere(r):
		return isDenied.errorf("without TLS, profiles are served only to callers on the same machine: connect from there, or use TLS")
	}
	return d.permit(c, c.route.need)
}

// fromHere reports whether a caller is on this machine, or a proxy on it passes its requests on.
func fromHere(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && from.Addr().Unmap().IsLoopback()
}

// identify returns who makes a request: the owner of a bearer token, or of a certificate.
func (d *door) identify(r *http.Request) (who node.Caller, err error) {
	var chain []*x509.Certificate
	if r.TLS != nil {
		chain = r.TLS.PeerCertificates
	}
	who, err = d.node.CallerOf(chain, r.RemoteAddr)
	scheme, bearer, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	presented := strings.EqualFold(scheme, "Bearer")
	switch revoked := d.node.Revoked(chain); {
	case revoked != nil:
		return who, revoked
	case presented && r.TLS == nil && !d.local:
		return who, errors.New("a token over plain HTTP can be overheard: use TLS")
	case presented:
		return d.node.Bearer(bearer, r.RemoteAddr, time.Now())
	case r.TLS != nil && len(chain) == 0:
		err = errors.New("the request does not say who makes it: give a client certificate ('stile cert' creates them) or a token ('stile token' does)")
	}
	return who, err
}

// permit returns why a caller may not do what a need stands for, by the files of the node at
// present.
func (d *door) permit(c *call, n need) *connect.Error {
	if err := d.node.Barred(c.who); err != nil {
		return noIdentity.error(err)
	}
	if a, some := demands[n]; some {
		if err := d.node.May(c.who, a, ""); err != nil {
			return isDenied.error(err)
		}
	}
	return nil
}

// takePlaces takes the places of a call, that of its body before any of it is read.
func (d *door) takePlaces(c *call, r *http.Request) *connect.Error {
	c.key = shareKey(&c.who)
	var want [len(shares)]int64
	want[c.route.share] = 1
	if !c.route.need.open() { // strangers take no places of others, and nobody reads their bodies
		want[calls] = 1
		if r.Body != http.NoBody {
			want[bodies] = maxBody
			if r.ContentLength >= 0 {
				want[bodies] = min(r.ContentLength, maxBody)
			}
		}
	}
	for i, n := range want {
		if n > 0 && !d.pools[i].take(c.key, int(n)) {
			d.putPlaces(c)
			return manyCalls.errorf("too many %s: the caller has its share, or the node has no more places: try again soon, or use another node", shares[i].what)
		}
		c.taken[i].Store(n)
	}
	return nil
}

// putPlaces gives the places of a call back.
func (d *door) putPlaces(c *call) {
	for i := range d.pools {
		d.putPlace(c, share(i))
	}
}

func (d *door) putPlace(c *call, s share) {
	if n := c.taken[s].Swap(0); n > 0 {
		d.pools[s].put(c.key, int(n))
	}
}

// A body gives its place back when it is read.
type body struct {
	io.ReadCloser
	read func()
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.read()
	}
	return n, err
}

// enter begins a call, and returns its request.
func (d *door) enter(c *call, r *http.Request) *http.Request {
	ctx := r.Context()
	if until := c.who.Until; !until.IsZero() { // a call lasts no longer than the JWT of its caller
		var over context.CancelFunc
		ctx, over = context.WithDeadline(ctx, until)
		context.AfterFunc(r.Context(), over)
		c.ctx = ctx
	}
	c.inside, c.cancel = context.WithCancelCause(ctx)
	d.mu.Lock()
	d.inside[c] = struct{}{}
	d.mu.Unlock()
	r = r.WithContext(context.WithValue(c.inside, callKey{}, c))
	if c.taken[bodies].Load() > 0 {
		r.Body = &body{r.Body, func() { d.putPlace(c, bodies) }}
	}
	c.writeWithin(maxWait + writeTimeout)
	return r
}

// leave ends a call.
func (d *door) leave(c *call) {
	d.mu.Lock()
	delete(d.inside, c)
	d.mu.Unlock()
	c.cancel(nil)
	d.putPlaces(c)
}

// recheck ends what the door would not let in any more. It is called when the files of the
// node may have changed, and when tokens may have expired. What an identity holds, it keeps as
// long as it is accepted, even if it may no longer acquire more.
func (d *door) recheck() {
	d.mu.Lock()
	open, chains := slices.Collect(maps.Keys(d.inside)), maps.Clone(d.chains)
	d.mu.Unlock()
	for _, c := range open {
		n := c.route.need
		if n.open() || c.inside.Err() != nil {
			continue
		}
		if n == lockAny {
			n = identity
		}
		if err := d.permit(c, n); err != nil {
			d.node.Denied(c.who, c.route.what, err.Message())
			c.cancel(err)
		}
	}
	for conn, chain := range chains {
		if err := d.node.Revoked(chain); err != nil {
			who, _ := d.node.CallerOf(chain, conn.RemoteAddr().String())
			d.node.Denied(who, "stay connected", err.Error())
			conn.Close()
		}
	}
}

// secured notes the certificates of connections.
func (d *door) secured(c *tls.Config) *tls.Config {
	choose := c.GetConfigForClient
	c.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		one, err := choose(h)
		if err != nil {
			return nil, err
		}
		verify := one.VerifyConnection
		one.VerifyConnection = func(s tls.ConnectionState) error {
			if err := verify(s); err != nil || len(s.PeerCertificates) == 0 {
				return err
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			d.chains[h.Conn] = s.PeerCertificates
			return nil
		}
		return one, nil
	}
	return c
}

// connState forgets connections that have ended.
func (d *door) connState(c net.Conn, s http.ConnState) {
	noteState(c, s)
	if t, ok := c.(*tls.Conn); ok && s == http.StateClosed {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.chains, t.NetConn())
	}
}
