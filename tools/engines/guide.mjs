/** Reads the commands and files that the guides in `docs/launchers/` give. The engines run with exactly these. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "../../scripts/lib/places.mjs";

/**
 * Returns the launcher of a guide, without its directory and its pi, because each scene has its own.
 *
 * @param {string} page
 * @param {string} name
 * @param {{ after?: string, more?: string[], home?: string }} [here] `more` is inserted after the word `after`; `home`
 * replaces `/home/you`
 * @returns {Record<string, unknown>}
 */
export function launcherOf(page, name, { after, more = [], home = "" } = {}) {
	const { cwd: _cwd, piCommand: _piCommand, ...rest } = launcherIn(page, name);
	const at = after === undefined ? 0 : rest.command.indexOf(after) + 1;
	if (after !== undefined && at === 0)
		throw new Error(`docs/launchers/${page}: the launcher ${name} has no word ${after}`);
	const command = rest.command.toSpliced(at, 0, ...more);
	return { ...rest, command: command.map((/** @type {string} */ word) => word.replaceAll("/home/you", home)) };
}

/**
 * Returns the example of a guide's first result: the agent file that the reader writes for one of the launchers, and
 * that launcher with its directory and its pi.
 *
 * @param {string} page
 * @param {string} launcher
 * @returns {{ agent: string, file: string, settings: { cwd?: string, piCommand?: string[] } }}
 */
export function firstResultOf(page, launcher) {
	const [text = ""] = blocks(page, "markdown", "Set it up");
	const agent = /^name: (.*)$/m.exec(text)?.[1];
	if (!agent) throw new Error(`docs/launchers/${page} has no agent file in “Set it up”`);
	const { cwd, piCommand } = launcherIn(page, launcher);
	const file = text.replace(/^launcher: .*$/m, `launcher: ${launcher}`);
	return { agent, file, settings: { ...(cwd && { cwd }), ...(piCommand && { piCommand }) } };
}

/**
 * Returns the commands of a guide that test the engine without pi: its `sh` blocks between `## Try it without pi` and
 * the next heading.
 *
 * @param {string} page
 * @param {string[]} programs that they begin with
 * @returns {string[]}
 */
export function trials(page, programs) {
	const lines = blocks(page, "sh", "Try it without pi").flatMap((text) => text.trim().split("\n"));
	const commands = lines.filter((line) => programs.includes(line.split(" ")[0] ?? ""));
	if (commands.length === 0) throw new Error(`docs/launchers/${page} has no commands in “Try it without pi”`);
	return commands;
}

/**
 * @param {string} page
 * @param {string} name
 */
function launcherIn(page, name) {
	const configurations = blocks(page, "json").map((text) => JSON.parse(text));
	const launcher = configurations.map(({ subagents }) => subagents?.launchers?.[name]).find(Boolean);
	if (!launcher) throw new Error(`docs/launchers/${page} has no launcher ${name}`);
	return launcher;
}

/**
 * @param {string} page
 * @param {string} language
 * @param {string} [heading]
 */
function blocks(page, language, heading) {
	const text = readFileSync(join(root, "docs", "launchers", page), "utf8");
	const sections = text.split(/^## /m).filter((section) => !heading || section.startsWith(`${heading}\n`));
	const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms");
	return sections.flatMap((section) => [...section.matchAll(fence)].map(([, block]) => /** @type {string} */ (block)));
}
