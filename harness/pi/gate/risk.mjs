// What is risky, and why: the table.
import path from "node:path";
import { outside } from "./place.mjs";
import { Unsure, commandsOf } from "./shell.mjs";

// look is the ask that a tool call needs: {title, message}, or undefined.
export function look(tool, input, place, mode) {
	const call = describe(tool, input, place);
	if (!call.why && mode !== "all") return undefined;
	const project = path.basename(place.root).replace(/\p{C}/gu, "") || place.root;
	return { title: call.verb + " in " + project + "?" + (call.why ? " (" + call.why + ")" : ""), message: call.message };
}

const FILES = { edit: "Change", write: "Write", read: "Read", ls: "Read", grep: "Read", find: "Read" };

function describe(tool, input, place) {
	const file = input.path ?? input.file_path ?? ".";
	if (tool === "bash" && typeof input.command === "string") {
		return { verb: "Run", message: input.command, why: judge(input.command, place) };
	}
	if (!Object.hasOwn(FILES, tool) || typeof file !== "string") {
		return { verb: "Use " + tool, message: JSON.stringify(input), why: "a tool that cannot be judged" };
	}
	const call = { verb: FILES[tool], message: file, why: "" };
	// pi takes a leading @ off.
	if (outside(file, place) || outside(file.replace(/^@/, ""), place)) call.why = "outside the project";
	else if (call.verb !== "Read" && gitOwn(file)) call.why = "git's own files";
	return call;
}

function gitOwn(file) {
	return file.split("/").some((part) => part.toLowerCase() === ".git");
}

// judge says why a script needs a person's word; "" when it needs none.
export function judge(script, place) {
	try {
		for (const c of commandsOf(script, place)) {
			const why = redirects(c, place) || command(c.words, place);
			if (why) return why;
		}
	} catch (e) {
		if (!(e instanceof Unsure)) throw e;
		return "it cannot be read for certain";
	}
	return "";
}

const UNKNOWN = "what stands for a variable or $(…) is not known";

function redirects(c, place) {
	for (const { op, word } of c.redirects) {
		if (op.startsWith("<<") || word.fed || ([">&", "<&"].includes(op) && /^(\d+|-)$/.test(word.text))) continue;
		if (!word.known) return UNKNOWN;
		if (outside(word.text, place)) return "outside the project";
		if (op !== "<" && gitOwn(word.text)) return "git's own files";
	}
	return "";
}

