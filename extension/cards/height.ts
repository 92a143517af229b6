/**
 * How high a card may be while its run goes on. A pi before 1.x clears the screen, and what can be scrolled back to, to
 * redraw a line that is out of sight; what is left out here can be seen when the run is over.
 */

/** Rows that pi needs below a card: its borders, the working line, the editor, the footer. */
const PI_ROWS = 12;
/** An expanded card where nobody knows how high the terminal is, and the most in one that is higher. */
const MOST_ROWS = 43;
const FEWEST_ROWS = 10;

/** Tasks of several that a live card has lines for, whatever the terminal. */
export const TASK_ROWS = 10;

/** Lines of an expanded card, by the height of the terminal. */
export function expandedRows(terminalRows: number | undefined): number {
	return Math.max(FEWEST_ROWS, Math.min(MOST_ROWS, (terminalRows ?? Number.POSITIVE_INFINITY) - PI_ROWS));
}

/** The share of an expanded card that one run's task, calls and text get. */
export function shares(rows: number): { task: number; calls: number; text: number } {
	const share = (part: number) => Math.max(1, Math.floor((rows - 3) * part));
	return { task: share(0.3), calls: share(0.5), text: share(0.2) };
}
