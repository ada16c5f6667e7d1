package node

import (
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
)

// Who may do what at this node. Package rights decides; here is where it is asked, and where
// its files are read.

// refusal returns the answer to a frame from a client that may not send it; nil if it may.
func (n *Node) refusal(conn uint64, v *clientConn, b []byte) []byte {
	if n.rules.Open() || len(b) == 0 {
		return nil
	}
	switch kind := session.Kind(b[0]); {
	case kind == session.Ask:
		return n.unasked(v, b)
	case kind == session.Hello:
		return n.unopened(v, b)
	case kind != session.Lock && kind != session.Claim:
		return nil
	case !n.rules.Given() && v.who.Kind != cert.Anyone: // everyone with an identity may
		return nil
	}
	return n.unlocked(conn, v, b)
}

// unasked refuses a question.
func (n *Node) unasked(v *clientConn, b []byte) []byte {
	f, err := session.Parse(b)
	if err != nil || f.What == AskLocks { // the process refuses it; its answer has only what the caller may read
		return nil
	}
	action, lock, what := permission(&f)
	ok, why := n.rules.Decide(v.who.Identity, action, lock)
	if ok || f.What == AskOrderFor && n.seats(v.who.Identity) {
		return nil
	}
	n.audit.denied(v.who, what, why, lockAttr(lock)...)
	return (&session.Frame{Kind: session.Answer, Number: f.Number, Denied: true, Last: true, Bytes: []byte(why)}).AppendTo(nil)
}

// unopened refuses a session to an identity that may not do anything. One that has a session from
// before may resume it: to refuse that would be to forget the locks in it.
func (n *Node) unopened(v *clientConn, b []byte) []byte {
	f, err := session.Parse(b)
	if err != nil || n.rules.Known(v.who.Identity) || n.p.Resumes(v.who.Path(), &f) {
		return nil
	}
	n.audit.denied(v.who, "session", "no rule of the rights file is about "+v.who.Identity.String())
	return (&session.Frame{Kind: session.Bye, Why: session.Denied}).AppendTo(nil)
}

// unlocked refuses a request for a lock. Frames that repeat a known request pass, whatever
// the rights are by now: to refuse them would be to forget a lock that the client may hold.
func (n *Node) unlocked(conn uint64, v *clientConn, b []byte) []byte {
	f, err := session.Parse(b)
	if err != nil || !n.p.Bound(conn) || n.p.Knows(conn, f.Number) {
		return nil
	}
	ok, why := n.rules.Decide(v.who.Identity, rights.Lock, f.Name)
	if ok {
		return nil
	}
	what := "lock"
	if f.Kind == session.Claim {
		what = "claim"
	}
	n.audit.denied(v.who, what, why, lockAttr(f.Name)...)
	return (&session.Frame{Kind: session.Over, Number: f.Number, Why: session.Denied}).AppendTo(nil)
}

// permission returns what a caller must be allowed to do to ask a question, and its name. A
// question that is not listed is for administrators.
func permission(f *session.Frame) (a rights.Action, lock, what string) {
	if f.What >= uint64(len(askNames)) || askNames[f.What] == "" {
		return rights.Administer, "", fmt.Sprintf("query %d", f.What)
	}
	what = askNames[f.What]
	switch f.What {
	case AskStatus, AskLocks, AskPulse:
		return rights.Look, "", what
	case AskLeader:
		q, _ := parseQuery[LeaderQuery](f.Bytes) // malformed ones are refused later
		return rights.Read, q.Name, what
	case AskPast:
		q, _ := parseQuery[PastQuery](f.Bytes)
		return rights.Read, q.Name, what
	case AskTrail:
		q, _ := parseTrail(f.Bytes) // malformed ones are refused later
		return rights.Read, q.Name, what
	case AskRelease:
		return rights.Administer, string(f.Bytes), what
	case AskOrderFor:
		o, _ := parseOrder(f.Bytes) // malformed ones are refused later
		return rights.Administer, o.lock(), orderName(o.What)
	}
	return rights.Administer, "", what
}

