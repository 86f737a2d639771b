// A shell script, read for its commands and no further: nothing is run, and
// what a value will be is known only where it stands there. It reads the POSIX
// shell and bash as far as agents write them; on anything else it throws Unsure,
// and a command that cannot be read is asked about.

// Unsure says that this reader does not know what a shell would make of it.
export class Unsure extends Error {}

// A Word is what a shell hands to a program as one argument.
class Word {
	text = ""; // as far as it is known
	known = true; // text is all of it
	fed = false; // a place to read or write that is another command
	quoted = false; // a part of it stood in quotes
	glob = false; // it names files by a pattern
}

// commandsOf reads the commands of a script, those in substitutions too: each is
// {words, redirects}, and a redirect is {op, word}. place is {root, home}: what
// $PWD and ~ stand for.
export function commandsOf(script, place) {
	const r = new Reader(script, place);
	r.script(false);
	if (r.documents.length) throw new Unsure();
	return r.commands;
}

class Reader {
	commands = [];
	documents = []; // redirects << whose bodies follow the line
	at = 0;
	word; // being read; undefined between words
	command; // being read
	redirect; // whose target is the next word

	constructor(src, place) {
		this.src = src;
		this.place = place;
	}

	see(form) {
		form.lastIndex = this.at;
		return form.exec(this.src);
	}

	take(form) {
		const m = this.see(form);
		if (m) this.at += m[0].length;
		return m;
	}

	open() {
		return (this.word ??= new Word());
	}

	endWord() {
		if (!this.word) return;
		if (this.redirect) this.redirect.word = this.word;
		else this.command.words.push(this.word);
		this.word = this.redirect = undefined;
	}

	endCommand() {
		this.endWord();
		if (this.redirect) throw new Unsure();
		if (this.command.words.length || this.command.redirects.length) this.commands.push(this.command);
		this.command = { words: [], redirects: [] };
	}

	// script reads commands to the end or, nested, to the bracket that closes it.
	script(nested) {
		const outer = [this.command, this.word, this.redirect];
		[this.command, this.word, this.redirect] = [{ words: [], redirects: [] }];
		let closed = !nested;
		for (let depth = 0; this.at < this.src.length; ) {
			if (nested && this.see(/\(/y)) depth++;
			if (nested && this.see(/\)/y) && depth-- === 0) {
				this.at++;
				closed = true;
				break;
			}
			this.step();
		}
		this.endCommand();
		if (!closed) throw new Unsure();
		[this.command, this.word, this.redirect] = outer;
	}

	// step reads the next thing outside of quotes.
	step() {
		let m;
		if (this.take(/\\\n/y)) return;
		if ((m = this.take(/'([^']*)'/y) ?? this.take(/\\([^])/y))) this.quote(m[1]);
		else if (this.see(/\$?'|\\/y)) throw new Unsure(); // escapes of $'…', or no end
		else if (this.take(/\$?"/y)) {
			this.quote("");
			this.text(true);
		} else if (this.see(/[$`]/y)) {
			this.open();
			this.expand();
		} else if (!this.word && this.take(/#[^\n]*/y)) return;
		else if (this.take(/[^\S\n]+/y)) this.endWord();
		else if (this.take(/\n/y)) {
			this.endCommand();
			this.bodies();
		} else if (!this.operator()) this.plain();
	}

	quote(text) {
		this.open().text += text;
		this.word.quoted = true;
	}

	// operator reads what parts commands and what redirects.
	operator() {
		if (!this.word && this.take(/[<>]\(/y)) {
			this.script(true);
			this.open().fed = true;
			this.word.known = false;
			return true;
		}
		const m = this.word ? this.take(/()(<<<|<<-?|<>|<&|>>|>\||>&|<|>)/y) : this.take(/(\d*)(<<<|<<-?|<>|<&|>>|>\||>&|<|>)/y);
		const both = m ? undefined : this.take(/&>>?/y);
		if (!m && !both) {
			if (!this.take(/&&|\|\||;;|[|&;()]/y)) return false;
			this.endCommand();
			return true;
		}
		this.endWord();
		if (this.redirect) throw new Unsure();
		this.redirect = { op: m ? m[2] : both[0], word: undefined };
		this.command.redirects.push(this.redirect);
		if (this.redirect.op.match(/^<<-?$/)) this.documents.push(this.redirect);
		return true;
	}

	// plain reads an ordinary character, or what a shell expands without a mark.
	plain() {
		let m;
		if (!this.word && this.take(/~(?=[/\s;&|)]|$)/y)) this.open().text = this.place.home;
		else if (!this.word && this.take(/~/y)) this.open().known = false; // another user's home
		else if ((m = this.take(/\{[\w*][\w*-]*(\.[\w*-]+)*(,[\w*][\w*-]*(\.[\w*-]+)*)+\}/y))) this.open().text += m[0];
		else {
			this.open();
			if (this.see(/\{[^\s]*(,|\.\.)/y)) this.word.known = false;
			if (this.see(/[*?[]/y)) this.word.glob = true;
			this.word.text += this.src[this.at++];
		}
	}

	// expand reads a $… or `…` into the word.
	expand() {
		const w = this.word;
		let m;
		if ((m = this.take(/\$\(\(([^`()]*(?:\([^`()]*\)[^`()]*)*)\)\)/y))) {
			if (m[1].includes("$(")) throw new Unsure();
			w.text += "0";
		} else if (this.take(/\$\(/y)) {
			this.script(true);
			w.known = false;
		} else if ((m = this.take(/\$(HOME|PWD)\b|\$\{(HOME|PWD)\}/y))) {
			w.text += (m[1] ?? m[2]) === "HOME" ? this.place.home : this.place.root;
		} else if (this.take(/\$!/y)) w.text += "%!"; // a job of its own
		else if (this.take(/\$[?#$]/y)) w.text += "0";
		else if (this.take(/\$(\w+|[@*-])|\$\{[^`${}'"\\]*\}/y)) w.known = false;
		else if ((m = this.take(/`([^`\\]*)`/y))) {
			this.commands.push(...commandsOf(m[1], this.place));
			w.known = false;
		} else if (this.see(/\$\{|`/y)) throw new Unsure();
		else w.text += this.src[this.at++];
	}

	// text reads what stands in double quotes, or a document to its end.
	text(quoted) {
		while (this.at < this.src.length) {
			let m;
			if (quoted && this.take(/"/y)) return;
			if ((m = this.take(/\\(\n|["\\$`])/y))) this.word.text += m[1] === "\n" ? "" : m[1];
			else if (this.see(/[$`]/y)) this.expand();
			else this.word.text += this.src[this.at++];
		}
		if (quoted) throw new Unsure();
	}

	// bodies reads the documents of the line that has just ended.
	bodies() {
		for (const { op, word } of this.documents.splice(0)) {
			if (!word.known) throw new Unsure();
			const lines = [];
			for (;;) {
				if (this.at >= this.src.length) throw new Unsure();
				const line = this.take(/([^\n]*)\n?/y)[1];
				if ((op === "<<-" ? line.replace(/^\t+/, "") : line) === word.text) break;
				lines.push(line);
			}
			if (word.quoted) continue;
			const body = new Reader(lines.join("\n"), this.place);
			body.open();
			body.text(false);
			this.commands.push(...body.commands);
		}
	}
}
