package activity

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/compiler"
)

// Pins tell whether what carries a call out is still what it was when somebody approved
// it, as far as that isn't said where it is defined (S10.1): which file its program is,
// what the files of the workspace hold that its argv names, and what the variables hold
// that it is given by name.
type Pins struct {
	Activities map[string]*compiler.Activity // by the names that [Of] gives
	Root       string                        // the workspace
	// Key is mixed in, so that nobody who doesn't know it can try what a variable holds.
	// Without one nothing is pinned.
	Key string

	mu   sync.Mutex
	sums map[string]fileSum
}

// A fileSum is a digest of what a file held when it had this size and time.
type fileSum struct {
	size int64
	at   time.Time
	sum  string
}

// Of is a digest of what an activity starts with these arguments; "" if nothing of it
// can change unseen.
func (p *Pins) Of(name string, argv []string) string {
	def := p.Activities[name]
	if p.Key == "" || def == nil || def.Kind != "exec" || len(argv) == 0 {
		return ""
	}
	program := compiler.Filled(argv[0], os.Getenv)
	file := inFolder(program, def.Dir)
	if filepath.Base(program) == program {
		file, _ = exec.LookPath(program)
	}
	pinned := []string{file, p.content(file)}
	for _, argument := range def.Argv {
		for _, text := range argument.Texts {
			pinned = append(pinned, p.content(inFolder(compiler.Filled(text, os.Getenv), def.Dir)))
		}
	}
	variables := slices.Clone(def.Inherit)
	for _, v := range def.Variables {
		variables = append(variables, v.Name)
	}
	for _, variable := range variables {
		value, there := os.LookupEnv(variable)
		if there {
			value = "=" + value
		}
		pinned = append(pinned, value)
	}
	sum := hmac.New(sha256.New, []byte(p.Key))
	text, _ := json.Marshal(pinned)
	sum.Write(text)
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

func inFolder(name, dir string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	if absolute, err := filepath.Abs(name); err == nil {
		name = absolute
	}
	return name
}

// mostPinned is how many bytes of a file are read: a program that is asked about has
// fewer, and its size and time count besides where one hasn't.
const mostPinned = 64 << 20

// content is a digest of a file of the workspace, "" for any other.
func (p *Pins) content(file string) string {
	root, err := filepath.Abs(p.Root)
	if err != nil {
		return ""
	}
	if inside, err := filepath.Rel(root, file); err != nil || !filepath.IsLocal(inside) {
		return ""
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.sums[file]; known.sum != "" && known.size == info.Size() && known.at.Equal(info.ModTime()) {
		return known.sum
	}
	f, err := os.Open(file)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	sum := sha256.New()
	if n, err := io.Copy(sum, io.LimitReader(f, mostPinned)); err != nil {
		return err.Error()
	} else if n == mostPinned {
		fmt.Fprint(sum, info.Size(), info.ModTime().UnixNano())
	}
	if p.sums == nil {
		p.sums = map[string]fileSum{}
	}
	p.sums[file] = fileSum{info.Size(), info.ModTime(), hex.EncodeToString(sum.Sum(nil))}
	return p.sums[file].sum
}
