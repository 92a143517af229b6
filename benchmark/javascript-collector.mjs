/**
 * A collector in the usual form for an extension: it concatenates the chunks as strings, splits them, parses each line,
 * keeps the messages, and takes the live text from each update. It is the baseline for the native collector.
 */

/** The interval between updates. A caller sees at most ten per second. */
const snapshotIntervalMs = 100;

export class JavaScriptCollector {
	bytes = 0;
	snapshots = 0;
	toolsCompleted = 0;
	usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0, turns: 0 };
	/** @type {{ text: string, items: unknown[] } | undefined} */
	seen;
	/** Called after each update. */
	onSnapshot = () => {};
	#buffer = "";
	#live = "";
	/** @type {any[]} */
	#messages = [];

	/**
	 * Reads a stream to its end.
	 *
	 * @param {import("node:stream").Readable} source
	 * @returns {Promise<void>}
	 */
	read(source) {
		const timer = setInterval(() => this.#snapshot(), snapshotIntervalMs);
		source.on("data", (chunk) => this.#push(chunk));
		return new Promise((resolve, reject) => {
			source.on("error", reject);
			source.on("end", () => {
				clearInterval(timer);
				if (this.#buffer.trim()) this.#processLine(this.#buffer);
				resolve();
			});
		});
	}

	/** Returns the text of the last answer that is not a tool call. */
	finalText() {
		const last = this.#messages.findLast(({ role, stopReason }) => role === "assistant" && stopReason !== "toolUse");
		return last ? textOf(last.content) : "";
	}

	/** @param {Buffer} chunk */
	#push(chunk) {
		this.bytes += chunk.length;
		this.#buffer += chunk.toString();
		const lines = this.#buffer.split("\n");
		this.#buffer = lines.pop() ?? "";
		for (const line of lines) this.#processLine(line);
	}

	/** @param {string} line */
	#processLine(line) {
		if (!line.trim()) return;
		/** @type {any} */
		let event;
		try {
			event = JSON.parse(line);
		} catch {
			return;
		}
		if (event.type === "message_update") {
			const update = event.assistantMessageEvent;
			if (event.message) this.#live = textOf(event.message.content);
			else if (update?.type === "text_delta") this.#live += update.delta;
		} else if (event.type === "message_start") {
			if (event.message.role === "assistant") this.#live = "";
		} else if (event.type === "message_end") {
			this.#messages.push(event.message);
			if (event.message.role === "assistant") this.#count(event.message.usage);
		} else if (event.type === "tool_execution_end") {
			this.toolsCompleted++;
		}
	}

	/** @param {any} usage */
	#count(usage) {
		this.usage.turns++;
		this.usage.input += usage.input || 0;
		this.usage.output += usage.output || 0;
		this.usage.cacheRead += usage.cacheRead || 0;
		this.usage.cacheWrite += usage.cacheWrite || 0;
		this.usage.cost += usage.cost?.total || 0;
	}

	#snapshot() {
		this.snapshots++;
		const assistants = this.#messages.slice(-20).filter((message) => message.role === "assistant");
		this.seen = { text: this.#live, items: assistants.flatMap(itemsOf).slice(-10) };
		this.onSnapshot();
	}
}

/** @param {any[]} content */
function textOf(content) {
	return content
		.filter((part) => part.type === "text")
		.map((part) => part.text)
		.join("\n");
}

/** @param {any} message */
function itemsOf(message) {
	return message.content
		.filter((/** @type {any} */ part) => part.type === "text" || part.type === "toolCall")
		.map((/** @type {any} */ part) =>
			part.type === "text"
				? { type: "text", text: part.text }
				: { type: "toolCall", name: part.name, args: part.arguments },
		);
}
