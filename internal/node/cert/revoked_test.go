package cert

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Lists of authorities are recognized by their contents, also among serial numbers.
func TestRevocationLists(t *testing.T) {
	root := newAuthority(t, "root", nil)
	below := newAuthority(t, "below", root)
	node, _ := below.load("stile://node/a", root)
	client, c := below.load("stile://client/backup", root)
	_, other := root.load("stile://client/other", root)
	server := node.Server()
	armoured := func(der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der}))
	}
	for what, x := range map[string]struct {
		text    string
		refused bool
	}{
		"none":          {"", false},
		"serial number": {Serial(c), true},
		"DER":           {string(below.revoke(nil, other, c)), true},
		"PEM":           {armoured(below.revoke(nil, c)), true},
		"second in PEM": {"12ab # lost\n" + armoured(root.revoke(nil, other)) + "\n34cd\n" + armoured(below.revoke(nil, c)), true},
		"number after":  {armoured(root.revoke(nil, other)) + Serial(c) + "\n", true},
		"other":         {armoured(below.revoke(nil, other)), false},
		"other issuer":  {armoured(root.revoke(nil, c)), false},
		"the one above": {armoured(root.revoke(nil, below.cert)), true},
		"list is empty": {armoured(below.revoke(nil)), false},
		"list is belated": {armoured(below.revoke(func(l *x509.RevocationList) {
			l.ThisUpdate, l.NextUpdate = time.Now().Add(-time.Hour), time.Now().Add(-time.Minute)
		}, c)), true},
	} {
		r, err := node.ParseRevoked(x.text)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		node.Revoke(r)
		if _, err := shake(server, client.Client("127.0.0.1")); (err != nil) != x.refused {
			t.Errorf("%s: %v", what, err)
		}
		if belated := strings.Contains(what, "belated"); belated != (!r.Due().IsZero() && r.Due().Before(time.Now())) {
			t.Errorf("%s: the next list is due at %v", what, r.Due())
		}
	}
	stranger := newAuthority(t, "below", nil) // of the same name
	partial := below.revoke(func(l *x509.RevocationList) {
		l.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 28}, Critical: true, Value: []byte{0x30, 0}}}
	}, c)
	for what, text := range map[string]string{
		"not signed by":       armoured(stranger.revoke(nil, c)),
		"no authority of":     string(newAuthority(t, "else", nil).revoke(nil, c)),
		"not supported":       armoured(partial),
		"not a list":          "\x30\x82junk",
		"not in PEM form":     "12\n" + crlBegin + "\njunk\n",
		"line 2: the list":    "12\n" + crlBegin + "\njunk\n",
		"is not a serial num": armoured(root.revoke(nil)) + "xyz",
	} {
		_, err := node.ParseRevoked(text)
		says(t, err, what)
	}
	text := armoured(root.revoke(nil))
	_, err := node.ParseRevoked("12\n" + text + "34\nx\n")
	says(t, err, fmt.Sprintf("line %d: \"x\"", 1+strings.Count(text, "\n")+2))
}