// Words of the shell's own grammar that a command may follow.
const GRAMMAR = new Set(["{", "}", "!", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac", "time", "coproc"]);
const LISTS = new Set(["for", "select", "case", "in"]);
const STEERS = /^(PWD|OLDPWD|HOME|IFS|ENV|BASH_ENV|LD_\w+|DYLD_\w+)\+?=/;

// command judges one command: words, without its redirects.
function command(words, place) {
	let i = 0;
	while (i < words.length && words[i].known && GRAMMAR.has(words[i].text)) i++;
	if (words[i]?.text === "function") i += 2;
	for (; i < words.length && /^\w+(\[[^\]]*\])?\+?=/.test(words[i].text); i++) {
		if (STEERS.test(words[i].text)) return "it changes how commands are read";
	}
	const [head, ...args] = words.slice(i);
	if (!head || LISTS.has(head.text)) return "";
	if (!head.known || (head.glob && !/^\[\[?$/.test(head.text))) return "which program runs is not known";
	const name = path.posix.basename(head.text);
	if (head.text.includes("/") && !/^\/(usr\/)?(local\/)?s?bin\/[^/]+$/.test(head.text) && outside(head.text, place)) {
		return "outside the project";
	}
	const rule = Object.hasOwn(RULES, name) ? RULES[name] : undefined;
	if (typeof rule === "string") return rule;
	return rule ? rule(args, place, name) : general(args, place, name);
}

// Programs that only read the files another command names for them.
const READERS = new Set(["cat", "head", "tail", "wc", "ls", "file", "stat", "sort", "uniq", "cut", "tr", "diff", "comm", "nl", "md5sum", "sha256sum", "grep", "egrep", "fgrep", "rg", "ag", "jq", "yq"]);

// general is the rule for any program: its arguments are known and stay inside.
function general(args, place, name) {
	for (const w of args) {
		if (!w.known && !(w.fed && READERS.has(name))) return UNKNOWN;
		if (leaves(w, place)) return "outside the project";
	}
	return "";
}

// leaves reports whether an argument holds a path out of the project: alone, as
// the value of an option, or in a list with colons.
function leaves(w, place) {
	if (w.glob && /(^|\/)\.[*?[]/.test(w.text)) return true; // .* is .. too
	const value = /^-[A-Za-z]([/~.].*)$/.exec(w.text)?.[1] ?? (/^--?[\w-]+=/.test(w.text) || /^\w+=/.test(w.text) ? w.text.slice(w.text.indexOf("=") + 1) : w.text);
	if (/^(?!file:)[a-z][\w+.-]*:\/\//i.test(value)) return false; // an address
	const parts = value.startsWith("-") ? [] : [value, ...value.split(":")];
	return parts.some((p) => p !== "" && outside(p, place));
}

// ---- rules: a reason, or a function (args, place, name) → a reason or "" ----

const nothing = () => "";
const texts = (args) => args.map((w) => w.text);
const isOption = (w) => w.known && w.text.startsWith("-") && w.text !== "-";
const short = (w, letters) => /^-[A-Za-z]+$/.test(w.text) && [...letters].some((l) => w.text.includes(l));
const long = (w, name) => w.text.startsWith("--") && w.text.length > 3 && name.startsWith(w.text.split("=")[0]);

// all asks when any of the rules does.
const all = (...rules) => (args, place, name) => {
	for (const rule of rules) {
		const why = rule(args, place, name);
		if (why) return why;
	}
	return "";
};

// recursive asks before an option that reaches a whole folder.
const recursive = (why, letters, name) => (args) => (args.some((w) => short(w, letters) || long(w, name)) ? why : "");

// only passes the subcommands it names, and asks before every other one.
const only = (why, ...pass) => (args, place) => {
	const sub = args.find((w) => !isOption(w));
	if (!sub) return general(args, place);
	return sub.known && pass.includes(sub.text) ? general(args, place) : why;
};

// before asks before the subcommands it names.
const before = (why, ...subs) => (args, place) => (args.some((w) => w.known && subs.includes(w.text)) ? why : general(args, place));

// pattern passes over the first argument, which is no path.
const pattern = (args, place, name) => {
	if (args.some((w) => short(w, "ef") || long(w, "--regexp") || long(w, "--file"))) return general(args, place, name);
	const at = args.findIndex((w) => !isOption(w));
	return general(args.filter((_, i) => i !== at), place, name);
};

// wraps judges the command that a program runs. valued are the options of the
// program that take a value, skip is how many arguments stand before the command.
const wraps = (valued, skip = 0, fed = false) => (args, place) => {
	let i = 0;
	while (i < args.length && (isOption(args[i]) || /^\w+=/.test(args[i].text))) {
		if (!args[i].known) return UNKNOWN;
		if (args[i].text === "--") {
			i++;
			break;
		}
		if (STEERS.test(args[i].text)) return "it changes how commands are read";
		i += valued.includes(args[i].text) ? 2 : 1;
	}
	const rest = args.slice(i + skip);
	return command(fed && rest.length ? [...rest, { text: "", known: false, fed: true }] : rest, place);
};

// shell judges what a shell is given: a script by name, or a text.
const shell = (args, place) => {
	for (let i = 0; i < args.length; i++) {
		if (!args[i].known) return UNKNOWN;
		if (!/^[-+]/.test(args[i].text)) return STDIN.test(args[i].text) ? "a shell runs what it is fed" : general(args.slice(i), place);
		if (/^-[a-z]*c$/.test(args[i].text)) return args[i + 1]?.known ? judge(args[i + 1].text, place) : UNKNOWN;
		if (/^-?-?[\w-]*o(ption)?$/.test(args[i].text) && !args[i].text.startsWith("--")) i++;
		if (args[i]?.text === "--version") return "";
		if (args[i]?.text === "-") break;
	}
	return "a shell runs what it is fed";
};

const STDIN = /^(-|\/dev\/(stdin|fd\/\d+))$/;

// inline asks before code that stands in the command or comes from elsewhere.
const inline = (letters, ...words) => (args, place) => {
	const why = "code that cannot be judged";
	let script = false;
	for (const w of args) {
		if (!w.known) return UNKNOWN;
		if (STDIN.test(w.text)) return why;
		if (!w.text.startsWith("-")) {
			script = true;
			break;
		}
		if (words.includes(w.text.split("=")[0]) || short(w, letters)) return why;
		if (/^(-m|-V|-v|--version|--help|-h|--test|--check|--run)/.test(w.text)) script = true;
	}
	return script ? general(args, place) : why;
};

const find = (args, place) => {
	if (args.some((w) => w.text === "-delete")) return "deletes what it finds";
	const at = args.findIndex((w) => /^-(exec|execdir|ok|okdir)$/.test(w.text));
	const end = at < 0 ? -1 : args.findIndex((w, i) => i > at && /^[;+]$/.test(w.text));
	if (at >= 0 && end < 0) return "it cannot be read for certain";
	const filters = (list) => list.filter((_, i) => !/^-i?(name|path|wholename|regex)$/.test(list[i - 1]?.text ?? ""));
	if (at < 0) return general(filters(args), place);
	const run = args.slice(at + 1, end).map((w) => (w.text.includes("{}") ? { text: "", known: false, fed: true } : w));
	return command(run, place) || general(filters(args.slice(0, at)), place) || find(args.slice(end + 1), place);
};

const sed = (args, place) => {
	const simple = /^[\d,$!\s]*(\/[^/]*\/)?(,(\d+|\$|\/[^/]*\/))?\s*[pdqDG=]?$|^[\d,$\s]*s([/|#,])((?!\4).)*\4((?!\4).)*\4[gpiI0-9]*$/;
	const rest = args.filter((w) => !isOption(w));
	if (args.some((w) => short(w, "ef") || long(w, "--expression") || long(w, "--file"))) return general(args, place) || (args.every((w, i) => args[i - 1]?.text !== "-e" || simple.test(w.text)) ? "" : "code that cannot be judged");
	if (rest[0]?.known && !rest[0].text.split(/[;\n]/).every((s) => simple.test(s.trim()))) return "code that cannot be judged";
	return pattern(args, place);
};

const awk = (args, place) => {
	const program = args.find((w) => !isOption(w));
	if (program?.known && /system|getline|[|>]|-f/.test(program.text)) return "code that cannot be judged";
	return pattern(args, place);
};

const sends = "sends data away";
const curl = (args, place) => {
	const local = args.some((w) => /^(https?:\/\/)?(localhost|127\.0\.0\.1|\[::1\])([:/]|$)/.test(w.text));
	const data = args.some((w, i) => /^-[A-Za-z]*[TFd]/.test(w.text) || /^--(data|form|json|upload|post|body)/.test(w.text) || (/^(-X|--request|--method)/.test(args[i - 1]?.text ?? "") && !/^(GET|HEAD)$/i.test(w.text)));
	return data && !local ? sends : general(args.filter((_, i) => !/^(-H|--header)$/.test(args[i - 1]?.text ?? "")), place);
};

// git: what throws work away, what others see, what reaches beyond the project.
const lost = "throws away changes";
const flags = (why, ...list) => (args, place) => (texts(args).some((t) => list.includes(t)) ? why : general(args, place));
const GIT = {
	push: "publishes to a remote", "send-email": sends, "request-pull": nothing,
	reset: "resets the repository", clean: "deletes untracked files",
	checkout: flags(lost, "--", ".", "-f", "--force", "-B"), switch: flags(lost, "-f", "--force", "--discard-changes", "-C"),
	restore: (args, place) => (args.some((w) => short(w, "S") || long(w, "--staged")) && !args.some((w) => short(w, "W") || long(w, "--worktree")) ? general(args, place) : lost),
	stash: before(lost, "drop", "clear"), branch: flags("deletes a branch", "-D", "-d", "--delete", "-M", "-f", "--force"),
	tag: flags("deletes a tag", "-d", "--delete", "-f", "--force"), rm: recursive("deletes folders", "r", "--recursive"),
	rebase: "rewrites history", "filter-branch": "rewrites history", "filter-repo": "rewrites history",
	reflog: before("rewrites history", "expire", "delete"), gc: flags("rewrites history", "--prune=now", "--prune"), prune: "rewrites history", "update-ref": "rewrites history",
	worktree: before("deletes folders", "remove", "prune"), submodule: before("runs commands", "foreach", "deinit"), bisect: before("runs commands", "run"),
	remote: before("changes a remote", "add", "set-url", "remove", "rm", "rename"),
	config: flags("changes git's settings", "--global", "--system"), credential: "reads secrets", difftool: "runs commands", mergetool: "runs commands",
	commit: (args, place) => general(args.filter((_, i) => !/^(-[a-z]*m|--message)$/.test(args[i - 1]?.text ?? "")).filter((w) => !/^--message=/.test(w.text)), place),
};

const git = (args, place) => {
	let i = 0;
	for (; i < args.length && isOption(args[i]); i++) {
		if (args[i].text === "-c" || args[i].text.startsWith("--config-env") || args[i].text.startsWith("--exec-path=")) return "changes git's settings";
		if (["-C", "--git-dir", "--work-tree", "--namespace"].includes(args[i].text)) i++;
	}
	const why = general(args.slice(0, i), place);
	const sub = args[i];
	if (why || !sub) return why;
	if (!sub.known) return UNKNOWN;
	const rule = Object.hasOwn(GIT, sub.text) ? GIT[sub.text] : general;
	return typeof rule === "string" ? rule : rule(args.slice(i + 1), place);
};

const rights = "acts with other rights", system = "changes the system", remote = "reaches another machine", deploys = "changes what runs elsewhere";
const same = (why, ...names) => Object.fromEntries(names.map((n) => [n, why]));

const RULES = {
	...same(nothing, "echo", "printf", "true", "false", ":", "test", "[", "[[", "exit", "return", "break", "continue", "sleep", "wait", "expr", "seq", "let", "shift", "basename", "dirname", "date", "type", "which", "hash", "set", "unset", "read", "alias", "umask", "pwd"),
	...same((args) => (args.some((w) => STEERS.test(w.text)) ? "it changes how commands are read" : ""), "export", "local", "declare", "readonly", "typeset"),
	rm: all(recursive("deletes folders", "rR", "--recursive"), general),
	...same(all(recursive("changes a whole folder", "R", "--recursive"), general), "chmod", "chown", "chgrp"),
	...same("destroys data", "dd", "shred", "srm", "wipefs", "fdisk", "parted", "mkfs", "mke2fs", "diskutil", "dropdb"),
	...same(rights, "sudo", "doas", "su", "pkexec", "runuser", "chroot", "nsenter", "unshare"),
	...same(system, "apt", "apt-get", "dpkg", "dnf", "yum", "rpm", "zypper", "pacman", "apk", "snap", "brew", "port", "systemctl", "service", "launchctl", "crontab", "at", "shutdown", "reboot", "halt", "poweroff", "mount", "umount", "sysctl", "iptables", "ufw", "useradd", "userdel", "usermod", "passwd", "chsh", "visudo", "defaults"),
	...same("ends other programs", "pkill", "killall", "xkill"),
	kill: (args) => (args.filter((w) => !isOption(w)).every((w) => w.known && w.text.startsWith("%")) ? "" : "ends other programs"),
	...same(remote, "ssh", "scp", "sftp", "ftp", "telnet", "nc", "ncat", "socat", "mail", "sendmail", "psql", "mysql", "mongosh", "redis-cli"),
	rsync: (args, place) => (args.some((w) => w.text.startsWith("--del") || w.text.startsWith("--remove")) ? "deletes files" : args.some((w) => /^[^/-][^/]*:/.test(w.text)) ? remote : general(args, place)),
	...same(curl, "curl", "wget"),
	...same(deploys, "aws", "gcloud", "az", "heroku", "flyctl", "vercel", "netlify", "wrangler", "firebase", "ansible", "ansible-playbook", "twine"),
	gh: only(sends, "auth", "status", "version", "help"),
	kubectl: only(deploys, "get", "describe", "logs", "version", "explain", "diff"), helm: only(deploys, "list", "status", "template", "lint", "version"),
	...same(only(deploys, "fmt", "validate", "plan", "version", "show", "output", "graph"), "terraform", "tofu"),
	...same(only("starts or deletes containers", "ps", "images", "logs", "inspect", "version", "info", "build", "config"), "docker", "podman", "docker-compose"),
	...same(all(before("publishes a package", "publish", "unpublish", "deprecate", "owner", "access", "token", "login", "yank", "push"), flags("outside the project", "-g", "--global", "global")), "npm", "pnpm", "yarn", "bun", "cargo", "gem", "poetry"),
	cd: (args, place) => (texts(args).join(" ").match(/^-?$/) ? (outside(place.home, place) ? "outside the project" : "") : general(args, place)),
	git, find, sed, ...same(awk, "awk", "gawk", "mawk"),
	...same(pattern, "grep", "egrep", "fgrep", "rg", "ag", "jq", "yq"),
	...same(shell, "sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "busybox"),
	...same("runs a text as a command", "eval", "parallel", "entr", "watch", "tmux", "screen", "script", "osascript", "pwsh", "expect"),
	...same((args, place) => (args[0]?.known && !args[0].fed && !STDIN.test(args[0].text) ? general(args, place) : "a shell runs what it is fed"), "source", "."),
	trap: (args, place) => (args.length < 2 ? "" : args[0].known ? judge(args[0].text, place) : UNKNOWN),
	...same(inline("c"), "python", "python3", "python2", "pypy3", "ipython"),
	...same(inline("epr", "--eval", "--print", "--require", "--import"), "node", "nodejs"), deno: before("code that cannot be judged", "eval", "repl"),
	...same(inline("eE"), "perl", "ruby", "lua"), php: inline("rBRE"),
	command: (args, place) => (args.some((w) => short(w, "vV")) ? "" : wraps([])(args, place)),
	...same(wraps([]), "builtin", "nohup", "setsid", "caffeinate", "unbuffer"),
	exec: wraps(["-a"]), nice: wraps(["-n"]), ionice: wraps(["-c", "-n"]), stdbuf: wraps(["-i", "-o", "-e"]), timeout: wraps(["-s", "-k", "--signal", "--kill-after"], 1),
	env: (args, place) => (args.some((w) => short(w, "S") || long(w, "--split-string")) ? "runs a text as a command" : wraps(["-u", "-C", "--unset", "--chdir"])(args, place)),
	xargs: wraps(["-I", "-n", "-P", "-L", "-d", "-a", "-s", "-E"], 0, true),
};
