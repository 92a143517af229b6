/** The last lines of a test run: what ran, how it ended, how long it took. */

import { bold, dim, green, red, seconds } from "./progress.mjs";

/**
 * @typedef {{ name: string, state: "passed" | "failed" | "not run", ms?: number, why?: string }} Row
 */

const marks = { passed: green("✓"), failed: red("✗"), "not run": dim("–") };

/**
 * @param {Row[]} rows
 * @param {number} ms what all of it took; less than the sum where steps ran side by side
 * @returns {string}
 */
export function table(rows, ms) {
	const width = Math.max(...rows.map(({ name }) => name.length));
	const lines = rows.map(({ name, state, ms, why }) => {
		const time = ms === undefined ? "" : seconds(ms).padStart(9);
		return `${marks[state]} ${name.padEnd(width)} ${time || dim(state)}${why ? `  ${red(why)}` : ""}`;
	});
	const failed = rows.filter(({ state }) => state === "failed").length;
	const passed = rows.filter(({ state }) => state === "passed").length;
	const verdict = failed > 0 ? red(`${failed} failed`) : green("all passed");
	return `\n${lines.join("\n")}\n\n${bold(`${passed} of ${rows.length} steps passed`)} in ${seconds(ms)}: ${verdict}\n`;
}
