package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
)

// recoverFlags holds the flags of 'stile recover'.
type recoverFlags struct {
	data   string
	backup string
	epoch  int
	json   bool
}

// maxGivenEpoch is the maximum of --epoch-at-least: room for epochs is left above it.
const maxGivenEpoch = 1 << 55

func newRecover() *cobra.Command {
	f := &recoverFlags{}
	c := &cobra.Command{
		Use:   "recover --data DIR [flags]",
		Short: "Begin a lost cluster again, from a directory or backup",
		Long: `Makes a cluster of one node out of the data directory of a node that does not
run, for when a majority of the voters is lost for good. The next 'stile serve'
with this directory begins the new cluster; other nodes join it with empty
directories.

The new cluster has its own number, so nodes of the lost cluster are refused. It
begins above every epoch that the directory has seen, so fencing tokens rise.
Members of the lost cluster count as crashed: locks wait for their leases. No
other node of the lost cluster may run from now on, because it could still grant
locks.

If all directories are lost, give a new directory, with --backup or at least
with --epoch-at-least: the highest epoch at your resources, which is 81 in the
fencing token 81.3.

stile recover deletes nothing: files of the lost cluster stay in the directory,
under other names. It prints what may be lost, and what to do next.`,
		Example: `  stile recover --data /var/lib/stile
  stile recover --data /var/lib/stile --backup cluster.backup
  stile recover --data /var/lib/stile --epoch-at-least 81`,
		Args: terminal.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(dataDirFlag(&f.data), "data", "data `DIR` of the node; new with --backup")
	fs.Var(inputFileFlag(&f.backup, "the name of a file made by 'stile backup'"), "backup", "`FILE` made by 'stile backup'")
	fs.Var(terminal.CountFlag(&f.epoch, 1, maxGivenEpoch), "epoch-at-least", "epoch `N` that the new cluster must be above, such as the highest that a resource has seen")
	terminal.HideDefaults(fs, "epoch-at-least")
	terminal.JSONFlag(fs, &f.json)
	return c
}

func (f *recoverFlags) run(c *cobra.Command) error {
	if f.data == "" {
		return fmt.Errorf("recover needs the data directory of a node: give --data")
	}
	var from *node.Backup
	if f.backup != "" {
		text, err := os.ReadFile(f.backup)
		if err != nil {
			return fmt.Errorf("--backup %q: %w", f.backup, terminal.FileReason(err))
		}
		if from, err = node.ParseBackup(string(text)); err != nil {
			return fmt.Errorf("--backup %q: %w", f.backup, err)
		}
	}
	r, err := node.Recover(f.data, from, uint64(f.epoch))
	if err != nil {
		return err
	}
	return terminal.Outcome{JSON: r, Text: func(p *terminal.Printer) { printRecovery(p, r) }}.Print(c.OutOrStdout(), f.json)
}

// printRecovery prints what was recovered, what may be lost, and what to do next.
func printRecovery(p *terminal.Printer, r *node.Recovery) {
	lost, settings := "a cluster of which nothing is known", "those that 'stile serve' is given"
	if r.Lost != "" {
		lost = "cluster " + r.Lost
		settings = fmt.Sprintf("lease %gs, %s, %s", r.Lease, words.Plural(r.Voters, "voter"), r.Algorithm)
	}
	p.Row("recovered", "%s as cluster %s, in %s", lost, r.Cluster, r.Data)
	p.Row("epochs", "begin at %d; up to %d were seen", r.First, r.Seen)
	p.Row("settings", "%s", settings)
	if len(r.Kept) > 0 {
		p.Row("kept", "%s", strings.Join(r.Kept, ", "))
	}
	p.Gap()
	p.Line("What may be lost:")
	for _, text := range recoveryLosses(r) {
		p.Item(text)
	}
	p.Gap()
	p.Line("What to do now:")
	p.Item("Make sure that no other node of the lost cluster runs.")
	if r.Lost == "" {
		p.Item("Wait for one lease of the lost cluster, so that no client still acts on a lock.")
	}
	p.Item(fmt.Sprintf("Start this node: stile serve --data %s, with its usual name and address.", r.Data))
	p.Item("Move the data directories of the other nodes away, and start them with --join.")
}

// recoveryLosses returns what may be lost, one sentence or two for each.
func recoveryLosses(r *node.Recovery) []string {
	var members []string
	for _, m := range r.Members {
		members = append(members, m.Name+" at "+m.Address)
	}
	all := []string{
		fmt.Sprintf("Views after epoch %d that only other nodes knew, with the members that joined in them.", r.Seen),
		fmt.Sprintf("All locks that were held. Their fencing tokens may still be used; a resource refuses them once it has seen one of epoch %d.", r.First),
	}
	if len(members) > 0 {
		all = append(all, fmt.Sprintf("Members of the lost cluster: %s. They count as crashed: locks wait up to %gs for their leases.", strings.Join(members, ", "), r.Lease))
	}
	if len(r.Forgotten) > 0 {
		all = append(all, fmt.Sprintf("The votes of %s. These data directories are refused from now on.", strings.Join(r.Forgotten, ", ")))
	}
	return all
}
