package cert

import (
	"os"
	"strings"
	"testing"
	"time"
)

// Only a node may be at the other end of a connection that a process dials, whatever usages the
// authority has put into the certificates of others.
func TestOnlyNodesAreDialled(t *testing.T) {
	root := newAuthority(t, "root", nil)
	node, _ := root.load("stile://node/a", root)
	client, _ := root.load("stile://client/backup", root)
	if _, err := shake(node.Server(), client.Client("127.0.0.1")); err != nil {
		t.Error(err)
	}
	for _, uri := range []string{"stile://client/mallory", "stile://admin/mallory", "spiffe://example.org/node"} {
		mallory, _ := root.load(uri, root)
		_, err := shake(mallory.Server(), client.Client("127.0.0.1"))
		says(t, err, "not that of a node")
		_, err = shake(mallory.Server(), node.Client("127.0.0.1"))
		says(t, err, "not that of a node")
	}
}

// What is not written exactly as 'stile cert' writes it could mean one owner here and another
// one to other readers.
func TestCanonicalURIs(t *testing.T) {
	root := newAuthority(t, "root", nil)
	for _, uri := range []string{
		"stile://x@admin/root", "STILE://admin/root", "Stile://admin/root", "stile://admin/%72oot", "stile://ADMIN/root", "stile://admin:1/root", "stile://admin/root?x",
		"stile://admin/root?", "stile://admin/root#", "stile://admin//root", "stile:/admin/root", "stile:admin/root", "stile://admin/root/",
	} {
		c, _, _ := root.certificate("common", uri)
		if who, err := Of(c); err == nil {
			t.Errorf("%s is %v", uri, who)
		}
	}
}

// A certificate of an intermediate authority is accepted with the chain in its file, and only
// then.
func TestIntermediateAuthority(t *testing.T) {
	root := newAuthority(t, "root", nil)
	below := newAuthority(t, "below", newAuthority(t, "middle", root))
	node, _ := below.load("stile://node/a", root)
	client, _ := below.load("stile://client/backup", root)
	if _, err := shake(node.Server(), client.Client("127.0.0.1")); err != nil {
		t.Error(err)
	}
	c, _ := below.files(t.TempDir(), "stile://client/backup", root)
	b, err := os.ReadFile(c.Cert)
	if err != nil {
		t.Fatal(err)
	}
	end := "-----END CERTIFICATE-----\n"
	first, _, _ := strings.Cut(string(b), end)
	write(t, c.Cert, []byte(first+end))
	_, err = Load(c, nil)
	says(t, err, "not signed by")
	// Several authorities are in one file.
	other := newAuthority(t, "other", nil)
	c, _ = other.files(t.TempDir(), "stile://client/web", root)
	write(t, c.CA, append(append([]byte{}, root.pem...), other.pem...))
	if _, err := Load(c, nil); err != nil {
		t.Error(err)
	}
}

// A file of the same size and the same time is read again if its contents are others.
func TestReloadComparesContents(t *testing.T) {
	root := newAuthority(t, "root", nil)
	dir, then := t.TempDir(), time.Now().Add(-time.Hour)
	padded := func() Config {
		c, _ := root.files(dir, "stile://node/a", root)
		for _, path := range []string{c.CA, c.Cert, c.Key} {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, append(b, make([]byte, 4096-len(b))...))
			if err := os.Chtimes(path, then, then); err != nil {
				t.Fatal(err)
			}
		}
		return c
	}
	k, err := Load(padded(), func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	first, err := shake(k.Server(), k.Client("127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	padded()
	if second, err := shake(k.Server(), k.Client("127.0.0.1")); err != nil || second == first {
		t.Errorf("the previous certificate is used: %v", err)
	}
}
