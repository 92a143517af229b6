/** The live card as real pi draws it, in a wide dark and in a narrow light terminal. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import {
	call,
	delegate,
	fail,
	type ModelRequest,
	makeGate,
	newestPi,
	oldestPi,
	onStage,
	piVersions,
	say,
	startRpc,
	startTui,
	until,
	usage,
} from "../support/pi.ts";

const task = "walk through the whole project, and say in which order its many parts come into play and why";

const answer = [
	"# Order",
	"The parts load in `order`, **user first**, then the project.",
	...Array.from({ length: 12 }, (_, part) => `${part + 1}. part ${part + 1}`),
].join("\n");

/** Returns the lines of the card with this head, down to the line that `last` matches. */
function cardIn(screen: string, last: RegExp): string[] {
	const lines = screen.split("\n");
	const from = lines.findIndex((line) => /^ [○●✓✗⚠] subagent /.test(line));
	const length = lines.slice(from).findIndex((line) => last.test(line)) + 1;
	assert.ok(from >= 0 && length > 0, screen);
	return lines.slice(from, from + length).map((line) => line.slice(1));
}

const start = "\u001b\\[";
const colouredMark = new RegExp(`${start}38;2;[\\d;]+m✓.*${start}1m`);
const background = new RegExp(`${start}(?:48;2;[\\d;]+|49)m`, "g");

/** A line without the sequences that tmux writes only because of the ground. */
function plainStyle(line: string): string {
	return line
		.replaceAll(new RegExp(`${start}0?m(?:${start}39m)?`, "g"), `\u001b[0m`)
		.replaceAll(new RegExp(`${start}39m`, "g"), "");
}

/** Our code decides its look, so the newest pi shows it in full. An old pi may only draw it differently. */
const terminals = [
	{ version: newestPi, columns: 120, theme: "dark" },
	{ version: newestPi, columns: 60, theme: "light" },
	{ version: oldestPi, columns: 120, theme: "dark" },
];

