// Package lock is the lock file: what the tools of MCP servers and of OpenAPI
// files were when somebody took them in, so that a run can tell before its first
// call that they are other ones by now (S2.3).
//
// A lock stands beside the file that defines the servers or imports the tools, and
// is named [Name]. It is read as strictly as a plan, and written by [Lock.Text]:
// the same lock gives the same bytes, whatever order a server lists its tools in.
package lock

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/source"
)

// Name is what a lock file is called.
const Name = "obelus.lock.yaml"

// A Lock is what one lock file holds.
type Lock struct {
	Servers []Server // by name
	OpenAPI []File   // by path
}

// A Server is an MCP server, by the name that it has under "servers".
type Server struct {
	Name string
	Choice
	Tools []Tool // by name
	Node  *source.Node
}

// A File is an OpenAPI document from which tools were imported.
type File struct {
	Path   string // from the lock's folder
	Digest string // of its bytes, as [Digest] gives it
	Choice
	Operations []Tool // by name
	// Schemas are those that the operations' refer to, as "#/schemas/NAME".
	Schemas map[string]any
	Node    *source.Node
}

// A Choice is which tools of a source were asked for, as patterns: of a source without one all
// were, and of what a source offers besides those is new what it chooses.
type Choice struct{ Only, Tags, Names []string }

// A Tool is what was locked of one tool: all that decides which calls of it are
// sound and what may come of them.
type Tool struct {
	Name        string
	Operation   string          // of an OpenAPI file: "GET /users/{id}"
	Request     any             // of an OpenAPI file: how it is sent, as an http activity says; its url has no host where the file didn't name it
	Input       any             // the JSON Schema of its parameters; nil when it gives none
	Output      any             // that of its result; nil when it gives none
	Annotations map[string]bool // MCP's hints, by their names
	Description string          // the [Digest] of what it says of itself; "" when it says nothing
	Says        string          // what it says of itself, where it was asked just now; it isn't locked
	Node        *source.Node    // where it stands; nil for what wasn't read
}

// Hints are the annotations that are locked.
var Hints = []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}

// Digest is the digest of a text: "sha256:" and hexadecimal digits.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Server is what is locked of a server, or nil.
func (l *Lock) Server(name string) *Server {
	if l == nil {
		return nil
	}
	return find(l.Servers, name, Server.key)
}

// File is what is locked of an OpenAPI file, or nil.
func (l *Lock) File(path string) *File {
	if l == nil {
		return nil
	}
	return find(l.OpenAPI, path, File.key)
}

// Tool is what is locked of a tool of a server, or nil.
func (s *Server) Tool(name string) *Tool {
	if s == nil {
		return nil
	}
	return find(s.Tools, name, Tool.key)
}

// Only is what is locked of a tool of a server, as a list.
func (s *Server) Only(name string) []Tool {
	if t := s.Tool(name); t != nil {
		return []Tool{*t}
	}
	return nil
}

// find is one of a list that is sorted by name, or nil.
func find[T any](list []T, name string, key func(T) string) *T {
	at, ok := slices.BinarySearchFunc(list, name, func(one T, name string) int { return cmp.Compare(key(one), name) })
	if !ok {
		return nil
	}
	return &list[at]
}

// SetServer puts a server in the place of the one of its name.
func (l *Lock) SetServer(s Server) {
	s.Tools = sorted(s.Tools, Tool.key)
	l.Servers = put(l.Servers, s, Server.key)
}

// SetFile puts an OpenAPI file in the place of the one of its path.
func (l *Lock) SetFile(f File) {
	f.Operations = sorted(f.Operations, Tool.key)
	l.OpenAPI = put(l.OpenAPI, f, File.key)
}

func (s Server) key() string { return s.Name }
func (f File) key() string   { return f.Path }
func (t Tool) key() string   { return t.Name }

func sorted[T any](list []T, key func(T) string) []T {
	return slices.SortedStableFunc(slices.Values(list), func(a, b T) int { return strings.Compare(key(a), key(b)) })
}

func put[T any](list []T, one T, key func(T) string) []T {
	list = slices.DeleteFunc(slices.Clone(list), func(other T) bool { return key(other) == key(one) })
	return sorted(append(list, one), key)
}
