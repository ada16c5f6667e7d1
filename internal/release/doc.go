// Command release builds the files of a release: for each system a static binary in a
// tar.gz, with licences, and a bill of materials; and their checksums. Run it with 'make
// release'.
//
// The same commit gives the same bytes on every machine with the same version of Go: paths
// are trimmed, C is not used, and all times are that of the commit. 'make release-check'
// shows it by a second build, from a clone in another folder and without a build cache.
package main