// mayRead returns which locks a caller may read, if it asks for itself or for another
// identity, whose path it gives.
func (n *Node) mayRead(who *Caller, other string) (func(name []byte) bool, error) {
	readers := []cert.Identity{who.Identity}
	if other != "" {
		i, err := cert.ParsePath(other)
		if err != nil {
			return nil, err
		}
		readers = append(readers, i)
	}
	if n.rules.Open() {
		return func([]byte) bool { return true }, nil
	}
	return func(name []byte) bool {
		return !slices.ContainsFunc(readers, func(i cert.Identity) bool {
			ok, _ := n.rules.Decide(i, rights.Read, string(name))
			return !ok
		})
	}, nil
}

// seats reports whether an identity is that of a member of the cluster. It may give orders for
// an administrator who is connected to it: it has checked the rights.
func (n *Node) seats(who cert.Identity) bool {
	return who.Kind == cert.IsNode && slices.ContainsFunc(n.p.Record().Members, func(m views.Member) bool { return m.Name == who.Name })
}

// Reads returns which locks a caller may see in lists, by the rules at present.
func (n *Node) Reads(who Caller) func(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	rules := n.rules
	return func(name string) bool {
		ok, _ := rules.Decide(who.Identity, rights.Read, name)
		return ok
	}
}

// May returns an error if a caller may not do something with a lock, or with the cluster if
// there is no lock.
func (n *Node) May(who Caller, a rights.Action, name string) error {
	if why := n.mayNot(&who, a, name); why != "" {
		return fmt.Errorf("%w: %s", lock.ErrDenied, why)
	}
	return nil
}

// Admit is May for something that the caller is about to do: what is denied is audited.
func (n *Node) Admit(who Caller, what string, a rights.Action, name string) error {
	if why := n.mayNot(&who, a, name); why != "" {
		n.audit.denied(who, what, why, lockAttr(name)...)
		return fmt.Errorf("%w: %s", lock.ErrDenied, why)
	}
	return nil
}

