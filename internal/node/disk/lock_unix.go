//go:build unix && !solaris && !illumos && !aix

package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// lockFolder locks a folder for this process until the file is closed or the process ends,
// however it ends. The lock file stays: removing one may remove that of another process.
func lockFolder(dir string) (*os.File, error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock directory %s: %w", dir, err)
	}
	if err := flock(f); err != nil {
		defer f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("directory %s is in use by %s: stop that process first, or give another directory", dir, holder(f))
		}
		return nil, fmt.Errorf("lock %s: %w: the data directory must be on a local disk", path, err)
	}
	sign(f)
	return f, nil
}

func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// sign writes the number of this process into the lock file, for later processes to read.
// If that fails, for example on a full disk, the lock is held all the same.
func sign(f *os.File) {
	_ = f.Truncate(0)
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
}

// holder describes the holder of the lock, as far as it is known.
func holder(f *os.File) string {
	b, _ := io.ReadAll(io.LimitReader(f, 32))
	if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && pid > 0 {
		return fmt.Sprintf("process %d", pid)
	}
	return "another process"
}
