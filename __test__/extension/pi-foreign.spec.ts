/** Real pi opens sessions that this extension did not write, or did not write like this, and goes on. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";

import { bundle } from "../../scripts/lib/bundle.mjs";
import { type Entry, exampleSession } from "../support/foreign.ts";
import {
	call,
	delegate,
	onStage,
	packageDir,
	piCommand,
	piVersions,
	say,
	startTui,
	type Tui,
	World,
} from "../support/pi.ts";

/** The entries behind `before`, one after the other. */
function behind(before: Entry[], ...added: Record<string, unknown>[]): Entry[] {
	const entries = [...before];
	for (const [index, entry] of added.entries()) {
		const timestamp = new Date(1_700_000_000_000 + index).toISOString();
		entries.push({ ...entry, id: `added${index}`, parentId: entries.at(-1)?.id ?? null, timestamp });
	}
	return entries;
}

/** Opens the session in a terminal, whole and with everything expanded, and types something afterwards. */
async function opened(world: World, entries: readonly Entry[], look: (tui: Tui, screen: string) => Promise<void>) {
	const file = join(world.root, "foreign.jsonl");
	const here = entries.map((entry) => (entry.type === "session" ? { ...entry, cwd: world.cwd } : entry));
	writeFileSync(file, here.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
	const tui = await startTui(world, { columns: 80, rows: 150, args: ["--session", file] });
	await tui.waitFor("THE END");
	const pid = await tui.pid();
	await look(tui, await tui.screen());
	for (const columns of [40, 120]) await tui.resize(columns, 150);
	await tui.press("C-o");
	await tui.type("still here");
	await tui.waitFor("still here");
	assert.equal(await tui.pid(), pid);
	const text = await tui.scrollback();
	assert.doesNotMatch(text, /pi-subagent-native: .*failed|exceeds terminal width/, text);
	await tui.close();
}

/** The extension in a pi whose cards cannot be drawn. */
const BROKEN = `
import load from ${JSON.stringify(join(packageDir, bundle))};
const on = (context) => ({ ...context, get expanded() { throw new Error("on purpose"); } });
const drawn = (tool) => ({ ...tool, renderCall: (args, theme, context) => tool.renderCall(args, theme, on(context)) });
export default (pi) => load({ ...pi, registerTool: (tool) => pi.registerTool(drawn(tool)) });
`;

/** The keys that pi lets a theme omit. */
const OPTIONAL = ["scrollbarTrack", "scrollbarThumb", "searchMatchBg", "searchMatchText", "thinkingMax"];

const theEnd = {
	type: "custom_message",
	customType: "note",
	content: "THE END",
	display: true,
};

const cut = { deliveryIds: ["d1"], runIds: ["1a2b3c4d"], runs: [{ runId: "1a2b3c4d", agent: "explorer" }] };
const announcement = (content: string, details: unknown) => ({
	...{ type: "custom_message", customType: "subagent-announcement", display: true },
	...{ content, details },
});
const report = (data: unknown) => ({ type: "custom", customType: "subagents-report", data });
const spans = (color: string) => [{ line: [{ text: "in spans", color }], hang: 0 }];

for (const version of piVersions) {
	describe(`pi ${version}`, () => {
		test("opens a session of pi's own example, and a shortened or edited session", async () => {
			const example = await exampleSession(version);
			const results = example.filter(({ message }) => message?.role === "toolResult");
			assert.equal(results.length, 3);
			assert.ok(JSON.stringify(results).includes('"stderr"'), "the session has the details of the example");
			// More calls, with stored data of ours and of older, newer or broken releases.
			const asked = example.find(({ message }) => message?.role === "assistant");
			const again = [
				{ mode: "single", results: [{ agent: "scout" }] },
				{ mode: "single", results: [null] },
				{ kind: "subagent-run", version: 99, mode: "single", results: "later" },
				{ mode: "parallel", results: [], tasks: [{ agent: 1 }] },
				"no details",
			].flatMap((details, index) => {
				const id = `again${index}`;
				const args = { agent: "scout", task: `again ${index}` };
				const content = [{ type: "toolCall", id, name: "subagent", arguments: args }];
				const text = [{ type: "text", text: `as it reads ${index}` }];
				const answered = { ...results[0]?.message, toolCallId: id, details, content: text };
				return [
					{ ...asked, message: { ...asked?.message, content } },
					{ ...asked, message: answered },
				];
			});
			const entries = behind(
				example,
				...again,
				announcement("announced 1", cut),
				announcement("announced 2", { deliveryIds: 7 }),
				announcement("announced 3", null),
				announcement("announced 4", { kind: "subagent-announcement", version: 2, runs: {} }),
				report({ title: "Of 0.1", lines: spans("accent"), text: "reported 1" }),
				report({ title: "No such colour", lines: spans("nope"), text: "reported 2" }),
				report({ title: "Cut", lines: [{}, null, "x"], text: "reported 3" }),
				report({ kind: "subagents-report", version: 1, title: 1, lines: [], text: "reported 4" }),
				report(null),
				theEnd,
			);
			const world = new World({ version, extensions: [packageDir] });
			try {
				await opened(world, entries, async (_tui, screen) => {
					assert.match(screen, /It is in/, "the screen shows the answer of the example");
					for (let number = 0; number < 5; number++) assert.ok(screen.includes(`as it reads ${number}`), screen);
					for (const what of ["announced", "reported"]) {
						for (const number of [1, 2, 3, 4])
							assert.ok(screen.includes(`${what} ${number}`), `${what} ${number}\n${screen}`);
					}
				});
			} finally {
				await world.close();
			}
		});

		test("draws with an incomplete theme, and a child whose model streams null as arguments", async () => {
			const nulls = ({ toolAnswers }: { toolAnswers: unknown[] }) =>
				toolAnswers.length > 0
					? [say("Done without arguments.")]
					: [call("read", "null"), call("ls", "null"), call("bash", "[1]"), call("grep", '"text"')];
			await onStage({ version, children: { nulls }, settings: { theme: "bare" } }, async ({ world }) => {
				const dark = join(dirname(piCommand(version)[1]), "../modes/interactive/theme/dark.json");
				const theme = JSON.parse(readFileSync(dark, "utf8"));
				const colors = { ...theme.colors };
				for (const name of OPTIONAL) delete colors[name];
				world.writeAgentDir("themes/bare.json", JSON.stringify({ ...theme, name: "bare", colors }));
				const head = { type: "session", version: 3, id: "bare", timestamp: new Date(0).toISOString(), cwd: world.cwd };
				const entries = behind(
					[head],
					announcement("announced 1", cut),
					report({ title: "t", lines: [], text: "x" }),
					theEnd,
				);
				await opened(world, entries, async (tui, screen) => {
					assert.match(screen, /announced 1/);
					await tui.submitCommand("subagents", "doctor");
					await tui.waitFor(/Sub-agents: /);
					await tui.type(delegate({ agent: "explorer", task: "nulls everywhere" }));
					await tui.press("Enter");
					await tui.waitFor("The child says: Done without arguments.");
				});
			});
		});

		test("shows a line in place of a failed card, reports it once, and continues", async () => {
			await onStage({ version, load: "none" }, async (stage) => {
				const broken = stage.world.writeAgentDir("broken.mjs", BROKEN);
				const found = { agent: "explorer", task: "say found" };
				const lost = { agent: "nobody", task: "look" };
				const args = ["-e", broken];
				const tui = await startTui(stage.world, { columns: 100, rows: 60, args, prompt: delegate(found, lost) });
				await tui.waitFor("The child says: found | Unknown agent");
				const screen = await tui.waitFor(/The\s+rest of the extension continues/);
				assert.equal(
					screen.match(/✗ pi-subagent-native: drawing `subagent` failed: Error: on purpose/g)?.length,
					2,
					screen,
				);
				assert.equal(screen.match(/The\s+rest of the extension continues/g)?.length, 1, screen);
				await tui.type("still here");
				await tui.waitFor("still here");
				await tui.close();
			});
		});
	});
}
