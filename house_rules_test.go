package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

const (
	maxLines = 500
	maxPaths = 15 // cyclomatic complexity
)

// checkDir applies the rules for source text to the Go files of one folder.
func checkDir(dir string, sources map[string]string) []string {
	var problems []string
	files := map[string]*ast.File{}
	set := token.NewFileSet()
	documented, code := false, false
	for name, src := range sources {
		f, err := parser.ParseFile(set, name, src, parser.ParseComments)
		if err != nil {
			continue // the compiler says it better
		}
		files[name] = f
		if strings.HasSuffix(name, "_test.go") {
			problems = append(problems, checkSleep(name, f)...)
			continue
		}
		code = true
		documented = documented || f.Doc != nil && len(strings.Fields(f.Doc.Text())) > 3
		if n := strings.Count(src, "\n"); n > maxLines {
			problems = append(problems, fmt.Sprintf("%s: %d lines", name, n))
		}
		problems = append(problems, checkFuncs(name, f)...)
		if core(dir) {
			problems = append(problems, checkClock(name, f)...)
		}
	}
	if code && !documented {
		problems = append(problems, dir+": no package comment")
	}
	problems = append(problems, checkState(files)...)
	slices.Sort(problems)
	return problems
}

// checkSleep: a sleep is as slow as the machine, except in a synctest bubble.
func checkSleep(name string, f *ast.File) []string {
	for _, i := range f.Imports {
		if i.Path.Value == `"testing/synctest"` {
			return nil
		}
	}
	return calls(name, f, "time", "Sleep")
}

func checkClock(name string, f *ast.File) []string {
	return calls(name, f, "time", "Now", "Since", "Until", "After", "Sleep", "NewTimer", "NewTicker", "Tick", "AfterFunc")
}

// calls finds uses of a package's functions.
func calls(name string, f *ast.File, pkg string, funcs ...string) []string {
	var problems []string
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == pkg && slices.Contains(funcs, s.Sel.Name) {
				problems = append(problems, fmt.Sprintf("%s: %s.%s", name, pkg, s.Sel.Name))
			}
		}
		return true
	})
	return problems
}

func checkFuncs(name string, f *ast.File) []string {
	var problems []string
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if fn.Name.Name == "init" && fn.Recv == nil {
			problems = append(problems, name+": init()")
		}
		if n := pathsOf(fn); n > maxPaths {
			problems = append(problems, fmt.Sprintf("%s: %s has complexity %d", name, fn.Name.Name, n))
		}
	}
	return problems
}

// pathsOf is the cyclomatic complexity of a function with those inside it.
func pathsOf(fn *ast.FuncDecl) int {
	count := 1
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			count++
		case *ast.CaseClause:
			if n.List != nil {
				count++
			}
		case *ast.CommClause:
			if n.Comm != nil {
				count++
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				count++
			}
		}
		return true
	})
	return count
}

// checkState: a package-level variable is an error, a value that is made when it
// is first asked for, an embedded file, an interface check or a table, and
// nothing ever changes it. Patterns are made when they are asked for: every
// agent's keeper is this program, too, and nobody waits for what it does not use.
func checkState(files map[string]*ast.File) []string {
	var problems []string
	vars := map[string]bool{}
	for name, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR || strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, id := range v.Names {
					vars[id.Name] = true
					if id.Name != "_" && !constant(g, v, i) {
						problems = append(problems, name+": package-level variable "+id.Name)
					}
				}
			}
		}
	}
	for name, f := range files {
		problems = append(problems, changes(name, f, vars)...)
	}
	return problems
}

