package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/live/node/cert"
)

// maxHosts is the maximum number of hosts of a certificate.
const maxHosts = 50

// certFlags holds the flags of 'stile cert ca' and 'stile cert node'.
type certFlags struct {
	order cert.Order
	json  bool
}

func newCert() *cobra.Command {
	c := &cobra.Command{
		Use:   "cert",
		Short: "Create the certificates of a cluster",
		Long: `The nodes of a cluster talk over TLS and identify each other by certificates,
which an authority of your own signs. Create the authority once, create a
certificate for each node in the same directory, and copy to each node its two
files and ca.crt. Keep ca.key off the nodes: anyone who has it can impersonate
any node.`,
	}
	c.AddCommand(newCertCA(), newCertNode())
	return c
}

func newCertCA() *cobra.Command {
	f := &certFlags{order: cert.Order{Dir: ".", Days: cert.CADays}}
	c := &cobra.Command{
		Use:     "ca [flags]",
		Short:   "Create an authority: ca.crt and ca.key",
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
		Short: "Create a node's certificate: NAME.crt and NAME.key",
		Long: `Creates a node's certificate, signed by the authority in the same directory. It
is valid for the name of the node, which must be unique in the cluster, and for
the hosts at which others reach the node.`,
		Example: `  stile cert node db1 --dir certs --host 10.0.0.5 --host db1.example.com`,
		Args:    oneArg("the name of a node, such as db1", "node", "create them one at a time"),
		RunE: func(c *cobra.Command, args []string) error {
			f.order.Name = args[0]
			if strings.HasSuffix(args[0], ".stile") {
				return fmt.Errorf("%q is a scenario file, not a node: see 'stile replay'", args[0])
			}
			if err := cert.CheckName(args[0]); err != nil {
				return err
			}
			if len(f.order.Hosts) == 0 {
				return fmt.Errorf("node %s needs a host at which others reach it: give --host with an IP address or a name", args[0])
			}
			return f.run(c, cert.Node)
		},
	}
	c.Flags().Var(newFlag(&f.order.Hosts, "HOST", f.host, func(all []string) string { return strings.Join(all, ",") }), "host", "IP address or name at which others reach the node; repeatable")
	f.define(c)
	return c
}

// define defines the flags that both commands have.
func (f *certFlags) define(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(dirFlag(&f.order.Dir), "dir", "`DIR` for the files, also that of the authority")
	fs.Var(countFlag(&f.order.Days, 1, cert.MaxDays), "days", "validity in days")
	fs.BoolVar(&f.order.Force, "force", false, "replace existing files")
	jsonFlag(fs, &f.json)
}

// host adds a host.
func (f *certFlags) host(s string) ([]string, error) {
	all := f.order.Hosts
	switch err := cert.CheckHost(s); {
	case err != nil:
		return nil, fmt.Errorf("must be an IP address such as 10.0.0.5 or a name such as db1.example.com, without a port")
	case slices.Contains(all, s):
		return nil, fmt.Errorf("listed twice: give each host once")
	case len(all) == maxHosts:
		return nil, fmt.Errorf("at most %d hosts are allowed", maxHosts)
	}
	return append(all, s), nil
}

// A certReport is the JSON form of a certificate.
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

// printCert prints what was created and what to do with it.
func printCert(p *printer, m *cert.Made) {
	p.row("written", "%s and %s", m.Cert, m.Key)
	if len(m.Hosts) > 0 {
		p.row("hosts", "%s", strings.Join(m.Hosts, ", "))
	}
	p.row("valid", "until %s", m.Until.Format(time.DateOnly))
	p.gap()
	if m.Name == cert.CAName {
		p.text(0, "Now create a certificate for each node with 'stile cert node' in the same directory. Nodes need ca.crt; keep ca.key off the nodes.")
		return
	}
	p.text(0, fmt.Sprintf("Copy these two files and ca.crt to node %s. No other machine needs the key.", m.Name))
}
