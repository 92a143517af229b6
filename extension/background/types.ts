/** What the addon says of background runs, by the names that the extension uses. */

export type {
	BackgroundEvent,
	BackgroundOptions,
	BackgroundRun,
	BackgroundSession,
	CommandReport,
	Completion,
	DeliveryMessage,
	SpawnableAgents,
	SpawnOptions,
	SpawnReceipt,
	Transcript,
} from "../../index.js";
