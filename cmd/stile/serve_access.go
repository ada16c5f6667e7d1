package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/node/rights"
	"github.com/stile-lock/stile/internal/terminal"
)

// defineAccess defines the flags that say who may connect, and what they may do.
func (f *serveFlags) defineAccess(fs *pflag.FlagSet) {
	tlsFlags(fs, &f.tls, &f.insecure)
	fs.Var(inputFileFlag(&f.rights, "the name of a rights file"), "rights", "`FILE` that says which clients may do what; read again when it changes")
	fs.Var(inputFileFlag(&f.revoked, "the name of a file"), "revoked", "`FILE` with the serial numbers of revoked certificates, or lists of authorities (CRLs); read again when it changes")
	fs.Var(inputFileFlag(&f.tokens, "the name of a file made by 'stile token'"), "tokens", "`FILE` of 'stile token' with the tokens to accept over HTTP; read again when it changes")
	fs.BoolVar(&f.uri, "require-uri", false, "refuse certificates that do not name their owner by a URI")
	fs.Var(inputFileFlag(&f.jwks, "the name of a JWKS file"), "jwks", "`FILE` of keys (JWKS) that sign the JWTs to accept over HTTP; read again when it changes")
	fs.StringVar(&f.issuer.Name, "jwt-issuer", "", "issuer (`ISS`) of these JWTs, exactly as they name it")
	fs.StringVar(&f.issuer.Audience, "jwt-audience", "", "audience (`AUD`) that these JWTs must be for")
	fs.Var(terminal.OutputFileFlag(&f.audit, ".jsonl"), "audit", "`FILE` for the audit log, in JSON; opened again on SIGHUP (default: part of the log)")
	terminal.HideDefaults(fs, "audit")
}

// checkAccess refuses such flags that contradict each other.
func (f *serveFlags) checkAccess() error {
	switch {
	case f.jwks != "" && (f.issuer.Name == "" || f.issuer.Audience == "" || f.rights == ""):
		return errors.New("--jwks needs --jwt-issuer and --jwt-audience, and --rights with the identities of the subjects: give all of them")
	case f.jwks == "" && f.issuer != rights.Issuer{}:
		return errors.New("--jwt-issuer and --jwt-audience need --jwks: give all of them, or leave them out")
	}
	return checkTLSFlags(f.tls, f.insecure)
}

// reopen opens the audit files again whenever that is requested.
func (p *servedNodes) reopen(ctx context.Context, again <-chan os.Signal) {
	for {
		select {
		case <-again:
			for _, n := range p.nodes {
				n.ReopenAudit()
			}
		case <-ctx.Done():
			return
		}
	}
}
