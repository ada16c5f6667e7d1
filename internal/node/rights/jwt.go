package rights

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// leeway is how much the clock of an issuer may differ.
const leeway = 10 * time.Second

// Keys are the keys with which an issuer signs JWTs, from a JWKS file.
type Keys struct{ byID map[string]signer }

// A signer is a key, and the one algorithm that it is used with.
type signer struct {
	algorithm string
	key       crypto.PublicKey
}

// A jsonKey is a key of a JWKS file: RFC 7517.
type jsonKey struct {
	Kty, Kid, Use, Alg, Crv string
	N, E, X, Y              string
}

// ParseKeys reads a JWKS file. Keys that are not for signatures of RS256, ES256 or EdDSA are
// left out.
func ParseKeys(text string) (*Keys, error) {
	var f struct{ Keys []jsonKey }
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return nil, fmt.Errorf("not a JWKS file: %w", err)
	}
	k := &Keys{byID: map[string]signer{}}
	for i := range f.Keys {
		x := &f.Keys[i]
		s, err := x.signer()
		_, twice := k.byID[x.Kid]
		switch {
		case err != nil:
			return nil, fmt.Errorf("key %.60q: %w", x.Kid, err)
		case s.key == nil || x.Use != "" && x.Use != "sig" || x.Alg != "" && x.Alg != s.algorithm:
		case x.Kid == "" || twice:
			return nil, fmt.Errorf("key %d has kid %.60q: each key needs its own, because JWTs name their key by it", i+1, x.Kid)
		default:
			k.byID[x.Kid] = s
		}
	}
	if len(k.byID) == 0 {
		return nil, errors.New("it has no key for RS256, ES256 or EdDSA: get it again from the issuer")
	}
	return k, nil
}

// signer returns a key; none if it is of another kind.
func (x *jsonKey) signer() (s signer, err error) {
	field := func(text string) []byte {
		b, bad := base64.RawURLEncoding.DecodeString(text)
		if bad != nil || len(b) == 0 {
			err = errors.New("a field is missing, or not in base64url")
		}
		return b
	}
	switch x.Kty + x.Crv {
	case "RSA":
		n, e := new(big.Int).SetBytes(field(x.N)), new(big.Int).SetBytes(field(x.E))
		if err == nil && (n.BitLen() < 2048 || n.BitLen() > 8192 || !e.IsInt64() || e.Int64() < 3 || e.Int64() > 1<<31-1) {
			err = fmt.Errorf("an RSA key of %d bits: want 2048 to 8192, and the usual exponent", n.BitLen())
		}
		return signer{"RS256", &rsa.PublicKey{N: n, E: int(e.Int64())}}, err
	case "ECP-256":
		point := append([]byte{4}, append(field(x.X), field(x.Y)...)...)
		if err != nil {
			return s, err
		}
		key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
		return signer{"ES256", key}, err
	case "OKPEd25519":
		b := field(x.X)
		if err == nil && len(b) != ed25519.PublicKeySize {
			err = fmt.Errorf("an Ed25519 key of %d bytes: want %d", len(b), ed25519.PublicKeySize)
		}
		return signer{"EdDSA", ed25519.PublicKey(b)}, err
	}
	return s, nil
}

// An Issuer is whose JWTs are accepted, and for which audience.
type Issuer struct{ Name, Audience string }

// Verify returns the subject of a JWT, and when it expires. Errors are ErrToken.
func (i Issuer) Verify(k *Keys, bearer string, now time.Time) (subject string, expires time.Time, err error) {
	var claims jwt.RegisteredClaims
	_, err = jwt.NewParser(
		jwt.WithValidMethods([]string{"RS256", "ES256", "EdDSA"}), jwt.WithIssuer(i.Name), jwt.WithAudience(i.Audience),
		jwt.WithExpirationRequired(), jwt.WithLeeway(leeway), jwt.WithTimeFunc(func() time.Time { return now }),
	).ParseWithClaims(bearer, &claims, k.find)
	switch {
	case err != nil:
		return "", time.Time{}, fmt.Errorf("%w: %w", ErrToken, err)
	case claims.Subject == "":
		return "", time.Time{}, fmt.Errorf("%w: it has no subject", ErrToken)
	}
	return claims.Subject, claims.ExpiresAt.Add(leeway), nil
}

// find returns the key that a JWT names. Its algorithm is that of the key, and not what the
// JWT says.
func (k *Keys) find(t *jwt.Token) (any, error) {
	id, _ := t.Header["kid"].(string)
	s, ok := k.byID[id]
	switch {
	case !ok:
		return nil, fmt.Errorf("the JWKS file has no key %.60q", id)
	case s.algorithm != t.Method.Alg():
		return nil, fmt.Errorf("key %.60q is for %s", id, s.algorithm)
	case t.Header["crit"] != nil:
		return nil, errors.New("it has critical extensions, which are not supported")
	}
	return s.key, nil
}

// IsJWT reports whether a bearer token is a JWT, and not one of 'stile token'.
func IsJWT(bearer string) bool {
	return !strings.HasPrefix(bearer, tokenPrefix) && strings.Count(bearer, ".") == 2
}
