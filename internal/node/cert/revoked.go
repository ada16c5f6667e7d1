package cert

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// Serial returns the serial number of a certificate as people see it, in hexadecimal.
func Serial(c *x509.Certificate) string { return c.SerialNumber.Text(16) }

// Revoked are lists of revoked certificates. They are not changed once they are read.
type Revoked struct {
	serials map[string]bool // revoked, whoever has issued them
	issued  map[issued]bool // revoked by their issuers
	next    time.Time       // when the first of these lists is replaced; zero: never
}

// issued is what an authority calls a certificate that it has issued.
type issued struct{ issuer, serial string }

// crlBegin is how a list of an authority begins in PEM form.
const crlBegin = "-----BEGIN X509 CRL-----"

// ParseRevoked reads a file of revoked certificates: serial numbers, one in each line, in
// hexadecimal, with or without colons, where what follows a # is a comment; or lists of the
// authorities (CRLs), one in DER form or several in PEM form, also between the lines.
func ParseRevoked(text string, authorities []*x509.Certificate) (*Revoked, error) {
	r := &Revoked{serials: map[string]bool{}, issued: map[issued]bool{}}
	if len(text) > 1 && text[0] == 0x30 && text[1] >= 0x80 { // a sequence with a long length
		return r, r.addCRL([]byte(text), authorities)
	}
	for number := 0; ; {
		lines, rest, more := strings.Cut(text, crlBegin)
		for line := range strings.Lines(lines) {
			number++
			if err := r.addLine(line); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
		}
		if !more {
			return r, nil
		}
		block, after := pem.Decode([]byte(crlBegin + rest))
		if block == nil || block.Type != "X509 CRL" {
			return nil, fmt.Errorf("line %d: the list that begins here is not in PEM form: copy it again", number+1)
		}
		if err := r.addCRL(block.Bytes, authorities); err != nil {
			return nil, fmt.Errorf("line %d: %w", number+1, err)
		}
		number += strings.Count(crlBegin+rest, "\n") - bytes.Count(after, []byte("\n"))
		text = string(after)
	}
}

// addLine adds the serial number in a line, if there is one.
func (r *Revoked) addLine(line string) error {
	line, _, _ = strings.Cut(line, "#")
	line = strings.TrimSpace(line)
	if line == "" {
		return nil
	}
	n, ok := new(big.Int).SetString(strings.ReplaceAll(line, ":", ""), 16)
	if !ok || n.Sign() <= 0 || n.BitLen() > 160 { // RFC 5280: at most 20 octets
		return fmt.Errorf("%.60q is not a serial number: want hexadecimal digits, as 'stile cert show' prints them", line)
	}
	r.serials[n.Text(16)] = true
	return nil
}

// addCRL adds the list of an authority.
func (r *Revoked) addCRL(der []byte, authorities []*x509.Certificate) error {
	l, err := x509.ParseRevocationList(der)
	if err != nil {
		return fmt.Errorf("not a list of revoked certificates (CRL): %w", err)
	}
	for _, e := range l.Extensions {
		if e.Critical { // the list is about some certificates only, or about those of others
			return fmt.Errorf("the list of %s has the extension %v, which is not supported: give a complete list of one authority", l.Issuer, e.Id)
		}
	}
	err = errors.New("no authority of this name is in the file of authorities, or in that of the own certificate: add it")
	for _, a := range authorities {
		if !bytes.Equal(a.RawSubject, l.RawIssuer) {
			continue
		}
		if err = l.CheckSignatureFrom(a); err == nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("the list of %s is not signed by that authority: %w", l.Issuer, err)
	}
	for _, e := range l.RevokedCertificateEntries {
		r.issued[issued{string(l.RawIssuer), e.SerialNumber.Text(16)}] = true
	}
	if !l.NextUpdate.IsZero() && (r.next.IsZero() || l.NextUpdate.Before(r.next)) {
		r.next = l.NextUpdate
	}
	return nil
}

// Due returns when the first of the lists of authorities should have been replaced; zero: never.
func (r *Revoked) Due() time.Time {
	if r == nil {
		return time.Time{}
	}
	return r.next
}

// Check returns an error if a certificate is revoked. There may be no list.
func (r *Revoked) Check(c *x509.Certificate) error {
	if r == nil {
		return nil
	}
	if serial := Serial(c); r.serials[serial] || r.issued[issued{string(c.RawIssuer), serial}] {
		return fmt.Errorf("the certificate with serial number %s is revoked: create a new one with 'stile cert'", serial)
	}
	return nil
}
