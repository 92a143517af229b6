/** Draws a plot as an SVG: one bar for each side of each comparison, with its figure, and a line for the range. */

/**
 * @typedef {{ value: number, low?: number, high?: number, text: string }} Bar
 *
 * @typedef {{ label: string, ours?: Bar, baseline?: Bar }} Group
 * @typedef {object} Plot
 * @property {string} title the question
 * @property {string} axis the measured quantity, with its unit
 * @property {{ ours: string, baseline: string }} names of the two sides
 * @property {Group[]} groups
 * @property {boolean} [isLogarithmic] for figures of different sizes; points replace the bars, because a bar cannot
 * begin at zero then
 */

/** GitHub's own colours. */
export const papers = {
	light: { ground: "#ffffff", ink: "#1f2328", muted: "#59636e", grid: "#d1d9e0", ours: "#0969da", baseline: "#818b98" },
	dark: { ground: "#0d1117", ink: "#f0f6fc", muted: "#9198a1", grid: "#3d444d", ours: "#4493f8", baseline: "#656c76" },
};

const width = 760;
const fonts = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif";

/** The start and the end of the bars. The space to the right is for the longest figure. */
const left = 236;
const right = 560;
const top = 62;
const bar = { height: 14, gap: 3 };
const groupGap = 14;

/**
 * @param {Plot} plot
 * @param {keyof typeof papers} theme
 */
export function svg(plot, theme) {
	const paper = papers[theme];
	const bars = plot.groups.flatMap(({ ours, baseline }) => [ours, baseline].filter((bar) => bar !== undefined));
	const values = bars.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]);
	const axis = plot.isLogarithmic ? logarithmic(values) : linear(values);
	let y = top;
	const drawn = plot.groups.map((group) => {
		const found = draw(group, y, axis, plot.isLogarithmic ?? false, paper);
		y = found.end + groupGap;
		return found.text;
	});
	const bottom = y - groupGap + 8;
	const height = bottom + 46;
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
		`<title>${escaped(plot.title)}</title>`,
		`<desc>${escaped(plotDescription(plot))}</desc>`,
		`<rect width="100%" height="100%" rx="6" fill="${paper.ground}"/>`,
		`<g font-family="${fonts}" font-size="13" fill="${paper.ink}">`,
		`<text x="16" y="26" font-size="16" font-weight="600">${escaped(plot.title)}</text>`,
		...legend(plot.names, paper),
		...axis.ticks.flatMap((tick) => [
			`<path d="M${round(axis.at(tick))} ${top - 6}V${bottom}" stroke="${paper.grid}"/>`,
			`<text x="${round(axis.at(tick))}" y="${bottom + 16}" font-size="11" text-anchor="middle" fill="${paper.muted}">${tickText(tick)}</text>`,
		]),
		...drawn,
		`<text x="${(left + right) / 2}" y="${bottom + 34}" font-size="12" text-anchor="middle" fill="${paper.muted}">${escaped(plot.axis)}</text>`,
		"</g>",
		"</svg>",
		"",
	].join("\n");
}

/** Returns the plot's alternative text. @param {Plot} plot */
export function plotDescription({ groups, names }) {
	const side = (/** @type {string} */ name, /** @type {Bar | undefined} */ bar) => (bar ? [`${name} ${bar.text}`] : []);
	return groups
		.map(
			({ label, ours, baseline }) =>
				`${label}: ${[...side(names.ours, ours), ...side(names.baseline, baseline)].join(", ")}.`,
		)
		.join(" ");
}

/** @typedef {{ at: (value: number) => number, ticks: number[] }} Axis */

/**
 * @param {Group} group
 * @param {number} y
 * @param {Axis} axis
 * @param {boolean} isPoint
 * @param {typeof papers.light} paper
 */
function draw({ label, ours, baseline }, y, axis, isPoint, paper) {
	/** @type {[Bar, string][]} */
	const bars = [];
	if (ours) bars.push([ours, paper.ours]);
	if (baseline) bars.push([baseline, paper.baseline]);
	const end = y + bars.length * (bar.height + bar.gap) - bar.gap;
	const text = [
		`<text x="${left - 12}" y="${round((y + end) / 2 + 4.5)}" text-anchor="end">${escaped(label)}</text>`,
		...bars.map(([one, color], index) => drawBar(one, color, y + index * (bar.height + bar.gap), axis, isPoint, paper)),
	].join("\n");
	return { end, text };
}

/**
 * @param {Bar} one
 * @param {string} color
 * @param {number} y
 * @param {Axis} axis
 * @param {boolean} isPoint
 * @param {typeof papers.light} paper
 */
function drawBar({ value, low, high, text }, color, y, axis, isPoint, paper) {
	const middle = y + bar.height / 2;
	const at = axis.at(value);
	const ends = [axis.at(low ?? value), axis.at(high ?? value)].map(round);
	const mark = isPoint
		? `<circle cx="${round(at)}" cy="${middle}" r="5" fill="${color}"/>`
		: `<rect x="${left}" y="${y}" width="${Math.max(1, round(at - left))}" height="${bar.height}" fill="${color}"/>`;
	const hasSpread = low !== undefined || high !== undefined;
	const spread = `<path d="M${ends[0]} ${middle}H${ends[1]}M${ends[0]} ${middle - 4}v8M${ends[1]} ${middle - 4}v8" stroke="${isPoint ? color : paper.ink}" stroke-width="1.5"/>`;
	const labelX = Math.max(at + (isPoint ? 5 : 0), axis.at(high ?? value)) + 8;
	const label = `<text x="${round(labelX)}" y="${middle + 4}" font-size="12">${escaped(text)}</text>`;
	return [...(hasSpread ? [isPoint ? `${spread}${mark}` : `${mark}${spread}`] : [mark]), label].join("\n");
}

/**
 * @param {Plot["names"]} names
 * @param {typeof papers.light} paper
 */
function legend(names, paper) {
	const second = left + 30 + names.ours.length * 7.4;
	return [
		`<rect x="${left}" y="37" width="11" height="11" fill="${paper.ours}"/>`,
		`<text x="${left + 16}" y="47" font-size="12">${escaped(names.ours)}</text>`,
		`<rect x="${round(second)}" y="37" width="11" height="11" fill="${paper.baseline}"/>`,
		`<text x="${round(second + 16)}" y="47" font-size="12">${escaped(names.baseline)}</text>`,
	];
}

/** @param {number[]} values @returns {Axis} */
function linear(values) {
	const max = Math.max(...values, Number.EPSILON);
	const size = 10 ** Math.floor(Math.log10(max / 4));
	const step = size * ([1, 2, 5, 10].find((factor) => max / (size * factor) <= 5) ?? 10);
	const count = Math.ceil(max / step);
	const ticks = Array.from({ length: count + 1 }, (_, index) => index * step);
	return { ticks, at: (value) => left + ((right - left) * Math.max(0, value)) / (count * step) };
}

/** @param {number[]} values @returns {Axis} */
function logarithmic(values) {
	const first = Math.floor(Math.log10(Math.min(...values)));
	const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values))));
	const ticks = Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
	return { ticks, at: (value) => left + ((right - left) * (Math.log10(value) - first)) / (last - first) };
}

/** @param {number} value */
function tickText(value) {
	return Number(value.toPrecision(3)).toLocaleString("en");
}

/** @param {number} value */
function round(value) {
	return Math.round(value * 10) / 10;
}

/** @param {string} text */
function escaped(text) {
	return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
