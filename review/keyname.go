package review

import (
	"strings"

	"github.com/gdamore/tcell/v2"
)

// keyOf names a key as the pane calls it: a character is itself.
func keyOf(e *tcell.EventKey) string {
	key, mod := e.Key(), e.Modifiers()
	if key == tcell.KeyRune {
		name := string(e.Rune())
		if mod&tcell.ModAlt != 0 {
			return "alt+" + name
		}
		return name
	}
	name, ok := map[tcell.Key]string{
		tcell.KeyEnter: "enter", tcell.KeyTab: "tab", tcell.KeyBacktab: "backtab", tcell.KeyEsc: "esc",
		tcell.KeyBackspace: "backspace", tcell.KeyBackspace2: "backspace", tcell.KeyDelete: "delete",
		tcell.KeyUp: "up", tcell.KeyDown: "down", tcell.KeyLeft: "left", tcell.KeyRight: "right",
		tcell.KeyPgUp: "pgup", tcell.KeyPgDn: "pgdn", tcell.KeyHome: "home", tcell.KeyEnd: "end",
	}[key]
	switch {
	case !ok && key >= tcell.KeyCtrlA && key <= tcell.KeyCtrlZ:
		return "ctrl+" + strings.ToLower(string(rune('A'+key-tcell.KeyCtrlA)))
	case !ok:
		return ""
	case mod&tcell.ModAlt != 0:
		return "alt+" + name
	case mod&tcell.ModCtrl != 0 && (name == "left" || name == "right"):
		return "ctrl+" + name
	case mod&tcell.ModShift != 0 && name == "enter":
		return "shift+enter"
	}
	return name
}

// pastedKey is what a key stands for in pasted text.
func pastedKey(e *tcell.EventKey) string {
	switch e.Key() {
	case tcell.KeyRune:
		return string(e.Rune())
	case tcell.KeyEnter, tcell.KeyLF:
		return "\n"
	case tcell.KeyTab:
		return "\t"
	}
	return ""
}
