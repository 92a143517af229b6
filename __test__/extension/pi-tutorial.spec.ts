/** `docs/tutorial.md`, typed into real pi in its order: each screen of the page appears. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { call, type ModelRequest, packageDir, Stage, say, startTui } from "../support/pi.ts";
import { cannotConfine } from "../support/warden.ts";

const page = readFileSync(join(packageDir, "docs/tutorial.md"), "utf8");

/** The text of the only block in this language. */
function block(language: string): string {
	const found = [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))];
	assert.equal(found.length, 1, language);
	return found[0]?.[1] ?? "";
}

/** The typed sentences and commands, each with the screen below it. */
const steps = page
	.split(/^\*\*Type\*\* /m)
	.slice(1)
	.map((part) => {
		const [, sentence, command] = /^(?:\*(.+?)\*|`\/(.+?)`)/.exec(part) ?? assert.fail(part);
		const [, screen = ""] = /^```text\n(.*?)^```$/ms.exec(part) ?? [];
		return { sentence, command, screen };
	});

/** A screen of the page with any ID, time, amount and model. A line of `…` stands for any lines. */
function sight(screen: string): RegExp {
	const lines = screen.trimEnd().split("\n");
	const patterns = lines.map((line) => {
		if (line === "…") return "[\\s\\S]*";
		const text = line
			.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")
			.replaceAll("0badcafe", "[0-9a-f]{8}")
			.replaceAll("provider/model", "\\S+")
			.replace(/[\d\\.]+s ago/g, "(now|.* ago)")
			.replace(/\d+\\\.\d+/g, "[\\d.]+")
			.replace(/(?<=[↑↓])\d+/g, "\\d+");
		return line === "" ? "" : ` ${text}`;
	});
	return new RegExp(patterns.join("\n"));
}

const mistake = 'exports.greet = (name) => "Helo, " + name;\n';

/** Calls the agent that the sentence names, and repeats its answer. */
const Let = ({ userText, toolAnswers }: ModelRequest) => {
	if (toolAnswers.length > 0) return [say("Done.")];
	const agent = /the (\w+)/.exec(userText)?.[1] ?? "";
	const task = agent === "speller" ? "Find the spelling mistakes in greet.js." : userText.replace(/^.*worker c/, "C");
	return [call("subagent", { agent, task })];
};
const Find = ({ userText, toolAnswers: [text] }: ModelRequest) => {
	const file = / in (\S+)\.$/.exec(userText)?.[1] ?? assert.fail(userText);
	if (!text) return [call("read", { path: file })];
	return [say(text.text.includes("Helo") ? `${file}:1: \`Helo\` should be \`Hello\`.` : "no mistakes.")];
};
const Correct = ({ toolAnswers }: ModelRequest) =>
	[
		[call("read", { path: "greet.js" })],
		[call("edit", { path: "greet.js", edits: [{ oldText: "Helo", newText: "Hello" }] })],
		[say("I changed `Helo` to `Hello` in greet.js.")],
	][toolAnswers.length] ?? assert.fail();

/** The author of commits. */
const author = {
	GIT_CONFIG_COUNT: "2",
	GIT_CONFIG_KEY_0: "user.name",
	GIT_CONFIG_VALUE_0: "me",
	GIT_CONFIG_KEY_1: "user.email",
	GIT_CONFIG_VALUE_1: "me@localhost",
};

test("each step of the tutorial shows its screen in pi", { skip: cannotConfine }, async () => {
	const stage = await Stage.open({ children: { Let, Find, Correct }, env: author });
	const { world } = stage;
	const shell = (script: string) => execFileSync("sh", ["-ec", script], { cwd: world.tmp, env: world.env });
	const read = (file: string) => readFileSync(join(world.tmp, "greeter", file), "utf8");
	try {
		shell(block("sh").replace(/^pi\n/m, ""));
		assert.equal(read("greet.js"), mistake);
		world.writeAgentDir("agents/speller.md", block("markdown"));
		writeFileSync(join(world.tmp, "greeter/check.ts"), block("ts"));

		const tui = await startTui(world, { columns: 80, rows: 200, cwd: join(world.tmp, "greeter") });
		await tui.waitFor("scripted-model");
		let said = 0;
		for (const { sentence, command = "", screen } of steps) {
			const requests = stage.server.requests.length;
			if (sentence) {
				if (sentence.includes("worker")) world.writeAgentDir("subagents.json", block("json"));
				await tui.type(sentence);
				await tui.press("Enter");
			} else {
				const [name = "", ...words] = command.split(" ");
				await tui.submitCommand(name, words.join(" "));
			}
			if (command.startsWith("subagents workflow") && screen) {
				await tui.waitFor("→ No, do not run it");
				await tui.chooseLast("Yes, run it");
				await tui.press("Enter");
			}
			if (screen) await tui.waitFor(sight(screen));
			// The second start of the script.
			else {
				await tui.waitFor(/(has ended after [\s\S]*){2}/);
				assert.equal(stage.server.requests.length, requests, "stored results cost no request");
			}
			if (sentence) {
				said++;
				await tui.waitFor((text) => text.split("\n Done.").length - 1 === said);
			}
			if (command === "subagents diff last") assert.equal(read("greet.js"), mistake);
			if (command === "subagents apply last") assert.equal(read("greet.js"), mistake.replace("Helo", "Hello"));
		}
		await tui.close();
		const [, remove = ""] = /`(git branch -D )subagent\/0badcafe`/.exec(page) ?? [];
		shell(`cd greeter && ${remove} $(git branch --list --format='%(refname:short)' 'subagent/*')`);
	} finally {
		await stage.close();
	}
});
