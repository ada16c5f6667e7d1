package rights

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/stile-lock/stile/internal/node/cert"
)

// A Token is what is stored of a bearer token: enough to recognize it, and nothing that can
// be presented in its place.
type Token struct {
	Name    string    `toml:"name" json:"name"`
	For     string    `toml:"for" json:"for"` // client or admin
	Hash    string    `toml:"hash" json:"-"`  // SHA-256, in hexadecimal
	Expires time.Time `toml:"expires" json:"expires"`
}

// Tokens are the bearer tokens that a node accepts. A nil pointer accepts none.
type Tokens struct {
	list   []Token // by name
	byHash map[string]int
}

// tokenPrefix is what all tokens begin with, so that scanners for leaked secrets find them.
const tokenPrefix = "stile_"

// maxTokens bounds the tokens of a file.
const maxTokens = 100_000

// ErrToken is the error for a bearer token that is not accepted.
var ErrToken = errors.New("the token is not accepted")

// ParseTokens reads a tokens file. An empty one has no tokens.
func ParseTokens(text string) (*Tokens, error) {
	var f struct{ Token []Token }
	meta, err := toml.Decode(text, &f)
	switch {
	case err != nil:
		return nil, err
	case len(meta.Undecoded()) > 0:
		return nil, fmt.Errorf("unknown key %s: a [[token]] has name, for, hash and expires", meta.Undecoded()[0])
	case len(f.Token) > maxTokens:
		return nil, fmt.Errorf("%d tokens: at most %d are allowed", len(f.Token), maxTokens)
	}
	return newTokens(f.Token)
}

// newTokens checks a list of tokens.
func newTokens(list []Token) (*Tokens, error) {
	t := &Tokens{list: slices.Clone(list), byHash: map[string]int{}}
	slices.SortFunc(t.list, func(a, b Token) int { return cmp.Compare(a.Name, b.Name) })
	for i, x := range t.list {
		sum, err := hex.DecodeString(x.Hash)
		_, twice := t.byHash[x.Hash]
		switch {
		case cert.CheckName(x.Name) != nil:
			return nil, cert.CheckName(x.Name)
		case x.kind() == cert.Anyone:
			return nil, fmt.Errorf("token %s: for = %q: want client or admin", x.Name, x.For)
		case err != nil || len(sum) != sha256.Size || strings.ToLower(x.Hash) != x.Hash:
			return nil, fmt.Errorf("token %s: its hash is not SHA-256 in lower-case hexadecimal: create the token again with 'stile token create'", x.Name)
		case x.Expires.IsZero():
			return nil, fmt.Errorf("token %s: it has no time at which it expires: create it again with 'stile token create'", x.Name)
		case i > 0 && t.list[i-1].Name == x.Name, twice:
			return nil, fmt.Errorf("token %s: listed twice: remove one of them", x.Name)
		}
		t.byHash[x.Hash] = i
	}
	return t, nil
}

// kind returns whose rights a token has; Anyone if that is not valid.
func (x *Token) kind() cert.Kind {
	switch x.For {
	case cert.IsClient.String():
		return cert.IsClient
	case cert.IsAdmin.String():
		return cert.IsAdmin
	}
	return cert.Anyone
}

// Create adds a token, and returns it together with the text that its owner presents.
func (t *Tokens) Create(name string, kind cert.Kind, expires time.Time) (*Tokens, string, error) {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	bearer := tokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	x := Token{name, kind.String(), hashed(bearer), expires.UTC().Truncate(time.Second)}
	if slices.ContainsFunc(t.list, func(o Token) bool { return o.Name == name }) {
		return nil, "", fmt.Errorf("token %s exists: revoke it first, or choose another name", name)
	}
	all, err := newTokens(append(slices.Clone(t.list), x))
	return all, bearer, err
}

// Revoke removes a token.
func (t *Tokens) Revoke(name string) (*Tokens, error) {
	rest := slices.DeleteFunc(slices.Clone(t.list), func(x Token) bool { return x.Name == name })
	if len(rest) == len(t.list) {
		return nil, fmt.Errorf("no token %.60q: 'stile token list' lists them", name)
	}
	return newTokens(rest)
}

// List returns all tokens, by name.
func (t *Tokens) List() []Token { return slices.Clone(t.list) }

// Text returns the contents of a tokens file.
func (t *Tokens) Text() string {
	var b strings.Builder
	b.WriteString("# Bearer tokens for 'stile serve --tokens', made by 'stile token'. Only hashes are stored.\n")
	for _, x := range t.list {
		fmt.Fprintf(&b, "\n[[token]]\nname = %q\nfor = %q\nhash = %q\nexpires = %s\n", x.Name, x.For, x.Hash, x.Expires.UTC().Format(time.RFC3339))
	}
	return b.String()
}

// Find returns who presents a bearer token at a time. Unknown and expired tokens are
// ErrToken.
func (t *Tokens) Find(bearer string, now time.Time) (cert.Identity, error) {
	if t == nil {
		return cert.Identity{}, fmt.Errorf("%w: the node was started without --tokens", ErrToken)
	}
	i, ok := t.byHash[hashed(bearer)] // what the time tells of a hash tells nothing of the token
	if !ok {
		return cert.Identity{}, fmt.Errorf("%w: it is unknown or revoked", ErrToken)
	}
	x := &t.list[i]
	if !now.Before(x.Expires) {
		return cert.Identity{}, fmt.Errorf("%w: it expired on %s", ErrToken, x.Expires.Format(time.DateTime))
	}
	return cert.Identity{Kind: x.kind(), Name: x.Name, Token: true}, nil
}

// Check returns an error if an identity with a token is no longer one.
func (t *Tokens) Check(who cert.Identity, now time.Time) error {
	if t != nil {
		i, ok := slices.BinarySearchFunc(t.list, who.Name, func(x Token, name string) int { return cmp.Compare(x.Name, name) })
		if ok && t.list[i].kind() == who.Kind && now.Before(t.list[i].Expires) {
			return nil
		}
	}
	return fmt.Errorf("%w: it was revoked, or has expired", ErrToken)
}

// hashed returns the hash of a token. It needs no salt and no slowness, because tokens are
// 256 random bits.
func hashed(bearer string) string {
	sum := sha256.Sum256([]byte(bearer))
	return hex.EncodeToString(sum[:])
}
