package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// material is what both programs are given: a folder of plans, which is written anew each time, and pairs
// of schemas. Plans are paths below the folder.
type material struct {
	folder, plans string // absolute
	temporary     string // outside of the repository, for journals and sessions
	documents     []string
	everything    []string // the same; a sample's documents are fewer
	pairs         []pair
	slow          []string // plans whose calls take a moment, to be killed
	sessions      []session
	absent        []string // sentences about what isn't here
}

// The groups of plans, by the first folder of their paths.
const (
	examples  = "examples"
	workflows = "workflows"
	cases     = "cases"
	pages     = "pages"
	corpus    = "corpus"
	generated = "generated"
)

func prepare(o options) (*material, error) {
	folder, err := filepath.Abs(o.folder)
	if err != nil {
		return nil, err
	}
	m := &material{folder: folder, plans: filepath.Join(folder, "plans")}
	for _, stale := range []string{m.plans, filepath.Join(folder, "home")} {
		if err := os.RemoveAll(stale); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(o.source); err != nil {
		return nil, fmt.Errorf("%w (run \"make oracle\", which writes it)", err)
	}
	for _, step := range []func() error{
		func() error { return m.copyTree(filepath.Join(o.source, "examples"), examples) },
		func() error { return m.copyTree(filepath.Join(o.source, "testdata", "workflows"), workflows) },
		func() error { return m.writeCases(o.source) },
		func() error { return m.writePages(filepath.Join(o.source, "analyzer", "rules")) },
		func() error { return m.writeCorpus(o.shared) },
		m.writeGenerated,
		m.writeSlow,
		func() error { return os.MkdirAll(filepath.Join(m.plans, "arithmetic"), 0o755) },
		func() error {
			return os.WriteFile(filepath.Join(m.plans, "arithmetic", "activities.yaml"), []byte(arithmetic), 0o644)
		},
		func() error { return m.readSessions(filepath.Join(o.source, "cmd", "obelus", "testdata")) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	slices.Sort(m.documents)
	m.everything = m.documents
	return m, nil
}

// in returns the documents of some groups.
func (m *material) in(groups ...string) []string {
	var some []string
	for _, name := range m.documents {
		if group, _, _ := strings.Cut(name, "/"); slices.Contains(groups, group) {
			some = append(some, name)
		}
	}
	return some
}

// sample returns the part that the oracle is compared with itself on: one document of eight.
func (m *material) sample() *material {
	part := *m
	part.documents, part.pairs = thin(m.documents, 8), thin(m.pairs, 8)
	part.slow, part.sessions = thin(m.slow, 8), thin(m.sessions, 8)
	return &part
}

// write adds a file below the folder of plans.
func (m *material) write(name string, text []byte) error {
	name = filepath.ToSlash(filepath.Clean(name))
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%s leaves the folder of plans", name)
	}
	path := filepath.Join(m.plans, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if isDocument(name) {
		m.documents = append(m.documents, name)
	}
	return os.WriteFile(path, text, 0o644)
}

// isDocument reports whether a file may be a plan: obelus itself decides.
func isDocument(name string) bool {
	base := filepath.Base(name)
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(base)) &&
		!strings.HasPrefix(base, "obelus.") &&
		!strings.HasSuffix(base, ".golden.json")
}

func (m *material) copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name := filepath.Join(to, relative)
		if err := m.write(name, text); err != nil {
			return err
		}
		return os.Chmod(filepath.Join(m.plans, name), info.Mode())
	})
}

// writeCases writes the files of every archive of tests into a folder of its own.
func (m *material) writeCases(source string) error {
	return filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".txtar" {
			return err
		}
		relative, err := filepath.Rel(source, strings.TrimSuffix(path, ".txtar"))
		if err != nil {
			return err
		}
		archive, err := txtar.ParseFile(path)
		if err != nil {
			return err
		}
		to := filepath.Join(cases, strings.ReplaceAll(filepath.ToSlash(relative), "/testdata/", "/"))
		if filepath.ToSlash(filepath.Dir(relative)) == "analyzer/testdata" {
			return m.writeAnalyzerCases(archive, to)
		}
		return m.writeArchive(archive, to)
	})
}

