/** Formats the summary of a test run: the steps, their results and their durations. */

import { bold, dim, green, red, seconds } from "./progress.mjs";

/**
 * @typedef {{ name: string, state: "passed" | "failed" | "not run", ms?: number, why?: string }} Row
 */

const marks = { passed: green("✓"), failed: red("✗"), "not run": dim("–") };

/**
 * @param {Row[]} rows
 *
 * @param {number} ms the total time; less than the sum if steps ran in parallel
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
