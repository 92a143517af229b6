/**
 * The demo: each act appears, in a pipe and at 80 columns, with the scripted model and with a model that the user has
 * configured; and a delegation in pi's interface. The demo itself checks each act, and fails otherwise.
 */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { livePrompts, note } from "../../tools/demo/acts-model.ts";
import {
	call,
	eventually,
	type ModelRequest,
	ModelServer,
	newestPi,
	packageDir,
	piCommand,
	type Step,
	say,
	World,
} from "../support/pi.ts";

const [node] = piCommand(newestPi);
const quiet = ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--disable-warning=ExperimentalWarning"];
const demoWords = [...quiet, join(packageDir, "tools/demo/main.ts")];
const onLinux = { skip: process.platform !== "linux" };

function assertActs(text: string, expected: RegExp[]): void {
	for (const words of expected) assert.match(text, words);
	assert.equal(existsSync(join(packageDir, note)), false);
	assert.equal(text.includes("\x1b"), false, "the output to a pipe has no colours");
	const wide = text.split("\n").filter((line) => [...line].length > 80);
	assert.deepEqual(wide, [], "no line exceeds 80 columns");
}

test("the demo plays its four acts and leaves nothing", onLinux, () => {
	const demo = spawnSync(node, demoWords, { cwd: packageDir, encoding: "utf8", timeout: 170_000 });
	assert.equal(demo.status, 0, demo.stderr + demo.stdout);
	assertActs(demo.stdout, [
		/1 of 4[\s\S]*✗ \[3\] explorer[\s\S]*2 of 3 have answered/,
		/2 of 4[\s\S]*I continue in the meantime\.\n[\s\S]*the result has arrived[\s\S]*src\/run\/outcome\/retry\.rs/,
		/3 of 4[\s\S]*written-by-the-demo\.txt does not exist/,
		/4 of 4[\s\S]*sleep 300[\s\S]*kill -9 \d+\n {2}✓ 0 left/,
	]);
});

/** A model that follows the prompts of `--live`. */
function obedient({ isParent, userText, toolAnswers: [answer] }: ModelRequest): Step[] {
	const command = /`((?:echo|setsid) [^`]+)`/.exec(userText)?.[1];
	if (!isParent) {
		if (!command) return [say("Done.")];
		return answer ? [say(`The shell said: ${answer.text}`)] : [call("bash", { command })];
	}
	if (answer) return [say("So it is.")];
	const explorer = (task: string) => ({ agent: "explorer", task });
	if (userText.startsWith(livePrompts.parallel)) {
		return [call("subagent_parallel", { tasks: ["name", "count", "read"].map(explorer) })];
	}
	if (userText.startsWith(livePrompts.background)) {
		return [call("sessions_spawn", { agentId: "explorer", task: "find the file" })];
	}
	if (command) return [call("subagent", explorer(`run the shell command \`${command}\` once`))];
	return [say("I have read it.")];
}

test("the demo plays them with the user's own configuration and model, too", onLinux, async () => {
	const server = await ModelServer.start(obedient);
	const world = new World({ baseUrl: server.baseUrl });
	try {
		const demo = spawn(node, [...demoWords, "--live"], { cwd: packageDir, env: world.env, timeout: 170_000 });
		let text = "";
		for (const stream of [demo.stdout, demo.stderr]) {
			stream.setEncoding("utf8").on("data", (piece: string) => {
				text += piece;
			});
		}
		const [code] = await once(demo, "close");
		assert.equal(code, 0, text);
		assertActs(text, [
			/your own\s+model,\s+at\s+its\s+usual\s+cost/,
			/1 of 4: three parallel children ─[\s\S]*✓ \[3\] explorer/,
			/2 of 4[\s\S]*the result has arrived/,
			/3 of 4[\s\S]*Read-only file system[\s\S]*written-by-the-demo\.txt does not exist/,
			/4 of 4[\s\S]*sleep 300[\s\S]*kill -9 \d+\n {2}✓ 0 left/,
		]);
	} finally {
		await world.close();
		await server.close();
	}
});

test("the demo shows a delegation in pi's own interface", onLinux, async () => {
	const folder = mkdtempSync(join(tmpdir(), "psn-demo-"));
	const tmux = (...words: string[]) => {
		const done = spawnSync("tmux", ["-S", join(folder, "tmux"), "-f", "/dev/null", ...words], { encoding: "utf8" });
		return done.stdout;
	};
	try {
		const demo = [node, ...demoWords, "--tui"].map((word) => `'${word}'`).join(" ");
		tmux("new-session", "-d", "-x", "100", "-y", "40", `cd '${packageDir}' && ${demo}; echo "ended $?"; exec cat`);
		const screen = () => tmux("capture-pane", "-p");
		await eventually(() => /✓ subagent explorer[\s\S]*The explorer answered/.test(screen()), "the answer of the child");
		tmux("send-keys", "C-d");
		await eventually(() => /including the child's[\s\S]*ended 0/.test(screen()), "the end of the demo");
	} finally {
		tmux("kill-server");
		rmSync(folder, { recursive: true, force: true });
	}
});
