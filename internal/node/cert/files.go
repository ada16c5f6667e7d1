package cert

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// An output is a file to be written.
type output struct {
	path string
	data []byte
	mode fs.FileMode
}

// isDir returns an error if dir is not a folder.
func isDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no directory %q: create it first", dir)
	case err != nil:
		return fmt.Errorf("cannot use directory %q: %w", dir, reason(err))
	case !info.IsDir():
		return fmt.Errorf("%q is a file: give a directory", dir)
	}
	return nil
}

// free returns an error if one of the files exists.
func free(paths ...string) error {
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s exists, and other nodes may trust it: remove it, or give --force to replace it", path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot write %s: %w", path, reason(err))
		}
	}
	return nil
}

// install writes all files or none: each under a temporary name beside its place first.
// Unless force is set it never overwrites a file, even one created a moment ago.
func install(force bool, files ...output) (err error) {
	var beside, placed []string
	defer func() {
		for _, path := range beside {
			os.Remove(path)
		}
		for _, path := range placed {
			if err != nil && !force {
				os.Remove(path)
			}
		}
	}()
	for _, f := range files {
		path, err := writeBeside(f)
		if path != "" {
			beside = append(beside, path)
		}
		if err != nil {
			return fmt.Errorf("cannot write %s: %w", f.path, reason(err))
		}
	}
	for i, f := range files {
		if err := place(beside[i], f.path, force); err != nil {
			return err
		}
		placed = append(placed, f.path)
	}
	return nil
}

// writeBeside writes a file to the disk under a temporary name.
func writeBeside(f output) (path string, err error) {
	t, err := os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+".*.tmp") // readable only by this user
	if err != nil {
		return "", err
	}
	_, err = t.Write(f.data)
	return t.Name(), errors.Join(err, t.Chmod(f.mode), t.Sync(), t.Close())
}

// place gives a file its final name.
func place(from, to string, force bool) error {
	var err error
	if force {
		err = os.Rename(from, to)
	} else if err = os.Link(from, to); err != nil && !errors.Is(err, fs.ErrExist) {
		if err = free(to); err == nil { // a file system without hard links
			err = os.Rename(from, to)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return free(to)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", to, reason(err))
	}
	return nil
}

// reason returns an error without its file name, which may be a temporary one.
func reason(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// loadCA reads the authority in a folder, for signing.
func loadCA(dir string, now time.Time) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	file, keyFile := filepath.Join(dir, CAName+".crt"), filepath.Join(dir, CAName+".key")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("no authority in %q: create one with 'stile cert ca', or give its directory with --dir", dir)
	}
	pair, err := loadPair(file, keyFile)
	if err != nil {
		return nil, nil, err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	switch {
	case !ok:
		return nil, nil, fmt.Errorf("%s is not an ECDSA key: create one with 'stile cert ca'", keyFile)
	case !pair.Leaf.IsCA:
		return nil, nil, fmt.Errorf("%s is not the certificate of an authority: create one with 'stile cert ca'", file)
	case now.After(pair.Leaf.NotAfter):
		return nil, nil, fmt.Errorf("%s expired on %s: create a new authority with 'stile cert ca --force', and new certificates for all nodes", file, pair.Leaf.NotAfter.Format(time.DateOnly))
	}
	return pair.Leaf, key, nil
}

// loadPair reads a certificate and its key.
func loadPair(file, keyFile string) (*tls.Certificate, error) {
	cert, _, err := ReadStamped(file)
	if err != nil {
		return nil, noCert(file, err)
	}
	key, _, err := ReadStamped(keyFile)
	if err != nil {
		return nil, noKey(keyFile, err)
	}
	return pairOf(file, keyFile, cert, key)
}

func noCert(file string, err error) error {
	return fmt.Errorf("cannot read the certificate %s: %w: create one with 'stile cert'", file, reason(err))
}

func noKey(file string, err error) error {
	return fmt.Errorf("cannot read the key %s: %w: 'stile cert' creates it with the certificate", file, reason(err))
}

// pairOf makes a pair of a certificate and its key, which were read from files.
func pairOf(file, keyFile string, cert, key []byte) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("%s and %s are not a certificate and its key: %w", file, keyFile, err)
	}
	return &pair, nil
}

// Show describes the first certificate in a file.
func Show(file string) (*Made, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the certificate %s: %w", file, reason(err))
	}
	block, rest := pem.Decode(data)
	for block != nil && block.Type != "CERTIFICATE" {
		block, rest = pem.Decode(rest)
	}
	if block == nil {
		return nil, fmt.Errorf("%s contains no certificate: give a file that 'stile cert' created, such as NAME.crt", file)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s contains no valid certificate: %w", file, err)
	}
	m := &Made{Name: CAName, Cert: file, Hosts: c.DNSNames, Until: c.NotAfter, Serial: Serial(c)}
	for _, ip := range c.IPAddresses {
		m.Hosts = append(m.Hosts, ip.String())
	}
	if !c.IsCA {
		who, err := ownerOf(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		m.Name, m.Kind = who.Name, who.Kind
	}
	return m, nil
}
