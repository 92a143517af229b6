/** What the addon says of background runs, by the names that the extension uses. */

import type { BackgroundRun as NativeRun } from "../../index.js";

export type {
	BackgroundEvent,
	BackgroundOptions,
	BackgroundSession,
	CommandReport,
	Completion,
	DeliveryMessage,
	SpawnableAgents,
	SpawnOptions,
	SpawnReceipt,
	Transcript,
} from "../../index.js";

export interface BackgroundRun extends NativeRun {
	/** What its child asks of the user, and waits for. */
	question?: { title: string };
}
