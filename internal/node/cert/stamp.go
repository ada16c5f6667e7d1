package cert

import (
	"crypto/sha256"
	"errors"
	"os"
)

// A Stamp tells contents of a file apart, by their hash: a clock may be too coarse to tell two
// writes apart, and a file of the same size and time can be another one. That of a file that
// cannot be read is empty.
type Stamp [sha256.Size]byte

// maxFile is the maximum size of a file that is read again when it changes.
const maxFile = 64 << 20

// ReadStamped returns the contents of a file and their stamp.
func ReadStamped(path string) ([]byte, Stamp, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxFile {
		return nil, Stamp{}, errors.New("larger than 64 MiB, which is the maximum")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, Stamp{}, err
	}
	return b, sha256.Sum256(b), nil
}
