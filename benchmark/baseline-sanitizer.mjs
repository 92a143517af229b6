// biome-ignore-all lint/suspicious/noControlCharactersInRegex: terminal control is what some of the rules remove.
/**
 * The sanitizer's rules in the usual form for an extension: one regular expression after the other. As a program, it
 * measures itself on a file.
 */

import { readFileSync } from "node:fs";
import { argv } from "node:process";
import { pathToFileURL } from "node:url";

const secretName =
	"[\\w.-]*(?:api[_-]?key|access[_-]?key|private[_-]?key|secret|token|passw(?:or)?d|credentials?)[\\w.-]*";

/** @type {[expression: RegExp, replacement: string][]} */
const rules = [
	// Terminal control.
	[/\x1b\][\s\S]*?(?:\x07|\x1b\\)/g, ""],
	[/\x1b\[[0-?]*[ -/]*[@-~]/g, ""],
	[/\x1b[PX^_][\s\S]*?\x1b\\/g, ""],
	[/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g, ""],
	// Keys with a vendor's prefix.
	[/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g, "[PRIVATE_KEY_REDACTED]"],
	[/\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/g, "[JWT_REDACTED]"],
	[/\bsk-ant-[\w-]{20,}/g, "[ANTHROPIC_KEY_REDACTED]"],
	[/\bsk-(?:proj-)?[\w-]{20,}/g, "[OPENAI_KEY_REDACTED]"],
	[/\b(?:gh[pousr]_\w{36,}|github_pat_\w{22,})/g, "[GITHUB_TOKEN_REDACTED]"],
	[/\bglpat-[\w-]{20,}/g, "[GITLAB_TOKEN_REDACTED]"],
	[/\bnpm_\w{36}/g, "[NPM_TOKEN_REDACTED]"],
	[/\bpypi-[\w-]{50,}/g, "[PYPI_TOKEN_REDACTED]"],
	[/\bxox[abeoprs]-[\w-]{10,}/g, "[SLACK_TOKEN_REDACTED]"],
	[/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, "[AWS_KEY_REDACTED]"],
	[/\bAIza[\w-]{35}/g, "[GOOGLE_KEY_REDACTED]"],
	[/\b[rs]k_(?:live|test)_\w{20,}/g, "[STRIPE_KEY_REDACTED]"],
	[/\bhf_\w{30,}/g, "[HF_TOKEN_REDACTED]"],
	[/\bSG\.[\w-]{16,}\.[\w-]{16,}/g, "[SENDGRID_KEY_REDACTED]"],
	// Contexts that contain secrets.
	[/((?:proxy-)?authorization["']?\s*[:=]\s*)[^\r\n]+/gi, "$1[REDACTED]"],
	[/((?:set-)?cookie["']?\s*:\s*)[^\r\n]+/gi, "$1[REDACTED]"],
	[/\b(bearer\s+)[\w.~+/=-]{8,}/gi, "$1[REDACTED]"],
	[/([a-z][a-z0-9+.-]*:\/\/)[^\s:@/]+:[^\s@/]+@/gi, "$1[REDACTED]@"],
	[/([?&](?:api_?key|access_?token|token|key|sig|signature|secret|password)=)[^&\s"'#]+/gi, "$1[REDACTED]"],
	[new RegExp(`(["']?${secretName}["']?\\s*[:=]\\s*")((?:[^"\\\\]|\\\\.)+)(")`, "gi"), "$1[REDACTED]$3"],
	[new RegExp(`(["']?${secretName}["']?\\s*[:=]\\s*')((?:[^'\\\\]|\\\\.)+)(')`, "gi"), "$1[REDACTED]$3"],
	[new RegExp(`(\\b${secretName}\\s*=\\s*)([^\\s"',;]{4,})`, "gi"), "$1[REDACTED]"],
	// Paths with user names, and long stack traces.
	[/(?:\/home|\/Users)\/[^/\s:"']+(?=[/\s:"']|$)/g, "~"],
	[/[A-Z]:\\Users\\[^\\\s:"']+(?=[\\\s:"']|$)/g, "~"],
	[/((?:^[ \t]+at [^\n]+\n){5})(?:[ \t]+at [^\n]+\n)+/gm, "$1    ...\n"],
];

/** The known secret values, which are replaced in any context. */
const known = ["correct-horse-battery-staple-42"];

/** @param {string} text */
export function sanitize(text) {
	let result = text;
	for (const value of known) result = result.split(value).join("[REDACTED]");
	for (const [expression, replacement] of rules) result = result.replace(expression, replacement);
	return result;
}

if (argv[1] && import.meta.url === pathToFileURL(argv[1]).href) {
	const text = readFileSync(argv[2], "utf8");
	const warmUp = sanitize(text.slice(0, 10_000)).length;
	const times = [];
	let bytesOut = warmUp;
	const begin = performance.now();
	do {
		const started = performance.now();
		bytesOut = Buffer.byteLength(sanitize(text));
		times.push(performance.now() - started);
	} while (performance.now() - begin < 200 && times.length < 100);
	times.sort((a, b) => a - b);
	const ns = Math.round(times[Math.floor(times.length / 2)] * 1e6);
	process.stdout.write(`${JSON.stringify({ bytes: Buffer.byteLength(text), bytesOut, ns, runs: times.length })}\n`);
}
