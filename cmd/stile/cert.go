package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/live/node/cert"
)

// maxHosts is how many hosts a certificate may be for.
const maxHosts = 50

// certFlags is what the commands can be told.
type certFlags struct {
	order cert.Order
	json  bool
}

// newCert returns the command.
func newCert() *cobra.Command {
	c := &cobra.Command{
		Use:   "cert",
		Short: "Make the certificates with which nodes know each other",
		Long: `The nodes of a cluster talk over TLS, and each knows the others by their
certificates. An authority of your own signs them: make it once, make a
certificate for each node beside it, and copy to each node its own two files and
ca.crt. Keep ca.key where no node is: who has it can be any node.`,
	}
	c.AddCommand(newCertCA(), newCertNode())
	return c
}

func newCertCA() *cobra.Command {
	f := &certFlags{order: cert.Order{Dir: ".", Days: cert.CADays}}
	c := &cobra.Command{
		Use:     "ca [flags]",
		Short:   "Make an authority: ca.crt and ca.key",
		Example: `  stile cert ca --dir certs`,
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return f.run(c, cert.CA) },
	}
	f.define(c)
	return c
}

func newCertNode() *cobra.Command {
	f := &certFlags{order: cert.Order{Dir: ".", Days: cert.NodeDays}}
	c := &cobra.Command{
		Use:   "node NAME [flags]",
		Short: "Make the certificate of a node: NAME.crt and NAME.key",
		Long: `Makes the certificate of a node, signed by the authority in the same directory.
It is for the name of the node, which no other may then have, and for all hosts
at which others reach it.`,
		Example: `  stile cert node db1 --dir certs --host 10.0.0.5 --host db1.example.com`,
		Args:    oneArg("the name of a node, such as db1", "node", "make them one by one"),
		RunE: func(c *cobra.Command, args []string) error {
			f.order.Name = args[0]
			if strings.HasSuffix(args[0], ".stile") {
				return fmt.Errorf("%q is no node but a scenario: see 'stile replay'", args[0])
			}
			if err := cert.CheckName(args[0]); err != nil {
				return err
			}
			if len(f.order.Hosts) == 0 {
				return fmt.Errorf("node %s needs a host that others reach it at: give --host, with an IP address or a name", args[0])
			}
			return f.run(c, cert.Node)
		},
	}
	c.Flags().Var(newFlag(&f.order.Hosts, "HOST", f.host, func(all []string) string { return strings.Join(all, ",") }), "host", "an IP address or a name at which others reach the node; may be given again")
	f.define(c)
	return c
}

// define defines the flags that both have.
func (f *certFlags) define(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(dirFlag(&f.order.Dir), "dir", "the `DIR` for the files; the authority is there, too")
	fs.Var(countFlag(&f.order.Days, 1, cert.MaxDays), "days", "how long it is valid")
	fs.BoolVar(&f.order.Force, "force", false, "replace the files that are there")
	jsonFlag(fs, &f.json)
}

// host reads one host more.
func (f *certFlags) host(s string) ([]string, error) {
	all := f.order.Hosts
	switch err := cert.CheckHost(s); {
	case err != nil:
		return nil, fmt.Errorf("want an IP address such as 10.0.0.5 or a name such as db1.example.com, without a port")
	case slices.Contains(all, s):
		return nil, fmt.Errorf("it is given twice: give each host once")
	case len(all) == maxHosts:
		return nil, fmt.Errorf("want at most %d hosts", maxHosts)
	}
	return append(all, s), nil
}

// A certReport is what was made, for programs.
type certReport struct {
	Name  string   `json:"name"`
	Cert  string   `json:"certificate"`
	Key   string   `json:"key"`
	Hosts []string `json:"hosts"`
	Until string   `json:"valid_until"`
}

func (f *certFlags) run(c *cobra.Command, make func(cert.Order) (*cert.Made, error)) error {
	f.order.Now = time.Now()
	m, err := make(f.order)
	if err != nil {
		return err
	}
	r := certReport{m.Name, m.Cert, m.Key, append([]string{}, m.Hosts...), m.Until.UTC().Format(time.RFC3339)}
	return outcome{json: r, text: func(p *printer) { printCert(p, m) }}.print(c.OutOrStdout(), f.json)
}

// printCert tells people what was made, and what to do with it.
func printCert(p *printer, m *cert.Made) {
	p.row("written", "%s and %s", m.Cert, m.Key)
	if len(m.Hosts) > 0 {
		p.row("hosts", "%s", strings.Join(m.Hosts, ", "))
	}
	p.row("valid", "until %s", m.Until.Format(time.DateOnly))
	p.gap()
	if m.Name == cert.CAName {
		p.text(0, "Now make a certificate for each node with 'stile cert node' in the same directory. Nodes need ca.crt; keep ca.key where no node is.")
		return
	}
	p.text(0, fmt.Sprintf("Copy these two and ca.crt to node %s. Nobody else needs the key.", m.Name))
}
