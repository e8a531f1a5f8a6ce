package compiler

import (
	"path"

	"github.com/obelus-dev/obelus/compiler/source"
)

// catalogue adds a file of definitions that the configuration gives to every
// document: as an import that comes before all others, except that it stands
// outside the workspace's own files and so imports nothing itself.
func (c *compilation) catalogue(file *source.File) {
	root := c.parse(file)
	if root == nil || root.Kind == source.Null {
		return
	}
	c.onlyDefines(root, "a file of definitions", "tools", "activities", "schemas", "servers")
	if root.Kind != source.Object {
		return
	}
	c.nameSchemas(root)
	c.judgeSchemas(root)
	c.implementations(root, path.Dir(file.Name))
}
