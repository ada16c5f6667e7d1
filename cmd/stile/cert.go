package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
)

// maxHosts is the maximum number of hosts of a certificate.
const maxHosts = 50

// certFlags holds the flags of the commands that create certificates.
type certFlags struct {
	order cert.Order
	json  bool
}

func newCert() *cobra.Command {
	c := &cobra.Command{
		Use:   "cert",
		Short: "Create the certificates of a cluster",
		Long: `The nodes of a cluster and its clients talk over TLS and identify each other by
certificates, which an authority of your own signs. Create the authority once.
In the same directory, create a certificate for each node, client and
administrator, and copy to each its two files and ca.crt. Keep ca.key off the
nodes: anyone who has it can impersonate any of them.

Clients acquire locks. Administrators may also force-release locks, make nodes
leave and save backups. Neither can take part as a node.`,
	}
	c.AddCommand(newCertCA(), newCertNode(), newCertUser(cert.IsClient), newCertUser(cert.IsAdmin), newCertShow())
	return c
}

func newCertCA() *cobra.Command {
	f := &certFlags{order: cert.Order{Dir: ".", Days: cert.CADays}}
	c := &cobra.Command{
		Use:     "ca [flags]",
		Short:   "Create an authority: ca.crt and ca.key",
		Example: `  stile cert ca --dir certs`,
		Args:    terminal.NoArgs,
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
		Args:    terminal.OneArg("the name of a node, such as db1", "node", "create them one at a time"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.name(args[0]); err != nil {
				return err
			}
			if len(f.order.Hosts) == 0 {
				return fmt.Errorf("node %s needs a host at which others reach it: give --host with an IP address or a name", args[0])
			}
			return f.run(c, cert.Node)
		},
	}
	c.Flags().Var(terminal.NewFlag(&f.order.Hosts, "HOST", f.host, func(all []string) string { return strings.Join(all, ",") }), "host", "IP address or name at which others reach the node; repeatable")
	f.define(c)
	return c
}

// newCertUser returns the command for the certificates of clients or of administrators.
func newCertUser(kind cert.Kind) *cobra.Command {
	f := &certFlags{order: cert.Order{Dir: ".", Days: cert.NodeDays}}
	issue, who, example := cert.Client, "a client", "backup"
	if kind == cert.IsAdmin {
		issue, who, example = cert.Admin, "an administrator", "alice"
	}
	c := &cobra.Command{
		Use:   kind.String() + " NAME [flags]",
		Short: "Create the certificate of " + who + ": NAME.crt and NAME.key",
		Long: fmt.Sprintf(`Creates the certificate of %s, signed by the authority in the same
directory. Several processes may share it: they are then one and the same to the
cluster. Lists, the audit log and the rights file show it as %s NAME.`, who, kind),
		Example: fmt.Sprintf("  stile cert %s %s --dir certs", kind, example),
		Args:    terminal.OneArg("the name of "+who+", such as "+example, "name", "create them one at a time"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.name(args[0]); err != nil {
				return err
			}
			return f.run(c, issue)
		},
	}
	f.define(c)
	return c
}

// name sets the name of the owner.
func (f *certFlags) name(name string) error {
	f.order.Name = name
	if strings.HasSuffix(name, ".stile") {
		return fmt.Errorf("%q is a scenario file, not a name: see 'stile-lab replay'", name)
	}
	return cert.CheckName(name)
}

func newCertShow() *cobra.Command {
	f := &certFlags{}
	c := &cobra.Command{
		Use:   "show FILE",
		Short: "Show whose certificate a file contains, and its serial number",
		Long: `Shows the owner, the serial number, the hosts and the validity of the first
certificate in a file. To revoke a certificate, add its serial number as a line
to the file that 'stile serve --revoked' names.`,
		Example: `  stile cert show certs/backup.crt`,
		Args:    terminal.OneArg("the name of a certificate file", "file", "give one"),
		RunE: func(c *cobra.Command, args []string) error {
			m, err := cert.Show(args[0])
			if err != nil {
				return err
			}
			return terminal.Outcome{JSON: certReportOf(m), Text: func(p *terminal.Printer) { printCertFields(p, m) }}.Print(c.OutOrStdout(), f.json)
		},
	}
	terminal.JSONFlag(c.Flags(), &f.json)
	return c
}

// define defines the flags that all commands that create certificates have.
func (f *certFlags) define(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(terminal.DirFlag(&f.order.Dir), "dir", "`DIR` for the files, also that of the authority")
	fs.Var(terminal.CountFlag(&f.order.Days, 1, cert.MaxDays), "days", "validity in days")
	fs.BoolVar(&f.order.Force, "force", false, "replace existing files")
	terminal.JSONFlag(fs, &f.json)
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
	Name   string   `json:"name"`
	Kind   string   `json:"kind"` // ca, node, client or admin
	Cert   string   `json:"certificate"`
	Key    string   `json:"key,omitempty"`
	Hosts  []string `json:"hosts"`
	Until  string   `json:"valid_until"`
	Serial string   `json:"serial"`
}

func certReportOf(m *cert.Made) certReport {
	return certReport{m.Name, certKind(m), m.Cert, m.Key, append([]string{}, m.Hosts...), m.Until.UTC().Format(time.RFC3339), m.Serial}
}

// certKind returns whose certificate it is.
func certKind(m *cert.Made) string {
	if m.Kind == cert.Anyone {
		return cert.CAName
	}
	return m.Kind.String()
}

func (f *certFlags) run(c *cobra.Command, make func(cert.Order) (*cert.Made, error)) error {
	f.order.Now = time.Now()
	m, err := make(f.order)
	if err != nil {
		return err
	}
	return terminal.Outcome{JSON: certReportOf(m), Text: func(p *terminal.Printer) { printCert(p, m) }}.Print(c.OutOrStdout(), f.json)
}

// printCertFields prints what a certificate says.
func printCertFields(p *terminal.Printer, m *cert.Made) {
	if m.Kind == cert.Anyone {
		p.Row("owner", "an authority")
	} else {
		p.Row("owner", "%s %s", m.Kind, words.Quoted(m.Name))
	}
	if len(m.Hosts) > 0 {
		p.Row("hosts", "%s", strings.Join(m.Hosts, ", "))
	}
	p.Row("valid", "until %s", m.Until.Format(time.DateOnly))
	p.Row("serial", "%s", m.Serial)
}

// printCert prints what was created and what to do with it.
func printCert(p *terminal.Printer, m *cert.Made) {
	p.Row("written", "%s and %s", m.Cert, m.Key)
	printCertFields(p, m)
	p.Gap()
	switch m.Kind {
	case cert.Anyone:
		p.Text(0, "Now create a certificate for each node with 'stile cert node' in the same directory, and for clients and administrators with 'stile cert client' and 'stile cert admin'. All of them need ca.crt; keep ca.key off the nodes.")
	case cert.IsNode:
		p.Text(0, fmt.Sprintf("Copy these two files and ca.crt to node %s. No other machine needs the key.", m.Name))
	default:
		p.Text(0, fmt.Sprintf("Copy these two files and ca.crt to where %s %s runs, and give them with --ca, --cert and --key.", m.Kind, m.Name))
	}
}
