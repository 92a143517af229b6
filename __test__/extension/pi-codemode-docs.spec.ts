/** The three scripts of `docs/codemode.md`, run in real pi as they are printed there. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { backgroundStage, call, type ModelRequest, packageDir, type Stage, say, startRpc } from "../support/pi.ts";

const page = readFileSync(join(packageDir, "docs", "codemode.md"), "utf8");
const [, section = ""] = page.split("## Three scripts");
const scripts = [...section.matchAll(/^```javascript\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
const [settings = {}, configuration = {}] = [...page.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(
	([, json = ""]) => JSON.parse(json) as Record<string, unknown>,
);

const children = {
	Script: ({ userText, toolAnswers }: ModelRequest) =>
		toolAnswers.length > 0
			? [say(toolAnswers.at(-1)?.text ?? "")]
			: [call("codemode", { code: scripts[Number(userText.split(" ")[1])] ?? "" })],
	Review: ({ userText }: ModelRequest) => {
		const file = /changes of (\S+)\.$/.exec(userText)?.[1];
		if (file === "b.ts") return [say("I cannot review it.")];
		const findings = [
			{ line: 7, severity: "low", text: `A name in ${file}.` },
			{ line: 2, severity: "high", text: `A defect in ${file}.` },
		];
		return [call("submit_result", { findings })];
	},
	Describe: ({ userText, model }: ModelRequest) => [say(`${/of (\S+)\/ in/.exec(userText)?.[1]} by ${model}`)],
	Combine: ({ userText, model }: ModelRequest) => [
		say(`Combined by ${model}: ${userText.split("\n").slice(1).join("; ")}`),
	],
	Add: ({ toolAnswers }: ModelRequest) =>
		toolAnswers.length > 0 ? [say("Done.")] : [call("write", { path: "fixes.txt", content: "0" })],
	Fix: ({ userText, toolAnswers }: ModelRequest) => {
		if (toolAnswers.length > 0) return [say("Fixed.")];
		const done = Number(/fixes so far: (\d+)/.exec(userText)?.[1] ?? assert.fail(userText));
		return [call("write", { path: "fixes.txt", content: `${done + 1}` })];
	},
};

async function onStage(work: (stage: Stage, run: (index: number) => Promise<string>) => Promise<void>) {
	const stage = await backgroundStage({ children, settings });
	try {
		const rpc = startRpc(stage.world);
		await work(stage, async (index) => {
			await rpc.prompt(`Script ${index}`, 120_000);
			return rpc.log.answer;
		});
		await rpc.close();
	} finally {
		await stage.close();
	}
}

/** Returns the value that a script has returned. */
const returned = (answer: string) =>
	JSON.parse(/Output:\n([\s\S]*)$/.exec(answer)?.[1] ?? assert.fail(answer)) as unknown;

test("every changed file is reviewed, the worst findings come first, and a failed review is named", async () => {
	await onStage(async ({ world }, run) => {
		for (const file of ["a.ts", "b.ts", "c.ts"]) world.write(file, "export {};\n");
		execFileSync("git", ["add", "-A"], { cwd: world.cwd, env: world.env });
		const { findings, failed } = returned(await run(0)) as { findings: object[]; failed: string[] };
		const found = (file: string, line: number, severity: string, text: string) => ({ file, line, severity, text });
		assert.deepEqual(findings, [
			found("a.ts", 2, "high", "A defect in a.ts."),
			found("c.ts", 2, "high", "A defect in c.ts."),
			found("a.ts", 7, "low", "A name in a.ts."),
			found("c.ts", 7, "low", "A name in c.ts."),
		]);
		assert.deepEqual(failed, ["b.ts"]);
	});
});

test("directories are described by the cheap model, and combined by the model of the session", async () => {
	await onStage(async ({ world }, run) => {
		const file = join(world.agentDir, "models.json");
		const { providers } = JSON.parse(readFileSync(file, "utf8")) as {
			providers: { scripted: { models: { id: string }[] } };
		};
		const [model] = providers.scripted.models;
		const anthropic = { ...providers.scripted, models: [{ ...model, id: "claude-haiku-4-5" }] };
		world.writeAgentDir("models.json", JSON.stringify({ providers: { ...providers, anthropic } }));
		for (const path of ["lib/one.ts", "src/two.ts"]) world.write(path, "export {};\n");
		execFileSync("git", ["add", "-A"], { cwd: world.cwd, env: world.env });
		const answer = await run(1);
		const both = "lib: lib by claude-haiku-4-5; src: src by claude-haiku-4-5";
		assert.match(answer, new RegExp(`Combined by scripted-model: ${both}$`));
	});
});

for (const { needed, outcome } of [
	{ needed: 2, outcome: /Script completed[\s\S]*The tests pass after 2 fixes\.$/ },
	{ needed: 9, outcome: /Script failed[\s\S]*The tests still fail after 3 fixes:\n[\s\S]*fixes so far: 3/ },
]) {
	test(`the loop ends after at most three fixes; ${needed} are needed`, async () => {
		await onStage(async (stage, run) => {
			stage.world.writeAgentDir("subagents.json", JSON.stringify(configuration));
			const check = `node -e "const n=+require('fs').readFileSync('fixes.txt','utf8');if(n<${needed})throw Error('fixes so far: '+n)"`;
			stage.world.write("package.json", JSON.stringify({ scripts: { test: check } }));
			assert.match(await run(2), outcome);
		});
	});
}
