package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"
)

// want makes sure that an address is dialled, by the goroutine that already does so if
// there is one.
func (p *Pool) want(addr string) error {
	if p.closed {
		return errClosed
	}
	pr := p.holdLocked(addr)
	pr.wanted = true
	if pr.dialling {
		pr.users--
		return ErrDown
	}
	ctx, cancel := context.WithCancel(p.ctx)
	pr.dialling, pr.cancel = true, cancel
	p.wg.Go(func() {
		defer p.release(pr)
		defer cancel()
		p.dialler(ctx, pr)
	})
	return ErrDown
}

// maxTold is the number of addresses for which the last logged failure is remembered.
const maxTold = 1024

// dialler dials an address, and retries for as long as there are messages to send there.
func (p *Pool) dialler(ctx context.Context, pr *peer) {
	for fails := 0; ; fails++ {
		p.mu.Lock()
		if ctx.Err() != nil || !pr.wanted || pr.best != nil {
			pr.dialling, pr.cancel = false, nil
			if ctx.Err() != nil && pr.wanted && pr.best == nil {
				_ = p.want(pr.addr) // it was requested again after it was dropped
			}
			p.mu.Unlock()
			return
		}
		pr.wanted = false
		p.mu.Unlock()
		since := time.Now()
		linked, err := p.dial(ctx, pr)
		if linked && time.Since(since) > p.c.MaxBackoff {
			fails = -1
		}
		if !linked && ctx.Err() == nil {
			p.missed(pr, err)
		}
		wait := time.NewTimer(p.backoff(fails))
		select {
		case <-ctx.Done():
		case <-wait.C:
		}
		wait.Stop()
	}
}

// missed reports that an address cannot be reached, unless it can be by now. The reason is
// logged once, until there has been a link or the reason changes.
func (p *Pool) missed(pr *peer, err error) {
	pr.turn.Lock()
	defer pr.turn.Unlock()
	p.mu.Lock()
	linked := len(pr.links) > 0
	aloud := p.told[pr.addr] != err.Error()
	if !linked && aloud {
		if len(p.told) >= maxTold {
			clear(p.told)
		}
		p.told[pr.addr] = err.Error()
	}
	p.mu.Unlock()
	if linked {
		return
	}
	if aloud {
		p.c.Log.Warn("no link", "address", pr.addr, "err", err)
	}
	p.owner.Down(pr.addr, err)
}

// backoff returns how long to wait after so many failures: between half and all of a time
// that doubles, so that nodes do not dial in step. After a link that worked there is no
// need to wait.
func (p *Pool) backoff(fails int) time.Duration {
	if fails < 0 {
		return 0
	}
	d := p.c.MaxBackoff
	if fails < 30 && p.c.Backoff<<fails < d {
		d = p.c.Backoff << fails
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return d/2 + time.Duration(p.random.Int64N(int64(d/2)+1))
}

// dial makes a link and runs it until it ends. It reports whether there was one.
func (p *Pool) dial(ctx context.Context, pr *peer) (linked bool, err error) {
	t, err := p.reach(ctx, pr.addr)
	if err != nil {
		return false, err
	}
	t.put(kindWelcome) // sent once the link is in the pool
	return true, p.run(pr, t)
}

// reach connects and exchanges greetings.
func (p *Pool) reach(ctx context.Context, addr string) (*tie, error) {
	ctx, cancel := context.WithTimeout(ctx, p.c.Handshake)
	defer cancel()
	raw, err := p.c.Dial(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to %s: %w", addr, err)
	}
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()
	c, err := p.secure(ctx, raw, addr)
	if err == nil {
		var t *tie
		if t, err = p.greet(c, addr); err == nil && stop() {
			return t, nil
		}
	}
	raw.Close()
	if ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, fmt.Errorf("%s did not answer within %v: check that it is a stile node, and that both sides use TLS or neither does", addr, p.c.Handshake)
	}
	return nil, hinted(addr, err)
}

