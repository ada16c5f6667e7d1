package cert

import (
	"crypto/x509"
	"fmt"
	"math/big"
	"strings"
)

// Serial returns the serial number of a certificate as people see it, in hexadecimal.
func Serial(c *x509.Certificate) string { return c.SerialNumber.Text(16) }

// Revoked is a list of revoked certificates. It is not changed once it is read.
type Revoked struct{ serials map[string]bool }

// ParseRevoked reads a list of serial numbers: one in each line, in hexadecimal, with or
// without colons. What follows a # is a comment.
func ParseRevoked(text string) (*Revoked, error) {
	r := &Revoked{serials: map[string]bool{}}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		n, ok := new(big.Int).SetString(strings.ReplaceAll(line, ":", ""), 16)
		if !ok || n.Sign() <= 0 || n.BitLen() > 160 { // RFC 5280: at most 20 octets
			return nil, fmt.Errorf("line %d: %.60q is not a serial number: want hexadecimal digits, as 'stile cert show' prints them", number, line)
		}
		r.serials[n.Text(16)] = true
	}
	return r, nil
}

// Check returns an error if a certificate is revoked. There may be no list.
func (r *Revoked) Check(serial string) error {
	if r != nil && r.serials[serial] {
		return fmt.Errorf("the certificate with serial number %s is revoked: create a new one with 'stile cert'", serial)
	}
	return nil
}
