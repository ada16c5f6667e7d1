package rights

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"

	"github.com/stile-lock/stile/internal/node/cert"
)

// A mapping says whose a SPIFFE id, or the subject of a JWT, is.
type mapping struct {
	spiffe, subject string // patterns; one of them is empty
	is              cert.Identity
}

// newMapping checks an [[identity]] of the rights file.
func newMapping(spiffe, subject, is string) (m mapping, err error) {
	m = mapping{spiffe: spiffe, subject: subject}
	m.is, err = cert.ParsePath(is)
	pattern := spiffe + subject
	domain, _, path := strings.Cut(strings.TrimPrefix(spiffe, "spiffe://"), "/")
	switch {
	case (spiffe == "") == (subject == ""):
		err = errors.New("want spiffe, which a certificate has, or subject, which a JWT has")
	case strings.Count(pattern, "*") > 1:
		err = fmt.Errorf("%q: want at most one star", pattern)
	case spiffe != "" && (!strings.HasPrefix(spiffe, "spiffe://") || !path || domain == "" || strings.Contains(domain, "*")):
		err = fmt.Errorf("spiffe = %q: want spiffe://TRUST-DOMAIN/PATH, with the star only in PATH", spiffe)
	case strings.HasPrefix(subject, "*"):
		err = fmt.Errorf("subject = %q: the star must not come first: name whose subjects these are", subject)
	case err != nil || m.is.Token || m.is.Kind == cert.IsNode || cert.CheckName(m.is.Name) != nil:
		err = fmt.Errorf("is = %q: want client/NAME or admin/NAME", is)
	}
	return m, err
}

// fits reports whether a pattern matches all of an id. A star is for at least one character,
// but none of those that separate the parts of an id.
func fits(pattern, id string) bool {
	first, last, star := strings.Cut(pattern, "*")
	if !star {
		return id == pattern && id != ""
	}
	middle, ok := strings.CutPrefix(id, first)
	if ok {
		middle, ok = strings.CutSuffix(middle, last)
	}
	return ok && middle != "" && !strings.ContainsAny(middle, "/:")
}

// mapped returns the identity that the patterns give to an id. Two of them must not disagree.
func (r *Rules) mapped(what, id string, pattern func(m *mapping) string) (is cert.Identity, err error) {
	for i := range r.identities {
		m := &r.identities[i]
		switch {
		case !fits(pattern(m), id):
		case is.Kind != cert.Anyone && is != m.is:
			return cert.Identity{}, fmt.Errorf("%s %.200q is both %v and %v, by the rights file: leave out one [[identity]]", what, id, is, m.is)
		default:
			is = m.is
		}
	}
	if is.Kind == cert.Anyone {
		return is, fmt.Errorf("%s %.200q is in no [[identity]] of the rights file", what, id)
	}
	return is, nil
}

// Owner returns the owner of a certificate: the one that it names by a URI of stile, the one
// that the rights file gives to its SPIFFE id, or, unless a URI is required, the client of its
// common name. Once the file has a SPIFFE id, certificates with others are those of no one.
func (r *Rules) Owner(c *x509.Certificate, require bool) (cert.Identity, error) {
	i, err := cert.Stated(c)
	if err != nil || i.Kind != cert.Anyone {
		return i, err
	}
	id, err := cert.SPIFFE(c)
	if err != nil {
		return cert.Identity{}, err
	}
	for _, m := range r.identities {
		if id != "" && m.spiffe != "" {
			return r.mapped("SPIFFE id", id, func(m *mapping) string { return m.spiffe })
		}
	}
	if require {
		return cert.Identity{}, errors.New("the certificate does not name its owner by a URI, which this node requires (--require-uri): want stile://client/NAME, or a SPIFFE id that the rights file has")
	}
	return cert.Of(c)
}

// Subject returns whose the subject of a JWT is.
func (r *Rules) Subject(subject string) (cert.Identity, error) {
	return r.mapped("the subject", subject, func(m *mapping) string { return m.subject })
}
