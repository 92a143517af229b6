/**
 * Measures the cost of this package for pi's interface: while nothing runs, and while a card shows an answer that
 * arrives. Real pi in a terminal, with a scripted model. Linux with tmux.
 *
 * - `idle`: the processor time of a pi that has delegated once, and the wake-ups of its own thread. A pi with an empty
 *   extension is measured in the same seconds.
 * - `live`: the processor time of a pi while a text streams, from its own model and into a live card, in turn.
 *
 * Usage: <Node for pi> screen.ts <empty extension> <seconds of idling> <rounds> <seconds of text>
 */

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

import {
	call,
	ModelServer,
	newestPi,
	packageDir,
	type Script,
	type Step,
	say,
	startTui,
	type Tui,
	until,
	World,
} from "../__test__/support/pi.ts";

const [empty = "", idleSeconds = "1", rounds = "1", textSeconds = "1"] = process.argv.slice(2);

/** Twenty deltas per second, as many models send them. */
const everyMs = 50;
const words = "The loader reads its file once, and keeps the result until the process ends. ";
const size = 16;
const text = words.repeat(Math.ceil((Number(textSeconds) * 1_000 * size) / everyMs / words.length));

/** The pauses after a text and before the idle seconds. In them pi compiles code, and collects the garbage of a delegation. */
const restMs = 2_000;
const settleMs = Math.min(30_000, Number(idleSeconds) * 1_000);

interface Use {
	cpuMs: number;
	wakeUps: number;
}

/** The processor time of all threads of a process, and the wake-ups of its first one. */
function use(pid: number): Use {
	const tasks = readdirSync(`/proc/${pid}/task`);
	const spent = tasks.map((task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]));
	const status = readFileSync(`/proc/${pid}/task/${pid}/status`, "utf8");
	return {
		cpuMs: spent.reduce((total, nanoseconds) => total + nanoseconds, 0) / 1e6,
		wakeUps: Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]),
	};
}

function since(before: Use, now: Use): Use {
	return { cpuMs: now.cpuMs - before.cpuMs, wakeUps: now.wakeUps - before.wakeUps };
}

let measuredPid = 0;
let began: Use | undefined;
let live: Use | undefined;

/** A step that does something when the model reaches it. */
function when(reached: () => void): Step {
	const step = {
		...until(Promise.resolve()),
		get promise() {
			reached();
			return Promise.resolve();
		},
	};
	return step as Step;
}

/** The text, with the use of the measured process from its first delta to its last. */
function streamed(): Step[] {
	const start = () => {
		began = use(measuredPid);
		live = undefined;
	};
	const stop = () => {
		if (began) live = since(began, use(measuredPid));
	};
	return [when(start), say(text, { size, everyMs }), when(stop)];
}

const script: Script = ({ userText, toolAnswers }) => {
	if (toolAnswers.length > 0) return [say("It has ended.")];
	if (userText.startsWith("Delegate shortly")) return [call("subagent", { agent: "explorer", task: "Look." })];
	if (userText.startsWith("Delegate")) return [call("subagent", { agent: "explorer", task: "Stream." })];
	if (userText.includes("Stream.")) return streamed();
	return [say("It has ended.")];
};

const server = await ModelServer.start(script);

async function open(extension: string): Promise<{ world: World; tui: Tui; pid: number }> {
	const world = new World({ version: newestPi, baseUrl: server.baseUrl, extensions: [extension] });
	const tui = await startTui(world);
	await tui.waitFor("scripted-model");
	return { world, tui, pid: await tui.pid() };
}

/** Sends a prompt, and waits for the end of pi's answer to it. */
async function ask({ tui }: { tui: Tui }, prompt: string, ends: number): Promise<void> {
	await tui.type(prompt);
	await tui.press("Enter");
	await tui.waitFor((screen) => screen.split("It has ended.").length > ends, 120_000);
}

const ours = await open(packageDir);
const bare = await open(empty);
try {
	await ask(ours, "Delegate shortly", 1);
	await ask(bare, "Answer", 1);
	await delay(settleMs);
	const before = [ours, bare].map(({ pid }) => use(pid));
	await delay(Number(idleSeconds) * 1_000);
	const idle = [ours, bare].map(({ pid }, i) => since(before[i] as Use, use(pid)));

	const found: Record<"card" | "own", number[]> = { card: [], own: [] };
	const prompts = { card: "Delegate it", own: "Stream." } as const;
	measuredPid = ours.pid;
	// The first of each is not measured: code is compiled then.
	for (let round = -1; round < Number(rounds); round++) {
		for (const [way, prompt] of Object.entries(prompts) as ["card" | "own", string][]) {
			live = undefined;
			await ours.tui.type(prompt);
			await ours.tui.press("Enter");
			const limit = performance.now() + 120_000;
			while (live === undefined) {
				if (performance.now() > limit) throw new Error(`no text has arrived:\n${await ours.tui.screen()}`);
				await delay(100);
			}
			const { cpuMs } = live as Use;
			if (round >= 0) found[way].push(cpuMs);
			await delay(restMs);
		}
	}
	process.stdout.write(`${JSON.stringify({ idle: { ours: idle[0], bare: idle[1] }, live: found })}\n`);
} finally {
	for (const { tui, world } of [ours, bare]) {
		await tui.close();
		await world.close();
	}
	await server.close();
}
