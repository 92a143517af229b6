/** Reads the figures of `benchmark/RESULTS.md` from its tables. The plots and the pages are made from them. */

/**
 * A figure of the table. A single measurement has only `median`; `low` and `high` are the range of several. All three
 * are absent if the cell contains other text.
 *
 * @typedef {{ text: string, median?: number, low?: number, high?: number, unit?: string }} Figure
 * @typedef {{ what: string, ours: Figure, baseline?: Figure, ratio?: string, target?: string, reached?: boolean }} Row
 * @typedef {{ title: string, about: string, rows: Row[] }} Section
 * @typedef {{ machine: string, sections: Section[] }} Results
 */

/** The size of each unit in the smallest unit of its kind, to compare a median in ms with a range in s. */
const sizes = /** @type {Record<string, number>} */ ({ µs: 1, ms: 1000, s: 1e6 });

const number = "-?\\d+(?:\\.\\d+)?";
const unit = "µs|ms|s|MB/s|MB|kB|MiB|×";
const oneFigure = new RegExp(
	`^(${number})(?: (${unit}))?(?:, (?:(?:at most (${number})(?: (${unit}))?)|(?:(${number})(?: (${unit}))? to (${number})(?: (${unit}))?)))?(?: \\([+−][\\d.]+\\))?$`,
);
const survivorCount = /^(?:.*; )?(\d+) left$/;

/**
 * @param {string} page Markdown of `benchmark/RESULTS.md`
 * @returns {Results}
 */
export function results(page) {
	const [head = "", ...parts] = page.trimEnd().split(/\n\n(?=## )/);
	const machine = /^Machine: (.*)$/m.exec(head)?.[1];
	if (!machine) throw new Error("benchmark/RESULTS.md has no line `Machine: …`");
	return { machine, sections: parts.map(section) };
}

/**
 * Returns a row of a section. Throws if the section or the row is missing.
 *
 * @param {Results} results
 * @param {string} title
 * @param {string} what
 * @returns {Row}
 */
export function row({ sections }, title, what) {
	const section = sections.find((section) => section.title === title);
	const found = section?.rows.find((row) => row.what === what);
	if (!found) throw new Error(`benchmark/RESULTS.md has no row \`${what}\` in the section \`${title}\``);
	return found;
}

/** @param {string} part @returns {Section} */
function section(part) {
	const [heading = "", about = "", table = ""] = part.split("\n\n");
	const rows = table.split("\n").slice(2);
	return { title: heading.replace("## ", ""), about, rows: rows.map(line) };
}

/** @param {string} text @returns {Row} */
function line(text) {
	const [what = "", ours = "", baseline, ratio, target, reached] = text
		.slice(2, -2)
		.split(" | ")
		.map((cell) => cell.trim());
	return {
		what,
		ours: figure(ours),
		...(baseline ? { baseline: figure(baseline) } : {}),
		...(ratio ? { ratio } : {}),
		...(target ? { target } : {}),
		...(reached ? { reached: reached === "yes" } : {}),
	};
}

/**
 * @param {string} text such as `40 ms`, `40 ms, at most 49 ms`, `40 ms, 38 to 49 ms`, `2.80 ms (+0.88)` or `29 left`
 * @returns {Figure}
 */
export function figure(text) {
	const survivors = survivorCount.exec(text)?.[1];
	if (survivors) return { text, median: Number(survivors), unit: "left" };
	const found = oneFigure.exec(text);
	if (!found) return { text };
	const [, median, unit, max, maxUnit, low, lowUnit, high, highUnit] = found;
	/** @type {(value: string, own: string | undefined) => number} */
	const same = (value, own) => Number(value) * ((sizes[own ?? unit ?? ""] ?? 1) / (sizes[unit ?? ""] ?? 1));
	return {
		text,
		median: Number(median),
		...(low ? { low: same(low, lowUnit ?? highUnit) } : {}),
		...(high ? { high: same(high, highUnit) } : {}),
		...(max ? { high: same(max, maxUnit) } : {}),
		...(unit ? { unit } : {}),
	};
}
