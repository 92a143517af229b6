/**
 * Runs the JavaScript collector. It reads the output of a program that it starts like an extension starts a child, or
 * its standard input, and prints the same report as the native collector.
 */

import { spawn } from "node:child_process";

import { JavaScriptCollector } from "./javascript-collector.mjs";

const started = process.hrtime.bigint();
const collector = new JavaScriptCollector();
const [program, ...args] = process.argv.slice(2);
const source = program ? spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] }).stdout : process.stdin;
await collector.read(source);
const textBytes = Buffer.byteLength(collector.finalText());
const ns = Number(process.hrtime.bigint() - started);
const cpu = process.cpuUsage();
const { bytes, snapshots, toolsCompleted, seen } = collector;
const { turns, output } = collector.usage;
const report = {
	bytes,
	ns,
	cpuNs: (cpu.user + cpu.system) * 1000,
	looks: snapshots,
	turns,
	output,
	toolsCompleted,
	textBytes,
};
process.stdout.write(`${JSON.stringify({ ...report, lastLook: seen?.items.length ?? 0 })}\n`);
