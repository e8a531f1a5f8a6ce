package compiler

import (
	"path"

	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/source"
)

// nameCatalogue reads which schemas a file defines that the configuration gives to every document: it is an import that
// comes before all others, except that it stands outside the workspace's own files and so imports nothing itself.
func (c *definitionReader) nameCatalogue(file *source.File) {
	root := c.parse(file)
	if root == nil || root.Kind == source.Null {
		return
	}
	c.onlyDefines(root, "a file of definitions", "tools", "activities", "schemas", "servers")
	if root.Kind == source.Object {
		c.nameSchemas(root)
		c.catalogues = append(c.catalogues, root)
	}
}

// takeCatalogues reads the definitions of the catalogues, once the document has named its own schemas.
func (c *definitionReader) takeCatalogues() {
	files := c.catalogues
	c.catalogues = nil
	for i, root := range catalogue.Separate(files,
		catalogue.Schemas{Values: c.schemas, Nodes: c.schemaNodes}, &c.Found) {
		c.judgeSchemas(root)
		c.implementations(root, path.Dir(files[i].File.Name))
	}
}
