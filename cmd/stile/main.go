// Command stile shows, measures and compares algorithms for distributed mutual
// exclusion. 'stile --help' lists what it can do.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