func (m *material) writeArchive(archive *txtar.Archive, to string) error {
	own := false
	for _, f := range archive.Files {
		if !filepath.IsLocal(f.Name) {
			continue
		}
		own = own || f.Name == "obelus.yaml"
		if err := m.write(filepath.Join(to, f.Name), f.Data); err != nil {
			return err
		}
	}
	if own {
		return nil
	}
	return m.write(filepath.Join(to, "obelus.yaml"), nil)
}

// writeAnalyzerCases gives each plan of an archive a folder, with the files that plans import.
func (m *material) writeAnalyzerCases(archive *txtar.Archive, to string) error {
	for _, f := range archive.Files {
		if strings.Contains(f.Name, "/") {
			continue
		}
		alone := filepath.Join(to, strings.TrimSuffix(f.Name, ".yaml"))
		if err := m.writeMarked(alone, f.Name, f.Data); err != nil {
			return err
		}
		for _, other := range archive.Files {
			if !strings.Contains(other.Name, "/") || !filepath.IsLocal(other.Name) {
				continue
			}
			path := filepath.Join(m.plans, alone, other.Name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, other.Data, 0o644); err != nil { // not a case of its own
				return err
			}
		}
	}
	return nil
}

var optionalRule = regexp.MustCompile(`# (judge|want) OB408`)

// writeMarked writes a plan with the policy and the settings that its comments hold.
func (m *material) writeMarked(to, name string, text []byte) error {
	settings := ""
	if optionalRule.Match(text) {
		settings = "rules: {OB408: warning}\n"
	}
	if err := m.write(filepath.Join(to, "obelus.yaml"), []byte(settings)); err != nil {
		return err
	}
	if policy := commented(string(text), "obelus.policy.yaml"); policy != "" {
		if err := m.write(filepath.Join(to, "obelus.policy.yaml"), []byte(policy)); err != nil {
			return err
		}
	}
	return m.write(filepath.Join(to, name), text)
}

// commented returns the file that the comments below its name hold.
func commented(text, name string) string {
	_, rest, _ := strings.Cut(text, "# "+name+":\n")
	var file strings.Builder
	for line := range strings.Lines(rest) {
		line, ok := strings.CutPrefix(line, "#   ")
		if !ok {
			break
		}
		file.WriteString(line)
	}
	return file.String()
}

var fence = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// writePages writes the plans of the rule pages.
func (m *material) writePages(folder string) error {
	names, err := filepath.Glob(filepath.Join(folder, "OB*.md"))
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for i, match := range fence.FindAllSubmatch(text, -1) {
			to := filepath.Join(pages, fmt.Sprintf("%s-%d", strings.TrimSuffix(filepath.Base(name), ".md"), i+1))
			if err := m.writeMarked(to, "plan.yaml", match[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeCorpus writes the plans of the shared corpus and reads its pairs of schemas.
func (m *material) writeCorpus(shared string) error {
	if _, err := os.Stat(shared); errors.Is(err, fs.ErrNotExist) {
		m.absent = append(m.absent, fmt.Sprintf("%s isn't here: its plans and pairs of schemas were skipped", shared))
		return nil
	}
	if err := m.write(filepath.Join(corpus, "obelus.yaml"), nil); err != nil {
		return err
	}
	for name, every := range map[string]int{"nestools": 1, "nestful": 1, "taskbench": 1, "mathqa": 5} {
		text, err := os.ReadFile(filepath.Join(shared, name+".jsonl"))
		if err != nil {
			return err
		}
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, len(text)+1)
		for i := 0; lines.Scan(); i++ {
			var row struct {
				ID       string
				Document json.RawMessage
			}
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if i%every != 0 {
				continue
			}
			var text bytes.Buffer
			if err := json.Indent(&text, row.Document, "", " "); err != nil { // so that findings have lines
				return err
			}
			if err := m.write(filepath.Join(corpus, name, row.ID+".json"), text.Bytes()); err != nil {
				return err
			}
		}
	}
	return m.readPairs(filepath.Join(shared, "schema-pairs"))
}
