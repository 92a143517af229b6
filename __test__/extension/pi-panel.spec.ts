/** The panel and the widget of background runs in real pi, for any events while the panel is open. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { backgroundStage, spawn } from "../support/background.ts";
import {
	call,
	fail,
	hang,
	type ModelRequest,
	makeGate,
	parent,
	piVersions,
	say,
	startTui,
	type Tui,
	until,
	usage,
} from "../support/pi.ts";

/** A command that does something once its file is there: when the panel is open. */
const LATER = `
import { existsSync, rmSync } from "node:fs";
export default function (pi) {
	pi.registerCommand("later", {
		description: "later",
		handler: async (what, context) => {
			const file = context.cwd + "/go";
			const look = setInterval(async () => {
				if (!existsSync(file)) return;
				clearInterval(look);
				rmSync(file);
				if (what === "ask") context.ui.notify("answered: " + (await context.ui.confirm("May I?", "Somebody asks.")), "info");
				if (what === "load") await context.reload();
				if (what === "fresh") await context.newSession();
			}, 50);
		},
	});
}
`;

async function openPanel(tui: Tui): Promise<void> {
	await tui.submitCommand("subagents");
	await tui.waitFor(isOpen);
}

/** Chooses one of two runs. Simultaneous requests are accepted in any order. */
async function choose(tui: Tui, label: string): Promise<void> {
	const [, row] = (await tui.waitFor(new RegExp(`[1-9] ${label}`))).match(new RegExp(`([12]) ${label}`)) ?? [];
	await tui.press(row === "1" ? "Home" : "End");
	await tui.waitFor(new RegExp(`▸ . ${row} ${label}`));
}

const isOpen = /^ Sub-agents( · .*)?\n ─+\n/;
const isGone = (screen: string) => !isOpen.test(screen);