// mayNot returns why a caller may not do something; empty if it may.
func (n *Node) mayNot(who *Caller, a rights.Action, name string) string {
	if err := n.barred(who, time.Now()); err != nil {
		return err.Error()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	_, why := n.rules.Decide(who.Identity, a, name)
	return why
}

// introduce reports the identity and the quota of a client to the process, if it has any and
// they have changed.
func (n *Node) introduce(conn uint64, v *clientConn) {
	who, q := v.who.Path(), n.rules.Quota(v.who.Identity)
	if q == v.quota && (who == "" || v.known) {
		return
	}
	v.known, v.quota = true, q
	n.step(process.Input{Kind: process.Opened, Number: conn, Text: who, Quota: q})
	n.carryOut()
}

// fits returns why a peer may not be a node.
func (n *Node) fits(p *transport.Peer) error {
	err := cert.Fits(p.Cert, p.Name)
	if err != nil && p.Cert != nil {
		who, _ := CallerOf([]*x509.Certificate{p.Cert}, p.Remote) // Anyone if it does not say
		n.audit.denied(who, "join", err.Error(), "as", p.Name)
	}
	return err
}

// CheckEvery is how often the files of rights, of tokens and of revoked certificates are
// checked for changes.
const CheckEvery = time.Second

// accessFiles are the files that say who may do what.
type accessFiles struct{ rights, revoked, tokens accessFile }

// An accessFile is a file that is read again when it changes.
type accessFile struct {
	path string // empty: there is none
	seen cert.Stamp
}

// maxAccessFile is the maximum size of such a file.
const maxAccessFile = 64 << 20

// read returns the contents of a file.
func (f *accessFile) read(what string) (string, error) {
	f.seen = cert.StampOf(f.path) // before reading it: a change in between is seen the next time
	info, err := os.Stat(f.path)
	if err == nil && info.Size() > maxAccessFile {
		return "", fmt.Errorf("%s %s: %d bytes: at most %d are allowed", what, f.path, info.Size(), maxAccessFile)
	}
	b, err := os.ReadFile(f.path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return string(b), nil
}

// parsed reads a file and parses it.
func parsed[T any](f *accessFile, what string, parse func(text string) (T, error)) (x T, err error) {
	text, err := f.read(what)
	if err != nil {
		return x, err
	}
	if x, err = parse(text); err != nil {
		return x, fmt.Errorf("%s %s: %w", what, f.path, err)
	}
	return x, nil
}

func (n *Node) parseRights(text string) (*rights.Rules, error) {
	return rights.Parse(text, n.keys != nil)
}

// readAccess reads all files when the node starts.
func (n *Node) readAccess() (err error) {
	n.rules = rights.Default(n.keys != nil)
	f := &n.files
	f.rights.path, f.revoked.path, f.tokens.path = n.c.Rights, n.c.Revoked, n.c.Tokens
	if f.rights.path != "" {
		if n.rules, err = parsed(&f.rights, "rights file", n.parseRights); err != nil {
			return err
		}
	}
	if f.revoked.path != "" {
		if n.keys == nil {
			return fmt.Errorf("the file of revoked certificates %s needs TLS: give certificates, or leave it out", f.revoked.path)
		}
		list, err := parsed(&f.revoked, "file of revoked certificates", cert.ParseRevoked)
		if err != nil {
			return err
		}
		n.keys.Revoke(list)
	}
	if f.tokens.path != "" {
		list, err := parsed(&f.tokens, "tokens file", rights.ParseTokens)
		if err != nil {
			return err
		}
		n.tokens.Store(list)
	}
	return nil
}

// checkAccess reads files again that have changed, until the node ends.
func (n *Node) checkAccess() {
	if n.files.rights.path+n.files.revoked.path+n.files.tokens.path == "" {
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
		}
	}
}

// changed reads a file again if it has changed. If that fails, what was read before stays in
// force.
func changed[T any](n *Node, f *accessFile, what string, parse func(text string) (T, error)) (x T, ok bool) {
	if f.path == "" || cert.StampOf(f.path) == f.seen {
		return x, false
	}
	x, err := parsed(f, what, parse)
	if err != nil {
		n.c.Log.Error("file not reloaded; the previous contents stay in force", "err", err)
		return x, false
	}
	n.audit.log.Info("file reloaded", "what", what, "file", f.path)
	return x, true
}

// reread reads files again that have changed, and ends connections that are no longer
// allowed.
func (n *Node) reread(now time.Time) {
	rules, ruled := changed(n, &n.files.rights, "rights file", n.parseRights)
	revoked, less := changed(n, &n.files.revoked, "file of revoked certificates", cert.ParseRevoked)
	tokens, other := changed(n, &n.files.tokens, "tokens file", rights.ParseTokens)
	if less {
		n.keys.Revoke(revoked)
		n.pool.Recheck(func(c *x509.Certificate) error { return n.keys.Check(cert.Serial(c)) })
	}
	if other {
		n.tokens.Store(tokens)
	}
	if !ruled && !less && n.tokens.Load() == nil { // tokens expire, whether a file has changed or not
		return
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
	if ruled {
		n.rules = rules
		n.wakeAllPolls()
	}
	for conn, v := range n.conns {
		if ruled {
			n.introduce(conn, v)
		}
		if why := n.barred(&v.who, now); why != nil {
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

// barred returns why a caller may no longer be connected: its certificate is revoked, or its
// token.
func (n *Node) barred(who *Caller, now time.Time) error {
	switch {
	case who.Token:
		return n.tokens.Load().Check(who.Identity, now)
	case who.Serial != "" && n.keys != nil:
		return n.keys.Check(who.Serial)
	}
	return nil
}

// Tokens returns the bearer tokens that the node accepts at present.
func (n *Node) Tokens() *rights.Tokens { return n.tokens.Load() }
