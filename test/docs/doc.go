// Package docs checks the commands of the documentation.
package docs
