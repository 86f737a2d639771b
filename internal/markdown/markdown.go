// Package markdown holds what several readers must agree on: where the header
// ends, which bytes are masked (fences, code, comments), where lines are.
//
// CONTRACT (to be completed by the owner of this package).
package markdown
