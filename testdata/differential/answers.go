package main

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// answers keeps what the oracle prints for commands that write nothing, so that only the first comparison
// waits for it. The file's name has a digest of the program, of all plans and of the pairs of schemas.
type answers struct {
	file string
	lock sync.Mutex
	kept map[string]answer
	more bool
}

// Out and err are in the file too.
type storedAnswer struct {
	Out, Err string
	Status   int
}

func openAnswers(path string, m *material) (*answers, error) {
	sum := sha256.New()
	for _, folder := range []string{path, m.plans} {
		if err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			file, err := os.Open(name)
			if err != nil {
				return err
			}
			defer file.Close()
			fmt.Fprintf(sum, "\n%s\n", strings.TrimPrefix(name, m.plans))
			_, err = io.Copy(sum, file)
			return err
		}); err != nil {
			return nil, err
		}
	}
	a := &answers{
		file: filepath.Join(filepath.Dir(path), "answers-"+hex.EncodeToString(sum.Sum(nil))[:16]+".gob.gz"),
		kept: map[string]answer{},
	}
	file, err := os.Open(a.file)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var stored map[string]storedAnswer
	text, err := gzip.NewReader(file)
	if err == nil {
		err = gob.NewDecoder(text).Decode(&stored)
	}
	if err != nil {
		return a, nil // cut short when it was written: ask again
	}
	for key, s := range stored {
		a.kept[key] = answer{s.Out, s.Err, s.Status}
	}
	return a, nil
}

// save writes the answers, and removes those about other plans.
func (a *answers) save() error {
	if !a.more {
		return nil
	}
	others, err := filepath.Glob(filepath.Join(filepath.Dir(a.file), "answers-*.gob.gz"))
	if err != nil {
		return err
	}
	for _, name := range others {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	stored := map[string]storedAnswer{}
	for key, k := range a.kept {
		stored[key] = storedAnswer{k.out, k.err, k.status}
	}
	file, err := os.Create(a.file)
	if err != nil {
		return err
	}
	text, err := gzip.NewWriterLevel(file, gzip.BestSpeed)
	if err != nil {
		return err
	}
	a.more = false
	return errors.Join(gob.NewEncoder(text).Encode(stored), text.Close(), file.Close())
}

// read runs a command that writes nothing.
func (p program) read(args ...string) answer {
	if p.answers == nil {
		return p.run(args...)
	}
	key := strings.Join(args, "\x00")
	p.answers.lock.Lock()
	known, ok := p.answers.kept[key]
	p.answers.lock.Unlock()
	if ok {
		return known
	}
	a := p.run(args...)
	if a.status >= 0 {
		p.answers.lock.Lock()
		p.answers.kept[key], p.answers.more = a, true
		p.answers.lock.Unlock()
	}
	return a
}
