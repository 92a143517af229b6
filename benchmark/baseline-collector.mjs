/**
 * A collector of the kind extensions write: chunks to strings, concatenated, split, each line parsed, messages kept, live
 * text taken from each update. Reads the program it is given, started as an extension starts a child, or standard input,
 * and prints what the native one prints, for comparison.
 */

import { spawn } from "node:child_process";

/** A caller sees at most 20 updates a second. */
const lookEveryMs = 50;

const started = process.hrtime.bigint();
let bytes = 0;
let looks = 0;
let buffer = "";
let live = "";
let toolsCompleted = 0;
/** @type {any[]} */
const messages = [];
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0, turns: 0 };
/** @type {{ text: string, items: unknown[] } | undefined} */
let seen;

/** @param {any[]} content */
function textOf(content) {
	return content
		.filter((part) => part.type === "text")
		.map((part) => part.text)
		.join("\n");
}

/** @param {any} message */
function itemsOf(message) {
	return message.content
		.filter((/** @type {any} */ part) => part.type === "text" || part.type === "toolCall")
		.map((/** @type {any} */ part) =>
			part.type === "text"
				? { type: "text", text: part.text }
				: { type: "toolCall", name: part.name, args: part.arguments },
		);
}

/** @param {string} line */
function processLine(line) {
	if (!line.trim()) return;
	/** @type {any} */
	let event;
	try {
		event = JSON.parse(line);
	} catch {
		return;
	}
	if (event.type === "message_update") {
		const update = event.assistantMessageEvent;
		if (event.message) live = textOf(event.message.content);
		else if (update?.type === "text_delta") live += update.delta;
	} else if (event.type === "message_start") {
		if (event.message.role === "assistant") live = "";
	} else if (event.type === "message_end") {
		messages.push(event.message);
		if (event.message.role === "assistant") {
			usage.turns++;
			usage.input += event.message.usage.input || 0;
			usage.output += event.message.usage.output || 0;
			usage.cacheRead += event.message.usage.cacheRead || 0;
			usage.cacheWrite += event.message.usage.cacheWrite || 0;
			usage.cost += event.message.usage.cost?.total || 0;
		}
	} else if (event.type === "tool_execution_end") {
		toolsCompleted++;
	}
}

function look() {
	looks++;
	const assistants = messages.slice(-20).filter((message) => message.role === "assistant");
	seen = { text: live, items: assistants.flatMap(itemsOf).slice(-10) };
}

function finalText() {
	for (let i = messages.length - 1; i >= 0; i--) {
		if (messages[i].role === "assistant" && messages[i].stopReason !== "toolUse") return textOf(messages[i].content);
	}
	return "";
}

const [program, ...args] = process.argv.slice(2);
const source = program ? spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] }).stdout : process.stdin;
const timer = setInterval(look, lookEveryMs);
source.on("data", (chunk) => {
	bytes += chunk.length;
	buffer += chunk.toString();
	const lines = buffer.split("\n");
	buffer = lines.pop() ?? "";
	for (const line of lines) processLine(line);
});
source.on("end", () => {
	clearInterval(timer);
	if (buffer.trim()) processLine(buffer);
	const textBytes = Buffer.byteLength(finalText());
	const ns = Number(process.hrtime.bigint() - started);
	const cpu = process.cpuUsage();
	const { turns, output } = usage;
	const report = { bytes, ns, cpuNs: (cpu.user + cpu.system) * 1000, looks, turns, output, toolsCompleted, textBytes };
	process.stdout.write(`${JSON.stringify({ ...report, lastLook: seen?.items.length ?? 0 })}\n`);
});
