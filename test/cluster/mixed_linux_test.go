package cluster

import (
	"context"
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

// previous is the file that names the commit whose binary must run together with today's:
// the last release, or before the first one the last commit that changed a format without a
// new version of it (docs/compatibility.md).
const previous = "testdata/previous"

// git runs git in the repository, and returns what it prints.
func git(args ...string) (string, error) {
	b, err := exec.Command("git", append([]string{"-C", "../.."}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(b)))
	}
	return strings.TrimSpace(string(b)), nil
}

// buildPrevious builds stile at the commit that the file names. Without the history of the
// repository the test is skipped.
func buildPrevious(t *testing.T) (binary, commit string) {
	t.Helper()
	b, err := os.ReadFile(previous)
	if err != nil {
		t.Fatal(err)
	}
	commit = strings.Fields(string(b))[0]
	shallow, err := git("rev-parse", "--is-shallow-repository")
	if err != nil {
		t.Skip("LEFT OUT: versions do not run together, since there is no repository: ", err)
	}
	if _, err := git("cat-file", "-e", commit+"^{commit}"); err != nil {
		if shallow == "true" {
			t.Skipf("LEFT OUT: versions do not run together, since commit %s is not in this shallow clone: git fetch --unshallow", commit)
		}
		t.Fatalf("%s names a commit that is not in the repository: name the last release: %v", previous, err)
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

// A cluster of the previous version is upgraded, one node after the other, while clients of
// both versions use locks. No request fails, no lock is lost, and no command is killed.
func TestMixedVersions(t *testing.T) {
	t.Parallel()
	old, commit := buildPrevious(t)
	begun := time.Now()
	today, err := command()
	if err != nil {
		t.Fatal(err)
	}
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