func constant(g *ast.GenDecl, v *ast.ValueSpec, i int) bool {
	for _, doc := range []*ast.CommentGroup{g.Doc, v.Doc} {
		if doc != nil && strings.HasPrefix(doc.List[len(doc.List)-1].Text, "//go:embed ") {
			return true
		}
	}
	if i >= len(v.Values) {
		return false
	}
	value := v.Values[i]
	if u, ok := value.(*ast.UnaryExpr); ok && u.Op == token.AND {
		value = u.X
	}
	switch value := value.(type) {
	case *ast.CompositeLit:
		return true
	case *ast.SelectorExpr: // another package's error
		return strings.HasPrefix(value.Sel.Name, "Err")
	case *ast.CallExpr:
		switch fn := value.Fun.(type) {
		case *ast.SelectorExpr:
			x, ok := fn.X.(*ast.Ident)
			return ok && slices.Contains([]string{"sync.OnceValue", "errors.New", "fmt.Errorf", "strings.NewReplacer"}, x.Name+"."+fn.Sel.Name)
		case *ast.ArrayType: // []byte("…")
			_, ok := value.Args[0].(*ast.BasicLit)
			return ok
		}
	}
	return false
}

// changes finds statements that assign to one of vars, or to a part of it.
func changes(name string, f *ast.File, vars map[string]bool) []string {
	top := map[any]bool{} // declarations of package level in this file
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				top[s] = true
			}
		}
	}
	var problems []string
	ast.Inspect(f, func(n ast.Node) bool {
		for _, x := range assigned(n) {
			id := root(x)
			if id != nil && id.Name != "_" && vars[id.Name] && (id.Obj == nil || top[id.Obj.Decl]) {
				problems = append(problems, name+": changes package-level variable "+id.Name)
			}
		}
		return true
	})
	return problems
}

// assigned are the operands that a statement writes to.
func assigned(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.UnaryExpr:
		if _, literal := n.X.(*ast.CompositeLit); n.Op == token.AND && !literal {
			return []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		if fn, ok := n.Fun.(*ast.Ident); ok && (fn.Name == "delete" || fn.Name == "clear") && len(n.Args) > 0 {
			return n.Args[:1]
		}
	}
	return nil
}

// root is the variable that an operand is a part of.
func root(x ast.Expr) *ast.Ident {
	for {
		switch y := x.(type) {
		case *ast.Ident:
			return y
		case *ast.IndexExpr:
			x = y.X
		case *ast.SelectorExpr:
			x = y.X
		case *ast.StarExpr:
			x = y.X
		case *ast.ParenExpr:
			x = y.X
		default:
			return nil
		}
	}
}

