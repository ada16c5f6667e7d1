package node

import (
	"context"
	"log/slog"
	"slices"

	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/process"
)

// An audit logs who has administered the cluster, what was denied to whom, who has connected,
// and who has claimed a lock, from where, and with which result.
type audit struct {
	log    *slog.Logger
	logins slog.Level // of lines about who has connected
	limits limits
	file   *auditFile // nil: it is part of the node's log
}

// open opens the audit log: a file of its own, or else the node's log, where lines about who
// has connected would displace others.
func (a *audit) open(path string, log *slog.Logger, node string) (err error) {
	if a.log, a.logins = log.With("logger", "audit"), slog.LevelDebug; path == "" {
		return nil
	}
	if a.file, err = openAudit(path, log); err != nil {
		return err
	}
	a.log, a.logins = a.file.logger().With("node", node), slog.LevelInfo
	return nil
}

// done logs what a caller who may administer has done, or why it has failed.
func (a *audit) done(who Caller, what string, err error, args ...any) {
	log := a.by(who, what).With(args...)
	if err != nil {
		log.Warn("request failed", "result", "failed", "err", err)
		return
	}
	log.Info("request carried out", "result", "done")
}

// denied logs what a caller may not do.
func (a *audit) denied(who Caller, what, why string, args ...any) {
	about := requests
	if isOrder(what) {
		about = orders
	}
	a.limited(about, who, what, slog.LevelWarn, "request denied", append(args, "result", "denied", "why", why)...)
}

// limited logs what callers can cause as often as they like, unless it was logged too often.
func (a *audit) limited(about topic, who Caller, what string, level slog.Level, text string, args ...any) {
	if ok, note := a.limits.take(&who, about); ok {
		args = slices.Concat(args, note)
		a.by(who, what).Log(context.Background(), level, text, args...)
	}
}

// isOrder reports whether a request is one of administrators.
func isOrder(what string) bool {
	for i, name := range askNames {
		if _, order := subjects[uint64(i)]; name == what && order || uint64(i) == AskBackup && name == what {
			return true
		}
	}
	return false
}

// wants reports whether lines about who has connected are logged, and this is one.
func (a *audit) wants(who Caller) bool {
	return who.Kind != cert.Anyone && a.log.Enabled(context.Background(), a.logins)
}

// connected logs that a caller with an identity has connected.
func (a *audit) connected(who Caller) {
	if a.wants(who) {
		a.limited(logins, who, "connect", a.logins, "client connected", "result", "done")
	}
}

// Visited logs that an identity uses HTTP: for each address, at most once in ten minutes.
func (n *Node) Visited(who Caller) {
	if n.audit.wants(who) {
		n.audit.limited(visits, who, "connect", n.audit.logins, "HTTP client connected", "result", "done")
	}
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
	about := []any{"lock", e.To, "token", e.Event.Token, "incarnation", e.Peer}
	if e.Err != nil {
		n.audit.limited(claims, who, "claim", slog.LevelWarn, "claim refused", append(about, "result", "refused", "why", e.Err)...)
		return
	}
	n.audit.by(who, "claim").Info("claim honoured", append(about, "result", "done")...)
}

// DeniedHandshake logs that a connection failed in the TLS handshake, for the audit. There is
// no identity.
func (n *Node) DeniedHandshake(from, why string) {
	n.audit.limited(handshakes, Caller{From: from}, "connect", slog.LevelWarn, "request denied", "result", "denied", "why", why)
}

// lockAttr returns the log attribute of a lock, if there is one.
func lockAttr(name string) []any {
	if name == "" {
		return nil
	}
	return []any{"lock", name}
}
