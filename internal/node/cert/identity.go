package cert

import (
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"strings"

	"github.com/stile-lock/stile/internal/words"
)

// A Kind is what the owner of a certificate is.
type Kind uint8

// The kinds. Their names are the hosts of the URIs in certificates.
const (
	Anyone   Kind = iota // without a certificate
	IsClient             // uses locks
	IsAdmin              // administers the cluster, too
	IsNode               // is part of it
)

var kindNames = [...]string{"anyone", "client", "admin", "node"}

// String returns the name of a kind.
func (k Kind) String() string { return kindNames[k] }

// An Identity is the owner of a certificate, or of a token.
type Identity struct {
	Kind  Kind
	Name  string // empty for Anyone
	Token bool   // it presents a bearer token instead of a certificate
}

// String returns an identity as people see it.
func (i Identity) String() string {
	switch {
	case i.Kind == Anyone:
		return i.Kind.String()
	case i.Token:
		return i.Kind.String() + " " + words.Quoted(i.Name) + " (token)"
	}
	return i.Kind.String() + " " + words.Quoted(i.Name)
}

// Path returns an identity as the rights file names it, such as client/backup. No two
// identities have the same. That of Anyone is empty.
func (i Identity) Path() string {
	switch {
	case i.Kind == Anyone:
		return ""
	case i.Token:
		return TokenPath + i.Name
	}
	return i.Kind.String() + "/" + i.Name
}

// TokenPath is what the paths of identities with a token begin with: names of tokens are
// unique, whatever they are for.
const TokenPath = "token/"

// ParsePath returns the identity with a path. That of a token is for clients: what it is for
// is not in its path.
func ParsePath(path string) (Identity, error) {
	kind, name, _ := strings.Cut(path, "/")
	i := Identity{Name: name}
	switch kind {
	case IsClient.String(), strings.TrimSuffix(TokenPath, "/"):
		i.Kind, i.Token = IsClient, kind != IsClient.String()
	case IsAdmin.String():
		i.Kind = IsAdmin
	case IsNode.String():
		i.Kind = IsNode
	}
	if i.Kind == Anyone || name == "" {
		return Identity{}, fmt.Errorf("identity %q: want client/NAME, admin/NAME, node/NAME or token/NAME", path)
	}
	return i, nil
}

// maxCommon is the maximum length of a name in a certificate made elsewhere.
const maxCommon = 64

// Of returns the owner of a certificate. One that was made elsewhere, and does not say what
// its owner is, is that of a client.
func Of(c *x509.Certificate) (Identity, error) {
	if i, err := Stated(c); err != nil || i.Kind != Anyone {
		return i, err
	}
	name := c.Subject.CommonName
	if name == "" || len(name) > maxCommon || words.Printable(name) != name {
		return Identity{}, fmt.Errorf("the certificate does not name its owner: want stile://client/NAME as a URI, or a common name of 1 to %d printable bytes", maxCommon)
	}
	return Identity{Kind: IsClient, Name: name}, nil
}

// Stated returns the owner that a certificate names by a URI; Anyone if it names none. The URI
// must be exactly as Identity.uri writes it: two readers of another one could disagree.
func Stated(c *x509.Certificate) (Identity, error) {
	var all []Identity
	for _, text := range urisOf(c) {
		scheme, path, _ := strings.Cut(text, "://")
		if !strings.HasPrefix(strings.ToLower(text), "stile:") {
			continue
		}
		i, err := ParsePath(path)
		if err == nil {
			err = CheckName(i.Name)
		}
		if err != nil || scheme != "stile" || i.uri() != text {
			return Identity{}, fmt.Errorf("the certificate names %.100q: want stile://client/NAME, stile://admin/NAME or stile://node/NAME", text)
		}
		all = append(all, i)
	}
	switch len(all) {
	case 0:
		return Identity{}, nil
	case 1:
		return all[0], nil
	}
	return Identity{}, fmt.Errorf("the certificate is that of %v and of %v: want one owner", all[0], all[1])
}

// uri returns what a certificate calls its owner.
func (i Identity) uri() string { return "stile://" + i.Kind.String() + "/" + i.Name }

// SPIFFE returns the SPIFFE id in a certificate; empty if there is none. A certificate has at
// most one.
func SPIFFE(c *x509.Certificate) (id string, err error) {
	for _, text := range urisOf(c) {
		if !strings.HasPrefix(text, "spiffe:") {
			continue
		}
		if id != "" {
			return "", fmt.Errorf("the certificate has two SPIFFE ids, %.100q and %.100q: want one", id, text)
		}
		id = text
	}
	return id, nil
}

// ownerOf returns the owner of a certificate of this process. What a SPIFFE id stands for, only
// nodes know.
func ownerOf(c *x509.Certificate) (Identity, error) {
	i, err := Stated(c)
	if id, _ := SPIFFE(c); err == nil && i.Kind == Anyone && id != "" {
		return Identity{Kind: IsClient, Name: id}, nil
	}
	return Of(c)
}

// What the alternative names of an owner are in a certificate: RFC 5280, section 4.2.1.6.
var subjectAltName = asn1.ObjectIdentifier{2, 5, 29, 17}

const tagURI = 6

// urisOf returns the URIs in a certificate, byte for byte: those that package x509 has parsed
// are normalized.
func urisOf(c *x509.Certificate) (all []string) {
	for _, e := range c.Extensions {
		var names []asn1.RawValue
		if !e.Id.Equal(subjectAltName) {
			continue
		}
		if rest, err := asn1.Unmarshal(e.Value, &names); err != nil || len(rest) > 0 {
			continue // package x509 has refused it
		}
		for _, name := range names {
			if name.Class == asn1.ClassContextSpecific && name.Tag == tagURI {
				all = append(all, string(name.Bytes))
			}
		}
	}
	return all
}

// isNode returns an error unless a certificate is that of a node.
func isNode(c *x509.Certificate) error {
	who, err := Of(c)
	switch {
	case err != nil:
		return fmt.Errorf("the certificate of the other side is not that of a node: %w", err)
	case who.Kind != IsNode:
		return fmt.Errorf("the certificate of the other side is that of %v, not that of a node: another process may listen at this address; create certificates of nodes with 'stile cert node'", who)
	}
	return nil
}

// Fits returns why a node of this name may not use the certificate.
func Fits(c *x509.Certificate, name string) error {
	if c == nil {
		return fmt.Errorf("node %s has no certificate", words.Quoted(name))
	}
	who, err := Of(c)
	switch {
	case err != nil:
		return err
	case who.Kind != IsNode:
		return fmt.Errorf("node %s has the certificate of %v, which cannot be a node: create one with 'stile cert node'", words.Quoted(name), who)
	case who.Name != name:
		return fmt.Errorf("node %s has the certificate of node %s: give each node its own certificate", words.Quoted(name), who.Name)
	}
	return nil
}
