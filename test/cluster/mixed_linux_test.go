package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/lock"
)

// olderBy is the least number of commits between the two versions.
const olderBy = 10

// git runs git in the repository, and returns what it prints.
func git(args ...string) (string, error) {
	b, err := exec.Command("git", append([]string{"-C", "../.."}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(b)))
	}
	return strings.TrimSpace(string(b)), nil
}

// buildOlder builds stile at the newest commit that is old enough.
func buildOlder(t *testing.T) (binary, commit string) {
	t.Helper()
	commit, err := git("rev-list", "--first-parent", "--max-count=1", fmt.Sprint("--skip=", olderBy), "HEAD")
	if err != nil {
		t.Skip("LEFT OUT: versions do not run together, since there is no repository: ", err)
	}
	if commit == "" {
		t.Skipf("LEFT OUT: versions do not run together, since the clone has no commit %d before this one: git fetch --unshallow", olderBy)
	}
	dir := t.TempDir()
	archive := filepath.Join(dir, "source.tar")
	if _, err := git("archive", "--output="+archive, commit); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "source")
	if err := os.Mkdir(source, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tar", "-xf", archive, "-C", source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	binary = filepath.Join(dir, "stile")
	c := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "./cmd/stile")
	c.Dir = source
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("build commit %s: %v\n%s", commit, err, out)
	}
	return binary, commit
}

// versions are the ranges of the protocols that a program speaks.
type versions struct {
	Nodes, Clients struct{ Min, Max int }
}

// versionsOf asks a program for them.
func versionsOf(t *testing.T, binary string) versions {
	t.Helper()
	c := exec.Command(binary, "version", "--json")
	c.Args[0] = "stile"
	b, err := c.Output()
	var v struct{ Protocols versions }
	if err := errors.Join(err, json.Unmarshal(b, &v)); err != nil || v.Protocols.Clients.Max == 0 {
		t.Fatalf("stile version: %v: %s", err, b)
	}
	return v.Protocols
}

// A cluster of an older version is upgraded, one node after the other, while clients of
// both versions use locks. No request fails, no lock is lost, and no command is killed.
// The test is left out if today's program does not speak the versions of the older commit.
func TestMixedVersions(t *testing.T) {
	if os.Getenv("STILE_NIGHTLY") == "" {
		t.Skip("it builds an older version: set STILE_NIGHTLY=1")
	}
	t.Parallel()
	today, err := command()
	if err != nil {
		t.Fatal(err)
	}
	old, commit := buildOlder(t)
	theirs, ours := versionsOf(t, old), versionsOf(t, today)
	if theirs.Nodes.Max < ours.Nodes.Min || theirs.Nodes.Max > ours.Nodes.Max || theirs.Clients.Max < ours.Clients.Min || theirs.Clients.Max > ours.Clients.Max {
		t.Skipf("LEFT OUT: versions do not run together, since commit %s speaks versions %+v, and today's program %+v", commit, theirs, ours)
	}
	begun := time.Now()
	c := newTrialOf(t, old, 3, usual)
	done := filepath.Join(t.TempDir(), "done")
	var holders []*shell
	for i, binary := range []string{old, today} { // each holds a lock until all nodes are new
		s := (*world)(nil).run(t, 0, binary, "stile", "exec", "--addr", strings.Join(c.addresses(i), ","), fmt.Sprint("job", i), "--", "sh", "-c", "echo $STILE_TOKEN; while [ ! -e "+done+" ]; do sleep 0.1; done")
		s.until(`^\d+\.\d+$`)
		holders = append(holders, s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for i := range 4 { // these contend
		x := c.dial(fmt.Sprint("client ", i), i)
		wg.Go(func() {
			for ctx.Err() == nil {
				err := c.ledger.use(ctx, x, fmt.Sprint("busy ", rand.IntN(2)), time.Duration(rand.Int64N(int64(20*time.Millisecond))))
				if err != nil && (ctx.Err() == nil || errors.Is(err, lock.ErrLost)) {
					c.ledger.note(fmt.Errorf("client %d: %w", i, err))
				}
			}
		})
	}
	for i, n := range c.nodes {
		c.stop(i)
		n.binary = today
		c.start(i)
		c.serves()
		shout := (*world)(nil).run(t, 0, old, "stile", "exec", "--addr", n.address, "each", "--", "true") // an old client of a new node
		if <-shout.gone; !shout.cmd.ProcessState.Success() {
			t.Errorf("after %d nodes: %v", i+1, shout.cmd.ProcessState)
		}
	}
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range holders {
		if <-s.gone; !s.cmd.ProcessState.Success() {
			t.Errorf("%q: %v\n%s", s.cmd.Args, s.cmd.ProcessState, s.said())
		}
	}
	cancel()
	wg.Wait()
	if err := c.ledger.err(); err != nil || c.ledger.lost > 0 {
		t.Errorf("%d locks were lost: %v", c.ledger.lost, err)
	}
	t.Logf("commit %s and today: %d entries, the longest wait was %.1f s, all within %.1f s", commit, c.ledger.entries, c.ledger.waited.Seconds(), time.Since(begun).Seconds())
}
