// deckhand's permission gate for pi: it asks a person before a tool call that is
// risky. It stands between an agent and an accident. It is no sandbox: it reads
// what a command says, not what the programs do that it names, and an agent that
// is bent on it finds a way around. What cannot be read for certain is asked about.
//
// Plain JavaScript without dependencies, for any Node that runs pi: both of its
// generations load it as it is. deckhand writes it with the MODE of the agent and
// starts pi with -e and its path.
//
// What it says to deckhand, over pi's RPC:
//
//	setStatus deckhand "asks before risky"   at the start: the gate is in force
//	setStatus deckhand "ask"                 the dialog that follows is the gate's
//	confirm   TITLE MESSAGE                  MESSAGE is the whole command
//	input     "deckhand: why"                after a no: deckhand gives the reason
//	                                         the person wrote, and asks nobody
import os from "node:os";
import { look } from "./risk.mjs";

const MODE = "risky"; // or "all"
const KEY = "deckhand";

export default function gate(pi) {
	pi.on("session_start", (_event, ctx) => {
		if (ctx.hasUI) ctx.ui.setStatus(KEY, "asks before " + MODE);
	});
	pi.on("tool_call", async (event, ctx) => {
		const ask = look(event.toolName, event.input ?? {}, { root: ctx.cwd, home: os.homedir() }, MODE);
		if (!ask) return undefined;
		if (!ctx.hasUI) return refuse("nobody is there to allow it");
		ctx.ui.setStatus(KEY, "ask");
		if ((await ctx.ui.confirm(ask.title, ask.message)) === true) return undefined;
		return refuse(await ctx.ui.input("deckhand: why"));
	});
}

// refuse keeps the tool from running; the model gets the text as its error.
function refuse(reason) {
	const said = "A person did not allow this";
	return { block: true, reason: reason ? said + ": " + reason : said + ". Do not try the same in another way." };
}
