/** Keys as terminals send them, and their names. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KeybindingsManager, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";
import { type Action, keyText, panelKeys } from "../../extension/ui/keys.ts";

const ESC = "\u001b";

describe("a key of the panel", () => {
	const table: Partial<Record<Action, readonly string[]>> = {
		up: [`${ESC}[A`, `${ESC}OA`, `${ESC}[1;1A`, `${ESC}[1;1:2A`, `${ESC}[1;129A`, `${ESC}[57419u`, "k"],
		down: [`${ESC}[B`, `${ESC}OB`, `${ESC}[57420;1:1u`, "j"],
		open: [`${ESC}[C`, `${ESC}[57418u`, "\r", "\n", `${ESC}[13u`, `${ESC}[13;1u`, `${ESC}[57414u`, `${ESC}OM`],
		left: [`${ESC}[D`, `${ESC}[57417u`],
		top: [`${ESC}[H`, `${ESC}OH`, `${ESC}[1~`, `${ESC}[7~`, `${ESC}[57423u`, "g"],
		bottom: [
			...[`${ESC}[F`, `${ESC}OF`, `${ESC}[4~`, `${ESC}[8~`, `${ESC}[57424u`],
			...["G", `${ESC}[103:71;2u`, `${ESC}[103;2u`, `${ESC}[27;2;71~`],
		],
		pageUp: [`${ESC}[5~`, `${ESC}[5;1:2~`, `${ESC}[[5~`, `${ESC}[57421u`, "\u0002"],
		pageDown: [`${ESC}[6~`, `${ESC}[57422u`, " ", "\u0006"],
		halfDown: ["\u0004"],
		back: [ESC, `${ESC}[27u`, `${ESC}[27;1:1u`, `${ESC}[27;65u`, "\u0003", `${ESC}[99;5u`, `${ESC}[1089::99;5u`, "q"],
		stop: ["s", `${ESC}[115u`, `${ESC}[115;1:2u`, `${ESC}[115;129u`, `${ESC}[1099::115u`],
		// On a German keyboard it stands elsewhere.
		keys: ["?", `${ESC}[47:63;2u`, `${ESC}[223:63;2u`, `${ESC}[27;2;63~`],
		tools: ["t", "\u000f"],
	};
	const keys = panelKeys(new KeybindingsManager({ ...TUI_KEYBINDINGS, "app.tools.expand": { defaultKeys: "ctrl+o" } }));
	for (const [action, sequences] of Object.entries(table)) {
		it(`does ${action}`, () => {
			for (const data of sequences) assert.equal(keys.actionOf(data), action, JSON.stringify(data));
		});
	}

	it("has no effect if it is unknown", () => {
		for (const data of [`${ESC}[115;9u`, `${ESC}[<35;20;5m`, `${ESC}[?1;2c`, `${ESC}]11;x`, "世", "D", ""]) {
			assert.equal(keys.actionOf(data), undefined, JSON.stringify(data));
		}
	});
});

describe("the keys of pi's actions", () => {
	it("are the user's if known, otherwise pi's own", () => {
		const bindings = new KeybindingsManager(TUI_KEYBINDINGS, {
			"tui.select.cancel": [],
			"tui.select.up": ["up", "ctrl+p"],
		});
		assert.equal(keyText("tui.select.up", bindings), "up/ctrl+p");
		assert.equal(keyText("tui.select.cancel", bindings), "");
		assert.equal(
			keyText("tui.select.cancel", { keyText: (binding) => `key of ${binding}` }),
			"key of tui.select.cancel",
		);
		assert.equal(keyText("tui.select.cancel"), "escape/ctrl+c");
		assert.equal(keyText("app.tools.expand", {}), "ctrl+o");
	});
});
