/** The sanitizer and the truncator for in-process callers. */

import assert from "node:assert/strict";
import { homedir } from "node:os";
import { describe, it } from "node:test";

import {
	inspectOutput,
	type SanitizeOptions,
	sanitizeOutput,
	type TruncatedOutput,
	truncateHead,
	truncateOutput,
	truncateTail,
} from "../../native.js";
import { inTime } from "./scene.ts";

const token = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";

describe("the sanitizer", () => {
	const rows: Record<string, [input: string, output: string | RegExp]> = {
		"prose and code": [
			"const key = map.get(token); // 100% of the keys, 日本語 😀\r\n",
			"const key = map.get(token); // 100% of the keys, 日本語 😀\r\n",
		],
		nothing: ["", ""],
		"a vendor's token": [`use ${token} now`, "use [GITHUB_TOKEN_REDACTED] now"],
		"an assignment": ["api_key=s3cr3t-v4lue-77", "api_key=[REDACTED]"],
		"a header": ["Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: [REDACTED]"],
		"a bearer": ["curl -H 'X: Bearer abc.def-123456789'", /Bearer \[REDACTED\]/],
		"a query parameter": ["https://x.test/a?token=abcdef123456&b=1", /\?token=\[REDACTED\]&b=1/],
		"control sequences": ["\u001b[31mred\u001b[0m \u001b]0;title\u0007plain", "red plain"],
		"the home directory": [`${homedir()}/a.ts ${homedir()}x`, new RegExp(`^~/a\\.ts ${homedir()}x$`)],
		"half a character": ["a\ud800b", "a\ufffdb"],
	};
	for (const [label, [input, output]] of Object.entries(rows)) {
		it(`has the expected result, also when repeated: ${label}`, async () => {
			const once = await sanitizeOutput(input);
			if (typeof output === "string") assert.equal(once, output);
			else assert.match(once, output);
			assert.equal(await sanitizeOutput(once), once);
		});
	}

	it("redacts given secrets, and secrets of this process's environment", async () => {
		const secret = "zebra-violin-41-cloud";
		assert.equal(await sanitizeOutput(`a ${secret} b`), `a ${secret} b`);
		assert.equal(await sanitizeOutput(`a ${secret} b`, { secrets: [secret] }), "a [REDACTED] b");
		const authJson = JSON.stringify({ fake: { type: "api_key", key: secret } });
		assert.equal(await sanitizeOutput(`a ${secret} b`, { authJson }), "a [REDACTED] b");
		assert.equal(await sanitizeOutput(`a ${secret} b`, { authJson: "{broken" }), `a ${secret} b`);
		process.env.PSN_EDGE_API_TOKEN = secret;
		try {
			assert.equal(await sanitizeOutput(`a ${secret} b`), "a [REDACTED] b");
			assert.equal(await sanitizeOutput(`a ${secret} b`, { secrets: [] }), `a ${secret} b`);
		} finally {
			delete process.env.PSN_EDGE_API_TOKEN;
		}
	});

	it("keeps words, numbers and paths", async () => {
		const text = "the password is password 12345678 true /usr/bin/env short";
		assert.equal(
			await sanitizeOutput("a development 12345678 /usr/bin/env short", {
				secrets: ["development", "12345678", "/usr/bin/env", "short", ""],
			}),
			"a development 12345678 /usr/bin/env short",
		);
		assert.ok((await sanitizeOutput(text)).includes("12345678"));
	});

	it("replaces the given homes", async () => {
		assert.equal(
			await sanitizeOutput("/srv/people/ann/x /srv/people/anna", { homes: ["/srv/people/ann"] }),
			"~/x /srv/people/anna",
		);
	});

	it("replaces homes according to `homePaths`", async () => {
		const text = "see /srv/ann/x and /home/bob/y\n\n    cd /srv/ann/x\n\n> ```\n> cd /srv/ann\n> ```\n";
		const rows = [
			[{}, text.replace("see /srv/ann", "see ~")],
			[{ homePaths: "own" }, text.replace("see /srv/ann", "see ~")],
			[{ homePaths: "all" }, text.replaceAll("/srv/ann", "~").replace("/home/bob", "~")],
			[{ homePaths: "off" }, text],
		] as const;
		for (const [options, expected] of rows) {
			assert.equal(await sanitizeOutput(text, { homes: ["/srv/ann"], ...options }), expected);
		}
		const wrong = { homePaths: "mine" } as unknown as SanitizeOptions;
		await assert.rejects(sanitizeOutput(text, wrong), /homePaths|mine/);
	});

	it("keeps allowed values, and the findings of allowed rules", async () => {
		const text = `use ${token} and api_key=s3cr3t-v4lue-77 and api_key=s3cr3t-v4lue-77x`;
		const allow = async (...entries: string[]) => sanitizeOutput(text, { allow: entries });
		assert.equal(await allow(token), text.replaceAll(/s3cr3t-v4lue-77x?/g, "[REDACTED]"));
		assert.equal(
			await allow("s3cr3t-v4lue-77"),
			"use [GITHUB_TOKEN_REDACTED] and api_key=s3cr3t-v4lue-77 and api_key=[REDACTED]",
		);
		assert.equal(await allow("rule:github_token", "rule:assignment"), text);
		const found = await inspectOutput(text, { allow: ["rule:assignment"] });
		assert.deepEqual(
			found.map(({ rule }) => rule),
			["github_token"],
		);
		assert.match(found[0]?.what ?? "", /github token/);
		for (const [entry, why] of [
			["rule:github_tokn", /`github_tokn`.*`github_token`/],
			["github_token", /rule:github_token/],
			["ab", /3 bytes/],
		] as const) {
			await assert.rejects(sanitizeOutput(text, { allow: [entry] }), why);
		}
	});

	it("handles 8 MB without blocking the thread", async () => {
		const text = "The quick brown fox, key: 5; jumps over token lists.\n".repeat(150_000);
		let turns = 0;
		const timer = setInterval(() => turns++, 1);
		assert.equal((await sanitizeOutput(text)).length, text.length);
		clearInterval(timer);
		assert.ok(turns > 0, "the event loop continued during the work");
	});
});

