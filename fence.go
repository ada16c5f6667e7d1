package stile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// ErrStale means that the resource has seen a higher token. The lock of this token has
// been lost, and its holder may not know that yet.
var ErrStale = errors.New("stale token: the resource has seen a higher one")

// A Fence guards a resource in memory: it refuses tokens lower than the highest it has
// seen. The zero value is ready to use, and its method is safe for concurrent use.
type Fence struct {
	mu   sync.Mutex
	seen Token
}

// Pass reports whether no higher token has passed before.
func (f *Fence) Pass(t Token) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t.Less(f.seen) {
		return false
	}
	f.seen = t
	return true
}

// The SQL of a fence in a database: a table with one row for each lock, and the
// statement that presents a token. It works with PostgreSQL and SQLite.
const (
	FenceTable = `CREATE TABLE IF NOT EXISTS stile_fence (name text PRIMARY KEY, epoch bigint NOT NULL, count bigint NOT NULL)`
	FenceBump  = `INSERT INTO stile_fence AS f (name, epoch, count) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch, count = excluded.count
WHERE f.epoch < excluded.epoch OR f.epoch = excluded.epoch AND f.count <= excluded.count`
)

// A DBTx is a database transaction, such as a *sql.Tx.
type DBTx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// FenceTx presents the token of a lock to a database. Call it first in the transaction
// that writes. If it returns an error, ErrStale or any other, roll the transaction back.
// Until the transaction ends, others that present a token of this lock wait for it. See
// docs/fencing.md.
func FenceTx(ctx context.Context, tx DBTx, name string, t Token) error {
	r, err := tx.ExecContext(ctx, FenceBump, name, int64(t.Epoch), int64(t.Count))
	if err != nil {
		return fmt.Errorf("present token %s for %q: %w", t, name, err)
	}
	n, err := r.RowsAffected()
	if err != nil {
		return fmt.Errorf("present token %s for %q: %w", t, name, err)
	}
	if n == 0 {
		return fmt.Errorf("present token %s for %q: %w", t, name, ErrStale)
	}
	return nil
}
