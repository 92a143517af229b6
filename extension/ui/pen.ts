/**
 * Draws with pi's theme in a given width. The addon draws cards, messages, the widget and the panel. Missing colours and
 * styles are skipped.
 */

import type { ThemeColor as Color, Theme } from "@earendil-works/pi-coding-agent";
import { type Component, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import type { Palette } from "../../native.js";
import { loadAddon, type Native } from "../host/native.ts";
import { type KeySource, keyText } from "./keys.ts";
import { prose } from "./prose.ts";
import { clip, plainText } from "./text.ts";

export type { ThemeColor as Color } from "@earendil-works/pi-coding-agent";

type Emphasis = "bold" | "italic" | "underline" | "strikethrough";
/** A theme of an older or newer pi, which may lack some of these names. */
export type AnyTheme = Pick<Theme, "fg"> & Partial<Pick<Theme, "bg" | Emphasis>>;

export class Style {
	readonly theme: AnyTheme;

	constructor(theme: AnyTheme) {
		this.theme = theme;
	}

	fg(color: Color, text: string): string {
		return safely(text, () => this.theme.fg(color, text));
	}

	bg(ground: Parameters<Theme["bg"]>[0], text: string): string {
		return safely(text, () => this.theme.bg?.(ground, text));
	}

	bold(text: string): string {
		return this.emphasis("bold", text);
	}

	emphasis(kind: Emphasis, text: string): string {
		return safely(text, () => this.theme[kind]?.(text));
	}
}

function safely(text: string, styled: () => string | undefined): string {
	if (text === "") return text;
	try {
		return styled() ?? text;
	} catch {
		return text;
	}
}

export class Pen extends Style {
	readonly width: number;
	private readonly keys: KeySource;
	private palette: Palette | undefined;

	/** `keys` looks up the user's keys. */
	constructor(theme: AnyTheme, width: number, keys: KeySource = {}) {
		super(theme);
		this.width = Math.max(0, width);
		this.keys = keys;
	}

	/** Draws to the right of a margin. Blank lines stay empty. */
	indented(columns: number, draw: (inner: Pen) => readonly string[]): string[] {
		const margin = " ".repeat(columns);
		const lines = draw(new Pen(this.theme, this.width - columns, this.keys));
		return lines.map((line) => (line === "" ? line : margin + line));
	}

	/** Cuts a styled line. */
	clip(line: string): string {
		return clip(line, this.width);
	}

	/** Draws untrusted text in one colour. */
	paragraph(text: string, color: Color): string[] {
		const lines = this.drawn((native, ...on) => native.drawText(...on, color, text));
		return lines ?? wrapTextWithAnsi(this.fg(color, plainText(text).trim()), Math.max(1, this.width));
	}

	/**
	 * Returns the lines of a drawing of the addon, or `undefined` if there is no drawing or no addon. A line that pi finds too wide is
	 * cut, because pi would end.
	 */
	drawn(draw: (native: Native, ...on: [palette: Palette, width: number]) => string[] | null): string[] | undefined {
		const { native } = loadAddon();
		if (!native) return undefined;
		this.palette ??= paletteOf(native, this, this.keys);
		return draw(native, this.palette, this.width)?.map((line) => this.clip(line));
	}
}

/** Stands for a text in a style. No control sequence contains it. */
const SAMPLE = "·";

let latest: { theme: AnyTheme; styles: string; palette: Palette } | undefined;

/** Returns the palette of a theme. It is made once, because all components have the same theme. */
function paletteOf(native: Native, { theme }: Style, keys: KeySource): Palette {
	const style = new Style(theme);
	const around = (styled: string) => {
		const [open = "", close = ""] = styled.split(SAMPLE);
		return [open, close];
	};
	const names = native.paletteColors() as Color[];
	const colors = Object.fromEntries(names.map((color) => [color, around(style.fg(color, SAMPLE))]));
	const expandKey = keyText("app.tools.expand", keys);
	const styles = JSON.stringify({ colors, bold: around(style.bold(SAMPLE)), expandKey });
	if (latest?.theme !== theme || latest.styles !== styles) {
		const markdown = (text: string, width: number) => prose(text, new Pen(theme, width));
		latest = { theme, styles, palette: new native.Palette(styles, markdown) };
	}
	return latest.palette;
}

/** Returns a version of `make` that runs again only if one of its arguments has changed. */
export function cached<Arguments extends readonly unknown[], Result>(
	make: (...args: Arguments) => Result,
): (...args: Arguments) => Result {
	let last: { args: Arguments; result: Result } | undefined;
	return (...args) => {
		const isSame = last?.args.every((value, index) => value === args[index]);
		if (!last || !isSame) last = { args, result: make(...args) };
		return last.result;
	};
}

/**
 * Returns a component that lays out its lines once per width, and again when `stamp` has changed. pi creates a new
 * component after any other change. `keys` looks up the user's keys.
 */
export function component(
	theme: AnyTheme,
	layout: (pen: Pen) => readonly string[],
	stamp: () => unknown = () => undefined,
	keys: KeySource = {},
): Component {
	let invalidated = 0;
	const lines = cached((width: number, ..._unchanged: unknown[]) => [...layout(new Pen(theme, width, keys))]);
	return {
		render: (width) => lines(width, stamp(), invalidated),
		invalidate() {
			invalidated += 1;
		},
	};
}
