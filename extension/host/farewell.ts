/** The last words: said when pi has given the terminal back, which is when its process ends. */

import { writeSync } from "node:fs";

const STDERR = 2;

export function sayAtExit(text: string): void {
	process.once("exit", () => {
		try {
			writeSync(STDERR, `${text}\n`);
		} catch {
			// Nobody listens any more.
		}
	});
}
