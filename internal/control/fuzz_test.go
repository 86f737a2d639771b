package control

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// Any request gets one answer: JSON, or a word of the HTTP library; a command
// reaches the backend only with an id and a name.
func FuzzRequest(f *testing.F) {
	f.Add("POST", "/v1/do", `{"id":"a","name":"stop","run":"b"}`)
	f.Add("POST", "/v1/do", `{"id":"a","name":"stop","more":1}`)
	f.Add("POST", "/v1/do", `{"id":"","name":""}{`)
	f.Add("POST", "/v1/do", "[1e999")
	f.Add("GET", "/v1/log?run=a&since=-1", "")
	f.Add("GET", "/v1/journal?since=2026-11-30T14:03:12Z", "")
	f.Add("GET", "/v1/why?card=%1b%5b2J%00%ff", "")
	f.Add("DELETE", "/v1/../do", "")
	f.Fuzz(func(t *testing.T, method, target, body string) {
		r, err := http.NewRequest(method, "http://x/", strings.NewReader(body))
		if err != nil {
			t.Skip("no request")
		}
		if r.URL, err = r.URL.Parse(target); err != nil || strings.HasSuffix(r.URL.Path, "/events") {
			t.Skip("no address of one answer")
		}
		b := &fake{}
		w := httptest.NewRecorder()
		NewServer(b).handler().ServeHTTP(w, r)
		if w.Code == http.StatusOK && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %s: %q is no JSON", method, target, w.Body)
		}
		if slices.Contains(b.asked, "do") && (method != http.MethodPost || b.command.ID == "" || b.command.Name == "") {
			t.Errorf("%s came through: %+v", method, b.command)
		}
	})
}
