/**
 * A program with a script of runs, which may be killed at any moment. It writes each result that it gets into the log, and `end`
 * once the script has ended.
 */

import { appendFileSync } from "node:fs";

import { workflow } from "../../../index.js";

const { id, log, keys, options } = JSON.parse(process.argv[2] ?? "{}");

/** @param {string} line */
const say = (line) => appendFileSync(log, `${line}\n`);

await workflow(id, options, async (wf) => {
	process.stdout.write("up\n");
	/** @param {string} key */
	const task = (key) => ({ key, agent: "explorer", task: `key=${key} answer` });
	/** @param {string} key */
	const one = async (key) => say(`done ${key} ${(await wf.run(task(key))).text}`);
	wf.phase("side by side");
	await Promise.all(keys.slice(0, -4).map(one));
	wf.phase("one by one");
	for (const key of keys.slice(-4)) await one(key);
});
say("end");
process.exit();
