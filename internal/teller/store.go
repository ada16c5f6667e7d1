package teller

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/stile-lock/stile"
)

// A Place is where a store is. One of its two forms is empty.
type Place struct {
	File string `json:",omitempty"` // of SQLite

	Postgres string `json:",omitempty"` // URL of the database
	Schema   string `json:",omitempty"` // that holds the tables, apart from all others
}

// A Store is the accounts of the bank, in a database.
type Store struct {
	db    *sql.DB
	place Place
	fence bool
}

// A Grant is a lock that is held, with its fencing token.
type Grant struct {
	Name  string
	Token stile.Token
}

// ErrMade means that a transfer is already recorded. Its earlier attempt has succeeded.
var ErrMade = errors.New("the transfer was already made")

// OpenStore connects to a store. With the fence, Read and Write present the tokens of their
// grants.
func OpenStore(at Place, fence bool) (*Store, error) {
	s := &Store{place: at, fence: fence}
	if at.Postgres == "" {
		options := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(60000)", "journal_mode(WAL)", "synchronous(NORMAL)"}}
		db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: at.File}).EscapedPath()+"?"+options.Encode())
		if err != nil {
			return nil, fmt.Errorf("open the database %s: %w", at.File, err)
		}
		db.SetMaxOpenConns(1) // SQLite has one writer at a time; others of this process queue here
		s.db = db
		return s, nil
	}
	c, err := pgx.ParseConfig(at.Postgres)
	if err != nil {
		return nil, fmt.Errorf("read the URL of PostgreSQL: %w: give one such as postgres://user@host/database", err)
	}
	c.RuntimeParams["search_path"] = at.Schema
	s.db = stdlib.OpenDB(*c)
	return s, nil
}

// Close closes the connections.
func (s *Store) Close() error { return s.db.Close() }

// Found creates the tables, with the opening balance on each account. The schema must be new.
func (s *Store) Found(ctx context.Context, accounts int) error {
	if err := s.db.PingContext(ctx); err != nil {
		return fmt.Errorf("connect to the database: %w: check that it is running, and its address and user", err)
	}
	all := []string{
		stile.FenceTable,
		"CREATE TABLE account (name text PRIMARY KEY, balance bigint NOT NULL)",
		"CREATE TABLE transfer (id bigint PRIMARY KEY, source bigint NOT NULL, target bigint NOT NULL, amount bigint NOT NULL)",
	}
	if s.place.Postgres != "" {
		all = slices.Insert(all, 0, "CREATE SCHEMA "+pgx.Identifier{s.place.Schema}.Sanitize())
	}
	for _, q := range all {
		if _, err := s.db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("create the tables of the bank: %w", err)
		}
	}
	for i := range accounts {
		if _, err := s.db.ExecContext(ctx, "INSERT INTO account VALUES ($1, $2)", accountName(i+1), Opening); err != nil {
			return fmt.Errorf("open account %d: %w", i+1, err)
		}
	}
	return nil
}

// Drop removes the tables from a server. An SQLite file is removed with its folder.
func (s *Store) Drop(ctx context.Context) error {
	if s.place.Postgres == "" {
		return nil
	}
	if _, err := s.db.ExecContext(ctx, "DROP SCHEMA IF EXISTS "+pgx.Identifier{s.place.Schema}.Sanitize()+" CASCADE"); err != nil {
		return fmt.Errorf("drop schema %s, which the run has created: %w: drop it by hand", s.place.Schema, err)
	}
	return nil
}

// Read returns the balances of two accounts.
func (s *Store) Read(ctx context.Context, t Transfer, grants []Grant) (from, to int64, err error) {
	read := func(db querier) error {
		for i, balance := range []*int64{&from, &to} {
			name := t.accounts()[i]
			if err := db.QueryRowContext(ctx, "SELECT balance FROM account WHERE name = $1", name).Scan(balance); err != nil {
				return fmt.Errorf("read the balance of %s: %w", name, err)
			}
		}
		return nil
	}
	if !s.fence {
		return from, to, read(s.db)
	}
	err = s.fenced(ctx, grants, func(tx *sql.Tx) error { return read(tx) })
	return from, to, err
}

// A querier is a database, or a transaction in one.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Write writes the balances of the accounts of a transfer, and records it, in one
// transaction. The error is stile.ErrStale if the fence refuses it, and ErrMade if the
// transfer is recorded already; nothing is written then.
func (s *Store) Write(ctx context.Context, t Transfer, grants []Grant, from, to int64) error {
	return s.fenced(ctx, grants, func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, "INSERT INTO transfer VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING", t.ID, t.From, t.To, t.Amount)
		if err != nil {
			return fmt.Errorf("record transfer %d: %w", t.ID, err)
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, ErrMade)
		}
		type row struct {
			name    string
			balance int64
		}
		rows := []row{{accountName(t.From), from}, {accountName(t.To), to}}
		slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.name, b.name) }) // so that no writers deadlock
		for _, x := range rows {
			if _, err := tx.ExecContext(ctx, "UPDATE account SET balance = $1 WHERE name = $2", x.balance, x.name); err != nil {
				return fmt.Errorf("write the balance of %s: %w", x.name, err)
			}
		}
		return nil
	})
}

// fenced runs a transaction that presents the tokens first, if there is a fence.
func (s *Store) fenced(ctx context.Context, grants []Grant, f func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin a transaction of the database: %w", err)
	}
	defer tx.Rollback()
	if s.fence {
		grants = slices.SortedFunc(slices.Values(grants), func(a, b Grant) int { return strings.Compare(a.Name, b.Name) })
		for _, g := range grants {
			if err := stile.FenceTx(ctx, tx, g.Name, g.Token); err != nil {
				return err
			}
		}
	}
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Audit compares the balances with the transfers that are recorded.
func (s *Store) Audit(ctx context.Context) (Audit, error) {
	a, err := s.audit(ctx)
	if err != nil {
		return a, fmt.Errorf("audit the bank: %w", err)
	}
	return a, nil
}

// audit reads both tables in one transaction, because a worker that was killed may have
// sent a commit that is still on its way.
func (s *Store) audit(ctx context.Context) (a Audit, err error) {
	options := &sql.TxOptions{}
	if s.place.Postgres != "" {
		options.Isolation = sql.LevelRepeatableRead
	}
	tx, err := s.db.BeginTx(ctx, options)
	if err != nil {
		return a, err
	}
	defer tx.Rollback()
	made, err := rows(ctx, tx, "SELECT id, source, target, amount FROM transfer", func(r *sql.Rows, t *Transfer) error {
		return r.Scan(&t.ID, &t.From, &t.To, &t.Amount)
	})
	if err != nil {
		return a, err
	}
	balances, err := rows(ctx, tx, "SELECT balance FROM account ORDER BY name", func(r *sql.Rows, b *int64) error { return r.Scan(b) })
	if err != nil {
		return a, err
	}
	return audit(balances, made)
}

// rows returns all rows of a query.
func rows[T any](ctx context.Context, tx *sql.Tx, query string, scan func(r *sql.Rows, to *T) error) (all []T, err error) {
	r, err := tx.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for r.Next() {
		var x T
		if err := scan(r, &x); err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, r.Err()
}
