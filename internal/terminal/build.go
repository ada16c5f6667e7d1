package terminal

import (
	"runtime"
	"runtime/debug"
)

// A Build says which source this program was built from.
type Build struct {
	Version  string `json:"version"`
	Revision string `json:"revision"` // empty if not built from a repository
	Modified bool   `json:"modified"` // built from a changed working tree
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// CurrentBuild returns the build of this program.
func CurrentBuild() Build {
	v := Build{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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

// String names the build on one line.
func (v Build) String() string { return "stile " + v.Version + ", commit " + v.Commit() }

// Commit returns the abbreviated commit, with a plus if the working tree was
// modified. It is unknown if stile was not built from a repository.
func (v Build) Commit() string {
	switch {
	case v.Revision == "":
		return "unknown"
	case v.Modified:
		return v.Revision[:min(len(v.Revision), 12)] + "+"
	}
	return v.Revision[:min(len(v.Revision), 12)]
}