describe("an inspection", () => {
	it("reports each redaction with its byte range, and never the value", async () => {
		const text = `日本 ${token} and api_key=s3cr3t-v4lue-77 and ${token}`;
		const redactions = await inspectOutput(text);
		assert.ok(!JSON.stringify(redactions).includes("AbCdEf") && !JSON.stringify(redactions).includes("s3cr3t"));
		const bytes = Buffer.from(text);
		const found = redactions.flatMap(({ ranges }) =>
			ranges.map(({ start, end }) => bytes.subarray(start, end).toString("utf8")),
		);
		assert.equal(found.filter((part) => part === token).length, 2, "each range covers the value");
		assert.ok(found.some((part) => part.includes("s3cr3t-v4lue-77")));
		for (const { rule, count, ranges } of redactions) {
			assert.ok(rule.length > 0);
			assert.equal(count, ranges.length);
		}
		assert.equal(
			redactions.reduce((sum, { count }) => sum + count, 0),
			3,
		);
	});

	it("finds nothing in prose", async () => {
		assert.deepEqual(await inspectOutput("The key to success is a token of love."), []);
	});
});

describe("the truncators", () => {
	const all = { truncateOutput, truncateHead, truncateTail };
	const texts = {
		ASCII: "word word word\n".repeat(50),
		CJK: "日本語のテキスト\n".repeat(50),
		emoji: "😀👩‍👩‍👧é\n".repeat(50),
		"CR LF": "line one\r\nline two\r\n".repeat(50),
		"one line": "x".repeat(3000),
		"no line end": "a\nb".repeat(300),
		"only line ends": "\n".repeat(700),
	};

	it("keep a text within its limits as it is", async () => {
		for (const truncate of Object.values(all)) {
			for (const text of ["", "a", "a\n", "日本\r\n", "x".repeat(51_200), "\n".repeat(2000)]) {
				const { text: same, truncated, keptBytes, totalBytes, keptLines, totalLines } = await truncate(text);
				assert.deepEqual([same, truncated, keptBytes, keptLines], [text, false, totalBytes, totalLines]);
				assert.equal(totalBytes, Buffer.byteLength(text));
			}
			assert.ok((await truncate("x".repeat(51_201))).truncated && (await truncate("\n".repeat(2001))).truncated);
		}
	});

	it("never exceed a limit and never split a character or a CR LF", async () => {
		for (const [name, truncate] of Object.entries(all)) {
			for (const [label, text] of Object.entries(texts)) {
				for (const maxBytes of [0, 1, 2, 3, 5, 11, 64, 100, 101, 102, 103, 500]) {
					for (const maxLines of [0, 1, 2, 3, 10, 2000]) {
						const about = `${name}, ${label}, ${maxBytes} bytes, ${maxLines} lines`;
						const cut: TruncatedOutput = await truncate(text, { maxBytes, maxLines });
						const lines = cut.text === "" ? 0 : cut.text.replace(/\n$/, "").split("\n").length;
						assert.ok(Buffer.byteLength(cut.text) <= maxBytes && lines <= maxLines, about);
						assert.ok(!cut.text.includes("\ufffd") && cut.truncated, about);
						assert.ok(cut.keptBytes <= maxBytes && cut.keptLines <= cut.totalLines, about);
						if (label === "CR LF")
							assert.ok(
								!/(?<!\r)\n|\r(?!\n)/.test(cut.text.replace(/(?:(?<!\r)\n)?\[truncated[^\n]*\]\n?/, "")),
								about,
							);
					}
				}
			}
		}
	});

	it("keep the named end, and describe the omitted part", async () => {
		const text = Array.from({ length: 1000 }, (_, line) => `line ${line}`).join("\n");
		const limits = { maxBytes: 1000, maxLines: 20, fullText: "/runs/x/output.md" };
		const [both, head, tail] = [
			await truncateOutput(text, limits),
			await truncateHead(text, limits),
			await truncateTail(text, limits),
		];
		assert.ok(both.text.startsWith("line 0\n") && both.text.endsWith("\nline 999"));
		assert.ok(head.text.startsWith("line 0\n") && !head.text.includes("line 999"));
		assert.ok(!tail.text.startsWith("line 0\n") && tail.text.endsWith("\nline 999"));
		for (const { text: shown, keptLines, keptBytes } of [both, head, tail]) {
			assert.match(
				shown,
				new RegExp(
					`\\[truncated: kept ${keptLines} of 1000 lines, ${keptBytes} of ${text.length} bytes; full text: /runs/x/output\\.md\\]`,
				),
			);
		}
	});

	it("handle 8 MB of CJK in one pass", async () => {
		// More than one would take hours.
		await inTime(truncateOutput("日本語のテキスト\n".repeat(330_000)), "the truncated text");
	});

	it("round a fractional limit, or refuse it", async () => {
		const text = "x".repeat(100);
		for (const maxBytes of [Number.POSITIVE_INFINITY, 2 ** 32, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
			assert.equal((await truncateOutput(text, { maxBytes })).text, text, `${maxBytes} bytes are more than enough`);
		}
		for (const maxBytes of [-1, Number.NaN]) {
			await assert.rejects(async () => await truncateOutput(text, { maxBytes }), `${maxBytes} is no limit`);
		}
	});
});
