package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
)

// backupFlags holds the flags of 'stile backup'.
type backupFlags struct {
	queryFlags
	data string
}

// A backupReport is the JSON form of the result.
type backupReport struct {
	File    string `json:"file"`
	Cluster string `json:"cluster"`
	Epoch   uint64 `json:"epoch"`
}

func newBackup() *cobra.Command {
	f := &backupFlags{}
	c := &cobra.Command{
		Use:   "backup FILE [flags]",
		Short: "Save what is needed to recover a lost cluster",
		Long: `Asks a node for its cluster's number, settings, algorithms, members, number of
voters and highest epoch, and writes them to a new file, for 'stile recover
--backup'. With --data, reads them from the data directory of a node that does
not run.

A backup contains no locks and no keys. An old one will do, as long as there
were fewer than a million views since; a new one after each change of members
makes 'stile recover' wait for the right leases.`,
		Example: `  stile backup cluster.backup
  stile backup cluster.backup --addr 10.0.0.5:7420
  stile backup cluster.backup --data /var/lib/stile`,
		Args: terminal.OneArg("the name of a new file", "file", "give one"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.define(c.Flags())
	c.Flags().Var(dataDirFlag(&f.data), "data", "data `DIR` of a node that does not run, instead of --addr")
	return c
}

func (f *backupFlags) run(c *cobra.Command, file string) error {
	if f.data != "" && c.Flags().Changed("addr") {
		return errors.New("--data reads a directory, but --addr asks a node: give one of them")
	}
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%q exists: move it away, or give another name", file)
	}
	b, err := f.read(c)
	if err != nil {
		return err
	}
	if err := writeNew(file, b.Text()); err != nil {
		return err
	}
	r := backupReport{file, fmt.Sprintf("%016x", b.Record.Cluster), b.Seen}
	text := func(p *terminal.Printer) {
		p.Line("%s has cluster %s, epoch %d, %s", file, r.Cluster, r.Epoch, words.Plural(len(b.Record.Members), "member"))
	}
	return terminal.Outcome{JSON: r, Text: text}.Print(c.OutOrStdout(), f.json)
}

// read returns the backup.
func (f *backupFlags) read(c *cobra.Command) (*node.Backup, error) {
	if f.data != "" {
		return node.ReadBackup(f.data)
	}
	if err := f.target.resolve(c); err != nil {
		return nil, err
	}
	var answer node.BackupFile
	at, err := f.target.query(c.Context(), node.AskBackup, "", &answer)
	if err != nil {
		return nil, err
	}
	b, err := node.ParseBackup(answer.Text)
	if err != nil {
		return nil, fmt.Errorf("the node at %s: %w", at, err)
	}
	return b, nil
}

// writeNew writes a new file that only its owner can read, durably.
func writeNew(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%q exists: move it away, or give another name", path)
	case err != nil:
		return fmt.Errorf("cannot write %q: %w", path, terminal.FileReason(err))
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		os.Remove(path)
		return fmt.Errorf("cannot write %q: %w", path, terminal.FileReason(err))
	}
	return nil
}
