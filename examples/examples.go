// Package examples has plans that readers can check, draw, simulate and run.
package examples

import "embed"

// Plans are the plans of this folder, with their configuration and the catalogue of their
// programs.
//
//go:embed *.yaml
var Plans embed.FS
