package rights

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/node/cert"
)

const anyRule = "[[rule]]\nwho = \"client/*\"\nlocks = \"*\"\nmay = \"lock\"\n"

// identities returns rules with these lines of [[identity]].
func identities(t *testing.T, lines ...string) *Rules {
	t.Helper()
	text := anyRule
	for _, l := range lines {
		text += "[[identity]]\n" + l + "\n"
	}
	r, err := Parse(text, true)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// named returns a certificate with a common name and URIs, as package x509 reads it.
func named(t *testing.T, common string, uris ...string) *x509.Certificate {
	t.Helper()
	var names []asn1.RawValue
	for _, u := range uris {
		names = append(names, asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 6, Bytes: []byte(u)})
	}
	b, err := asn1.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	return &x509.Certificate{Subject: pkix.Name{CommonName: common}, Extensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 17}, Value: b}}}
}

// Whose a certificate is, by the rights file.
func TestOwner(t *testing.T) {
	web, root := cert.Identity{Kind: cert.IsClient, Name: "web"}, cert.Identity{Kind: cert.IsAdmin, Name: "root"}
	common := cert.Identity{Kind: cert.IsClient, Name: "common"}
	nobody := cert.Identity{}
	none := Default(true)
	some := identities(t,
		"spiffe = \"spiffe://example.org/ns/*/sa/web\"\nis = \"client/web\"",
		"spiffe = \"spiffe://example.org/ns/ops/sa/root\"\nis = \"admin/root\"",
		"spiffe = \"spiffe://example.org/ns/ops/*/root\"\nis = \"client/web\"",
		"subject = \"spiffe://example.org/jwt\"\nis = \"client/web\"",
	)
	for _, x := range []struct {
		rules   *Rules
		require bool
		uris    string
		want    cert.Identity
	}{
		{none, false, "", common},
		{none, true, "", nobody},
		{none, true, "stile://admin/root", root},
		{none, false, "spiffe://example.org/ns/a/sa/web", common},
		{none, true, "spiffe://example.org/ns/a/sa/web", nobody},
		{some, false, "", common},
		{some, true, "", nobody},
		{some, true, "spiffe://example.org/ns/a/sa/web", web},
		{some, false, "spiffe://example.org/ns/a/sa/web", web},
		{some, false, "spiffe://example.org/ns/a/b/sa/web", nobody},
		{some, false, "spiffe://example.org/ns//sa/web", nobody},
		{some, false, "spiffe://example.org/ns/a/sa/web2", nobody},
		{some, false, "spiffe://other.org/ns/a/sa/web", nobody},
		{some, false, "SPIFFE://example.org/ns/a/sa/web", common},
		{some, false, "spiffe://example.org/ns/ops/sa/root", nobody}, // two entries disagree
		{some, false, "spiffe://example.org/jwt", nobody},
		{some, false, "spiffe://example.org/ns/a/sa/web spiffe://example.org/ns/b/sa/web", nobody},
		{some, false, "spiffe://example.org/ns/a/sa/web stile://admin/root", root},
	} {
		got, err := x.rules.Owner(named(t, "common", strings.Fields(x.uris)...), x.require)
		if got != x.want || (err == nil) != (x.want != nobody) {
			t.Errorf("%+v: %v, %v", x, got, err)
		}
	}
}

// Whose the subject of a JWT is, by the rights file.
func TestSubject(t *testing.T) {
	r := identities(t,
		"subject = \"system:serviceaccount:*:web\"\nis = \"client/web\"",
		"spiffe = \"spiffe://example.org/x\"\nis = \"admin/root\"",
	)
	for subject, want := range map[string]string{
		"system:serviceaccount:prod:web":   "client/web",
		"system:serviceaccount:prod:x:web": "",
		"system:serviceaccount::web":       "",
		"system:serviceaccount:prod:webs":  "",
		"spiffe://example.org/x":           "",
		"":                                 "",
	} {
		got, err := r.Subject(subject)
		if got.Path() != want || (err == nil) != (want != "") {
			t.Errorf("%q: %v, %v", subject, got, err)
		}
	}
}

func TestBadIdentities(t *testing.T) {
	for lines, want := range map[string]string{
		"is = \"client/web\"": "want spiffe",
		"is = \"client/web\"\nspiffe = \"spiffe://a/b\"\nsubject = \"c\"": "want spiffe",
		"is = \"client/web\"\nspiffe = \"spiffe://a/*/b/*\"":              "at most one star",
		"is = \"client/web\"\nspiffe = \"spiffe://*/web\"":                "TRUST-DOMAIN",
		"is = \"client/web\"\nspiffe = \"spiffe://a\"":                    "TRUST-DOMAIN",
		"is = \"client/web\"\nspiffe = \"https://a/b\"":                   "TRUST-DOMAIN",
		"is = \"client/web\"\nsubject = \"*\"":                            "must not come first",
		"is = \"node/a\"\nsubject = \"x\"":                                "client/NAME",
		"is = \"token/a\"\nsubject = \"x\"":                               "client/NAME",
		"is = \"client/*\"\nsubject = \"x\"":                              "client/NAME",
		"is = \"web\"\nsubject = \"x\"":                                   "client/NAME",
		"subject = \"x\"":                                                 "client/NAME",
		"is = \"client/web\"\nsubject = \"x\"\nwho = \"y\"":               "unknown key",
	} {
		_, err := Parse(anyRule+"[[identity]]\n"+lines+"\n", true)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", lines, err)
		}
	}
}
