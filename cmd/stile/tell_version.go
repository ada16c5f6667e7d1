package main

import (
	"runtime"
	"runtime/debug"
)

// A Version says what was built, from what.
type Version struct {
	Version  string `json:"version"`
	Revision string `json:"revision"` // empty if not built from a repository
	Modified bool   `json:"modified"` // built from a changed working tree
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Build returns which version this program is.
func Build() Version {
	v := Version{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// String names it in one line, for who compares builds.
func (v Version) String() string { return "stile " + v.Version + ", commit " + v.Commit() }

// Commit names the commit in a few letters, with a plus if there were changes to
// it. It is unknown to what was not built from a repository.
func (v Version) Commit() string {
	switch {
	case v.Revision == "":
		return "unknown"
	case v.Modified:
		return v.Revision[:min(len(v.Revision), 12)] + "+"
	}
	return v.Revision[:min(len(v.Revision), 12)]
}
