package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
)

// find returns a program of PostgreSQL; many systems keep them out of the path.
func find(t testing.TB, name string) string {
	t.Helper()
	all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(all) > 0 {
		return all[len(all)-1]
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("SKIPPED: fences are not tried on a real database: there is no %s: install PostgreSQL, such as with 'apt-get install postgresql'", name)
	}
	return path
}

// unprivileged makes a program run as nobody, if this is root, as whom PostgreSQL
// refuses to run.
func unprivileged(t testing.TB, c *exec.Cmd, dir string) {
	t.Helper()
	c.Dir, c.Env = dir, append(os.Environ(), "LC_ALL=C")
	if os.Getuid() != 0 {
		return
	}
	const nobody = 65534
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// open starts a server that ends with the test, and connects to it.
func open(t testing.TB) *sql.DB {
	t.Helper()
	_, db := serve(t)
	return db
}

// serve is open that also returns how others connect to the server.
func serve(t testing.TB) (dsn string, db *sql.DB) {
	t.Helper()
	initdb, postgres := find(t, "initdb"), find(t, "postgres")
	dir, err := os.MkdirTemp("", "stile-pg") // short, as the name of a socket has to be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	data := filepath.Join(dir, "data")
	c := exec.Command(initdb, "-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8")
	unprivileged(t, c, dir)
	if b, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", c, err, b)
	}
	var log bytes.Buffer
	server := exec.Command(postgres, "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off")
	unprivileged(t, server, dir)
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Signal(syscall.SIGINT)
		server.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	dsn = fmt.Sprintf("host=%s user=postgres dbname=postgres", dir)
	db, err = sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for err := db.PingContext(ctx); err != nil; err = db.PingContext(ctx) {
		select {
		case <-ctx.Done():
			t.Fatal(err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return dsn, db
}