// hinted adds what to do about a TLS error.
func hinted(addr string, err error) error {
	var host x509.HostnameError
	var unknown x509.UnknownAuthorityError
	switch {
	case alerted(err):
		return fmt.Errorf("%s refused the certificate or the protocol: %w: use certificates from the same authority, and see the log of that node", addr, err)
	case errors.As(err, &host):
		return fmt.Errorf("the certificate of %s is for other hosts: %w: create it again with this --host", addr, err)
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of %s is from another authority: %w: create all certificates with the same one", addr, err)
	}
	return fmt.Errorf("no link to %s: %w", addr, err)
}

// alerted reports whether the other side ended TLS with an error.
func alerted(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// secure runs TLS over a dialled connection, or allows it to be plain.
func (p *Pool) secure(ctx context.Context, raw net.Conn, addr string) (net.Conn, error) {
	if err := Tune(raw, p.c.Timeout); err != nil {
		return nil, err
	}
	return secure(ctx, raw, addr, PeerProto, p.c.TLS, p.c.Insecure)
}

// ErrPlain is the error of a connection that would be plain TCP to another machine.
var ErrPlain = errors.New("connections to other machines need TLS: give certificates ('stile cert' creates them), or --insecure")

func secure(ctx context.Context, raw net.Conn, addr, proto string, config func(host string) *tls.Config, insecure bool) (net.Conn, error) {
	s := newSocket(raw)
	if config == nil {
		if !insecure && !Local(raw.RemoteAddr()) {
			return nil, ErrPlain
		}
		return s, nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	c := config(host).Clone()
	c.NextProtos = []string{proto}
	t := tls.Client(s, c)
	if err := t.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	if got := t.ConnectionState().NegotiatedProtocol; got != proto {
		return nil, fmt.Errorf("TLS without protocol %s: check that it is a stile node", proto)
	}
	return t, nil
}

// greet introduces this process over a connection and makes a link from it. dialled is the
// address if this process has dialled.
func (p *Pool) greet(c net.Conn, dialled string) (*tie, error) {
	p.mu.Lock()
	self := *p.c.hello()
	self.Extra = p.extra
	p.mu.Unlock()
	s, c := socketOf(c)
	g := &greeter{self: self, dialled: dialled, check: p.judge}
	greeting := g.accept
	if dialled != "" {
		greeting = g.dial
	}
	s.SetDeadline(time.Now().Add(p.c.Handshake))
	r := newReader(c, maxHello)
	other, err := greeting(c, r)
	if err != nil {
		return nil, err
	}
	s.SetDeadline(time.Time{})
	return &tie{Link: newLink(c, s, r, p.c.Limits, &p.wg), peer: other, dialled: dialled != "", done: make(chan struct{})}, nil
}

// judge returns why a peer may not have a link.
func (p *Pool) judge(other *Peer) error {
	if p.c.Fits != nil {
		if err := p.c.Fits(other); err != nil {
			return err
		}
	}
	if other.Dialled == "" {
		if err := p.claim(other); err != nil {
			return err
		}
	}
	return p.owner.Check(other)
}

// Serve runs an accepted connection: it is the handler of a Mux for PeerProto.
func (p *Pool) Serve(c net.Conn) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.wg.Add(1)
	p.mu.Unlock()
	defer p.wg.Done()
	defer c.Close()
	s, c := socketOf(c)
	stop := context.AfterFunc(p.ctx, func() { s.Close() })
	defer stop()
	Tune(s.Conn, p.c.Timeout) // without it, a dead connection is only detected later
	var t *tie
	err := errCrowd
	if place := p.pending.enter(s, s.RemoteAddr(), &s.heard, 0); place != nil {
		t, err = p.greet(c, "")
		if !p.pending.leave(place) {
			err = errEvicted
		}
	}
	stop() // a link is closed by Close
	if err != nil {
		p.refused.Log(p.c.Log, slog.LevelWarn, "node refused", "from", remote(c), "why", err)
		return
	}
	pr := p.hold(t.peer.Addr)
	defer p.release(pr)
	p.run(pr, t)
}
