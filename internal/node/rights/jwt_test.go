package rights

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func base64url(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// jsonKeys returns a JWKS file.
func jsonKeys(t *testing.T, keys ...map[string]string) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"keys": keys})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// publicKey returns a key as a JWKS file has it.
func publicKey(t *testing.T, id string, key crypto.PublicKey) map[string]string {
	t.Helper()
	switch k := key.(type) {
	case *rsa.PublicKey:
		return map[string]string{"kty": "RSA", "kid": id, "use": "sig", "n": base64url(k.N.Bytes()), "e": base64url(big.NewInt(int64(k.E)).Bytes())}
	case *ecdsa.PublicKey:
		b, err := k.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return map[string]string{"kty": "EC", "crv": "P-256", "kid": id, "alg": "ES256", "x": base64url(b[1:33]), "y": base64url(b[33:])}
	case ed25519.PublicKey:
		return map[string]string{"kty": "OKP", "crv": "Ed25519", "kid": id, "x": base64url(k)}
	}
	t.Fatalf("%T", key)
	return nil
}

// jwtKeys are one key of each kind.
type jwtKeys struct {
	rsa *rsa.PrivateKey
	ec  *ecdsa.PrivateKey
	ed  ed25519.PrivateKey
	set *Keys
}

func newJWTKeys(t *testing.T) (k jwtKeys) {
	t.Helper()
	var errs [4]error
	k.rsa, errs[0] = rsa.GenerateKey(rand.Reader, 2048)
	k.ec, errs[1] = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	_, k.ed, errs[2] = ed25519.GenerateKey(rand.Reader)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	k.set, errs[3] = ParseKeys(jsonKeys(t, publicKey(t, "r", k.rsa.Public()), publicKey(t, "e", k.ec.Public()), publicKey(t, "d", k.ed.Public()), map[string]string{"kty": "oct", "kid": "o", "k": "AAAA"}))
	if errs[3] != nil {
		t.Fatal(errs[3])
	}
	return k
}

// A JWT is accepted only as its issuer meant it.
func TestJWT(t *testing.T) {
	keys, now := newJWTKeys(t), time.Now().Truncate(time.Second)
	issuer := Issuer{"https://issuer", "stile"}
	sign := func(m jwt.SigningMethod, kid any, key any, change func(c, header map[string]any)) string {
		t.Helper()
		c := jwt.MapClaims{"iss": "https://issuer", "aud": []string{"other", "stile"}, "sub": "web", "exp": now.Add(time.Minute).Unix(), "nbf": now.Unix()}
		x := jwt.NewWithClaims(m, c)
		x.Header["kid"] = kid
		if change != nil {
			change(c, x.Header)
		}
		text, err := x.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	with := func(changes map[string]any) string {
		return sign(jwt.SigningMethodES256, "e", keys.ec, func(c, _ map[string]any) {
			maps.Copy(c, changes)
			maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
		})
	}
	for what, text := range map[string]string{
		"RS256": sign(jwt.SigningMethodRS256, "r", keys.rsa, nil), "ES256": with(nil), "EdDSA": sign(jwt.SigningMethodEdDSA, "d", keys.ed, nil),
		"one audience": with(map[string]any{"aud": "stile"}), "clock differs": with(map[string]any{"nbf": now.Add(leeway / 2).Unix()}),
	} {
		subject, until, err := issuer.Verify(keys.set, text, now)
		if subject != "web" || !until.Equal(now.Add(time.Minute+leeway)) || err != nil || !IsJWT(text) {
			t.Errorf("%s: %q until %v, %v", what, subject, until, err)
		}
	}
	strange, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good := with(nil)
	for what, text := range map[string]string{
		"other issuer":     with(map[string]any{"iss": "https://issuer/"}),
		"no issuer":        with(map[string]any{"iss": nil}),
		"other audience":   with(map[string]any{"aud": "stile2"}),
		"no audience":      with(map[string]any{"aud": nil}),
		"expired":          with(map[string]any{"exp": now.Add(-leeway).Unix()}),
		"never expires":    with(map[string]any{"exp": nil}),
		"not yet valid":    with(map[string]any{"nbf": now.Add(2 * leeway).Unix()}),
		"no subject":       with(map[string]any{"sub": nil}),
		"another key":      sign(jwt.SigningMethodES256, "e", strange, nil),
		"unknown key":      sign(jwt.SigningMethodES256, "f", keys.ec, nil),
		"no key":           sign(jwt.SigningMethodES256, nil, keys.ec, nil),
		"key of another":   sign(jwt.SigningMethodES256, "d", keys.ec, nil),
		"unsigned":         sign(jwt.SigningMethodNone, "e", jwt.UnsafeAllowNoneSignatureType, nil),
		"weak for the key": sign(jwt.SigningMethodRS512, "r", keys.rsa, nil),
		"public as secret": sign(jwt.SigningMethodHS256, "r", keys.rsa.N.Bytes(), nil),
		"critical":         sign(jwt.SigningMethodES256, "e", keys.ec, func(_, h map[string]any) { h["crit"] = []string{"b64"} }),
		"changed":          good[:len(good)-4] + "AAAA",
		"junk":             "a.b.c",
	} {
		if subject, _, err := issuer.Verify(keys.set, text, now); subject != "" || !errors.Is(err, ErrToken) {
			t.Errorf("%s: %q, %v", what, subject, err)
		}
	}
}

func TestBadKeys(t *testing.T) {
	keys := newJWTKeys(t)
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	with := func(field, value string) map[string]string {
		k := publicKey(t, "e", keys.ec.Public())
		k[field] = value
		return k
	}
	for want, text := range map[string]string{
		"not a JWKS":     "junk",
		"no key for":     `{"keys": [{"kty": "oct", "kid": "o"}]}`,
		"needs its own":  jsonKeys(t, publicKey(t, "e", keys.ec.Public()), publicKey(t, "e", keys.ed.Public())),
		"key 1 has kid":  jsonKeys(t, with("kid", "")),
		"base64url":      jsonKeys(t, with("x", "?")),
		"1024 bits":      jsonKeys(t, publicKey(t, "r", small.Public())),
		"key \"e\"":      jsonKeys(t, with("x", base64url(make([]byte, 32)))),
		"for RS256":      jsonKeys(t, with("use", "enc")),
		"RS256, ES256":   jsonKeys(t, with("alg", "ES384")),
		"key of 31 byte": jsonKeys(t, publicKey(t, "d", ed25519.PublicKey(make([]byte, 31)))),
	} {
		if _, err := ParseKeys(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
