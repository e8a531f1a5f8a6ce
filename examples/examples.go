// Package examples holds plans that a reader can check, draw, rehearse and run.
package examples

import "embed"

// Plans are the plans of this folder, with the configuration that they stand under and the
// activities that some of them take in.
//
//go:embed *.yaml
var Plans embed.FS
