// Where a path leads: into the project or out of it, through links too.
import fs from "node:fs";
import path from "node:path";

// Outside the project, and nobody's: reading or writing them changes nothing.
const NOWHERE = /^\/dev\/(null|zero|u?random|stdin|stdout|stderr|tty|fd\/\d+)$/;

// Where pi keeps the rest of a long output, and tells the model to read it.
const OUTPUT = /^\/tmp\/pi-bash-[\w-]+\.log$/;

// outside reports whether a path, seen from the project's folder, leads out of it.
export function outside(text, { root, home }) {
	let p = text.replace(/^file:\/\//, "");
	if (p === "~" || p.startsWith("~/")) p = home + p.slice(1);
	if (NOWHERE.test(p) || OUTPUT.test(p)) return false;
	const top = real(root) ?? root;
	const end = walk(path.isAbsolute(p) ? "/" : top, p);
	return end === undefined || !(end === top || end.startsWith(top === "/" ? top : top + "/"));
}

// walk follows a path as the system would: link by link, and ".." from where a
// link leads to. undefined: a link that leads nowhere.
function walk(from, p) {
	let at = from;
	for (const part of p.split("/")) {
		if (part === "" || part === ".") continue;
		if (part === "..") {
			at = path.dirname(at);
			continue;
		}
		const next = path.join(at, part);
		const to = real(next);
		if (to === undefined && isLink(next)) return undefined;
		at = to ?? next;
	}
	return at;
}

function real(p) {
	try {
		return fs.realpathSync(p);
	} catch {
		return undefined;
	}
}

function isLink(p) {
	try {
		return fs.lstatSync(p).isSymbolicLink();
	} catch {
		return false;
	}
}