for (const version of piVersions) {
	for (const { columns, theme } of terminals.filter((terminal) => terminal.version === version)) {
		test(`the card in pi ${version}, ${columns} columns, ${theme}`, async () => {
			const [looked, done] = [makeGate(), makeGate()];
			const walk = ({ toolAnswers }: { toolAnswers: unknown[] }) => {
				if (toolAnswers.length === 0) {
					const calls = [call("ls", { path: "." }), call("read", { path: "README.md", offset: 1, limit: 2 })];
					return [usage({ input: 1_400, output: 45 }), say("First the lay of the land."), ...calls];
				}
				if (toolAnswers.length === 2) {
					const calls = [call("ls", { path: "src" }), call("read", { path: "src/main.ts" })];
					return [
						usage({ input: 2_400, output: 55, cached: 1_200 }),
						until(looked.opened),
						say("Now the code."),
						...calls,
					];
				}
				return [usage({ input: 4_600, output: 260, cached: 3_000 }), say("I am "), until(done.opened), say(answer)];
			};
			await onStage({ version, settings: { theme }, children: { walk } }, async (stage) => {
				stage.world.write("src/main.ts", "start();\n");
				const tui = await startTui(stage.world, { columns, rows: 50, prompt: delegate({ agent: "explorer", task }) });
				const narrow = (wide: string) =>
					wide.length < columns ? wide : `${wide.slice(0, wide.lastIndexOf(" ", columns - 3))}…`;
				const head = (mark: string) =>
					[new RegExp(`^${mark} subagent explorer · \\d+s$`), narrow(`  ${task}`)] as const;

				// The share of the context arrives after the cost.
				// Words and the calls they led to; the clock moves although nothing arrives.
				const first = cardIn(await tui.waitFor(/read README\.md:1-2[\s\S]*0\.7%/), /0\.7%/);
				assert.match(first[0] ?? "", head("●")[0]);
				assert.deepEqual(first.slice(1), [
					head("●")[1],
					"  First the lay of the land.",
					"  ls .",
					"  read README.md:1-2",
					`  1 turn · ↑1.4k ↓45 · $0.0049 · 0.7%/200k${columns < 100 ? "" : " · scripted/scripted-model"}`,
				]);
				const seconds = /(\d+)s$/.exec(first[0] ?? "")?.[1];
				await tui.waitFor(new RegExp(`subagent explorer · (?!${seconds}s)\\d+s`), 5_000);

				// The newest three calls, and the text being written.
				looked.open();
				const second = cardIn(await tui.waitFor(/I am *\n.*1\.2%/), /2 turns/);
				assert.deepEqual(second.slice(1), [
					head("●")[1],
					"  … 1 earlier call",
					"  read README.md:1-2",
					"  ls src",
					"  read src/main.ts",
					"  I am",
					`  2 turns · ↑2.6k ↓100 R1.2k · $0.0097 · 1.2%/200k${columns < 100 ? "" : " · scripted/scripted-model"}`,
				]);

				// Expanded: all texts and calls, once, and the clock at the end.
				await tui.press("C-o");
				const third = cardIn(await tui.waitFor(/Now the code\.\n.*ls src\n.*\n {3}I am$/m), /2 turns/);
				assert.equal(third[0], "● subagent explorer");
				assert.deepEqual(third.slice(columns < 100 ? 3 : 2, -1), [
					"  First the lay of the land.",
					"  ls .",
					"  read README.md:1-2",
					"  Now the code.",
					"  ls src",
					"  read src/main.ts",
					"  I am",
				]);
				assert.match(third.at(-1) ?? "", /^ {2}\d+s · 2 turns · /);
				await tui.press("C-o");

				// Completed: the answer in full, with notes on omitted parts and its cost.
				done.open();
				const fourth = cardIn(await tui.waitFor("The child says:"), /3 turns/);
				assert.match(fourth[0] ?? "", /^✓ subagent explorer · \d+(\.\d)?s$/);
				assert.equal(fourth[2], "  I am # Order");
				assert.match(fourth.join("\n"), /in order, user first, then the project\./);
				assert.match(fourth.at(-2) ?? "", /^ {2}… \d+ more lines/);
				assert.match(fourth.at(-1) ?? "", /^ {2}3 turns · ↑4\.2k ↓360 R4\.2k · \$0\.0\d/);
				const styled = (await tui.styledScreen()).split("\n").find((line) => line.includes("✓"));
				assert.match(styled ?? "", colouredMark, "the mark has a colour, the name is bold");

				await tui.press("C-o");
				const last = await tui.waitFor("session …");
				assert.match(last, /12\. part 12/);
				assert.ok(last.split("\n").every((line) => line.length <= columns));
				await tui.close();
			});
		});
	}

	test(`a card in pi ${version} shows its run's changes, and an answer like any answer of pi's`, async () => {
		const text =
			"## Done\n\nIt **is** in `new.rs`:\n\n```rust\nfn main() { let x = 1; }\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |";
		const edit = ({ toolAnswers }: { toolAnswers: unknown[] }) =>
			toolAnswers.length === 0 ? [call("write", { path: "src/new.rs", content: "fn main() {}\n" })] : [say(text)];
		const settings = { theme: "dark" };
		await onStage({ version, settings, children: { edit } }, async (stage) => {
			stage.world.writeAgentDir(
				"agents/writer.md",
				"---\nname: writer\ndescription: Writes\ntools: read, write\n---\nWrite.\n",
			);
			stage.configure({ allowWrite: true });
			const prompt = delegate({ agent: "writer", task: "edit it" });
			const tui = await startTui(stage.world, { rows: 70, prompt });
			const collapsed = await tui.waitFor("The child says:");
			assert.match(collapsed, /\n {3}changed src\/new\.rs *\n/);
			await tui.press("C-o");
			const screen = await tui.waitFor("session");
			assert.match(screen, /\n {3}changed *\n {5}src\/new\.rs *\n/);
			// The parent repeats the answer: pi draws it below, with nothing but its ground and its margin different.
			const drawn = (await tui.styledScreen()).split("\n");
			const lines = (find: RegExp) =>
				drawn.filter((line) => find.test(line)).map((line) => line.replace(background, "").replace(/^ +|\s+$/g, ""));
			for (const find of [/main.*let/, /It .*is.* in .*new\.rs/, /┌───┬───┐/]) {
				const [ours, pis, ...more] = lines(find);
				assert.ok(ours && pis && more.length === 0, `${find}\n${screen}`);
				assert.equal(plainStyle(ours), plainStyle(pis));
			}
			await tui.close();
		});
	});

	test(`a card in pi ${version} counts down to a retry, with the reason`, async () => {
		let tries = 0;
		const overloaded = { body: { error: { message: "the scripted model is overloaded", type: "server_error" } } };
		const shaky = () => (tries++ === 0 ? [fail(503, overloaded)] : [say("There.")]);
		const settings = { theme: "dark", retry: { baseDelayMs: 5_000 } };
		await onStage({ version, settings, children: { shaky } }, async (stage) => {
			const prompt = delegate({ agent: "explorer", task: "shaky" });
			const tui = await startTui(stage.world, { columns: 100, prompt });
			const head = /↻ subagent explorer · \d+s · retry 1 of \d+ in ([2-5])s · .*overloaded/;
			const [words, seconds] = head.exec(await tui.waitFor(head)) ?? [];
			assert.doesNotMatch(words ?? "", /[{}"]/, "the card shows the provider's message, not its JSON");
			// Any later second: a busy machine may skip some of them.
			await tui.waitFor(new RegExp(`retry 1 of \\d+ in [1-${Number(seconds) - 1}]s`));
			const ended = await tui.waitFor("The child says:");
			assert.match(ended, /✓ subagent explorer · \S+s\n {3}shaky\n {3}There\.\n/);
			await tui.close();
		});
	});

	describe(`a failed card in pi ${version}`, () => {
		test("shows the mark and the reason, without a code, on a different background than success", async () => {
			const settings = { theme: "dark", retry: { enabled: false } };
			await onStage({ version, settings }, async (stage) => {
				const calls = ["fail now", "say fine"].map((task) => ({ agent: "explorer", task }));
				const tui = await startTui(stage.world, { prompt: delegate(...calls) });
				const screen = await tui.waitFor("The child says:");
				assert.match(screen, /✗ subagent explorer · \S+s · failed\n {3}fail now\n {3}.*scripted error 500/);
				assert.match(screen, /✓ subagent explorer · \S+s\n {3}say fine\n {3}fine\n/);
				const grounds = (await tui.styledScreen()).match(background) ?? [];
				assert.ok(new Set(grounds).size >= 3, "a message, a failure and a success have different backgrounds");
				await tui.close();
			});
		});
	});
}

interface Exported {
	callHtml?: string;
	resultHtmlCollapsed?: string;
	resultHtmlExpanded?: string;
}

/** Returns the text of custom tool calls in pi's HTML export, in order. */
function exportedCalls(file: string) {
	const html = readFileSync(file, "utf8");
	const data = /<script id="session-data"[^>]*>([A-Za-z0-9+/=]+)</.exec(html)?.[1] ?? assert.fail(html.slice(0, 500));
	const { renderedTools } = JSON.parse(Buffer.from(data, "base64").toString()) as {
		renderedTools: Record<string, Exported>;
	};
	const text = (part = "") =>
		part
			.replaceAll(/<\/div>/g, "\n")
			.replaceAll(/<[^>]+>/g, "")
			.replaceAll("&nbsp;", " ")
			.trim();
	return Object.values(renderedTools).map(({ callHtml, resultHtmlCollapsed, resultHtmlExpanded }) => ({
		call: text(callHtml),
		result: text(resultHtmlCollapsed ?? resultHtmlExpanded),
	}));
}

for (const version of piVersions) {
	test(`the HTML export of pi ${version} shows ended calls as ended, with outcome and duration`, async () => {
		const look = () => [say("Looked.")];
		const broken = () => [fail(400, { body: { error: { message: "the model is out" } } })];
		const tasks = ["look here", "look there"].map((task) => ({ agent: "explorer", task }));
		const both = ({ userText, toolAnswers }: ModelRequest) =>
			userText === "both of them" && toolAnswers.length === 0 ? [call("subagent_parallel", { tasks })] : [say("Done.")];
		const inTurn = ({ toolAnswers }: ModelRequest) =>
			toolAnswers.length === 0 ? [call("subagent_chain", { steps: tasks })] : [say("Done.")];
		await onStage({ version, children: { look, broken, both, after: inTurn } }, async (stage) => {
			const rpc = startRpc(stage.world);
			await rpc.prompt(delegate({ agent: "explorer", task: "look around" }));
			await rpc.prompt(delegate({ agent: "explorer", task: "broken one" }));
			await rpc.prompt("both of them");
			await rpc.prompt("after each other");
			const outputPath = join(stage.world.cwd, "session.html");
			const { success, error } = await rpc.send({ type: "export_html", outputPath });
			assert.ok(success, error);
			const drawn = exportedCalls(outputPath);
			assert.equal(drawn.length, 4, JSON.stringify(drawn));
			for (const { call } of drawn) assert.doesNotMatch(call, /●| · 0s/, "the exported card shows no active run");
			const [looked, failed, several, chain] = drawn;
			assert.match(looked?.call ?? "", /^○ subagent explorer\n\s*look around$/);
			assert.match(looked?.result ?? "", /^✓ subagent explorer · \d[\d.]*s\n[\s\S]*Looked\./);
			assert.match(failed?.result ?? "", /^✗ subagent explorer · \d[\d.]*s.*\n[\s\S]*the model is out/);
			assert.match(several?.call ?? "", /^○ subagent parallel · 2 tasks/);
			assert.match(several?.result ?? "", /^✓ subagent parallel · 2 tasks/);
			assert.match(chain?.call ?? "", /^○ subagent chain · 2 steps/);
			assert.match(chain?.result ?? "", /^✓ subagent chain · 2 steps · \d[\d.]*s(?: · ctrl\+o to expand)?\n/);
			await rpc.close();
		});
	});
}
