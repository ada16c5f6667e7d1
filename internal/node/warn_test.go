package node

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/node/cert"
)

// The log of a node that starts says what its operator may not have meant, and what to do.
func TestWarnings(t *testing.T) {
	dir := authority(t)
	own, _ := issued(t, dir, "a", cert.Node)
	file := filepath.Join(dir, "rights.toml")
	for what, x := range map[string]struct {
		c    Config
		mode map[string]os.FileMode
		want []string
	}{
		"as it should be":    {Config{TLS: own.files, Rights: file}, nil, nil},
		"readable key":       {Config{TLS: own.files, Rights: file}, map[string]os.FileMode{own.files.Key: 0o644}, []string{"key open to others: every user can read it", "chmod 600"}},
		"key of a group":     {Config{TLS: own.files, Rights: file}, map[string]os.FileMode{own.files.Key: 0o640}, []string{"key open to others: its group can read it"}},
		"rights of a group":  {Config{TLS: own.files, Rights: file}, map[string]os.FileMode{file: 0o664}, []string{"rights file open to others: its group can write it", "chmod go-w"}},
		"tokens of everyone": {Config{TLS: own.files, Tokens: file}, map[string]os.FileMode{file: 0o646}, []string{"tokens file open to others: every user can write it"}},
		"all addresses":      {Config{Insecure: true, Listen: "0.0.0.0:7420"}, nil, []string{"--insecure on all addresses"}},
		"all of IPv6":        {Config{Insecure: true, Listen: "[::]:7420"}, nil, []string{"--insecure on all addresses"}},
		"one address":        {Config{Insecure: true, Listen: "10.0.0.5:7420"}, nil, nil},
		"TLS everywhere":     {Config{TLS: own.files, Insecure: true, Listen: "0.0.0.0:7420"}, nil, nil},
		"rights without TLS": {Config{Rights: file, Listen: "127.0.0.1:7420"}, nil, []string{"rights file without TLS"}},
	} {
		for path, mode := range map[string]os.FileMode{own.files.Key: 0o600, file: 0o644} {
			if set, ok := x.mode[path]; ok {
				mode = set
			}
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		var log bytes.Buffer
		x.c.Log = slog.New(slog.NewTextHandler(&log, nil))
		n := &Node{c: x.c}
		if x.c.TLS.Key != "" {
			keys, err := cert.Load(x.c.TLS, nil)
			if err != nil {
				t.Fatal(err)
			}
			n.keys = keys
		}
		n.warn()
		if lines := strings.Count(log.String(), "level=WARN"); lines != min(len(x.want), 1) {
			t.Errorf("%s: %d warnings: %s", what, lines, log.String())
		}
		for _, want := range x.want {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s: want %q: %s", what, want, log.String())
			}
		}
	}
}
