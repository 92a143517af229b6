// node frames.ts TREE ROUNDS
const [tree, rounds] = [process.argv[2], Number(process.argv[3] ?? 1)];
const { Card } = await import(`${tree}/__test__/extension/drawn-card.ts`);
const { stopClocks } = await import(`${tree}/extension/cards/render.ts`);
const { answer, USAGE } = await import(`${tree}/__test__/extension/package-copy.ts`);
const CALLS = [
	{ type: "toolCall", name: "read", args: { path: "src/a.rs", offset: 1, limit: 40 } },
	{ type: "toolCall", name: "grep", args: { pattern: "fn load", path: "src" } },
	{ type: "text", text: "Now the tests." },
	{ type: "toolCall", name: "bash", args: { command: "cargo test\necho done" } },
	{ type: "toolCall", name: "ls", args: {} },
];
const words = "It is **not** in `src/a/very/long/path/config.rs`, which only reads it, 配置 included. ".repeat(60);
const live = (frame, items) => ({ mode: "single", results: [], streaming: { state: "running", attempt: 1, hasText: true, displayItems: items, usage: { ...USAGE, input: 1000 + frame }, turnCount: 2, elapsedMs: frame * 50, sinceEventMs: 0, model: "fake/big" } });
const cases = {
	"live, collapsed": (n) => { const c = new Card(); for (let f = 0; f < n; f++) c.update(live(f, CALLS), words.slice(0, 200 + (f * 7) % 4000)).coloured(100); },
	"live, expanded, 60 calls": (n) => { const c = new Card(); c.expanded = true; const items = Array.from({ length: 60 }, (_, i) => CALLS[i % 5]); for (let f = 0; f < n; f++) c.update(live(f, items), words.slice(0, 200 + (f * 7) % 4000)).coloured(100); },
	"live, unchanged": (n) => { const c = new Card().update(live(1, CALLS), words); for (let f = 0; f < n; f++) c.coloured(100); },
	"ended, expanded, new width": (n) => { const d = answer(("# Head\n\n" + words.slice(0, 300) + "\n\n```rust\nfn x() { let a = 1; }\n```\n\n").repeat(4)).details; const c = new Card().finish(d, "x"); c.expanded = true; for (let f = 0; f < n; f++) c.coloured(60 + f % 60); },
};
for (const [name, run] of Object.entries(cases)) {
	run(50);
	const n = name.startsWith("ended") ? 300 : 1500;
	for (let r = 0; r < rounds; r++) {
		const before = process.cpuUsage();
		run(n);
		const { user, system } = process.cpuUsage(before);
		console.log(JSON.stringify([name, (user + system) / n]));
	}
}
stopClocks();
process.exit(0);