func TestSourceRulesCanFail(t *testing.T) {
	const doc = "// Package p is for the test of a rule.\npackage p\n"
	branch := "if a { return }\n"
	for name, test := range map[string]struct {
		dir, file, src string
		want           string // a part of the only problem; empty: none
	}{
		"nothing wrong": {"board", "a.go", doc + "func f() {}\n", ""},
		"no comment":    {"board", "a.go", "package p\n", "no package comment"},
		"thin comment":  {"board", "a.go", "// Package p.\npackage p\n", "no package comment"},
		"only tests":    {"board", "a_test.go", "package p\n", ""},
		"too long":      {"board", "a.go", doc + strings.Repeat("\n", 500), "502 lines"},
		"a long test":   {"board", "a_test.go", doc + strings.Repeat("\n", 600), ""},

		"init":             {"cli", "a.go", doc + "func init() {}", "init()"},
		"a method init":    {"cli", "a.go", doc + "type t int\nfunc (t) init() {}", ""},
		"fifteen paths":    {"cli", "a.go", doc + "func f(a bool) {" + strings.Repeat(branch, 14) + "}", ""},
		"sixteen paths":    {"cli", "a.go", doc + "func f(a bool) {" + strings.Repeat(branch, 15) + "}", "complexity 16"},
		"in a closure":     {"cli", "a.go", doc + "func f(a bool) { g := func() {" + strings.Repeat(branch, 15) + "}\ng() }", "complexity 16"},
		"conditions count": {"cli", "a.go", doc + "func f(a bool) bool { return a" + strings.Repeat(" && a || a", 8) + "}", "complexity 17"},
		"cases count": {"cli", "a.go", doc + "func f(a int, c chan int) { for range a { switch a {" + casesOf(8) + "default:}\nselect {" +
			strings.Repeat("case <-c:\n", 6) + "default:}}}", "complexity 16"},

		"clock":           {"board", "a.go", doc + "import \"time\"\nfunc f() { time.Now() }", "time.Now"},
		"clock as value":  {"board", "a.go", doc + "import \"time\"\nfunc f() any { return time.Since }", "time.Since"},
		"clock elsewhere": {"cli", "a.go", doc + "import \"time\"\nfunc f() { time.Now() }", ""},
		"clock in a test": {"board", "a_test.go", doc + "import \"time\"\nfunc f() { time.Now() }", ""},
		"sleep":           {"cli", "a_test.go", doc + "import \"time\"\nfunc f() { time.Sleep(1) }", "time.Sleep"},
		"sleep in bubble": {"cli", "a_test.go", doc + "import (\"time\"\n\"testing/synctest\")\nfunc f() { synctest.Test(nil, nil); time.Sleep(1) }", ""},

		"a counter":        {"cli", "a.go", doc + "var n int", "package-level variable n"},
		"a value":          {"cli", "a.go", doc + "var n = 1", "package-level variable n"},
		"made by a call":   {"cli", "a.go", doc + "var n = f()\nfunc f() int { return 1 }", "package-level variable n"},
		"a made map":       {"cli", "a.go", doc + "var m = make(map[string]int)", "package-level variable m"},
		"an error":         {"cli", "a.go", doc + "import \"errors\"\nvar Err = errors.New(\"x\")", ""},
		"another's error":  {"cli", "a.go", doc + "import \"io/fs\"\nvar Err = fs.ErrExist", ""},
		"a pattern":        {"cli", "a.go", doc + "import \"regexp\"\nvar r = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(\"x\") })", ""},
		"compiled early":   {"cli", "a.go", doc + "import \"regexp\"\nvar r = regexp.MustCompile(\"x\")", "package-level variable r"},
		"a table":          {"cli", "a.go", doc + "var t = [...]string{\"x\"}\nvar b = []byte(\"x\")", ""},
		"an embedded file": {"cli", "a.go", doc + "import _ \"embed\"\n\n//go:embed x\nvar b []byte", ""},
		"an assertion":     {"cli", "a.go", doc + "var _ any = (*int)(nil)", ""},
		"in a test":        {"cli", "a_test.go", doc + "var update bool", ""},
		"assigned":         {"cli", "a.go", doc + "var t = []int{1}\nfunc f() { t = nil }", "changes package-level variable t"},
		"an element":       {"cli", "a.go", doc + "var t = map[int]int{}\nfunc f() { t[1]++ }", "changes package-level variable t"},
		"deleted":          {"cli", "a.go", doc + "var t = map[int]int{}\nfunc f() { delete(t, 1) }", "changes package-level variable t"},
		"handed out":       {"cli", "a.go", doc + "var t = []int{1}\nfunc f() *int { return &t[0] }", "changes package-level variable t"},
		"a local one":      {"cli", "a.go", doc + "var t = []int{1}\nfunc f() { t := 1; t = 2; _ = t }", ""},
	} {
		got := checkDir(test.dir, map[string]string{test.file: test.src})
		switch {
		case test.want == "" && len(got) > 0:
			t.Errorf("%s: got %q", name, got)
		case test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)):
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// casesOf is the inside of a switch with n cases.
func casesOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "case %d:\n", i)
	}
	return b.String()
}

func TestStateIsSeenAcrossFiles(t *testing.T) {
	got := checkDir("cli", map[string]string{
		"a.go": "// Package p is for the test of a rule.\npackage p\nvar t = []int{1}\n",
		"b.go": "package p\nfunc f() { t[0] = 2 }\n",
	})
	if len(got) != 1 || got[0] != "b.go: changes package-level variable t" {
		t.Errorf("got %q", got)
	}
}
