package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/journal"
)

// An Entry is what is known of one run from its journal.
type Entry struct {
	Run     string          `json:"run"`
	Plan    string          `json:"plan"`
	Status  string          `json:"status"` // "done", "failed", "stopped", "running", "killed" or "unreadable"
	Reason  string          `json:"reason,omitempty"`
	Started time.Time       `json:"begun,omitzero"`
	Last    time.Time       `json:"last,omitzero"`
	Calls   *runtime.Counts `json:"calls,omitempty"` // null for one that hasn't ended
	Ticks   int             `json:"ticks,omitzero"`
	// Instances is over how many the run went, those of a stopped run as far as they
	// had begun.
	Instances int `json:"instances,omitzero"`
	// Usage is what models have used.
	Usage runtime.Usage `json:"usage,omitzero"`
	File  string        `json:"file"`
}

// List gives the runs whose journals are in a folder, the oldest first. A missing folder has none.
func List(folder string) ([]Entry, error) {
	files, err := journals(folder)
	if err != nil {
		return nil, fmt.Errorf("the runs can't be listed: %w", err)
	}
	var all []Entry
	for _, file := range files {
		all = append(all, entryOf(file))
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return a.Started.Compare(b.Started) }) // ids tell seconds
	return all, nil
}

// journals are the files of the runs in a folder.
func journals(folder string) (files []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), extension) {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return files, err
}

func entryOf(path string) Entry {
	running := journal.Running(path)
	contents, err := journal.Read(path)
	entry := Entry{Run: idOf(path), File: path, Status: "unreadable"}
	if err != nil {
		entry.Reason = err.Error()
		var fault *journal.Fault
		if errors.As(err, &fault) {
			entry.Reason = fault.Why
		}
		return entry
	}
	var head Manifest
	if err := json.Unmarshal(contents.Header, &head); err != nil {
		entry.Reason = "its head isn't that of a run"
		return entry
	}
	entry.Plan, entry.Started, entry.Last, entry.Status = head.Title, contents.First, contents.Last, "killed"
	var last Record
	if err := json.Unmarshal(contents.Ending, &last); err == nil && last.End != nil {
		end := last.End
		entry.Status, entry.Reason, entry.Calls, entry.Ticks, entry.Instances = string(end.Status), string(end.Reason),
			&end.Calls, end.Ticks, end.Instances
		entry.Usage = end.Usage
	}
	if running {
		entry.Status, entry.Reason, entry.Calls, entry.Instances = "running", "", nil, 0
	}
	return entry
}
