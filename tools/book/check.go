package main

import (
	"fmt"
	"html"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	references = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	anchors    = regexp.MustCompile(` id="([^"]*)"`)
)

// broken returns the links of the pages that lead to no file or to no anchor. Links to
// other sites are not followed. The lab is beside the book, and not among its files.
func broken(files map[string][]byte) []string {
	var found []string
	ids := map[string]map[string]bool{}
	for name, data := range files {
		ids[name] = map[string]bool{}
		if path.Ext(name) == ".html" {
			for _, m := range anchors.FindAllSubmatch(data, -1) {
				ids[name][html.UnescapeString(string(m[1]))] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, m := range references.FindAllSubmatch(files[name], -1) {
			link := html.UnescapeString(string(m[1]))
			u, err := url.Parse(link)
			switch {
			case err != nil:
				found = append(found, fmt.Sprintf("%s: %s is not an address: %v", name, link, err))
				continue
			case u.Scheme != "" || u.Host != "":
				continue
			}
			to := name
			if u.Path != "" {
				to = path.Join(path.Dir(name), u.Path)
			}
			if to == "../index.html" {
				continue
			}
			if files[to] == nil {
				found = append(found, fmt.Sprintf("%s: %s leads to no page", name, link))
			} else if u.Fragment != "" && !ids[to][u.Fragment] && !strings.HasPrefix(u.Fragment, ":~:") {
				found = append(found, fmt.Sprintf("%s: %s leads to no anchor of %s", name, link, to))
			}
		}
	}
	return found
}
