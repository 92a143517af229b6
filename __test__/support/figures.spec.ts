/** Plots and quoted figures match `benchmark/RESULTS.md`. `npm run bench -- --draw` makes them again. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { figure, results } from "../../tools/plots/data.mjs";
import { papers, svg } from "../../tools/plots/draw.mjs";
import { files, source } from "../../tools/plots/files.mjs";
import { questions } from "../../tools/plots/questions.mjs";
import { packageDir } from "./versions.ts";

const read = (path: string) => readFileSync(join(packageDir, path), "utf8");

test("plots, data and quoted figures match the committed results", () => {
	for (const [path, text] of files()) {
		assert.equal(read(path), text, `${path} does not match ${source}: run npm run bench -- --draw`);
	}
	const drawn = [...files().keys()].filter((path) => path.startsWith("benchmark/plots/"));
	assert.deepEqual(
		readdirSync(join(packageDir, "benchmark/plots"))
			.map((name) => `benchmark/plots/${name}`)
			.sort(),
		drawn.sort(),
	);
});

test("measuring everything takes at most 20 minutes", () => {
	const took = /^Machine: .* Measuring took (\d+) minutes\.$/m.exec(read(source))?.[1];
	assert.ok(Number(took) <= 20, took);
});

test("the calculation for many runs uses the measured values", () => {
	const scale = read("docs/launchers/scale.md");
	const page = read(source);
	/** The text of the page, the row, its column, and the factor between them. */
	const rows: [RegExp, string, 1 | 2, number][] = [
		[/\| the launcher alone, many at a time \| ([\d.]+) ms \| ([\d.]+) ms \|/, "at a time: time, beside", 2, 0.2],
		[/\| our runs, many at a time \| ([\d.]+) ms \| ([\d.]+) ms \|/, "at a time: time, beside", 1, 0.2],
		[/runs ended at ([\d.]+) a second .*? and at ([\d.]+) a second/, "at a time: time, beside", 1, 0],
		[/alone at ([\d.]+) and ([\d.]+)\./, "at a time: time, beside", 2, 0],
		[/\| processor time of this pi \| ([\d.]+) ms \| ([\d.]+) ms \|/, "processor time of the host, by run", 1, 1],
		[
			/\| memory of this pi and its warden [^|]*\| ([\d.]+) MiB \| ([\d.]+) MiB \|/,
			"memory of the host and its warden, by run",
			1,
			1,
		],
		[
			/\| additional memory of the local `srun` or `ssh` \| ([\d.]+) MiB \| ([\d.]+) MiB \|/,
			"memory of the launcher's own program, by run",
			1,
			1,
		],
		[/\| added to a run [^|]*\| ([\d.]+) s \| ([\d.]+) s \|/, "one run, beside the same run here", 1, 1000],
	];
	for (const [quoted, row, column, factor] of rows) {
		const [, ...values] =
			quoted.exec(scale.replace(/\n +/g, " ")) ?? assert.fail(`docs/launchers/scale.md has no ${row}`);
		for (const [index, engine] of ["Slurm", "OpenSSH"].entries()) {
			const cell = page
				.split("\n")
				.find((line) => line.startsWith(`| ${engine}: `) && line.includes(row))
				?.split(" | ")[column];
			const measured = Number.parseFloat(cell ?? "");
			// Factor 0: the page quotes the rate of 200 runs, in runs per second, and the results have their seconds.
			const value = factor === 0 ? 200 / Number(values[index]) : Number(values[index]) * factor;
			const ratio = value / measured;
			assert.ok(ratio > 0.66 && ratio < 1.5, `${engine}: ${row}: ${values[index]} is quoted, ${cell} measured`);
		}
	}
});

