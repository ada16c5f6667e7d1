// Book makes the documentation into a static site: the pages of docs and the README as
// HTML, with a navigation, beside the lab. It takes the path of the repository, and that of
// the folder to write to, which 'make site' places inside the site of the lab.
//
// Docs/README.md is the table of contents: its sections are the chapters, and the first
// link of each row of its tables is a page, in reading order. A page that is missing from
// it, and a link or an anchor that leads nowhere, are errors.
//
// A link to a Go file, a scenario or any other file of the repository leads to a page that
// shows the file; one to a doc.go leads to the documentation of the package. The pages need
// no JavaScript, and nothing from elsewhere.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: book REPOSITORY TO")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "book:", err)
		os.Exit(1)
	}
}

func write(root, to string) error {
	files, err := Build(os.DirFS(root))
	if err != nil {
		return err
	}
	for name, data := range files {
		path := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			return err
		}
	}
	return nil
}
