//go:build unix

package disk

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/stile-lock/stile/internal/views/raft"
)

// childEnv makes the test binary a process that saves: its value is the folder,
// the seed, how many saves are there already, how many lines it is ahead of its
// saves, which is a bug unless it is 0, and how large a file may get, or 0.
const childEnv = "STILE_DISK_CHILD"

func TestMain(m *testing.M) {
	if path, ok := strings.CutPrefix(os.Getenv(childEnv), "trust "); ok {
		os.Exit(trust(path))
	}
	if args := os.Getenv(childEnv); args != "" {
		os.Exit(child(strings.Fields(args)))
	}
	os.Exit(m.Run())
}

// child saves one batch after the other and prints the number of each, until it
// is killed. If a save fails it says so and ends.
func child(args []string) int {
	var n [4]uint64
	for i := range n {
		n[i], _ = strconv.ParseUint(args[i+1], 10, 64)
	}
	seed, done, ahead, limit := n[0], n[1], n[2], n[3]
	s, err := Open(args[0])
	if err != nil {
		fmt.Println("error", err)
		return 2
	}
	if limit > 0 {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			fmt.Println("error", err)
			return 2
		}
	}
	w := newWriter(seed)
	for range done {
		w.next()
	}
	for i := done + 1; ; i++ {
		b := w.next()
		if limit > 0 {
			b = growing(i)
		}
		if err := s.Save(b); err != nil {
			again := s.Save(b)
			fmt.Println("error", err == again, err)
			return 3
		}
		fmt.Println(i + ahead)
	}
}

// trust opens a file with bbolt only, as well guarded as possible.
func trust(path string) int {
	err := guard(func() error {
		db, err := bbolt.Open(path, 0o600, options())
		if err != nil {
			return err
		}
		return db.View(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(bucketName)).ForEach(func(k, v []byte) error { return nil })
		})
	})
	fmt.Println("error", err)
	return 0
}

// Without the reader of this package, some file that is cut off kills the
// process, which TestTruncation would not survive.
func TestTruncationControl(t *testing.T) {
	x := newSpecimen(t, 6, 150)
	dir, _ := memoryFolder(t)
	path := filepath.Join(dir, "voter.db")
	for size := 2 * pageSize; size < len(x.bytes); size += pageSize {
		if err := os.WriteFile(path, x.bytes[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"=trust "+path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Logf("cut off after %d bytes: %v: %.120s", size, err, out)
			return
		}
	}
	t.Error("bbolt alone survives all files that are cut off: the reader is not needed any more")
}

// growing is a batch of a log that only gets longer, to this index.
func growing(index uint64) raft.Batch {
	if index == 1 {
		return newWriter(1).next()
	}
	return raft.Batch{Hard: raft.Hard{Term: 1, Commit: 1}, Entries: []raft.Entry{{Index: index, Term: 1, Data: make([]byte, 3000)}}}
}

// A life is what a child has done.
type life struct {
	acked uint64 // the last number it has printed
	says  string // its error, if any
}

// live runs a child, and kills it when it has acknowledged so many saves, or
// lets it end by itself if that is 0.
func live(t *testing.T, args string, kills uint64) life {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+args)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var l life
	lines := uint64(0)
	for scan := bufio.NewScanner(out); scan.Scan(); {
		if says, ok := strings.CutPrefix(scan.Text(), "error "); ok {
			l.says = says
			continue
		}
		l.acked, err = strconv.ParseUint(scan.Text(), 10, 64)
		if err != nil {
			t.Errorf("a child says %q", scan.Text())
		}
		if lines++; lines == kills {
			checksum("", make([]byte, kills*100_000)) // so that it is not always the same moment of a save
			cmd.Process.Kill()                        // what it has printed until then is read below
		}
	}
	if err := cmd.Wait(); kills > 0 && !strings.Contains(fmt.Sprint(err), "killed") {
		t.Errorf("a child ended by itself: %v %s", err, l.says)
	}
	return l
}

// killing kills one process after the other on the same folder. All that was
// acknowledged must be there, and nothing else but the save that was under way.
func killing(t *testing.T, dir string, rounds int, ahead uint64) error {
	w := newWriter(11)
	var done, whole uint64
	for round := range rounds {
		l := live(t, fmt.Sprintf("%s 11 %d %d 0", dir, done, ahead), uint64(1+round*7%23))
		for ; done < l.acked; done++ {
			w.next()
		}
		s, err := Open(dir)
		if err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		got, err := s.Load()
		if err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
		if !same(got, w.state()) {
			w.next()
			done++
			whole++
			if !same(got, w.state()) {
				return fmt.Errorf("round %d: %d saves were acknowledged, but that is not there: %.200s", round, l.acked, fmt.Sprintf("%+v", got))
			}
		}
	}
	t.Logf("%d processes were killed, %d saves are there, of which %d were not acknowledged any more", rounds, done, whole)
	return nil
}

// On a disk most processes die in a sync, in memory anywhere.
func TestKill(t *testing.T) {
	memory, _ := memoryFolder(t)
	for _, dir := range []string{t.TempDir(), memory} {
		if err := killing(t, dir, 20, 0); err != nil {
			t.Error(err)
		}
	}
	if err := killing(t, t.TempDir(), 3, 2); err == nil {
		t.Error("a process that acknowledges two saves too early is not caught")
	} else {
		t.Logf("acknowledging too early: caught: %.100s", err)
	}
}

// A process whose file may not grow ends with an error, and the next one, which
// may, finds all that was acknowledged.
func TestFileLimit(t *testing.T) {
	dir := t.TempDir()
	l := live(t, dir+" 12 0 0 200000", 0)
	if l.acked == 0 || !strings.HasPrefix(l.says, "true ") || !strings.Contains(l.says, syscall.EFBIG.Error()) || !strings.Contains(l.says, "restart") {
		t.Fatalf("after save %d it says %q", l.acked, l.says)
	}
	t.Logf("after save %d: %s", l.acked, l.says)
	s := open(t, dir)
	got := load(t, s)
	if got.Last() != l.acked {
		t.Errorf("%d saves were acknowledged, but the last entry is %d", l.acked, got.Last())
	}
	if err := s.Save(growing(got.Last() + 1)); err != nil {
		t.Error(err)
	}
}

// Another process is locked out, and learns which process holds the lock.
func TestLockOfAnother(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	l := live(t, dir+" 1 0 0 0", 0)
	if want := fmt.Sprintf("in use by process %d", os.Getpid()); l.acked != 0 || !strings.Contains(l.says, want) {
		t.Errorf("it says %q; want %q", l.says, want)
	}
}
