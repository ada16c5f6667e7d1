package node

import (
	"io/fs"
	"net"
	"os"
	"syscall"
)

// warn logs what an operator may not have meant, when the node starts.
func (n *Node) warn() {
	host, _, _ := net.SplitHostPort(n.c.Listen)
	if n.keys == nil && n.c.Insecure && unspecified(host) {
		n.c.Log.Warn("--insecure on all addresses: anyone who can connect may do everything, and can act as a node: give certificates ('stile cert' creates them), or --listen with one address", "listen", n.c.Listen)
	}
	if n.keys == nil && n.c.Rights != "" {
		n.c.Log.Warn("rights file without TLS: callers have no identity, so only its rules for anyone apply: give certificates ('stile cert' creates them)", "file", n.c.Rights)
	}
	for _, f := range []struct {
		what, path string
		secret     bool
	}{
		{"key", n.c.TLS.Key, true}, {"authority's certificate", n.c.TLS.CA, false}, {"certificate", n.c.TLS.Cert, false}, {"rights file", n.c.Rights, false},
		{"tokens file", n.c.Tokens, false}, {"JWKS file", n.c.JWKS, false}, {"file of revoked certificates", n.c.Revoked, false}, {"audit file", n.c.Audit, true},
	} {
		info, err := os.Stat(f.path)
		if f.path == "" || err != nil { // that it cannot be read is reported elsewhere
			continue
		}
		if why := exposed(info, f.secret); why != "" {
			mode := "go-w"
			if f.secret {
				mode = "600"
			}
			n.c.Log.Warn(f.what+" open to others: "+why+": chmod "+mode, "file", f.path)
		}
	}
}

// exposed returns what other users may do with a file; empty if that is nothing. If it belongs
// to another user, its group may be how this process reads it, as in a container.
func exposed(info fs.FileInfo, secret bool) string {
	mode := info.Mode().Perm()
	s, ok := info.Sys().(*syscall.Stat_t)
	own := !ok || int(s.Uid) == os.Getuid()
	switch {
	case !info.Mode().IsRegular():
	case mode&0o002 != 0:
		return "every user can write it"
	case mode&0o020 != 0 && own:
		return "its group can write it"
	case secret && mode&0o004 != 0:
		return "every user can read it"
	case secret && mode&0o040 != 0 && own:
		return "its group can read it"
	}
	return ""
}
