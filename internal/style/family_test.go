package style

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxOfFamily is the maximum number of files outside its folders that may know a family.
const maxOfFamily = 8

func familyRules() []rule {
	const contributing = "CONTRIBUTING.md"
	table := func(names ...string) string {
		return familyHeading + "\n\ntext\n\n| a | b |\n|---|---|\n| " + strings.Join(names, " | x |\n| ") + " | x |\n\n## Next\n\n| other.go |\n"
	}
	branch := "package x\nfunc f(s algorithm.Spec) bool { return s.Family == algorithm.Election }\n"
	return []rule{{"few files know a family", knowing, []plant{
		{map[string]string{contributing: table("lab/x.go"), "lab/x.go": branch, "sim/x.go": branch}, "sim/x.go names elections"},
		{map[string]string{contributing: table(), "lab/x.go": "package x\nimport _ \"" + module + "/family/elections\"\n"}, "lab/x.go names elections"},
		{map[string]string{contributing: table(), "web/src/x.ts": `const is = kind === "election";`}, "web/src/x.ts names elections"},
		{map[string]string{contributing: table("lab/x.go"), "lab/x.go": "package x\n"}, "lab/x.go, which names no election"},
		{map[string]string{contributing: table(strings.Fields("1.go 2.go 3.go 4.go 5.go 6.go 7.go 8.go 9.go")...), "1.go": branch, "2.go": branch, "3.go": branch, "4.go": branch, "5.go": branch,
			"6.go": branch, "7.go": branch, "8.go": branch, "9.go": branch}, "9 files"},
		{map[string]string{contributing: table("lab/x.go"), "lab/x.go": branch, "lab/x_test.go": branch, "algorithm/election/x.go": branch, "internal/live/views/x.go": branch}, ""},
	}}}
}

// familyHeading is the heading of the table that says which files know a family.
const familyHeading = "## A new family of algorithms"

// knowing compares the files that name elections with those listed in CONTRIBUTING.md:
// elections stand for any family whose machines belong to processes.
func knowing(r *repo) ([]string, error) {
	i := slices.IndexFunc(r.texts, func(t text) bool { return t.path == "CONTRIBUTING.md" })
	if i < 0 {
		return nil, nil
	}
	_, part, _ := strings.Cut(r.texts[i].src, familyHeading+"\n")
	part, _, _ = strings.Cut(part, "\n## ")
	var said, found []string
	for _, m := range regexp.MustCompile(`(?m)^\| ([\w/]+\.go) \|`).FindAllStringSubmatch(part, -1) {
		said = append(said, m[1])
	}
	if len(said) > maxOfFamily {
		found = append(found, fmt.Sprintf("CONTRIBUTING.md: a family touches %d files: move what they know of it into family.Family", len(said)))
	}
	is := naming(r)
	for _, name := range is {
		if !slices.Contains(said, name) {
			found = append(found, name+" names elections, which CONTRIBUTING.md does not say: let it ask the value of the family")
		}
	}
	for _, name := range said {
		if !slices.Contains(is, name) {
			found = append(found, "CONTRIBUTING.md lists "+name+", which names no election")
		}
	}
	return found, nil
}

// aside reports whether a file names elections, but not as a family: where they are part
// of a lock that survives crashes or of a method against deadlock, are those of Raft, or are
// live elections, which are locks.
func aside(name string) bool {
	switch name {
	case "cmd/stile/catalog.go", "cmd/stile/replay_recording.go", "internal/world/compare/chart.go", "election.go", "cmd/stile/elect.go", "internal/live/gateway/leader.go":
		return true
	}
	dirs := strings.Fields("algorithm/election internal/world/family/elections algorithm/recovery algorithm/deadlock internal/live/views internal/live/measure internal/live/node internal/live/process internal/live/replay internal/live/storm internal/live/survey internal/live/child internal/live/console")
	return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(name, dir+"/") })
}

// naming returns the files that name elections as a family.
func naming(r *repo) []string {
	word := regexp.MustCompile(`^"?([Ee]lections?|RunElection|KindElection|OneLeader|Agreement)"?$`)
	var all []string
	for _, f := range r.files {
		if f.isTest() || aside(f.path) {
			continue
		}
		for n := range ast.Preorder(f.ast) {
			name := ""
			switch n := n.(type) {
			case *ast.Ident:
				name = n.Name
			case *ast.BasicLit:
				name = path.Base(n.Value)
			}
			if word.MatchString(name) {
				all = append(all, f.path)
				break
			}
		}
	}
	for _, t := range r.page {
		if strings.Contains(t.src, `"election"`) {
			all = append(all, t.path)
		}
	}
	return all
}
