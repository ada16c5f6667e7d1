//go:build !unix || solaris || illumos || aix

package disk

import (
	"fmt"
	"os"
	"runtime"
)

// lockFolder refuses: without a lock that ends with its process, two of them
// could be the same voter.
func lockFolder(dir string) (*os.File, error) {
	return nil, fmt.Errorf("lock the folder %s: voters cannot run on %s: take Linux or macOS", dir, runtime.GOOS)
}
