/** What the guides in `docs/launchers/` tell a reader to type. The engines are played with exactly that. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "../lib/places.mjs";

/**
 * The launcher that a guide has its reader write, with words put in before `{argv}`, and without its directory and its pi: each
 * scene has its own.
 *
 * @param {string} page
 * @param {string} name
 * @param {{ more?: string[], home?: string }} [here] `home` stands for `/home/you`
 * @returns {Record<string, unknown>}
 */
export function launcherOf(page, name, { more = [], home = "" } = {}) {
	const configurations = blocks(page, "json").map((text) => JSON.parse(text));
	const launcher = configurations.map(({ subagents }) => subagents?.launchers?.[name]).find(Boolean);
	if (!launcher) throw new Error(`docs/launchers/${page} has no launcher ${name}`);
	const { cwd: _cwd, piCommand: _piCommand, ...rest } = launcher;
	const at = rest.command.findIndex((/** @type {string} */ word) => word.includes("{argv}"));
	const words = rest.command.toSpliced(at, 0, ...more);
	return { ...rest, command: words.map((/** @type {string} */ word) => word.replaceAll("/home/you", home)) };
}

/**
 * The commands of a guide that try the engine by itself: its blocks `sh` between `## Try it without pi` and the next heading.
 *
 * @param {string} page
 * @param {string[]} programs that they begin with
 * @returns {string[]}
 */
export function trials(page, programs) {
	const lines = blocks(page, "sh", "Try it without pi").flatMap((text) => text.trim().split("\n"));
	const commands = lines.filter((line) => programs.includes(line.split(" ")[0] ?? ""));
	if (commands.length === 0) throw new Error(`docs/launchers/${page} has nothing to try`);
	return commands;
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