for (const version of piVersions) {
	describe(`the panel in pi ${version}`, () => {
		test("follows a run, stops another, and leaves pi unchanged", async () => {
			const [looked, done] = [makeGate(), makeGate()];
			const walk = ({ toolAnswers }: ModelRequest) => {
				if (toolAnswers.length === 0)
					return [usage({ input: 1_400, output: 45 }), say("First the lay."), call("ls", { path: "." })];
				if (toolAnswers.length === 1)
					return [until(looked.opened), say("Now the code."), call("read", { path: "README.md" })];
				return [say("I am "), until(done.opened), say("**done**.")];
			};
			const hold = () => [say("I hold."), hang()];
			const stage = await backgroundStage({ version, children: { walk, hold } });
			try {
				const spawned = spawn({ task: "walk through it", label: "walker" }, { task: "hold on", label: "holder" });
				const tui = await startTui(stage.world, { columns: 100, rows: 30, prompt: spawned });
				// Above the editor: what runs does, and the clock goes.
				await tui.waitFor(/^ ● holder +explorer +\d+s {2}I hold\. +\/subagents$/m);
				await tui.waitFor(/^ ● walker +explorer +\d+s {2}ls \. .*↑1\.4k ↓45$/m);
				await tui.waitFor(/holder +explorer +[3-9]s/);

				await openPanel(tui);
				await tui.waitFor(/^ Sub-agents · 2 running/);
				await choose(tui, "walker");
				await tui.press("Enter");
				await tui.waitFor(/^ ● walker · explorer · \d+s[\s\S]*❯ walk through it\n\n {3}First the lay\.\n {3}→ ls \.\n/);
				looked.open();
				await tui.waitFor(/Now the code\.\n {3}→ read README\.md\n {5}# A project\n[\s\S]*\n {3}I am\n/);
				// Smaller and larger while it is open.
				await tui.resize(44, 12);
				await tui.waitFor(/^ ● walker · explorer · \d+s · \$[\d.]+\n[\s\S]*I am\n.*escape back$/);
				await tui.resize(100, 30);
				await tui.waitFor(/❯ walk through it/);
				done.open();
				await tui.waitFor(/I am done\.\n\n ✓ completed · [\d.]+s\n/);
				await tui.press("i");
				await tui.waitFor(/^ Run \w{8}.*walker[\s\S]*✓ state +completed [\s\S]*--paths` shows/);
				await tui.press("Escape");
				await tui.waitFor("✓ completed");
				await tui.press("Escape");
				await tui.waitFor(/▸ ✓ \d walker .*I am done/);

				await choose(tui, "holder");
				await tui.press("s");
				await tui.waitFor("other keys cancel: “holder”");
				await tui.press("s");
				const stopped = await tui.waitFor(/▸ ⚠ \d holder .*stopped/);
				assert.doesNotMatch(stopped, /everything it had started/);
				await tui.press("Escape");
				// pi has its screen back, and the widget is hidden. The message is the only line about the stop.
				const isOnlyLine = (screen: string) => screen.match(/stopped/g)?.length === 1;
				await tui.waitFor(
					(screen) => isGone(screen) && /⚠ holder · explorer · .* · stopped/.test(screen) && isOnlyLine(screen),
				);
				assert.doesNotMatch(await tui.screen(), /● (?:walker|holder) +explorer +\d/);
				await tui.waitFor("success: I am done.");
				await tui.type("still here");
				await tui.waitFor("still here");
				await tui.close();
			} finally {
				await stage.close();
			}
		});

		test("keeps a result above the editor until the model reads it", async () => {
			const [work, pause] = [makeGate(), makeGate()];
			const children = {
				...parent(async () => [until(pause.opened), say("Spawned.")]),
				work: () => [until(work.opened), say("It is read once.")],
			};
			const stage = await backgroundStage({ version, children });
			try {
				const prompt = spawn({ task: "work on it", label: "config" });
				const tui = await startTui(stage.world, { columns: 60, rows: 24, prompt });
				await tui.waitFor(/^ [●◐] config +\d+s/m);
				work.open();
				await tui.waitFor(/^ ✓ config · waiting to be read · \/subagents$/m);
				await openPanel(tui);
				await tui.waitFor(
					/▸ ✓ 1 config +explorer? +[\d.]+s {2}waiting to be read|▸ ✓ 1 config +[\d.]+s {2}waiting to be read/,
				);
				await tui.press("Escape");
				await tui.waitFor(isGone);
				pause.open();
				await tui.waitFor((screen) => /✓ config · explorer/.test(screen) && !screen.includes("waiting to be read"));
				await tui.close();
			} finally {
				await stage.close();
			}
		});

		test("counts down to a retry above the editor and in the panel, with the reason", async () => {
			let tries = 0;
			const overloaded = { body: { error: { message: "the scripted model is overloaded", type: "server_error" } } };
			const shaky = () => (tries++ === 0 ? [fail(503, overloaded)] : [say("There.")]);
			const settings = { retry: { baseDelayMs: 6_000 } };
			const stage = await backgroundStage({ version, settings, children: { shaky } });
			try {
				const prompt = spawn({ task: "shaky work", label: "config" });
				const tui = await startTui(stage.world, { columns: 100, rows: 24, prompt });
				// The provider's message, without its JSON.
				await tui.waitFor(/^ ↻ config +explorer +\d+s {2}retry 1 of \d+ in [2-6]s · [^{}"]*overloaded +\/subagents$/m);
				await openPanel(tui);
				await tui.waitFor(/^ Sub-agents · 1 running[\s\S]*▸ ↻ 1 config .* retry 1 of \d+ in [1-5]s · .*overloaded/);
				await tui.waitFor(/▸ ✓ 1 config /);
				await tui.close();
			} finally {
				await stage.close();
			}
		});

		test("hides while a dialog is open, and closes with its session and with pi", async () => {
			const hold = () => [say("I hold."), hang()];
			// In the terminal's own screen; the other test has pi's default, a screen of its own.
			const stage = await backgroundStage({ version, children: { hold }, settings: { tuiMode: "regular" } });
			stage.world.writeAgentDir("extensions/later.ts", LATER);
			try {
				const tui = await startTui(stage.world, {
					columns: 90,
					rows: 24,
					prompt: spawn({ task: "hold on", label: "holder" }),
				});
				/** Does it while the panel is open. */
				const later = async (what: string) => {
					await tui.type(`/later ${what}`);
					await tui.waitFor(`/later ${what}`);
					await tui.press("Enter");
					await openPanel(tui);
					stage.world.write("go", "");
				};
				await tui.waitFor(/^ ● holder +explorer/m);
				await later("ask");
				await tui.waitFor(/Somebody asks\.[\s\S]*→ Yes/);
				await tui.press("Enter");
				await tui.waitFor(isOpen);
				await tui.press("j", "Escape");
				await tui.waitFor(/answered: true/);

				await later("load");
				await tui.waitFor((screen) => isGone(screen) && screen.includes("Reloaded"));
				await tui.waitFor(/^ ● holder +explorer/m);
				await openPanel(tui);
				await tui.press("q");
				await tui.waitFor(isGone);

				await later("fresh");
				// The other session has no runs, and no widget.
				await tui.waitFor((screen) => isGone(screen) && !screen.includes("holder"));
				await openPanel(tui);
				await tui.waitFor(/No runs in this session/);
				await tui.press("a");
				await tui.waitFor(/all sessions[\s\S]*● 1 holder/);
				await tui.press("Enter");
				await tui.waitFor(/❯ hold on\n\n {3}I hold\./);
				process.kill(await tui.pid(), "SIGTERM");
				await tui.ended();
				await tui.close();
			} finally {
				await stage.close();
			}
		});
	});
}
