package cert

import (
	"crypto/x509"
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
	var all []Identity
	for _, u := range c.URIs {
		if u.Scheme != "stile" {
			continue
		}
		i := Identity{Name: strings.TrimPrefix(u.Path, "/")}
		for k := IsClient; k <= IsNode; k++ {
			if u.Host == kindNames[k] {
				i.Kind = k
			}
		}
		if err := CheckName(i.Name); err != nil || i.Kind == Anyone {
			return Identity{}, fmt.Errorf("the certificate names %s: want stile://client/NAME, stile://admin/NAME or stile://node/NAME", u)
		}
		all = append(all, i)
	}
	switch {
	case len(all) > 1:
		return Identity{}, fmt.Errorf("the certificate is that of %v and of %v: want one owner", all[0], all[1])
	case len(all) == 1:
		return all[0], nil
	}
	name := c.Subject.CommonName
	if name == "" || len(name) > maxCommon || words.Printable(name) != name {
		return Identity{}, fmt.Errorf("the certificate does not name its owner: want stile://client/NAME as a URI, or a common name of 1 to %d printable bytes", maxCommon)
	}
	return Identity{Kind: IsClient, Name: name}, nil
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