test("the figures of other people's secrets match the last measurement", () => {
	const measured = JSON.parse(read("benchmark/redaction/figures.json"));
	const share = (part: string) => (100 * measured[part].good) / measured[part].of;
	const quoted: [page: string, words: RegExp, part: string][] = [
		["README.md", /gitleaks, ([\d.]+) % of the recognizable bare/, "bare"],
		["README.md", /([\d.]+) % with a revealing name/, "named"],
		["README.zh.md", /gitleaks 规则生成的机密中，可识别的单独出现时去除 ([\d.]+) %/, "bare"],
		["README.zh.md", /名称时去除 ([\d.]+) %/, "named"],
		["docs/redaction.md", /2026-07-22: ([\d.]+) % of the bare secrets/, "bare"],
		["docs/redaction.md", /redacted, and ([\d.]+) % of the secrets/, "named"],
		["docs/redaction.md", /itself must pass over, ([\d.]+) % stay/, "innocent"],
	];
	for (const [page, words, part] of quoted) {
		const [, sentence = ""] =
			words.exec(read(page).replaceAll(/\s+/g, " ")) ?? assert.fail(`${page} does not contain ${words}`);
		const decimals = sentence.split(".")[1]?.length ?? 0;
		assert.equal(sentence, share(part).toFixed(decimals), `${page}: ${words}`);
	}
	const page = read("docs/redaction.md");
	const counts = [`the ${measured.recognizable} recognizable shapes`, `the ${measured.innocent.of} texts`];
	for (const words of [...counts, measured.commit.slice(0, 8), measured.date])
		assert.ok(page.replaceAll("\n", " ").includes(words), `docs/redaction.md does not contain ${words}`);
	assert.equal(measured.glimpses, 0, "no part of a secret is shown while it arrives");
});

