// Package packaging checks the files of the folder packaging: the unit of systemd, the
// manifests of Kubernetes and the compose file.
package packaging
