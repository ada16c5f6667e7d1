package node

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/node/transport"
)

// auditPatience is how long the node waits until its audit lines are written.
const auditPatience = time.Second

// An auditFile is the file of --audit: a line of JSON for each event. Its lines are queued
// apart from those of the node's log, so that neither displaces the other.
type auditFile struct {
	path  string
	log   *slog.Logger // for what cannot be written
	print printer

	mu      sync.Mutex
	file    *os.File
	torn    bool // it ends in the middle of a line
	lost    uint64
	trouble transport.Refrain
}

var errSlow = errors.New("too many lines wait to be written")

// openAudit opens the file, which only its owner may read if it is new.
func openAudit(path string, log *slog.Logger) (*auditFile, error) {
	a := &auditFile{path: path, log: log, trouble: transport.Refrain{Lines: 1}}
	a.print.lost = func(lines int) { a.fail(lines, errSlow) }
	return a, a.reopen()
}

// logger returns what logs to the file.
func (a *auditFile) logger() *slog.Logger {
	return a.print.logger(slog.New(slog.NewJSONHandler(a, nil)))
}

// reopen opens the file again, after it was renamed. If that fails, the one that is open stays
// in use.
func (a *auditFile) reopen() error {
	f, err := os.OpenFile(a.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("cannot open the audit file: %w", err)
	}
	a.mu.Lock()
	old := a.file
	a.file, a.torn = f, false
	a.mu.Unlock()
	if old != nil {
		old.Close()
	}
	return nil
}

// Write implements io.Writer, for a line at a time.
func (a *auditFile) Write(b []byte) (int, error) {
	a.mu.Lock()
	line := b
	if a.torn {
		line = append([]byte("\n"), b...)
	}
	n, err := a.file.Write(line)
	a.torn = err != nil && (a.torn || n > 0)
	a.mu.Unlock()
	if err != nil {
		a.fail(1, err)
	}
	return len(b), nil // there is nowhere else to report it
}

// fail counts lines that are not in the file, and says so in the log.
func (a *auditFile) fail(lines int, err error) {
	a.mu.Lock()
	a.lost += uint64(lines)
	lost := a.lost
	a.mu.Unlock()
	a.trouble.Log(a.log, slog.LevelError, "audit lines lost: make room for the file, then send SIGHUP", "file", a.path, "lines", lost, "err", err)
}

// close writes what is queued.
func (a *auditFile) close() {
	if a != nil {
		a.print.flush(auditPatience)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.file.Close()
	}
}

// Lost returns how many lines are not in the file, because they could not be written.
func (a *auditFile) Lost() uint64 {
	if a == nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lost
}

// ReopenAudit opens the audit file again, after it was renamed. If that fails, the one that is
// open stays in use, which the log says.
func (n *Node) ReopenAudit() {
	if n.audit.file == nil {
		return
	}
	n.audit.file.print.flush(auditPatience)
	if err := n.audit.file.reopen(); err != nil {
		n.c.Log.Error("audit file not reopened; the previous one stays in use", "err", err)
	}
}
