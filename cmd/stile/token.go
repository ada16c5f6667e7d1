package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
	"github.com/stile-lock/stile/internal/terminal"
)

// tokenFlags holds the flags of 'stile token'.
type tokenFlags struct {
	file string
	kind string
	days int
	json bool
}

func newToken() *cobra.Command {
	c := &cobra.Command{
		Use:   "token",
		Short: "Create and revoke bearer tokens for HTTP",
		Long: `A bearer token identifies a caller of the HTTP interface that has no certificate.
Anyone who has the token can use it, so send it over TLS only, or on the machine
of the node. A file lists the tokens that nodes accept; it contains only their
hashes. Copy it to all nodes, and name it with 'stile serve --tokens'. A node
that runs notices within a second that the file has changed.`,
	}
	c.AddCommand(newTokenCreate(), newTokenList(), newTokenRevoke())
	return c
}

// define defines the flags that all commands have.
func (f *tokenFlags) define(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(inputFileFlag(&f.file, "the name of a tokens file"), "file", "tokens `FILE`")
	terminal.JSONFlag(fs, &f.json)
}

// A tokenReport is the JSON form of a token.
type tokenReport struct {
	rights.Token
	Bearer string `json:"token,omitempty"` // only when it is created
}

func newTokenCreate() *cobra.Command {
	f := &tokenFlags{kind: "client", days: 90}
	c := &cobra.Command{
		Use:   "create NAME --file FILE [flags]",
		Short: "Create a token, and print it once",
		Long: `Adds a token to a file, which it creates if there is none, and prints the token.
It cannot be printed again, because the file has only its hash. In lists, in the
audit log and in the rights file its owner is token NAME.`,
		Example: `  stile token create ci --file tokens.toml
  stile token create deploy --for admin --days 7 --file tokens.toml`,
		Args: terminal.OneArg("the name of a token, such as ci", "name", "create them one at a time"),
		RunE: func(c *cobra.Command, args []string) error { return f.create(c, args[0]) },
	}
	c.Flags().Var(terminal.ChoiceFlag(&f.kind, "client", "admin"), "for", "`KIND` of the owner: client or admin")
	c.Flags().Var(terminal.CountFlag(&f.days, 1, cert.MaxDays), "days", "validity in days")
	f.define(c)
	return c
}

func (f *tokenFlags) create(c *cobra.Command, name string) error {
	kind := cert.IsClient
	if f.kind == cert.IsAdmin.String() {
		kind = cert.IsAdmin
	}
	expires := time.Now().AddDate(0, 0, f.days)
	var bearer string
	all, err := f.change(true, func(t *rights.Tokens) (_ *rights.Tokens, err error) {
		t, bearer, err = t.Create(name, kind, expires)
		return t, err
	})
	if err != nil {
		return err
	}
	var r tokenReport
	for _, x := range all.List() {
		if x.Name == name {
			r = tokenReport{x, bearer}
		}
	}
	text := func(p *terminal.Printer) {
		p.Row("token", "%s", bearer)
		p.Row("owner", "%s %s", r.For, name)
		p.Row("valid", "until %s", r.Expires.Format(time.DateOnly))
		p.Gap()
		p.Text(0, "This is the only time that the token is printed. Send it as the header 'Authorization: Bearer TOKEN'.")
	}
	return terminal.Outcome{JSON: r, Text: text}.Print(c.OutOrStdout(), f.json)
}

func newTokenList() *cobra.Command {
	f := &tokenFlags{}
	c := &cobra.Command{
		Use:     "list --file FILE [flags]",
		Short:   "List the tokens in a file",
		Example: `  stile token list --file tokens.toml`,
		Args:    terminal.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := f.read(false)
			if err != nil {
				return err
			}
			list := all.List()
			text := func(p *terminal.Printer) {
				if len(list) == 0 {
					p.Line("no tokens")
				}
				for _, x := range list {
					state := "valid until"
					if !time.Now().Before(x.Expires) {
						state = "expired on"
					}
					p.Line("%s, for %s, %s %s", x.Name, x.For, state, x.Expires.Format(time.DateOnly))
				}
			}
			return terminal.Outcome{JSON: append([]rights.Token{}, list...), Text: text}.Print(c.OutOrStdout(), f.json)
		},
	}
	f.define(c)
	return c
}

func newTokenRevoke() *cobra.Command {
	f := &tokenFlags{}
	c := &cobra.Command{
		Use:     "revoke NAME --file FILE [flags]",
		Short:   "Remove a token from a file",
		Example: `  stile token revoke ci --file tokens.toml`,
		Args:    terminal.OneArg("the name of a token: 'stile token list' lists them", "name", "revoke them one at a time"),
		RunE: func(c *cobra.Command, args []string) error {
			_, err := f.change(false, func(t *rights.Tokens) (*rights.Tokens, error) { return t.Revoke(args[0]) })
			if err != nil {
				return err
			}
			text := func(p *terminal.Printer) { p.Line("token %s is revoked", args[0]) }
			return terminal.Outcome{JSON: map[string]string{"revoked": args[0]}, Text: text}.Print(c.OutOrStdout(), f.json)
		},
	}
	f.define(c)
	return c
}

// read returns the tokens in the file. If missing is set, there may be no file.
func (f *tokenFlags) read(missing bool) (*rights.Tokens, error) {
	if f.file == "" {
		return nil, errors.New("no tokens file: give its name with --file")
	}
	text, err := os.ReadFile(f.file)
	if err != nil && !(missing && errors.Is(err, fs.ErrNotExist)) {
		return nil, fmt.Errorf("--file %q: %w", f.file, terminal.FileReason(err))
	}
	all, err := rights.ParseTokens(string(text))
	if err != nil {
		return nil, fmt.Errorf("--file %q: %w", f.file, err)
	}
	return all, nil
}

// change replaces the file by one with other tokens. A lock on its directory makes sure that
// no other 'stile token' does so at the same time.
func (f *tokenFlags) change(missing bool, to func(*rights.Tokens) (*rights.Tokens, error)) (*rights.Tokens, error) {
	if dir, err := os.Open(filepath.Dir(f.file)); err == nil {
		defer dir.Close()
		if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); err != nil {
			return nil, fmt.Errorf("--file %q: cannot lock its directory: %w", f.file, err)
		}
	}
	all, err := f.read(missing)
	if err != nil {
		return nil, err
	}
	if all, err = to(all); err != nil {
		return nil, err
	}
	if err := replaceFile(f.file, all.Text()); err != nil {
		return nil, fmt.Errorf("--file %q: cannot write it: %w", f.file, terminal.FileReason(err))
	}
	return all, nil
}

// replaceFile writes a file in one step, so that readers see all of it or what was there
// before. It keeps the mode and the owner; a new file is readable only by its owner.
func replaceFile(path, text string) error {
	t, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(t.Name()) // in vain once it has its name
	if was, err := os.Stat(path); err == nil {
		if s, ok := was.Sys().(*syscall.Stat_t); ok {
			_ = t.Chown(int(s.Uid), int(s.Gid)) // only root can
		}
		if err := t.Chmod(was.Mode().Perm()); err != nil {
			return errors.Join(err, t.Close())
		}
	}
	_, err = t.WriteString(text)
	if err := errors.Join(err, t.Sync(), t.Close()); err != nil {
		return err
	}
	return os.Rename(t.Name(), path)
}
