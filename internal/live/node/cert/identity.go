package cert

import (
	"crypto/x509"
	"fmt"
	"strings"
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
	Kind Kind
	Name string // empty for Anyone
}

// String returns an identity as people see it.
func (i Identity) String() string {
	if i.Kind == Anyone {
		return i.Kind.String()
	}
	return i.Kind.String() + " " + i.Name
}

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
	case c.Subject.CommonName == "":
		return Identity{}, fmt.Errorf("the certificate does not name its owner: create one with 'stile cert'")
	}
	return Identity{IsClient, c.Subject.CommonName}, nil
}
