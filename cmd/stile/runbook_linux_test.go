package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	lib "github.com/stile-lock/stile"
	"github.com/stile-lock/stile/internal/node"
)

// A book is the part of docs/operating.md on what is lost, and a place to try it: three
// nodes with other addresses and directories.
type book struct {
	t      *testing.T
	blocks map[string][]string // the blocks of commands, by their heading
	dir    string
	rename *strings.Replacer
	nodes  map[string]*proc
	known  string // address of the last node that was started
}

// openBook reads the page. Each number stands for other addresses, which no other process
// uses: those of outgoing connections begin with 127.0.
func openBook(t *testing.T, number int) *book {
	t.Helper()
	page, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(page), "\n## When something is lost\n")
	part, _, _ = strings.Cut(part, "\n## ")
	b := &book{t: t, blocks: map[string][]string{}, dir: t.TempDir(), nodes: map[string]*proc{}}
	for i, section := range strings.Split(part, "\n### ") {
		heading, text, _ := strings.Cut(section, "\n")
		if i == 0 {
			heading = "before"
		}
		for i, block := range strings.Split(text, "```console\n") {
			if block, _, _ = strings.Cut(block, "```"); i > 0 {
				b.blocks[heading] = append(b.blocks[heading], block)
			}
		}
	}
	net := os.Getpid()*16 + number
	b.rename = strings.NewReplacer("/var/lib/stile", b.dir, "10.0.0.", fmt.Sprintf("127.%d.%d.", 64+net>>8%128, net%256))
	return b
}

// run runs a block of commands, line by line. A node is started, and the others must
// succeed.
func (b *book) run(block string) {
	b.t.Helper()
	for line := range strings.Lines(block) {
		line = b.rename.Replace(strings.TrimPrefix(strings.TrimSpace(line), "$ "))
		args := strings.Fields(line)
		if args[1] == "serve" {
			b.serve(args[1:]...)
			continue
		}
		b.t.Log(line)
		c := exec.Command("sh", "-c", line)
		c.Dir = b.dir
		if out, err := c.CombinedOutput(); err != nil {
			b.t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
}

// serve starts a node, and waits until it serves.
func (b *book) serve(args ...string) {
	b.t.Helper()
	b.t.Log(args)
	p := begin(b.t, nil, args...)
	b.known = p.waitFor(`listening on (\S+),`)
	b.nodes[args[slices.Index(args, "--name")+1]] = p
}

// kill ends a node as a crash does.
func (b *book) kill(name string) {
	b.t.Helper()
	b.nodes[name].signal(os.Kill)
	<-b.nodes[name].ended
	delete(b.nodes, name)
}

// lose ends a node, and its directory is lost; a copy is kept elsewhere.
func (b *book) lose(name string) {
	b.t.Helper()
	b.kill(name)
	if err := os.Rename(filepath.Join(b.dir, name), filepath.Join(b.dir, "lost "+name)); err != nil {
		b.t.Fatal(err)
	}
}

// form starts three nodes that vote, and saves a backup as the book says. It returns the
// token of a lock.
func (b *book) form() lib.Token {
	b.t.Helper()
	b.serve(strings.Fields(b.rename.Replace("serve --name a --listen 10.0.0.5:7420 --data /var/lib/stile/a --lease 1s"))...)
	b.serve(strings.Fields(b.rename.Replace("serve --name b --listen 10.0.0.6:7420 --data /var/lib/stile/b --join 10.0.0.5:7420"))...)
	b.serve(strings.Fields(b.rename.Replace("serve --name c --listen 10.0.0.7:7420 --data /var/lib/stile/c --join 10.0.0.5:7420"))...)
	b.whole()
	for _, block := range b.blocks["before"] {
		b.run(block)
	}
	return token(b.t, b.known, "demo")
}

// whole waits until all three nodes are members and vote, and returns their status.
func (b *book) whole() (s node.Status) {
	b.t.Helper()
	for late := time.Now().Add(patience); ; {
		all := 0
		for _, p := range b.nodes {
			address := p.waitFor(`listening on (\S+),`)
			read(b.t, at(b.t, address, 0, "status", "--json"), &s)
			for _, m := range s.Members {
				if m.Voter {
					all++
				}
			}
		}
		if all == 9 {
			return s
		}
		if time.Now().After(late) {
			b.t.Fatalf("%+v", s)
		}
	}
}

// The runbook works, line by line, on real processes: all nodes are back, and tokens rise.
func TestRecoverRunbook(t *testing.T) {
	t.Parallel()
	for i, test := range []struct {
		heading string
		block   int
		lost    string // nodes whose directories are lost
		stopped string // nodes that are stopped
	}{
		{"One directory is lost", 0, "c", ""},
		{"Most directories are lost", 0, "a c", "b"},
		{"All directories are lost", 0, "a b c", ""},
		{"All directories are lost", 1, "a b c", ""},
	} {
		t.Run(fmt.Sprint(test.heading, " ", test.block), func(t *testing.T) {
			t.Parallel()
			b := openBook(t, i)
			if len(b.blocks) != 4 || len(b.blocks[test.heading]) <= test.block {
				t.Fatalf("docs/operating.md has %d headings, and %d blocks of commands for %q", len(b.blocks), len(b.blocks[test.heading]), test.heading)
			}
			last := b.form()
			was := b.whole().Cluster
			for name := range strings.FieldsSeq(test.lost) {
				b.lose(name)
			}
			for name := range strings.FieldsSeq(test.stopped) {
				b.kill(name)
			}
			b.run(b.blocks[test.heading][test.block])
			s := b.whole()
			if again := test.lost == "c"; again != (s.Cluster == was) || len(s.Members) != 3 {
				t.Errorf("%+v, before in cluster %s", s, was)
			}
			if next := token(t, b.known, "demo"); !last.Less(next) {
				t.Errorf("token %v after %v", next, last)
			}
			if test.lost != "a c" {
				return
			}
			p := begin(t, nil, "serve", "--name", "d", "--listen", "127.0.0.1:0", "--data", filepath.Join(b.dir, "lost a"), "--join", b.known)
			p.waitExit(2)
			p.waitFor(was + ".*recovered as cluster " + s.Cluster)
		})
	}
}
