package node

import (
	"crypto/x509"
	"fmt"
	"time"

	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
	"github.com/stile-lock/stile/internal/process"
)

// The files that say who may do what.

// CheckEvery is how often they are checked for changes.
const CheckEvery = time.Second

// An accessFile is a file that is read again when its contents change.
type accessFile struct {
	what, path string
	use        func(text string) error // parses it, and puts it in force
	seen       cert.Stamp              // of the contents that were read last
}

// load reads a file and puts it in force.
func (f *accessFile) load(b []byte, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", f.what, err)
	}
	if err := f.use(string(b)); err != nil {
		return fmt.Errorf("%s %s: %w", f.what, f.path, err)
	}
	return nil
}

// readAccess reads all files when the node starts.
func (n *Node) readAccess() error {
	n.rules = rights.Default(n.keys != nil)
	switch {
	case n.c.Revoked != "" && n.keys == nil:
		return fmt.Errorf("the file of revoked certificates %s needs TLS: give certificates, or leave it out", n.c.Revoked)
	case n.c.JWKS != "" && (n.c.Issuer.Name == "" || n.c.Issuer.Audience == "" || n.c.Rights == ""):
		return fmt.Errorf("the JWKS file %s needs the issuer and the audience of the JWTs, and a rights file that says whose their subjects are", n.c.JWKS)
	}
	for _, f := range []*accessFile{
		{what: "rights file", path: n.c.Rights, use: n.useRights},
		{what: "file of revoked certificates", path: n.c.Revoked, use: n.useRevoked},
		{what: "tokens file", path: n.c.Tokens, use: func(text string) error { return store(&n.tokens, rights.ParseTokens, text) }},
		{what: "JWKS file", path: n.c.JWKS, use: func(text string) error { return store(&n.jwks, rights.ParseKeys, text) }},
	} {
		if f.path == "" {
			continue
		}
		b, seen, err := cert.ReadStamped(f.path)
		if f.seen = seen; err != nil {
			return f.load(nil, err)
		}
		if err := f.load(b, nil); err != nil {
			return err
		}
		n.files = append(n.files, f)
	}
	return nil
}

// A pointer is what holds a value that others read.
type pointer[T any] interface{ Store(*T) }

// store parses a file and puts it in force.
func store[T any](to pointer[T], parse func(text string) (*T, error), text string) error {
	x, err := parse(text)
	if err == nil {
		to.Store(x)
	}
	return err
}

func (n *Node) useRights(text string) error {
	rules, err := rights.Parse(text, n.keys != nil)
	if err == nil {
		n.mu.Lock()
		n.rules, n.ruled = rules, true
		n.mu.Unlock()
	}
	return err
}

func (n *Node) useRevoked(text string) error {
	list, err := n.keys.ParseRevoked(text)
	if err == nil {
		n.keys.Revoke(list)
		n.due = list.Due()
	}
	return err
}

// checkAccess reads files again that have changed, until the node ends.
func (n *Node) checkAccess() {
	if len(n.files) == 0 {
		return
	}
	tick := time.NewTicker(n.c.check)
	defer tick.Stop()
	for {
		select {
		case <-n.ended:
			return
		case now := <-tick.C:
			n.reread(now)
			n.callRechecked()
		}
	}
}

// reread reads files again that have changed. If one cannot be used, what was read before
// stays in force.
func (n *Node) reread(now time.Time) {
	changed := n.tokens.Load() != nil // tokens expire, whether a file has changed or not
	for _, f := range n.files {
		b, seen, err := cert.ReadStamped(f.path)
		if seen == f.seen {
			continue
		}
		f.seen = seen
		if err := f.load(b, err); err != nil {
			n.c.Log.Error("file not reloaded; the previous contents stay in force", "err", err)
			continue
		}
		n.audit.log.Info("file reloaded", "what", f.what, "file", f.path)
		changed = true
	}
	if !n.due.IsZero() && now.After(n.due) {
		n.c.Log.Warn("list of revoked certificates out of date, but still in force: get the next one from the authority", "file", n.c.Revoked)
		n.due = time.Time{}
	}
	if changed {
		n.review(now)
	}
}

// review ends connections that are no longer allowed, after files have changed.
func (n *Node) review(now time.Time) {
	if n.keys != nil {
		n.pool.Recheck(func(c *x509.Certificate) error { return n.keys.Check(c) })
	}
	type end struct {
		*clientConn
		why error
	}
	var ends []end
	n.enter()
	if n.over {
		n.mu.Unlock()
		return
	}
	ruled := n.ruled
	n.ruled = false
	if ruled {
		n.wakeAllPolls()
	}
	for conn, v := range n.conns {
		if ruled {
			n.introduce(conn, v)
		}
		why := n.barred(&v.who, now)
		if ruled && why == nil {
			why = n.disowned(&v.who)
		}
		if why != nil {
			ends = append(ends, end{v, why})
		}
	}
	if ruled {
		n.step(process.Input{Kind: process.Recall})
		n.carryOut()
	}
	n.leave()
	for _, e := range ends {
		n.audit.denied(e.who, "stay connected", e.why.Error())
		e.Fail(e.why)
	}
}

// disowned returns why a caller is no longer the owner of its certificate, by new rights. The
// mutex must be held.
func (n *Node) disowned(who *Caller) error {
	if who.Cert == nil || who.Token || !who.Until.IsZero() {
		return nil
	}
	is, err := n.rules.Owner(who.Cert, n.c.RequireURI)
	if err == nil && is != who.Identity {
		err = fmt.Errorf("by the rights file its certificate is now that of %v", is)
	}
	return err
}
