package standin

import (
	"encoding/json"
	"io"
	"strings"
	"sync"
)

// emitter writes one JSON object a line; once closed, nothing.
type emitter struct {
	mu sync.Mutex
	w  io.Writer // guarded by mu; nil when closed
}

func (e *emitter) emit(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("standin: " + err.Error()) // only our own types come here
	}
	e.raw(string(b))
}

func (e *emitter) raw(line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.w == nil {
		return
	}
	if _, err := io.WriteString(e.w, line+"\n"); err != nil {
		e.w = nil // nobody reads any more; the closed input ends the process
	}
}

// copy writes all of r, and a line end.
func (e *emitter) copy(r io.Reader) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.w == nil {
		return
	}
	if _, err := io.Copy(e.w, io.MultiReader(r, strings.NewReader("\n"))); err != nil {
		e.w = nil
	}
}

func (e *emitter) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.w = nil
}

// status is an extension_ui_request that wants no answer.
type status struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Method string `json:"method"`
	Key    string `json:"statusKey"`
	Text   string `json:"statusText"`
}

// dialog is an extension_ui_request.
type dialog struct {
	Type        string   `json:"type"`
	ID          string   `json:"id"`
	Method      string   `json:"method"`
	Title       string   `json:"title"`
	Message     string   `json:"message,omitempty"`
	Options     []string `json:"options,omitempty"`
	Placeholder string   `json:"placeholder,omitempty"`
	Prefill     string   `json:"prefill,omitempty"`
	Timeout     int64    `json:"timeout,omitempty"` // milliseconds
}
