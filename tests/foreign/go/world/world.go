// Package world keeps the real objects of the test providers: one file for each object in the directory
// that TEST_OBJECTS names. A test changes or removes an object, or lets a call fail, through these files.
package world

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Moment is the point of a call at which a fault strikes.
type Moment int

// The moments of a fault.
const (
	Never Moment = iota
	Before
	After
)

// Object is a real object: its attributes by name.
type Object = map[string]any

func directory() string {
	if dir := os.Getenv("TEST_OBJECTS"); dir != "" {
		return dir
	}
	return filepath.Join(os.TempDir(), "foreign-world")
}

// Fault returns the moment at which the call fails: the file "faults" has a line "CALL" or "CALL late".
func Fault(call string) Moment {
	text, _ := os.ReadFile(filepath.Join(directory(), "faults"))
	for _, line := range strings.Split(string(text), "\n") {
		switch line {
		case call:
			return Before
		case call + " late":
			return After
		}
	}
	return Never
}

// Make stores a new object and returns its ID: the name and the first number that was never used with it.
func Make(name string, object Object) (string, error) {
	for number := 1; number < 1000; number++ {
		id := fmt.Sprintf("%s-%d", name, number)
		if _, err := os.Stat(path(id, ".json")); err == nil {
			continue
		}
		if err := os.MkdirAll(directory(), 0o755); err != nil {
			return "", err
		}
		return id, Store(id, object)
	}
	return "", fmt.Errorf("no free ID for %q", name)
}

// Store replaces the attributes of an object.
func Store(id string, object Object) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	// Several resources may manage one object at once, and none may read half of it.
	file, err := os.CreateTemp(directory(), ".new-*")
	if err != nil {
		return err
	}
	if _, err := file.Write(text); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path(id, ".json")); err != nil {
		return err
	}
	return os.WriteFile(path(id, ""), nil, 0o644)
}

// Read returns an object, or nil if it does not exist. Lines "ATTRIBUTE=TEXT" in the object's file
// override its attributes; TEXT is JSON, or else a plain string.
func Read(id string) (Object, error) {
	lines, err := os.ReadFile(path(id, ""))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	object := Object{}
	if text, err := os.ReadFile(path(id, ".json")); err == nil {
		if err := json.Unmarshal(text, &object); err != nil {
			return nil, err
		}
	}
	for _, line := range strings.Split(string(lines), "\n") {
		name, text, found := strings.Cut(line, "=")
		if !found {
			continue
		}
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			value = text
		}
		object[name] = value
	}
	return object, nil
}

// Remove removes an object. Its ID is never used again.
func Remove(id string) error {
	err := os.Remove(path(id, ""))
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

func path(id, extension string) string {
	return filepath.Join(directory(), strings.ReplaceAll(id, "/", "_")+extension)
}
