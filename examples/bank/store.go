package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/stile-lock/stile"
)

// A place is where a store is: an SQLite file, or a schema of its own in PostgreSQL.
type place struct{ File, Postgres, Schema string }

// A store is the accounts of the bank, in a database.
type store struct {
	place
	db    *sql.DB
	fence bool
}

// A transfer moves an amount between two accounts.
type transfer struct {
	ID, From, To int
	Amount       int64
}

// A grant is a lock that is held, with its fencing token.
type grant interface {
	Name() string
	Token() stile.Token
	Err() error
}

// opening is the balance of each account at the beginning.
const opening = 1000

// errMade means that a transfer is already recorded.
var errMade = errors.New("the transfer was already made")

// openStore connects to a store.
func openStore(at place, fence bool) (*store, error) {
	s := &store{place: at, fence: fence}
	if at.Postgres != "" {
		c, err := pgx.ParseConfig(at.Postgres)
		if err != nil {
			return nil, fmt.Errorf("read the URL of PostgreSQL: %w: give one such as postgres://user@host/database", err)
		}
		c.RuntimeParams["search_path"] = at.Schema
		s.db = stdlib.OpenDB(*c)
		return s, nil
	}
	options := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(60000)", "journal_mode(WAL)", "synchronous(NORMAL)"}}
	var err error
	s.db, err = sql.Open("sqlite", "file:"+(&url.URL{Path: at.File}).EscapedPath()+"?"+options.Encode())
	return s, err
}

// found creates the tables, with the opening balance on each account.
func (s *store) found(ctx context.Context, accounts int) error {
	all := []string{
		stile.FenceTable,
		"CREATE TABLE account (number bigint PRIMARY KEY, balance bigint NOT NULL)",
		"CREATE TABLE transfer (id bigint PRIMARY KEY, source bigint NOT NULL, target bigint NOT NULL, amount bigint NOT NULL)",
	}
	if s.Schema != "" {
		all = slices.Insert(all, 0, "CREATE SCHEMA "+pgx.Identifier{s.Schema}.Sanitize())
	}
	for i := range accounts {
		all = append(all, fmt.Sprintf("INSERT INTO account VALUES (%d, %d)", i+1, opening))
	}
	for _, q := range all {
		if _, err := s.db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("create the tables of the bank: %w", err)
		}
	}
	return nil
}

// close drops the schema, if there is one, and closes the connections of the founder.
func (s *store) close() {
	if s.Schema != "" {
		_, _ = s.db.Exec("DROP SCHEMA IF EXISTS " + pgx.Identifier{s.Schema}.Sanitize() + " CASCADE")
	}
	s.db.Close()
}

// read returns the balances of the accounts of a transfer.
func (s *store) read(ctx context.Context, t transfer, held []grant) (from, to int64, err error) {
	err = s.fenced(ctx, held, func(tx *sql.Tx) error {
		return errors.Join(
			tx.QueryRowContext(ctx, "SELECT balance FROM account WHERE number = $1", t.From).Scan(&from),
			tx.QueryRowContext(ctx, "SELECT balance FROM account WHERE number = $1", t.To).Scan(&to))
	})
	return from, to, err
}

// write writes the balances of the accounts of a transfer, and records it. The error is
// stile.ErrStale if the fence refuses it, and errMade if the transfer is recorded already.
func (s *store) write(ctx context.Context, t transfer, held []grant, from, to int64) error {
	return s.fenced(ctx, held, func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, "INSERT INTO transfer VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING", t.ID, t.From, t.To, t.Amount)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, errMade)
		}
		balances := map[int]int64{t.From: from, t.To: to}
		for _, i := range []int{min(t.From, t.To), max(t.From, t.To)} { // so that no writers deadlock
			if _, err := tx.ExecContext(ctx, "UPDATE account SET balance = $1 WHERE number = $2", balances[i], i); err != nil {
				return err
			}
		}
		return nil
	})
}

// fenced runs a transaction that presents the tokens first, if there is a fence.
func (s *store) fenced(ctx context.Context, held []grant, f func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if s.fence {
		held = slices.SortedFunc(slices.Values(held), func(a, b grant) int { return cmp.Compare(a.Name(), b.Name()) })
		for _, g := range held {
			if err := stile.FenceTx(ctx, tx, g.Name(), g.Token()); err != nil {
				return err
			}
		}
	}
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// A ledger is a comparison of the balances with the recorded transfers. The totals alone do
// not show that all is well: two lost updates can cancel out.
type ledger struct {
	made            int // transfers
	expected, found int64
	wrong           int   // accounts
	off             int64 // sum of the differences, all counted as positive
}

// audit compares the balances of all accounts with the recorded transfers, in one query,
// because a worker that was killed may have sent a commit that is still in flight.
func (s *store) audit(ctx context.Context) (l ledger, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT balance, $1
		+ (SELECT coalesce(sum(amount), 0) FROM transfer WHERE target = number)
		- (SELECT coalesce(sum(amount), 0) FROM transfer WHERE source = number),
		(SELECT count(*) FROM transfer) FROM account`, opening)
	if err != nil {
		return l, err
	}
	defer rows.Close()
	for rows.Next() {
		var is, want int64
		if err := rows.Scan(&is, &want, &l.made); err != nil {
			return l, err
		}
		l.expected, l.found = l.expected+want, l.found+is
		if is != want {
			l.wrong++
			l.off += max(is-want, want-is)
		}
	}
	return l, rows.Err()
}
