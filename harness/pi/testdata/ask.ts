// An extension that asks before a command that removes something, for the tests
// that meet the real pi.
export default function (pi: any) {
  pi.on("tool_call", async (event: any, ctx: any) => {
    const command = String(event.input?.command ?? "");
    if (event.toolName !== "bash" || !command.includes("rm ")) return undefined;
    const choice = await ctx.ui.select("Run " + command + "?", ["Allow once", "Deny"]);
    if (choice === "Allow once") return undefined;
    return { block: true, reason: "a person did not allow it" };
  });
}