test("the figures of the README match the plots, the played faults and the kills of a test", () => {
	const answers = new Map(questions(results(read(source))).map(({ name, answer }) => [name, answer]));
	const faults = read("docs/faults.md")
		.split("\n")
		.filter((line) => /^\|.*\| (yes|\*\*no)/.test(line));
	const ended = (column: number) => faults.filter((line) => line.split(" | ")[column]?.startsWith("yes")).length;
	const quoted: [words: RegExp, where: string | undefined][] = [
		[/last process of a child (exits [\d.]+ ms) after pi was killed/, answers.get("survivors")],
		[/With a process group, (\d+ processes) survive/, answers.get("survivors")],
		[/first request ([\d.]+ ms) after a call that your model wrote for 1\.8 s/, answers.get("first-request")],
		[/ ([\d.]+ ms) with pi's example/, answers.get("first-request")],
		[/pi's interface waits ([\d.]+ ms) \(p99\)/, answers.get("delay")],
		[/\(p99\), ([\d.]+ ms) if JavaScript reads them/, answers.get("delay")],
		[/We played (\d+) faults/, `${faults.length}`],
		[/Here all (\d+) end/, `${ended(2)}`],
		[/pi's own example (\d+) do/, `${ended(3)}`],
		[
			/kills its host at (\d+ random moments)/,
			`${/times: (\d+)/.exec(read("__test__/edge/kill-loop.spec.ts"))?.[1]} random moments`,
		],
	];
	const page = read("README.md").replaceAll(/\s+/g, " ");
	for (const [words, where = ""] of quoted) {
		const [, figure = ""] = words.exec(page) ?? assert.fail(`README.md does not contain ${words}`);
		assert.ok(where.includes(figure), `README.md: ${figure} is not in: ${where}\nCorrect README.md and README.zh.md`);
	}
});

test("a different figure in the results gives a different plot", () => {
	const page = read(source);
	const changed = page.replace(/(early boot, the call streams for 1\.8 s \| )[\d.]+ ms/, "$1123 ms");
	assert.notEqual(changed, page);
	const [before, after] = [page, changed].map((text) => questions(results(text))[0]);
	assert.ok(before && after);
	assert.notEqual(svg(after, "light"), svg(before, "light"));
	assert.match(after.answer, / first request 123 ms after/);
});

test("a figure is read in the notation of the tables, with its spread and its unit", () => {
	const rows: [string, object][] = [
		["40 ms", { median: 40, unit: "ms" }],
		["40 ms, at most 1.2 s", { median: 40, high: 1200, unit: "ms" }],
		["40 ms, 38 to 49 ms", { median: 40, low: 38, high: 49, unit: "ms" }],
		["900 µs, 800 µs to 1.2 ms", { median: 900, low: 800, high: 1200, unit: "µs" }],
		["2.80 ms (+0.88)", { median: 2.8, unit: "ms" }],
		["-0.09 MiB", { median: -0.09, unit: "MiB" }],
		["29 left", { median: 29, unit: "left" }],
		["9.4 ms, at most 32.8 ms; 3 left", { median: 3, unit: "left" }],
		["17", { median: 17 }],
		["1.1, 1.4, 4.2 ms", {}],
		["> 10.0 s", {}],
	];
	for (const [text, wanted] of rows) assert.deepEqual(figure(text), { text, ...wanted });
});

test("a picture contains no script, loads nothing, and each part is named and drawn within its frame", () => {
	for (const question of questions(results(read(source)))) {
		for (const theme of ["light", "dark"] as const) {
			const picture = svg(question, theme);
			assert.doesNotMatch(
				picture.replace('xmlns="http://www.w3.org/2000/svg"', ""),
				/<script|href|url\(|\bon\w+=|http/,
			);
			assert.ok(picture.includes(papers[theme].ground));
			for (const { label } of question.groups) assert.ok(picture.includes(label), label);
			const [, width = 0, height = 0] = (/width="(\d+)" height="(\d+)"/.exec(picture) ?? []).map(Number);
			for (const [, x, y, size = 13, anchor, text = ""] of picture.matchAll(
				/<text x="([\d.]+)" y="([\d.]+)"(?: font-size="(\d+)")?(?: font-weight="600")?(?: text-anchor="(\w+)")?[^>]*>([^<]*)</g,
			)) {
				const long = text.length * Number(size) * 0.55;
				const from = Number(x) - (anchor === "end" ? long : anchor === "middle" ? long / 2 : 0);
				assert.ok(from >= 0 && from + long <= width, `${question.name}: \`${text}\` leaves the picture`);
				assert.ok(Number(y) <= height);
			}
		}
	}
});

/**
 * The figures that a page may have without a line in the results: limits and settings, and figures measured in another
 * way. Any other figure belongs to a part made from the results.
 */
const unbound: Record<string, RegExp[]> = {
	// Compared with the plots above; a test of the pages compares both READMEs.
	"README.md": [/\d[\d.]* ms/, /50 MB/],
	"README.zh.md": [/\d[\d.]* ms/, /50 MB/],
	"docs/api-records.md": [/more than 1 MiB/, /every 250 ms/],
	"docs/api-texts.md": [/At most 1 MiB/],
	"docs/apply.md": [/200 MiB/],
	"docs/background.md": [/a process of 50 to 60 MB/],
	"docs/children.md": [
		/and 48 kB of/,
		/more than 1 MiB/,
		/or 32 MiB/,
		/unless 512 MiB/,
		/needs 512 MiB/,
		/larger than 64 MiB/,
		/below 256 MiB/,
	],
	// __test__/packages compares these with the packages.
	"docs/platforms.md": [/at most 7 MB/, /at most 15 MB/],
	"docs/codemode.md": [/more than 1 MiB/],
	"docs/workflows.md": [/more than 1 MiB/],
	"docs/launchers.md": [/More than 256 MiB/],
	// Compared with the results above, and derived from them.
	"docs/launchers/scale.md": [/\d[\d.,]* ?(?:ms|MiB|×)/],
	"docs/launchers/slurm.md": [/pi wants \d+ MB/],
	"docs/files.md": [/at most 4 MiB each/],
	"docs/limits.md": [/512 MiB, other such files 64 MiB/],
	"docs/redaction.md": [/at most 1 MiB/, /580 MB/, /\d+ MB/],
	"docs/results.md": [/more than 2 MiB/, /more than 1 MiB/],
	"docs/sandbox.md": [/hold 512 MiB of memory/],
	"docs/troubleshooting.md": [/more than 1 MiB/, /at most 4 MiB/],
	"docs/writing.md": [/256 MiB/, /10 ms/],
	"docs/extension-api.md": [/3 MiB of memory/],
	"CONTRIBUTING.md": [/adds 0\.6 ms/],
};

test("a page quotes no speed or size that is not in the results", () => {
	const docs = readdirSync(join(packageDir, "docs"), { encoding: "utf8", recursive: true })
		.filter((name) => name.endsWith(".md") && !["speed.md", "faults.md"].includes(name))
		.map((name) => `docs/${name}`);
	const pages = ["README.md", "README.zh.md", "ARCHITECTURE.md", "CONTRIBUTING.md", ...docs];
	for (const page of pages) {
		const text = read(page)
			.replace(/^(`{3,}).*?^\1`*$/gms, "")
			.replace(/<!-- from benchmark\/RESULTS\.md: .*?<!-- end -->/gs, "")
			.replace(/`[^`\n]*`/g, "");
		let rest = text;
		for (const sentence of unbound[page] ?? []) {
			assert.match(text, sentence, `${page} no longer contains ${sentence}`);
			rest = rest.replaceAll(new RegExp(sentence.source, "g"), "");
		}
		const quoted = rest.match(/\b\d[\d.,]* ?(?:ms|µs|MB\/s|[kM]i?B|×)(?![a-z])/g) ?? [];
		assert.deepEqual(quoted, [], `${page} quotes figures that are not checked against ${source}`);
	}
});
