package node

import (
	"log/slog"
	"net"
	"sync"

	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/process"
)

// An audit logs who has administered the cluster, what was denied to whom, and who has claimed
// a lock, from where, and with which result.
type audit struct {
	log *slog.Logger

	mu      sync.Mutex
	lines   int // for a caller in a while; 0: the default
	callers map[string]*transport.Refrain
	others  transport.Refrain // for callers beyond maxCallers
}

// maxCallers is the maximum number of callers whose denied requests are limited separately.
const maxCallers = 1024

// done logs what a caller who may administer has done, or why it has failed.
func (a *audit) done(who Caller, what string, err error, args ...any) {
	log := a.by(who, what).With(args...)
	if err != nil {
		log.Warn("request failed", "result", "failed", "err", err)
		return
	}
	log.Info("request carried out", "result", "done")
}

// denied logs what a caller may not do. Callers can cause this as often as they like, so each
// of them gets some lines in a while, and then a count.
func (a *audit) denied(who Caller, what, why string, args ...any) {
	a.refrain(who, "").Log(a.by(who, what).With(args...), slog.LevelWarn, "request denied", "result", "denied", "why", why)
}

// by returns the log for what a caller does.
func (a *audit) by(who Caller, what string) *slog.Logger {
	return a.log.With("who", who.Identity.String(), "from", who.From, "what", what)
}

// claimed logs whether a client now holds a lock here that it says it holds through another
// node, or why not. A client can cause refusals as often as it likes, so these lines are
// limited, apart from those of denied. What is honoured is always logged.
func (n *Node) claimed(e *process.Effect) {
	var who Caller
	if v := n.conns[e.Conn]; v != nil {
		who = v.who
	} else if i, err := cert.ParsePath(e.Client.Who); err == nil { // it has disconnected
		who.Identity = i
	}
	log := n.audit.by(who, "claim").With("lock", e.To, "token", e.Event.Token, "incarnation", e.Peer)
	if e.Err != nil {
		n.audit.refrain(who, " claim").Log(log, slog.LevelWarn, "claim refused", "result", "refused", "why", e.Err)
		return
	}
	log.Info("claim honoured", "result", "done")
}

// refrain returns what limits the lines of a caller.
func (a *audit) refrain(who Caller, about string) *transport.Refrain {
	host, _, err := net.SplitHostPort(who.From)
	if err != nil {
		host = who.From
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key := who.Path() + " " + host + about
	if r := a.callers[key]; r != nil {
		return r
	}
	if len(a.callers) >= maxCallers {
		return &a.others
	}
	if a.callers == nil {
		a.callers = map[string]*transport.Refrain{}
	}
	r := &transport.Refrain{Lines: a.lines}
	a.callers[key] = r
	return r
}

// DeniedHandshake logs that a connection failed in the TLS handshake, for the audit. There is
// no identity, and anyone can cause this from many addresses, so these lines are limited
// apart from those of callers.
func (n *Node) DeniedHandshake(from, why string) {
	n.strangers.denied(Caller{From: from}, "connect", why)
}

// lockAttr returns the log attribute of a lock, if there is one.
func lockAttr(name string) []any {
	if name == "" {
		return nil
	}
	return []any{"lock", name}
}
