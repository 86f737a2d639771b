package change

import (
	"strings"
	"testing"
)

const shop = "## Plan\r\n- [ ] Launch in **May** @pi\r\n\t- [ ] tell all\r\n\tin May\r\n- [ ] Invoice PDF\r\n- [ ] Invoice mail\r\n\r\n## In Progress (3)\r\n\r\n## Done\r\n- [x] Logo"

func TestCards(t *testing.T) {
	for name, test := range map[string]struct {
		a    Action
		want string
	}{
		"edit":           {Action{Do: EditCard, Card: "Launch in **May** @pi", Old: "**May**", New: "**June**"}, strings.Replace(shop, "**May**", "**June**", 1)},
		"edit below":     {Action{Do: EditCard, Card: "- [ ] Launch", Old: "\tin May", New: "\tin June\n\tor July"}, strings.Replace(shop, "\tin May", "\tin June\r\n\tor July", 1)},
		"tick":           {Action{Do: TickCard, Card: "Invoice PDF"}, strings.Replace(shop, "[ ] Invoice PDF", "[x] Invoice PDF", 1)},
		"untick":         {Action{Do: UntickCard, Card: "Logo"}, strings.Replace(shop, "[x] Logo", "[ ] Logo", 1)},
		"move":           {Action{Do: MoveCard, Card: "Invoice mail", Lane: "in progress"}, strings.Replace(shop, "- [ ] Invoice mail\r\n\r\n## In Progress (3)\r\n\r\n", "\r\n## In Progress (3)\r\n\r\n- [ ] Invoice mail\r\n\r\n", 1)},
		"move to an end": {Action{Do: MoveCard, Card: "Invoice PDF", Lane: "Done"}, strings.Replace(shop, "- [ ] Invoice PDF\r\n", "", 1) + "\r\n- [ ] Invoice PDF"},
		"remove":         {Action{Do: RemoveCard, Card: "Logo"}, strings.TrimSuffix(shop, "\r\n- [x] Logo")},
		"add":            {Action{Do: AddCard, Text: "Shipping\nby post"}, strings.Replace(shop, "Invoice mail\r\n", "Invoice mail\r\n- [ ] Shipping\r\n\tby post\r\n", 1)},
		"add to a lane":  {Action{Do: AddCard, Text: "Name", Lane: "Done"}, shop + "\r\n- [ ] Name"},
	} {
		m := memory{"Shop.md": shop}
		test.a.File = "Shop.md"
		got, err := Plan(m.folder(), []Action{test.a})
		if err != nil || len(got) != 1 || got[0].After != test.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, test.want)
		}
	}
}

func TestCardRefusals(t *testing.T) {
	m := memory{"Shop.md": shop, "Note.md": "text\n", "Torn.md": "## Plan\n<<<<<<< HEAD\n- [ ] a\n=======\n- [ ] b\n>>>>>>> x\n"}
	for want, a := range map[string]Action{
		"this is no board":                              {Do: AddCard, File: "Note.md", Text: "a"},
		"say which card":                                {Do: TickCard, File: "Shop.md"},
		`no card reads "Checkout"; read the board`:      {Do: TickCard, File: "Shop.md", Card: "Checkout"},
		`2 cards read "Invoice" (lines 5, 6)`:           {Do: TickCard, File: "Shop.md", Card: "Invoice"},
		"it already is like this":                       {Do: TickCard, File: "Shop.md", Card: "Logo"},
		"say the lane":                                  {Do: MoveCard, File: "Shop.md", Card: "Logo"},
		"its lanes are: Plan, In Progress, Done":        {Do: MoveCard, File: "Shop.md", Card: "Logo", Lane: "Later"},
		"2 times (lines 2, 4)":                          {Do: EditCard, File: "Shop.md", Card: "Launch", Old: "May", New: "June"},
		"the old text is not there":                     {Do: EditCard, File: "Shop.md", Card: "Logo", Old: "Launch", New: "June"},
		"this would change more than the card: its tex": {Do: EditCard, File: "Shop.md", Card: "Logo", Old: "Logo", New: "Logo\n- [ ] more @pi"},
		"the board is not changed now: merge markers":   {Do: TickCard, File: "Torn.md", Card: "a"},
		"a card needs a text":                           {Do: AddCard, File: "Shop.md", Text: " \n"},
	} {
		if got, err := Plan(m.folder(), []Action{a}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %+v, %v, want an error with %q", got, err, want)
		}
	}
}
