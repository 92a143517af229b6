/** Generates ordinary texts for the sanitizer and the truncator. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { Random } from "./random.mjs";

/** Returns secrets of the redacted kinds. None of them was ever valid. */
function secrets(/** @type {Random} */ random) {
	return [
		`OPENAI_API_KEY=sk-proj-${random.characters(48)}`,
		`Authorization: Bearer ${random.characters(40)}`,
		`https://deploy:${random.characters(16)}@example.com/repo.git`,
		`password: "${random.characters(14)}"`,
		`ghp_${random.characters(36)}`,
		`curl 'https://example.com/v1?token=${random.characters(24)}'`,
	];
}

/**
 * Returns paragraphs in the style of a model.
 *
 * @param {number} length
 * @param {{ secrets: boolean }} options with a secret about every 20 KB
 */
export function prose(length, options) {
	const random = new Random(11);
	const parts = [];
	for (let total = 0; total < length; ) {
		let part = `${random.sentence()} `;
		if (random.chance(0.1)) part += `See https://example.com/docs/${random.word()}/${random.word()} for more. `;
		if (random.chance(0.05)) part += `Set \`${random.word()}_${random.word()}\` to ${random.between(1, 900)}. `;
		if (random.chance(0.03)) part += "The “naïve” Größe → 数据. ";
		if (options.secrets && random.chance(0.004)) part += `${random.pick(secrets(random))}\n`;
		if (random.chance(0.2)) part += "\n\n";
		parts.push(part);
		total += part.length;
	}
	return parts.join("");
}

/**
 * Returns parts of this project's source files, repeatedly. The sanitizer's own files and files about credentials are
 * left out, because no other code mentions secrets in every third line.
 *
 * @param {string} root
 * @param {number} length
 */
export function code(root, length) {
	const files = [
		...sources(root, "extension"),
		...sources(root, "scripts"),
		...["src", "crates"]
			.flatMap((folder) => sources(root, folder))
			.filter((path) => !/[/\\](?:sanitizer|agent_dir)[/\\]/.test(path)),
	];
	const parts = files.map((path) => readFileSync(path, "utf8"));
	const random = new Random(13);
	let text = "";
	while (text.length < length) text += random.pick(parts);
	return text;
}

/**
 * @param {string} root
 * @param {string} folder
 */
function sources(root, folder) {
	return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
		.filter((name) => /\.(rs|ts|mjs)$/.test(name))
		.sort()
		.map((name) => join(root, folder, name));
}

/**
 * Returns JSON output of tools: lists of records, pretty-printed or not, some with nested text.
 *
 * @param {number} length
 */
export function jsonOutput(length) {
	const random = new Random(17);
	const parts = [];
	for (let total = 0; total < length; ) {
		const records = Array.from({ length: random.between(3, 20) }, () => ({
			id: random.characters(8, "0123456789abcdef"),
			path: `/home/user/project/src/${random.word()}/${random.word()}.ts`,
			size: random.between(10, 90_000),
			mtime: "2026-11-21T21:24:12.920Z",
			sha: random.characters(40, "0123456789abcdef"),
			message: random.sentence(),
			author: { name: random.word(), email: `${random.word()}@example.com` },
			tokens: random.between(1, 9000),
			nested: random.chance(0.2) ? JSON.stringify({ key: random.word(), text: random.sentence() }) : null,
			...(random.chance(0.01) ? { api_key: random.characters(32) } : {}),
		}));
		const part = `${JSON.stringify(records, null, random.chance(0.5) ? 2 : 0)}\n`;
		parts.push(part);
		total += part.length;
	}
	return parts.join("");
}

/**
 * Returns Chinese text of about `bytes` bytes of UTF-8, without a line break.
 *
 * @param {number} bytes
 */
export function chinese(bytes) {
	const random = new Random(19);
	let text = "";
	for (let i = 0; i < bytes / 3; i++) text += String.fromCharCode(0x4e00 + random.between(0, 5000));
	return text;
}
