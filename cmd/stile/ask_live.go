package main

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/node/cert"
)

// askLock refuses what no lock can be called.
func askLock(name string) error {
	switch {
	case strings.TrimSpace(name) == "" || strings.ContainsRune(name, 0) || !utf8.ValidString(name):
		return fmt.Errorf("a lock cannot be called %.60q: want some text, such as orders/42", name)
	case len(name) > member.MaxName:
		return fmt.Errorf("a lock cannot be called %.60q...: the name has %d bytes, want at most %d", name, len(name), member.MaxName)
	}
	return nil
}

// Name is what a node is called.
func Name(to *string) pflag.Value {
	return Value(to, "NAME", func(s string) (string, error) {
		if cert.CheckName(s) != nil {
			return "", fmt.Errorf("want up to 63 letters, digits, dots, hyphens and underscores, a letter or digit first, and not %s", cert.CAName)
		}
		return s, nil
	}, func(s string) string { return s })
}

// askAddress refuses what is no host and port.
func askAddress(s string) error {
	host, port, err := net.SplitHostPort(s)
	n, wrong := strconv.ParseUint(port, 10, 16)
	if err != nil || wrong != nil || n > 65535 || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == ',' }) {
		return fmt.Errorf("want HOST:PORT, such as 127.0.0.1:7420")
	}
	return nil
}

// Address is a host and a port.
func Address(to *string) pflag.Value {
	return Value(to, "HOST:PORT", func(s string) (string, error) { return s, askAddress(s) }, func(s string) string { return s })
}

// Addresses is some of them, in a list or by giving the flag again.
func Addresses(to *[]string) pflag.Value {
	return &addresses{to: to}
}

type addresses struct {
	to    *[]string
	given bool
}

func (a *addresses) Set(s string) error {
	var all []string
	for one := range strings.SplitSeq(s, ",") {
		if err := askAddress(one); err != nil {
			return err
		}
		all = append(all, one)
	}
	if a.given {
		all = append(slices.Clone(*a.to), all...)
	}
	*a.to, a.given = all, true
	return nil
}

func (a *addresses) String() string {
	if a.to == nil {
		return ""
	}
	return strings.Join(*a.to, ",")
}

func (a *addresses) Type() string { return "HOST:PORT" }

// Duration is a length of real time, with a unit or in seconds.
func Duration(to *time.Duration, low, high time.Duration) pflag.Value {
	return Value(to, "TIME", func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if _, wrong := strconv.ParseFloat(s, 64); wrong == nil && err != nil {
			d, err = time.ParseDuration(s + "s")
		}
		if err != nil || d < low || d > high {
			return 0, fmt.Errorf("want a time from %v to %v, in seconds or with a unit, such as 5 or 500ms", low, high)
		}
		return d, nil
	}, func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	})
}

// Folder is the name of a directory that is made if it is not there.
func Folder(to *string) pflag.Value { return folder{Dir(to)} }

type folder struct{ pflag.Value }

func (f folder) Set(s string) error {
	if strings.ContainsRune(s, 0) {
		return fmt.Errorf("want the name of a directory")
	}
	return f.Value.Set(s)
}

func (f folder) Type() string { return "DIR" }

// Offer implements Typed.
func (f folder) Offer(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return f.Value.(Typed).Offer(c, args, begun)
}

// Source is the name of a file that is to be read.
func Source(to *string, want string) pflag.Value {
	return Text(to, want, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveDefault
	})
}

// Certificates defines the flags for TLS.
func Certificates(fs *pflag.FlagSet, to *cert.Config, insecure *bool) {
	const want = "the name of a file that 'stile cert' has made"
	fs.Var(Source(&to.CA, want), "ca", "the `FILE` with the authority's certificate, ca.crt: talk over TLS")
	fs.Var(Source(&to.Cert, want), "cert", "the `FILE` with the own certificate")
	fs.Var(Source(&to.Key, want), "key", "the `FILE` with its key")
	fs.BoolVar(insecure, "insecure", false, "talk to other machines without TLS: whoever is on the network can then do anything")
}

// CheckCertificates refuses a part of what TLS needs, and both with and without it.
func CheckCertificates(c cert.Config, insecure bool) error {
	some, all := c.CA+c.Cert+c.Key != "", c.CA != "" && c.Cert != "" && c.Key != ""
	switch {
	case some && !all:
		return fmt.Errorf("--ca, --cert and --key belong together: give all three, or none")
	case all && insecure:
		return fmt.Errorf("--insecure is for talking without TLS, and --ca for talking over it: leave one of them out")
	}
	return nil
}
