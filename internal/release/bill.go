package main

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"time"
)

// A bill lists what a binary is made of, in the format CycloneDX 1.6.
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
	Depends    []depends   `json:"dependencies"`
}

type metadata struct {
	At        string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Package    string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type depends struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

// billOf returns the bill of materials of a binary: the modules that Go has linked, the
// standard library, and the packages that are embedded besides.
func billOf(name string, info *buildinfo.BuildInfo, s stamp, embedded []component) ([]byte, error) {
	self := module(info.Main.Path, s.version)
	self.Type = "application"
	self.Properties = []property{{"stile:archive", name + ".tar.gz"}, {"stile:commit", s.commit}}
	all := []component{{Type: "library", Ref: "pkg:golang/std@" + info.GoVersion, Name: "std", Version: info.GoVersion, Package: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}}
	for _, d := range info.Deps {
		sum := d.Sum
		if r := d.Replace; r != nil {
			d, sum = r, r.Sum
		}
		c := module(d.Path, d.Version)
		c.Properties = []property{{"go:sum", sum}}
		all = append(all, c)
	}
	all = append(all, embedded...)
	on := make([]string, len(all))
	for i := range all {
		on[i] = all[i].Ref
	}
	b := bill{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{At: s.at.UTC().Format(time.RFC3339), Component: self}, Components: all,
		Depends: []depends{{Ref: self.Ref, On: on}},
	}
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}

// module returns the component of a Go module.
func module(path, version string) component {
	ref := "pkg:golang/" + path + "@" + version
	return component{Type: "library", Ref: ref, Name: path, Version: version, Package: ref}
}

// bundled returns the packages that the page of the lab is bundled with.
func bundled() ([]component, error) {
	const script = "tools/vendor.sh"
	b, err := os.ReadFile(script)
	if err != nil {
		return nil, err
	}
	var all []component
	for _, x := range []struct{ key, name string }{{"preact", "preact"}, {"signals", "@preact/signals"}, {"core", "@preact/signals-core"}} {
		m := regexp.MustCompile(`(?m)^` + x.key + `=(\S+)$`).FindSubmatch(b)
		if m == nil {
			return nil, errors.New(script + " does not say which version of " + x.name + " is bundled")
		}
		version := string(m[1])
		ref := "pkg:npm/" + strings.Replace(x.name, "@", "%40", 1) + "@" + version
		all = append(all, component{Type: "library", Ref: ref, Name: x.name, Version: version, Package: ref})
	}
	return all, nil
}
