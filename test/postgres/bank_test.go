package postgres

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

var bankTime = flag.Duration("bank-time", time.Minute, "how long each run of examples/bank makes transfers")

// TestBank runs examples/bank on both databases, with two locks, while nodes are killed and
// cut off and processes are paused: the balances are exact. Without a lock, and without the
// fence, they are not. It runs nightly.
func TestBank(t *testing.T) {
	if os.Getenv("STILE_NIGHTLY") == "" {
		t.Skip("set STILE_NIGHTLY=1 to run it")
	}
	dsn, db := serve(t)
	binary := filepath.Join(t.TempDir(), "bank")
	build := exec.Command("go", "build", "-o", binary, "./bank")
	build.Dir = "../../examples" // a module of its own
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all := []string{"-time", bankTime.String(), "-chaos", "kill,pause,partition"}
	struck := `[1-9]\d* nodes killed, [1-9]\d* processes paused, [1-9]\d* nodes isolated\n(?s:.*)`
	for _, test := range []struct {
		flags []string
		want  string
	}{
		{append(all, "-postgres", dsn), struck + "exact, on every account"},
		{append(all, "-postgres", dsn, "-lock", "kept:wound-wait"), struck + "exact, on every account"},
		{append(all, "-lock", "kept:wound-wait"), struck + "exact, on every account"},
		{[]string{"-postgres", dsn, "-lock", "none"}, "WRONG balance"},
		{[]string{"-accounts", "2", "-chaos", "pause", "-fence=false"}, "WRONG balance"},
	} {
		out, err := exec.Command(binary, test.flags...).CombinedOutput()
		t.Logf("bank %q:\n%s", test.flags, out)
		if err != nil || !regexp.MustCompile(test.want).Match(out) {
			t.Errorf("%v; want %q", err, test.want)
		}
	}
	var left int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'stile_bank%'").Scan(&left); err != nil || left > 0 {
		t.Errorf("%d schemas are left: %v", left, err)
	}
}
