/* The types of values that cross the border as JSON. `native.d.ts` begins with them; NAPI-RS generates the rest of it. */
/* eslint-disable */

/** The result of a call and, with `details.streaming` or `details.tasks`, an update on the way to it. */
export interface ToolResult {
  /**
   * One block, for the model and the user: sanitized and within `output.maxBytes` and `output.maxLines`. With
   * several tasks each answer is within these limits, and all together are within `output.maxTotalBytes`.
   */
  content: Array<TextContent>
  /**
   * True when the run failed. A truncated success is no failure.
   * @default false
   */
  isError?: boolean
  /** The usage of the children, in pi's own shape. Absent if no child was started. */
  usage?: PiUsage
  /** Everything that is not text. */
  details: RunDetails
}

/** A block of text. */
export interface TextContent {
  /** Always `text`. */
  type: "text"
  /** Sanitized. */
  text: string
}

/** Everything about a call that is not its text. */
export interface RunDetails {
  /** Tells them from details of other tools of the same name. */
  kind?: "subagent-run"
  /** The version of their shape: 1. */
  version?: number
  /** `management`: any kind of call, refused because of `maxDepth`. */
  mode: "single" | "parallel" | "chain" | "management"
  /** Eight hexadecimal characters; absent when the call was refused. */
  runId?: string
  /** One entry per run, in the order of the tasks; empty for refusals and in updates. */
  results: Array<SingleResult>
  /** The reason why the call did not simply succeed. A truncated success has one as well. */
  error?: CallError
  /** Only in updates of one run, never in a result. */
  streaming?: Streaming
  /** Only in updates of several runs, never in a result: one entry per task, in their order. */
  tasks?: Array<TaskProgress>
}

/** A code for programs and a sentence for people. */
export interface CallError {
  /** Stable; match on this. */
  code: "INVALID_INPUT" | "SUBAGENTS_DISABLED" | "UNKNOWN_AGENT" | "SUBAGENT_DISABLED" | "SUBAGENT_DEPTH_EXCEEDED" | "SUBAGENT_TIMEOUT" | "SUBAGENT_FAILED" | "SUBAGENT_OUTPUT_TRUNCATED"
  /** May change between releases. */
  message: string
}

/** The result of one agent's work on one task. Every string is sanitized. */
export interface SingleResult {
  /** The agent's name. */
  agent: string
  /** At most 16 KiB. */
  task: string
  /**
   * The id by which the session tools and commands know the run. Absent when the call belongs to no session, or the run
   * never began. With a `sessionFile` the run can be continued.
   */
  runId?: string
  /** 0 for success; otherwise the child's own code, 124 for a time limit, 130 for an abort, 128 + n for signal n. */
  exitCode: number
  /** The usage of all attempts. Zeros if no child reported any. */
  usage: RunUsage
  /** The child's context use after its last turn; absent in JSON mode and if the child did not report it. */
  context?: ContextUse
  /** The reason of the failure, at most 16 KiB. Present if and only if `exitCode` is not 0. */
  error?: string
  /**
   * The child's session file, after success and after failure. Absent when `persistSession` is false or no child
   * could be prepared.
   */
  sessionFile?: string
  /**
   * The text of the last complete assistant message, or the beginning of a message that an early end cut off. At most 64 KiB:
   * a longer text is cut in the middle.
   */
  output?: string
  /** The newest texts and tool calls, oldest first; at most 64, and 48 KiB of JSON. */
  displayItems?: Array<DisplayItem>
  /**
   * The outcome of the run. `killed`: its processes used more than `limits` allows; `skipped`: another run prevented its
   * start; `interrupted`: its host ended.
   */
  outcome: "completed" | "failed" | "aborted" | "idle_timeout" | "hard_timeout" | "budget" | "killed" | "skipped" | "interrupted" | "background"
  /** The provider whose quota is used up for longer than the run may wait, if that ended the run. */
  quotaExhausted?: string
  /** True if this is the stored result of an earlier run with the same key in a workflow. Its usage was paid then. */
  reused?: boolean
  /** The number of started children: 0 if none was, otherwise 1 to `retry.maxAttempts`. */
  attempts: number
  /** Milliseconds from the time at which the run got its slot to its result; 0 when it never got one. */
  durationMs: number
  /** The model that answered, `provider/id`. */
  model?: string
  /** The reason why the last assistant message ended. `length` is a success whose text says that it was cut. */
  stopReason?: string
  /** The signal that ended the child when the addon did not send it, such as `SIGKILL`. */
  signal?: string
  /** `runtime`: the limit of the whole run; `idle`: the limit on silence. Absent unless one of them ended the run. */
  timeoutReason?: "runtime" | "idle"
  /** The report on the child's sandbox. Absent if the run was refused before its sandbox was decided. */
  sandbox?: SandboxReport
  /**
   * The level of certainty that all processes of the child have ended. The type lists the most certain level first.
   * Absent if no child was started.
   */
  supervision?: "warden+pid-ns" | "warden+cgroup" | "warden" | "process-group" | "process"
  /** The resources of the child's processes together. Absent without a warden. */
  resources?: Resources
  /**
   * The file with the sanitized text; absent unless `content` was truncated. If an answer has more than 1 MiB, its
   * middle is missing there too: a note replaces it, and the session file has it.
   */
  fullOutputFile?: string
  /**
   * The value that the child has submitted, if its agent or the call has an `outputSchema`: sanitized, and valid
   * against the schema as far as pi checks it. Absent if it has more than 64 KiB as JSON; then `structuredFile`
   * names it.
   */
  structured?: unknown
  /** The file with all of it as JSON; absent when the text holds it. */
  structuredFile?: string
  /** The result of the check of its work. Absent if the agent has no check, or the run ended before it. */
  check?: CheckReport
  /**
   * The facts that its answer may contradict, the most important one first. `write_off`: it changed nothing, because
   * `allowWrite` is off; `readonly`: it called a tool that writes, and its agent is readonly; `no_write`: its task asks for
   * a change or its answer claims one, and it called no tool that changes files; `unchanged`: the same, or it called a tool
   * that writes, and git sees no change; `refused`: the sandbox refused a shell command. Absent without one.
   */
  caveats?: Array<"write_off" | "readonly" | "no_write" | "unchanged" | "refused">
  /**
   * The files the run changed, sorted, relative to the root of the git work tree it wrote in; files that git ignores
   * are not among them. At most 200, then one entry `and n more`. Absent outside a work tree and for agents that may
   * not write.
   */
  changes?: Array<string>
  /**
   * The files that the run created or changed and that run code later without being asked, or give instructions to agents:
   * `.pi`, hooks, `.mcp.json`, tasks of editors. Sorted, relative to the root of its tree, including files that git ignores;
   * at most 50, then one entry `and n more`. Absent if there are none.
   */
  flagged?: Array<string>
  /**
   * The reason why `flagged` may lack files, in at most 1,200 characters: the search stopped at a limit, or could not read a
   * directory. Absent if the whole tree was searched.
   */
  flaggedGap?: string
  /** The artifacts of a run with `isolation: private`. They are not in the caller's tree. */
  isolation?: IsolationReport
  /**
   * The number of secrets replaced in the texts of this result, by rule, the most frequent first. Absent if there
   * were none. Each value counts once, however often it occurs.
   */
  redacted?: Array<RedactedValues>
  /** The note about a model that took the place of the agent's, also in `diagnostics`; at most 16 KiB. */
  modelNote?: string
  /** Notes on how the run was set up and ended, such as tools that were dropped; at most 16 KiB each. */
  diagnostics?: Array<string>
}

/** The report on a child's sandbox, which keeps a readonly child from writing, and a writing child within its tree. */
export interface SandboxReport {
  /**
   * True if the kernel kept a readonly child from writing, or a writing child within its tree. False if only the
   * choice of tools limited it, and for a child that may write everywhere (`allowWrite: "all"`).
   */
  enforced: boolean
  /** The active mechanisms, such as `landlock`. */
  mechanism: Array<string>
  /** `off`: programs that the child's shell starts have no network. pi itself and its other tools still have it. */
  network: "on" | "off"
  /** The reason why it was not enforced, or the gaps that remain. */
  reason?: string
}

/** The result of the check of a run's work, which is a command that its agent names. */
export interface CheckReport {
  /** The command, on one line. */
  command: string
  /** True if it ended with exit code 0. A run whose check failed has failed. */
  passed: boolean
  /** Its outcome, such as `exit code 1`. */
  ended: string
  /** The number of times it ran, from 1. */
  runs: number
  /** The end of the output of its last run; at most 2 KiB. */
  output: string
}

/** The artifacts of a run that worked in a private tree. */
export interface IsolationReport {
  /** The branch with all that it did; absent when it changed nothing, or nothing could be imported. */
  branch?: string
  /** The file with the same as a patch. */
  patch?: string
  /** The number of commits that the child has made itself. */
  commits: number
  /** Files that differ from the tree that it began with. */
  files: number
  /** Lines that were added. */
  insertions: number
  /** Lines that were removed. */
  deletions: number
  /** The private tree, if it was kept because not everything could be imported; `diagnostics` says what. */
  keptTree?: string
}

/** The number of different values that one rule replaced. It never holds a value. */
export interface RedactedValues {
  /** The rule's name, which `sanitize.allow` takes as `rule:NAME`. */
  rule: string
  /** From 1. */
  count: number
}

/** The resources of all processes of a child together. */
export interface Resources {
  /**
   * The peak of resident memory, in bytes, sampled every 250 ms; never less than the peak of the largest process.
   * Pages that processes share count for each of them.
   */
  peakRssBytes: number
  /** Processor time in milliseconds. */
  cpuMs: number
  /** The most processes at once, sampled every 250 ms. */
  processes: number
}

/** The usage of a run, in the shape of pi's own messages, for the totals of the parent session. */
export interface PiUsage {
  /** Tokens the model read. */
  input: number
  /** Tokens the model wrote. */
  output: number
  /** Tokens read from the provider's cache. */
  cacheRead: number
  /** Tokens written to the provider's cache. */
  cacheWrite: number
  /** Tokens, as the provider counts them together. */
  totalTokens: number
  /** US dollars, by pi's price list. */
  cost: PiCost
}

/** US dollars, by kind of token. */
export interface PiCost {
  /** US dollars for `input`. */
  input: number
  /** US dollars for `output`. */
  output: number
  /** US dollars for `cacheRead`. */
  cacheRead: number
  /** US dollars for `cacheWrite`. */
  cacheWrite: number
  /** US dollars together. */
  total: number
}

/** The progress of one run. */
export interface Streaming {
  /** True if the text of the update is the child's. Otherwise the child has not said anything yet, and the text says so. */
  hasText: boolean
  /**
   * `starting`: the child has not said anything yet; `retrying`: an attempt has failed, and the next one is about to
   * start.
   */
  state: "queued" | "starting" | "running" | "retrying" | "awaiting_quota"
  /** The position in the queue of this process, from 1, rounded up by at most an eighth after 16; absent once the run has a slot. */
  position?: number
  /** Milliseconds until the rate limit of its provider lets it start; absent unless that holds it back. */
  rateLimitedForMs?: number
  /** The run that writes to the same work tree and has to end first, as `worker (1a2b3c4d)`; absent unless that holds it back. */
  blockedBy?: string
  /** A note on undoing its changes. Absent unless it writes in place. */
  undoNote?: string
  /** From 1. */
  attempt: number
  /** The newest texts and tool calls, oldest first; at most 64, and 32 KiB of JSON. */
  displayItems: Array<DisplayItem>
  /** Spent so far, earlier attempts included. */
  usage: RunUsage
  /** The child's context use; absent before the end of its first turn. */
  context?: ContextUse
  /** Assistant messages completed so far. */
  turnCount: number
  /** Milliseconds since the run got its slot; while it is queued, since the call. */
  elapsedMs: number
  /** Milliseconds since the child's last event. */
  sinceEventMs: number
  /** The pending retry. */
  retry?: RetryNotice
  /** The model that answers, `provider/id`; absent before its first message. */
  model?: string
}

/** The progress of one of several tasks. */
export interface TaskProgress {
  /** The agent's name. */
  agent: string
  /** `waiting`: a step of a chain that has to wait for the one before; from `completed` on the task has ended. */
  state: "waiting" | "queued" | "starting" | "running" | "retrying" | "awaiting_quota" | "completed" | "failed" | "aborted" | "idle_timeout" | "hard_timeout" | "budget" | "killed" | "skipped" | "interrupted" | "background"
  /** The position in the queue of this process, from 1, rounded up by at most an eighth after 16; absent once the task has a slot. */
  position?: number
  /** Milliseconds until the rate limit of its provider lets it start; absent unless that holds it back. */
  rateLimitedForMs?: number
  /** The run that writes to the same work tree and has to end first, as `worker (1a2b3c4d)`; absent unless that holds it back. */
  blockedBy?: string
  /** A note on undoing its changes. Absent unless it writes in place. */
  undoNote?: string
  /** From 1. */
  attempt: number
  /** Milliseconds since the task got its slot; while it is queued, since the call. */
  elapsedMs: number
  /** Milliseconds since the child's last event. */
  sinceEventMs: number
  /** The pending retry. */
  retry?: RetryNotice
  /** Spent so far, earlier attempts included. */
  usage: RunUsage
  /** The child's context use; absent before the end of its first turn. */
  context?: ContextUse
  /** Assistant messages completed so far. */
  turnCount: number
  /** The model that answers, `provider/id`; absent before its first message. */
  model?: string
  /** The reason of the failure. Absent before the task's end. */
  error?: string
  /**
   * The newest text of the child; the tasks of a call share 24 KiB. Absent when neither this nor `displayItems` has
   * changed since the update before.
   */
  text?: string
  /**
   * The newest texts and tool calls, oldest first; at most 64, and the tasks of a call share 32 KiB of JSON. Absent
   * like `text`.
   */
  displayItems?: Array<DisplayItem>
}

/** A failed request that is about to be repeated, or a failed attempt that is followed by another. */
export interface RetryNotice {
  /** The number of the repetition, from 1. */
  attempt: number
  /** The most repetitions; absent when it is not known. */
  maxAttempts?: number
  /** The time at which it starts, in milliseconds since 1970. */
  atMs: number
  /** The provider's message, on one line. */
  error?: string
}

/** A text or tool call of a child. */
export type DisplayItem =
  | { /** Words of the child. */ type: 'text'; /** Sanitized, at most 4 KiB: a longer text is cut in the middle. */
  text: string }
  | { /** A call of a tool. */ type: 'toolCall'; /** The tool's name. */
    name: string; /** The arguments. Sanitized, at most 32 KiB: long strings are cut in the middle. */
  args: Record<string, unknown>; /** True if the call has failed. Absent otherwise. */
  isError?: boolean }

/** The usage of a run, summed over its assistant messages. */
export interface RunUsage {
  /** Tokens the model read. */
  input: number
  /** Tokens the model wrote. */
  output: number
  /** Tokens read from the provider's cache. */
  cacheRead: number
  /** Tokens written to the provider's cache. */
  cacheWrite: number
  /** US dollars, by pi's price list. */
  cost: number
  /** Assistant messages. */
  turns: number
}

/** The context use of a child, as its pi shows it. */
export interface ContextUse {
  /** Tokens in the context; absent after a compaction, until the model has answered. */
  tokens?: number
  /** Tokens that the model's context holds. */
  window: number
  /** The used part of the window in percent, from 0; can be above 100. Absent without `tokens`. */
  percent?: number
}

/** The artifacts of a run, which are facts next to the child's words. The fields are those of `SingleResult`. */
export interface RunArtifacts {
  /** The id by which commands find them, if it differs from the record's id: each step of a chain has its own. */
  runId?: string
  /** The result of the check of its work. */
  check?: CheckReport
  /** The files that it changed. */
  changes?: Array<string>
  /** The changed files that run code later, or tell agents what to do. */
  flagged?: Array<string>
  /** The reason why there may be more of them. */
  flaggedGap?: string
  /** The report on its private tree. */
  isolation?: IsolationReport
  /** The name of its agent. Absent in records of earlier versions. */
  agent?: string
  /** What a command has done with the changes. Only in the runs of `BackgroundSession`. */
  settled?: "applied" | "discarded" | "undone"
}

/** The place of a run in a workflow. */
export interface WorkflowKey {
  /** The id of the workflow, which is unique in its project. */
  id: string
  /** The key of the run, which is unique in the workflow. */
  key: string
  /**
   * The directory that the workflow belongs to.
   * @default `cwd` of the call
   */
  project?: string
  /**
   * The phase of the workflow that the run belongs to.
   * @default the phase that the workflow is in
   */
  phase?: string
}

/** The place of a stored run in a workflow. */
export interface WorkflowRun {
  /** The id of the workflow. */
  id: string
  /** The key of the run. */
  key: string
  /** The directory that the workflow belongs to. */
  project: string
  /** The phase of the workflow in which the run has started. */
  phase?: string
  /** The digest of the request: agent, task, directory, model, thinking level and schema. */
  digest?: string
  /** The account that pays for the run. */
  account?: string
}

/** The limits of a workflow. */
export interface WorkflowLimits {
  /** The most that all its runs together may cost, in USD. A record of what the program has chosen: `sessionBudget` enforces it. */
  maxCost?: number
  /** The most tokens of all its runs together. */
  maxTokens?: number
  /**
   * The most runs that may start in one execution. Reused results do not count.
   * @default 100
   */
  maxRuns?: number
}

/** A workflow as the panel and the widget show it, without secrets. Times are milliseconds since 1970 in UTC. */
export interface ShownWorkflow {
  /** Its id, which is unique in its project. */
  id: string
  /** Its name for people. */
  name: string
  /** Its name in commands, if that is not its id: a run has the same name, or no one can type the id. */
  word?: string
  /** The directory that it belongs to. */
  project: string
  /** True if that is not the project of the conversation. Absent otherwise. */
  isOtherProject?: boolean
  /** The path of its script, relative to the project if it is in there. Absent if no one can type it. */
  file?: string
  /** Its state. */
  state: "running" | "completed" | "failed" | "stopped" | "interrupted"
  /** The phase that it is in. */
  phase?: string
  /** The number of its runs that have not ended. */
  live: number
  /** The number of its runs with a result. */
  completed: number
  /** The number of its other runs. */
  unfinished: number
  /** Spent by its runs, in USD. */
  cost: number
  /** The error of its script. */
  error?: string
  /** The time of its first start. */
  startedMs: number
  /** The current run of each of its keys, the key used first comes first, without long texts and files. */
  runs?: Array<RunRecord>
}

/** A workflow. Times are milliseconds since 1970 in UTC. */
export interface WorkflowRecord {
  /** Its id, which is unique in its project. */
  id: string
  /** Its name for people. */
  name?: string
  /** The directory that it belongs to. */
  project: string
  /** The file of its script. */
  file?: string
  /** The id of the workflow that has started it. */
  parent?: string
  /**
   * `interrupted`: its process ended before its script had. A workflow of runs without a script is `running` while a run is,
   * `completed` once all have completed, and otherwise has the state of its other runs.
   */
  state: "running" | "completed" | "failed" | "stopped" | "interrupted"
  /** The error of its script. */
  error?: string
  /** The time of its first start. */
  startedMs: number
  /** The time of its last end. */
  endedMs?: number
  /** The number of times that its script was started. */
  starts: number
  /** The phases that it has entered since the last start, each once, in order. */
  phases?: Array<string>
  /** The phase that it is in. */
  phase?: string
  /** Its limits. */
  limits: WorkflowLimits
  /** The account of its runs. */
  account: string
  /** Spent by its runs, in USD. */
  cost: number
  /** Tokens of its runs. */
  tokens: number
  /** The process id of its last host. */
  hostPid?: number
  /** The current run of each of its keys. The key that was used first comes first. */
  runs: Array<KeyedRecord>
}

/** A run of a workflow. */
export interface KeyedRecord {
  /** Its key in the workflow. */
  key: string
  /** The id of the run. */
  runId: string
  /** The key of the run in the list of runs. */
  runKey: string
  /** The phase in which it has started. */
  phase?: string
  /** The agent's name. */
  agent: string
  /** The task, at most its first 4 KiB. */
  task: string
  /** The state. */
  state: "queued" | "starting" | "running" | "retrying" | "awaiting_quota" | "ended"
  /** The outcome. Absent while the run is live. */
  outcome?: "completed" | "failed" | "aborted" | "idle_timeout" | "hard_timeout" | "budget" | "killed" | "skipped" | "interrupted" | "background"
  /** The error message. */
  error?: string
  /** Spent by the run, in USD. */
  cost: number
  /** Tokens of the run. */
  tokens: number
  /** The time at which it got its slot. */
  startedMs?: number
  /** The time of its end. */
  endedMs?: number
}

/** A run, in the background or in the foreground. All texts are sanitized; times are milliseconds since 1970 in UTC. */
export interface RunRecord {
  /** A random UUID; the run is stored under it. */
  key: string
  /** Eight hexadecimal characters, the name of its directory. */
  runId: string
  /** `agent:<agent>:subagent:<key>`. */
  sessionKey: string
  /** The id of the conversation that asked for it, or its file. */
  session: string
  /** The session file of that conversation. */
  sessionFile?: string
  /** A name for people; at most 80 characters. */
  label?: string
  /** The agent's name. */
  agent: string
  /** At most 4 KiB; in events at most 200 bytes. */
  task: string
  /** The model that answers, or that was chosen, `provider/id`. */
  model?: string
  /** The thinking level that was chosen. */
  thinking?: string
  /** The directory the child works in. */
  cwd: string
  /**
   * The rule for archiving its transcript: `keep`: after `archiveAfterMinutes`; `delete`: once its result was
   * delivered.
   */
  cleanup: "keep" | "delete"
  /** True when the run continues after its pi has ended. */
  isDetached: boolean
  /**
   * `starting`: the child has not said anything yet; `retrying`: an attempt has failed, and the next one is about to
   * start.
   */
  state: "queued" | "starting" | "running" | "retrying" | "awaiting_quota" | "ended"
  /** The position in the queue, from 1, rounded up by at most an eighth after 16; absent once it has a slot. */
  position?: number
  /** The run that writes to its work tree and has to end first; absent unless that holds it back. */
  blockedBy?: string
  /** The question of its child, on one line, while it waits for the answer. */
  pendingQuestion?: string
  /** The status in the announcement. Absent before the end; `unknown`: its host ended first. */
  status?: "success" | "error" | "timeout" | "unknown"
  /** The outcome. Absent before the end. */
  outcome?: "completed" | "failed" | "aborted" | "idle_timeout" | "hard_timeout" | "budget" | "killed" | "skipped" | "interrupted" | "background"
  /** The reason of the failure. */
  error?: string
  /** The time at which it was accepted. */
  createdMs: number
  /** The time at which it got its slot. */
  startedMs?: number
  /** The time of its end. */
  endedMs?: number
  /**
   * The runtime before the last resumption, in milliseconds; 0 for a run that was never resumed. For a resumed run
   * `startedMs` is the time at which its last part got its slot.
   */
  previousRunMs: number
  /** Its usage before the last resumption. */
  spentBefore: RunUsage
  /** The limit of the whole run that its request asked for, in milliseconds; 0 is none. */
  timeoutMs?: number
  /** The configured limit of the call that has begun it, in milliseconds. */
  callTimeoutMs?: number
  /** The JSON Schema of the result that its request asked for. Absent in the brief runs of events. */
  outputSchema?: unknown
  /** The time at which its transcript will be archived. */
  archiveAtMs?: number
  /** The time at which its transcript was archived. */
  archivedMs?: number
  /** Its usage, including the parts before it was resumed. */
  usage: RunUsage
  /** The context use of its child. Absent before the end of its first turn. */
  context?: ContextUse
  /** Its place in a workflow, if it belongs to one. */
  workflow?: WorkflowRun
  /** The run's directory; absent before its child starts. */
  directory?: string
  /**
   * The child's session file, under its new name once it was archived; absent before its child starts, and once it was
   * removed for `quotaBytes`.
   */
  transcript?: string
  /** The id of the child's session. */
  childSessionId?: string
  /** The artifacts of its work. Absent without any, and in events. */
  artifacts?: Array<RunArtifacts>
  /** The announcement; at most 16 KiB. Absent in the brief runs of events, as are `partial`, `structured` and `notes`. */
  result?: string
  /** The beginning of an answer that was cut off; at most 4 KiB. */
  partial?: string
  /** The value that the child has submitted, as in `SingleResult`. */
  structured?: unknown
  /** The file with all of it, as in `SingleResult`. */
  structuredFile?: string
  /** Further notes on how it was set up and ended. */
  notes?: Array<string>
  /** The tools its policy allowed when it was accepted. */
  tools: Array<string>
  /** The facts that its answer may contradict, as in `SingleResult`. */
  caveats?: Array<"write_off" | "readonly" | "no_write" | "unchanged" | "refused">
  /** The child's sandbox in words: the mechanisms that enforce it, or a note that it is not enforced. */
  sandbox?: string
  /** The level of certainty that all of the child's processes have ended, as in `SingleResult`. */
  supervision?: string
  /** The child's process id, while it runs. */
  pid?: number
  /** Processor time of its processes together, in milliseconds. */
  cpuMs?: number
  /** The most resident memory of its processes at once, in bytes. */
  rssBytes?: number
  /** The most processes at once. */
  processes?: number
  /** The newest tool call on one line. */
  lastTool?: string
  /** The pending retry. */
  retry?: RetryNotice
  /** The newest text, unless a tool was called since; at most 2 KiB. */
  text?: string
  /** The time of its last progress. */
  updatedMs?: number
  /** The number of resumptions, from 0. */
  timesResumed: number
  /** The number of those after a restart of pi; absent for 0. */
  restarts?: number
  /** The process id of its host. */
  hostPid?: number
  /** True when its child works in a tree of its own. */
  isIsolated: boolean
  /**
   * Where its changes are stored, or why none are: `diff` shows those of a snapshot or a branch. Absent until it is
   * known, and for runs of earlier versions.
   */
  storedChanges?: "readonly" | "write_off" | "only_reads" | "nothing" | "snapshot" | "branch" | "not_imported" | "not_recorded" | "no_git" | "remote"
  /** True when it runs in this process. */
  isInProcess: boolean
  /** True when a call waits for it, or has waited: it is listed until it ends, and kept so that it can be continued. */
  isForeground: boolean
  /**
   * The state of its changes, once it has ended: `unapplied`: on a branch or in a patch, `half_applied`: an apply was
   * interrupted, `applied_only`: applied, and the branch was discarded, `in_place`: in the user's tree. Absent if it
   * has none.
   */
  changesState?: "unapplied" | "half_applied" | "applied" | "applied_only" | "in_place" | "undone" | "discarded"
}

/** A change of a conversation's runs. A field is absent when there is nothing new for it. */
export interface BackgroundEvent {
  /**
   * The live runs of the conversation, its newest 100 background runs and its newest 100 foreground runs, newest
   * first. They are brief: `task` has at most 200 bytes; `result`, `partial` and `notes` are absent.
   */
  runs?: Array<RunRecord>
  /** The running workflows of the conversation. */
  workflows?: Array<ShownWorkflow>
  /**
   * The events of runs for other extensions, oldest first. There are none for runs that had ended before the
   * conversation was opened.
   */
  runEvents?: Array<RunEvent>
  /** Results for the conversation, or questions of its runs, as one message. Call `delivered` once they are in it. */
  deliveries?: DeliveryMessage
  /** Sentences the user must see, such as that the store cannot be used. */
  notices?: Array<string>
  /**
   * The runs whose changes a command has applied, discarded or undone, by their ids, for `CallCard.settle`: of any age,
   * and all steps of chains.
   */
  settled?: Record<string, "applied" | "discarded" | "undone">
  /** The changes in the project that wait for the user, with a command. Once after the opening. */
  waiting?: string
}

/**
 * The results of up to 16 runs, for the conversation that asked for them, or the questions of some; further ones come in the next
 * messages.
 */
export interface DeliveryMessage {
  /**
   * One id per result. Each is offered until `delivered` confirms it: again after a failed `onEvent`, and after a
   * process that ended first.
   */
  deliveryIds: Array<string>
  /** The ids of the runs, in the order of `deliveryIds`. */
  runIds: Array<string>
  /** The runs, with their results; empty in a message with questions. */
  runs: Array<RunRecord>
  /**
   * The questions that runs ask the conversation, if their agents say `ask: parent`. A message has either results or
   * questions. `continueRun` and the tool `sessions_send` answer them.
   */
  questions: Array<RunQuestion>
  /** The event `subagent:delivered`, to publish to other extensions once the message is in the conversation. */
  deliveredEvent: DeliveredEvent
  /**
   * The whole message for the model. Each result has its share of the output limit; the children's words are fenced and
   * labelled.
   */
  text: string
  /** True when an idle conversation should start a turn because of it. */
  triggerTurn: boolean
  /** The same as pi's `sendMessage` takes it. */
  announcement: Announcement
  /** The interrupted runs in the message, if `background.onRestart` is `ask` or `resume`. */
  restart?: Restart
}

/** A message of pi's. */
export interface Announcement {
  /** `ANNOUNCEMENT`. */
  customType: string
  /** The message for the model. */
  content: string
  /** True: people see it. */
  display: boolean
  /**
   * The details that the session keeps next to it, with `kind`, `version`, `deliveryIds`, `runIds` and the runs with the
   * beginnings of their results.
   */
  details: Record<string, unknown>
}

/** Interrupted runs that can be resumed after a restart of pi. */
export interface Restart {
  /** `resume`: resume them; `ask`: ask the user first. */
  mode: "ask" | "resume"
  /** The keys of the runs, for `restartRuns`. */
  keys: Array<string>
}

/** A question of a run. All strings are sanitized. */
export interface RunQuestion {
  /** The run that asks; eight hexadecimal characters. */
  runId: string
  /** Its key as a session. */
  sessionKey: string
  /** The agent's name. */
  agent: string
  /** The name of the run, if it has one. */
  label?: string
  /** The first line of its task. */
  task: string
  /** The words of the child's model. */
  question: string
  /** The answers that it names; empty for one in other words. */
  options: Array<string>
  /** The time at which the run continues without an answer, in milliseconds since 1970. */
  endsMs: number
}

/** The state of a run. */
export interface RunStatus {
  /**
   * As in `TaskProgress.state` or `SingleResult.outcome`, or `planned`: the call is not running yet. Another word is
   * shown as it is.
   */
  state: string
  /** The question that it has asked and whose answer it waits for. */
  pendingQuestion?: string
  /** The place in the queue, from 1. */
  position?: number
  /** Milliseconds until a rate limit lets it start. */
  rateLimitedForMs?: number
  /** The run that writes to the same work tree and has to end first. */
  blockedBy?: string
  /** The attempt, from 1; after the end, how many there were. */
  attempt?: number
  /** The pending retry. */
  retry?: RetryNotice
  /** The reason why the model stopped. */
  stopReason?: string
  /** The signal that ended the child. */
  signal?: string
  /** The most important fact that the answer of a completed run may contradict: the first of `SingleResult.caveats`. */
  caveat?: "write_off" | "readonly" | "no_write" | "unchanged" | "refused"
  /**
   * The time for which a countdown is written, in milliseconds since 1970.
   * @default now
   */
  nowMs?: number
}

/** The label of a state. */
export interface StateLabel {
  /** The name of its mark; `markStyles` has the sign. */
  mark: "none" | "ok" | "info" | "warning" | "error" | "running" | "asking" | "queued" | "starting" | "started" | "retrying" | "skipped" | "added" | "removed" | "hunk"
  /** The state in a word or two. */
  word: string
  /** The text next to the mark. Absent for a run that simply runs or has simply completed. */
  note?: string
}

/**
 * The usage in words. A part is absent if there is nothing to show, such as the turns of runs that used no tokens and
 * cost nothing.
 */
export interface UsageText {
  /** `3 turns`. */
  turns?: string
  /** `↑12.3k ↓950 R34k W2.1k`: read, written, read from the provider's cache, written to it. */
  tokens?: string
  /** `$0.04`. */
  cost?: string
}

/** An event of a run. */
export interface RunEvent {
  /** The name of the event. */
  event: "subagent:started" | "subagent:update" | "subagent:ended"
  /** The run. */
  run: PublishedRun
}

/** A run as published to other extensions. The fields have the same meaning as in `RunRecord`. */
export interface PublishedRun {
  runId: string
  sessionKey: string
  label?: string
  agent: string
  /** Its first 500 characters. */
  task: string
  state: "queued" | "starting" | "running" | "retrying" | "awaiting_quota" | "ended"
  position?: number
  blockedBy?: string
  status?: "success" | "error" | "timeout" | "unknown"
  outcome?: "completed" | "failed" | "aborted" | "idle_timeout" | "hard_timeout" | "budget" | "killed" | "skipped" | "interrupted" | "background"
  /** At most 500 characters. */
  error?: string
  model?: string
  createdMs: number
  startedMs?: number
  endedMs?: number
  usage: RunUsage
  lastTool?: string
  /** The last 500 characters of the text that it is writing. */
  text?: string
  transcript?: string
  /** The first 4000 characters of its result; only when that has been delivered. */
  result?: string
}

/** The event `subagent:delivered`: results are in the conversation. */
export interface DeliveredEvent {
  /** The ids of the runs. */
  runIds: Array<string>
  /** The ids of the deliveries, in the same order. */
  deliveryIds: Array<string>
  /** The runs, with the beginnings of their results. */
  runs: Array<PublishedRun>
}

/** The answer to a request for a background run. */
export interface SpawnReceipt {
  /** `subagent-receipt`: the kind of these details in a session. */
  kind: string
  /** The version of its shape: 1. */
  version: number
  /** `forbidden`: a setting does not allow it, and `error` names it; `error`: the request cannot be met. */
  status: "accepted" | "forbidden" | "error"
  /** Eight hexadecimal characters; present when the run was accepted. */
  runId?: string
  /** `agent:<agent>:subagent:<uuid>`; present when the run was accepted. */
  childSessionKey?: string
  /** A sentence for the model; present when the run was accepted. */
  note?: string
  /** Options that were skipped, such as an unknown model. */
  warnings?: Array<string>
  /** The reason why there is no run. */
  error?: string
}

/** The agents that may run in the background with this configuration on this machine. */
export interface SpawnableAgents {
  /** `subagent-agents`: the kind of these details in a session. */
  kind: string
  /** The version of its shape: 1. */
  version: number
  /** Builtins first, then the user's, then the project's. */
  agents: Array<SpawnableAgent>
  /** The agent of a request that names none (`defaultAgent`). Absent when it is not one of `agents`. */
  defaultAgent?: string
}

/** An agent that may run in the background. */
export interface SpawnableAgent {
  /** The agent's name. */
  id: string
  /** One line of at most 200 characters. */
  description: string
  /** The source of its definition. */
  source: "builtin" | "user" | "project" | "program"
  /** True when the definition allows only reading. */
  readonly: boolean
  /** True if its child could change files: it is not readonly, `allowWrite` is on, and it has a tool or a command for that. */
  canWrite: boolean
  /**
   * The files that it could change: `tree`: only those in its tree, enforced by the kernel; `anywhere`: all that the
   * user may change. Absent if it could change none.
   */
  writes?: "tree" | "anywhere"
  /** The model it would get, as it is named; absent when unknown. */
  model?: string
  /** The source of the model, for people: `agents.NAME`, the agent file, the session. Absent without `model`. */
  modelFrom?: string
  /** The thinking level it would get; absent when unknown. */
  thinking?: string
  /**
   * The recipient of the questions that it asks while it works: the user, or the conversation that started it.
   * Absent if it asks no one.
   */
  askTarget?: "user" | "parent"
}

/** The answer to a command. */
export interface CommandReport {
  /** True when the command was refused and did nothing. */
  isError: boolean
  /** A heading. */
  title: string
  /** The lines below it. */
  lines: Array<ReportLine>
  /** Title and lines as plain text. */
  text: string
  /**
   * The same for the screen of the person who asked, if something in the others is redacted. Do not store it, and do not
   * give it to a model.
   */
  exact?: ExactReport
  /** `RunRecord.key` of a run to show at work, after `run --wait`. */
  watch?: string
  /** The script that the host starts now, in a process of its own, after `workflow FILE`. */
  workflow?: AllowedScript
  /** The ids of the processes of `scripts` that the host ends now. */
  stops?: Array<number>
  /**
   * True if the card of a call, the message about a background run or the end of a script in `stops` says it, too. A host that
   * draws them does not show the report. Absent otherwise.
   */
  isOnCard?: boolean
}

/** A script that its host has started in a process of its own. */
export interface HostScript {
  /** The absolute path of the script. */
  path: string
  /** The id of the process. */
  pid: number
}

/** A script that the user allows to run. */
export interface AllowedScript {
  /** The absolute path of the file. */
  path: string
  /** The SHA-256 of the text that the user has allowed, in hexadecimal. Do not run another text. */
  sha256: string
  /** The file in which to record the imports of a script that the user starts: a line of JSON with `path` and `sha256` for each. */
  importsFile: string
  /** The SHA-256 of each imported file, by its path, if pi starts the script by itself. Do not import other files. */
  imports?: Record<string, string>
}

/** A workflow whose process ended before its script. */
export interface InterruptedWorkflow {
  /** What happens to it, for the user: it continues, or the reason why it does not. */
  text: string
  /** The script, if it may run without a question: the user has allowed its present text, or the policy needs no consent. */
  script?: AllowedScript
}

/** One line of a report. */
export interface ReportLine {
  /** The mark before it; absent: none. */
  mark?: "ok" | "info" | "warning" | "error" | "running" | "asking" | "queued" | "starting" | "started" | "retrying" | "skipped" | "added" | "removed" | "hunk"
  /** Its first column; absent: none. */
  name?: string
  /** The text. */
  text: string
  /**
   * Levels below the lines before it.
   * @default 0
   */
  indent?: number
}

/** A report for a person's screen. */
export interface ExactReport {
  /** The lines below the title. */
  lines: Array<ReportLine>
  /** Title and lines as plain text. */
  text: string
}

/** One way to complete a command. */
export interface Completion {
  /** Everything that then follows `/subagents `. */
  value: string
  /** Its name in the list of completions. */
  label: string
  /** The effect of the command, or a description of the run that it names. */
  description: string
}

/** The newest part of a child's conversation. */
export interface Transcript {
  /** Oldest first; at most 1 MiB of text. */
  entries: Array<TranscriptEntry>
  /** True when there are, or may be, older entries. */
  hasMore: boolean
  /** The size of the file in bytes. */
  bytes: number
  /** Changes whenever the file does. */
  version: string
}

/** A message, a tool call or its result. */
export interface TranscriptEntry {
  /** The speaker, or the kind of event. */
  role: "user" | "assistant" | "toolCall" | "toolResult"
  /** The words; of a tool call one line. Sanitized, at most 16 KiB. */
  text: string
  /** The tool; of an assistant's message the model. */
  name?: string
  /**
   * True when the answer or the tool failed.
   * @default false
   */
  isError?: boolean
}

/** The answer to a call of a session tool, as pi takes the result of a tool. */
export interface SessionToolAnswer {
  /** The answer for the model: a JSON object. A failed call has the `status` `error`, and the reason in `error`. */
  content: Array<TextContent>
  /** The details that the session keeps next to it. */
  details: SessionToolDetails
  /**
   * True when the call failed.
   * @default false
   */
  isError?: boolean
}

/** The details that a session keeps of a session tool's answer. */
export interface SessionToolDetails {
  /** `subagent-session`. */
  kind: string
  /** The version of their shape: 1. */
  version: number
  /** The answer for people. */
  report: CommandReport
  /**
   * The deliveries whose content the answer has. Confirm them with `delivered` once the answer is in the
   * conversation; until then they count as not delivered yet. Absent: none.
   */
  deliveryIds?: Array<string>
}

/** A host's next step, according to a `DeliveryDispatcher`. */
export interface DeliveryStep {
  /**
   * `check`: call `contains`. `send`: give the message to the session and call `sent`; otherwise this message and
   * the later ones keep waiting. `arrived`: the message is in the session. `confirm`: call
   * `BackgroundSession.delivered` with the ids.
   */
  step: "check" | "send" | "arrived" | "confirm"
  /** The first of the message's `deliveryIds`; of `send` and `arrived`. */
  message?: string
  /** True when the message starts a turn; of `send`. */
  triggerTurn?: boolean
  /** The deliveries to confirm; of `confirm`. */
  deliveryIds?: Array<string>
}

/** Messages that join the session when its model would otherwise stop. */
export interface JoiningMessages {
  /** The first of the `deliveryIds` of each message, oldest first. */
  messages: Array<string>
  /** True when the model continues because of them. */
  continue: boolean
}

/** The agents of a directory. */
export interface AgentCatalog {
  /** The agents that take effect: builtins first, then the user's, then the project's. */
  agents: Array<AgentInfo>
  /** The agents hidden by one of the same name from a nearer source. */
  shadowed: Array<ShadowedAgent>
  /** Errors in agent files that were skipped, and warnings about entries without effect. */
  diagnostics: Array<Diagnostic>
}

/** An agent. */
export interface AgentInfo {
  /** At most 64 characters. */
  name: string
  /** One line of at most 1000 characters. */
  description: string
  /** A nearer source wins: `project` over `user` over `builtin`. */
  source: "builtin" | "user" | "project" | "program"
  /** The file that defines it; absent for builtins. */
  path?: string
  /** True when the definition allows only reading. */
  readonly: boolean
  /** The tools a child would get with this configuration on this machine. */
  tools: Array<string>
  /** The tools the definition asks for and a child would not get. */
  dropped: Array<DroppedTool>
  /** False when a run would be refused; `problem` says why. */
  runnable: boolean
  /** Present exactly when `runnable` is false. */
  problem?: string
  /** The model the definition asks for; absent: inherited. */
  model?: string
  /** The thinking level the definition asks for; absent: inherited. */
  thinking?: string
  /**
   * True if a child could change files: the agent is not readonly, `allowWrite` is on, and it has a tool or a command for
   * that.
   */
  canWrite: boolean
  /**
   * The files that it could change: `tree`: only those in its tree, enforced by the kernel; `anywhere`: all that the
   * user may change. Absent if it could change none.
   */
  writes?: "tree" | "anywhere"
  /** A run's effective settings with their sources, in words for people: `model haiku (agents.explorer)`. */
  settings: Array<string>
  /** The agent's requests that this pi cannot meet, in words for people. */
  notices: Array<string>
}

/** A tool that a child does not get. */
export interface DroppedTool {
  /** The tool's name. */
  tool: string
  /** For people; may change between releases. */
  reason: string
}

/** An agent hidden by another of the same name. */
export interface ShadowedAgent {
  /** The name both have. */
  name: string
  /** The source of the hidden one. */
  source: "builtin" | "user" | "project" | "program"
  /** The file that defines it; absent for builtins. */
  path?: string
  /** The source of the effective definition. */
  by: "builtin" | "user" | "project" | "program"
}

/** A problem in a file, for the person who wrote it. */
export interface Diagnostic {
  /**
   * `error`: the file or the value is not used; `warning`: it is used, but something in it has no effect; `info`:
   * worth knowing.
   */
  severity: "error" | "warning" | "info"
  /** Stable; match on this. */
  code: string
  /** For people; may change between releases. */
  message: string
  /** The file. */
  path?: string
  /** From 1. */
  line?: number
  /** From 1, in characters. */
  column?: number
}

/** The tools that a host registers so that its model can delegate. */
export interface ToolSurfaces {
  /** False when `enabled` is false: register nothing. */
  register: boolean
  /** `subagent` first: it lists the agents, and the other descriptions refer to that list. `docs/tools.md` has all tools. */
  tools: Array<ToolSurface>
  /**
   * `subagent_run`, for scripts of pi's `codemode` tool. A pi without tool exposures would offer it to the model: register
   * it only if the entries of `pi.getAllTools()` have an `exposure`.
   */
  scriptTool: ScriptToolSurface
  /** Append this to the system prompt once. Absent when `injectDelegationPolicy` is false. */
  delegationPolicy?: string
  /** Mistakes in the configuration and in agent files; show them once. */
  notices: Array<string>
  /** The key that moves what calls wait for to the background; absent when `background.key` is `none`. */
  backgroundKey?: string
}

/** A tool, as pi registers it. */
export interface ToolSurface {
  /** The name that models call. */
  name: string
  /** The name that people read. */
  label: string
  /** The text for the model: what the tool does and, in `subagent`, the list of agents. */
  description: string
  /** One line for the list of tools in the system prompt. Absent: the description is enough. */
  promptSnippet?: string
  /** Rules for the system prompt, one line each. */
  promptGuidelines: Array<string>
  /** The JSON schema of the parameters. */
  parameters: Record<string, unknown>
  /** The callers that may use the tool, in the form that pi 1.x and later accept. */
  exposure: "model-only"
  /** The effects of the tool, in the form that pi 1.x and later accept. Absent: it can do whatever its agents do. */
  annotations?: ToolAnnotations
}

/** The tool for scripts, as pi 1.x and later register it. */
export interface ScriptToolSurface {
  /** The name that scripts call. */
  name: string
  /** The name that people read. */
  label: string
  /** The text for the model that writes scripts. */
  description: string
  /** Always empty. */
  promptGuidelines: Array<string>
  /** The JSON schema of the parameters. */
  parameters: Record<string, unknown>
  /** The JSON schema of the structured result. */
  outputSchema: Record<string, unknown>
  /** The callers that may use the tool. */
  exposure: "codemode"
}

/** The effects of a tool. */
export interface ToolAnnotations {
  /** True when it changes nothing. */
  readOnlyHint: boolean
}

/** The arguments of a tool call before its schema is applied: exactly one of the two is present. */
export interface PreparedArguments {
  /** The arguments in the form of the schema. */
  arguments?: Record<string, unknown>
  /** The mistakes in the arguments and the form that the tool takes, in words for the model. */
  problem?: string
}

/** The effective configuration in a directory. */
export interface LoadedConfig {
  /** The object under `subagents`, every key present, defaults filled in. 0 means "no limit", as in the files. */
  values: Record<string, unknown>
  /** The files that were looked for, whether they exist or not. */
  sources: Array<ConfigSource>
  /** Mistakes in the files, and keys without effect yet; at most ten of each file. */
  diagnostics: Array<Diagnostic>
  /** Set when a file cannot be read or parsed: every run is then refused for this reason. */
  broken?: Diagnostic
}

/** A configuration file. */
export interface ConfigSource {
  /** The kind of file. A project file may only tighten what the user's file allows. */
  origin: "user" | "project"
  /** The path of the file, also if it does not exist. */
  path: string
  /** False when there is no such file, which is no mistake. */
  present: boolean
}

/** The findings about what a delegation needs. */
export interface DoctorReport {
  /** True when no check has the status `error`. */
  ok: boolean
  /** In the order in which a person would look. */
  checks: Array<DoctorCheck>
}

/** One check and its finding. */
export interface DoctorCheck {
  /** The subject of the check, in a word or two. */
  area: string
  /** `warning`: delegation works, but not as one might expect; `error`: it does not work, or not all of it. */
  status: "ok" | "info" | "warning" | "error"
  /** The finding. Sanitized, at most 4 KiB. */
  message: string
  /** The way to fix it. Sanitized, at most 4 KiB. */
  hint?: string
}

/**
 * Asks whether an agent that a project defines may run. The texts are exact, for the screen of the person who decides:
 * nothing is redacted in them, and a character that cannot be seen is shown as `<U+200B>`. Do not store them, and do not
 * give them to a model.
 */
export interface ConfirmRequest {
  /** Names this question to `withdraw`; no other one of the process has it. */
  id: number
  /** The run that waits for the answer; eight hexadecimal characters. */
  runId: string
  /** The agent's name. */
  agent: string
  /** The file that defines it. */
  path: string
  /** The question in a few words. */
  title: string
  /**
   * A description of the agent, the effect of a yes, the changes since the last yes, and the whole file. A yes
   * applies to all of it, so let the person see it to its end.
   */
  message: string
  /** The heading, which names the asker: `sub-agent`. */
  heading: string
  /** The question on one line. */
  sentence: string
  /** A no and a yes, in this order: the first one changes nothing. */
  choices: Array<Choice>
  /** The time limit for the answer, in milliseconds; ten minutes. */
  timeoutMs: number
}

/**
 * A dialog that an extension in a child opened. Its texts are exact, for the screen of the person who decides: nothing is
 * redacted in them, and a character that cannot be seen is shown as `<U+200B>`. Do not store them, and do not give them to
 * a model. A child may have 16 open; further ones are cancelled, and so is one of which a text is too long.
 */
export interface Question {
  /** Names this question to `withdraw`; no other one of the process has it. */
  id: number
  /** The run whose child asks; eight hexadecimal characters. */
  runId: string
  /** The agent's name. */
  agent: string
  /** The name of the run, if it has one. */
  label?: string
  /**
   * True for a question of an agent with `ask: parent` in the background, which its conversation is asked, too
   * (`DeliveryMessage.questions`). The first answer counts; a rejection leaves it to the conversation. Absent for others.
   */
  forConversation?: boolean
  /** `confirm` wants `confirmed`; the others want `value`. */
  method: "select" | "confirm" | "input" | "editor"
  /** At most 16 KiB; each mark for a character that cannot be seen adds some bytes. */
  title: string
  /** As long as the title. */
  message?: string
  /** The choices of a `select`: at most 64 of 1 KiB each. */
  options?: Array<string>
  /** The hint in an empty field; as long as the title. */
  placeholder?: string
  /** The initial text of the field; as long as the title. Returned unchanged, it is the child's own text. */
  prefill?: string
  /** The heading, which names the asker: `cleanup (explorer) asks`. */
  heading: string
  /** The question on one line, with who asks it. */
  sentence: string
  /** The ways to answer, for people. The first one changes nothing. */
  choices: Array<Choice>
  /**
   * The time limit for the answer, in milliseconds: as long as the child waits, and at most ten minutes. Without an
   * answer in that time the dialog is cancelled.
   */
  timeoutMs: number
}

/** A question that waits for a person. */
export interface WaitingQuestion {
  /** Its id. */
  id: number
  /** The run that asks; eight hexadecimal characters. */
  runId: string
  /** The agent's name. */
  agent: string
  /** The name of the run, if it has one. */
  label?: string
}

/** The question that a person wants to answer. */
export interface ChosenQuestion {
  /** Its id; absent when there is none. */
  id?: number
  /** The reason why there is none. */
  problem?: string
}

/** The names of the user's keys. */
export interface QuestionKeyNames {
  /** Selects the choice above. */
  up: string
  /** Selects the choice below. */
  down: string
  /** Scrolls a page up. */
  pageUp: string
  /** Scrolls a page down. */
  pageDown: string
  /** Scrolls to the end. */
  end: string
  /** Takes the selected choice. */
  confirm: string
  /** Takes the harmless choice. */
  cancel: string
}

/** A way to answer a question. */
export interface Choice {
  /** Its words, on one line. */
  label: string
  /** The answer that it gives. Absent if the person has to write a text. */
  answer?: Answer
}

/** A login whose token expires too soon for a run. */
export interface RefreshRequest {
  /** The provider, as pi names it. */
  provider: string
  /**
   * The time for which the token has to be valid, in milliseconds. The addon waits at most 50 seconds for the
   * answer.
   */
  validForMs: number
}

/** A model that a run asks for. */
export interface ModelRequest {
  /** The requested name: `provider/id`, an id, or a part of a name, without a thinking level. */
  model: string
}

/** pi's answer about a requested model. */
export interface HostModel {
  /** `provider/id`; absent when no model or several are meant. */
  model?: string
  /**
   * True if pi has a login for its provider.
   * @default false
   */
  hasLogin?: boolean
  /**
   * The environment variables that its provider takes a key from.
   * @default []
   */
  variables?: Array<string>
  /** pi's own words about a name that means no model or several. */
  problem?: string
  /**
   * Every model, `provider/id`, when none was meant: the nearest is suggested.
   * @default []
   */
  known?: Array<string>
}

/** A call to boot for. */
export interface ArrivingCall {
  /** Its tool. */
  tool: "subagent" | "subagent_parallel" | "subagent_chain" | "sessions_spawn" | "sessions_send"
  /** Its id. */
  callId: string
}

/** The outcome of a child's event stream. Every string is sanitized with the secrets of this process. */
export interface CollectedOutput {
  /** The text of the last complete assistant message that calls no tool; empty when there is none. At most 1 MiB. */
  output: string
  /** True when the child reported the end of its work. */
  final: boolean
  /** Summed over the assistant messages. */
  usage: RunUsage
  /** The error of the last assistant message. */
  error?: string
  /** The newest 64 KiB of assistant text that did not become the answer. */
  partialOutput?: string
  /** The reason why the last assistant message ended, such as `stop` or `length`. */
  stopReason?: string
  /** The model of the first assistant message, `provider/id`. */
  model?: string
  /** The type of the last event. */
  lastEventType?: string
  /** The newest texts and tool calls, oldest first; at most 64, and 48 KiB of JSON. */
  displayItems: Array<DisplayItem>
  /** Bytes left out of the middle of `output`; 0 when it is whole. */
  omittedBytes: number
  /** The counts of what was read. */
  counts: StreamCounts
  /** The end of the lines that are no JSON; at most 8 KiB. */
  noise: string
}

/** The bytes and lines that were read from a stream. */
export interface StreamCounts {
  /** Bytes. */
  bytes: number
  /** Lines that are not blank. */
  lines: number
  /** Lines that are events. */
  events: number
  /** Events of an unknown type; also counted in `events`. */
  unknownEvents: number
  /** Lines that are no events. */
  invalidLines: number
}

/** A rule that fired. It never holds the value. */
export interface Redaction {
  /** The rule's name. */
  rule: string
  /** The kind of values that the rule finds, in plain words. */
  what: string
  /** The number of times that it fired. */
  count: number
  /** The places where it fired, in bytes of the input as UTF-8. */
  ranges: Array<ByteRange>
}

/** A range of bytes. */
export interface ByteRange {
  /** The first byte, from 0. */
  start: number
  /** The byte after the last. */
  end: number
}

/** A text within its limits. */
export interface TruncatedOutput {
  /** The text, with a marker where something was left out. Limits too small for the marker drop it. */
  text: string
  /** True when something was left out. */
  truncated: boolean
  /** Lines of the input that were kept, in whole or in part. */
  keptLines: number
  /** Lines of the input. */
  totalLines: number
  /** Bytes of the input that were kept. */
  keptBytes: number
  /** Bytes of the input. */
  totalBytes: number
}

/** Limits of the spending of one run. */
export interface RunBudget {
  /** In US dollars, by pi's price list. */
  maxCost?: number
  /** Tokens of all kinds together. */
  maxTokens?: number
  /** Assistant messages. */
  maxTurns?: number
}

/** One of several tasks. */
export interface TaskOptions {
  /** The agent's name. */
  agent: string
  /**
   * The directory the child works in, which also decides which project agents there are. Absolute, or relative to
   * the directory of the conversation.
   * @default the directory of the conversation
   */
  cwd?: string
  /**
   * The task. In a step of a chain, `{previous}` is replaced by the answer of the step before, and `{task}` by the
   * task of the first step. Write `{{previous}}` for the word in braces.
   */
  task: string
  /** As `childModel` in `SpawnOptions`: a model that wins over agent and configuration. */
  model?: string
  /** As `childThinking` in `SpawnOptions`: a thinking level that wins over agent and configuration. */
  thinking?: string
}

/** A tool that the hosting pi has. */
export interface HostTool {
  /** The name that models call. */
  name: string
  /** The extension that provides it, as pi names it; absent for pi's own tools. */
  extension?: string
}

/** An extension that the hosting pi loads. */
export interface HostExtension {
  /** Its file; absolute. */
  path: string
  /** The directory of the package that brings it; absolute. Absent for a file of its own. */
  package?: string
}

/** A skill that the hosting pi has. */
export interface HostSkill {
  /** Its name. */
  name: string
  /** Its file. */
  path: string
}

/** A key for a provider that the hosting pi holds in its memory only. */
export interface SessionKey {
  /** The provider. */
  provider: string
  /** The key. */
  key: string
}

/** A name of this package that the hosting pi gives to something else. */
export interface TakenName {
  /** The kind of thing that it names. */
  kind: "tool" | "prompt" | "command"
  /** The name, without a slash. */
  name: string
  /** The file of its owner; absent for a part of the program around pi. */
  path?: string
  /** The package that brings the file, as it was installed: `npm:NAME`. */
  package?: string
  /**
   * True when the command line names the file.
   * @default false
   */
  isNamed?: boolean
  /** The name by which pi knows this package's own, if it has it. */
  ownName?: string
}

/** The pi that asks which agents may run in the background. */
export interface SpawnableOptions extends SurfaceOptions {}

/* The fields of every call; NAPI-RS generates those that each call has for itself. */
export interface RunOptions extends SurfaceOptions {}
export interface WorkflowOptions extends SurfaceOptions {}
export interface ParallelOptions extends SurfaceOptions {}
export interface ChainOptions extends SurfaceOptions {}
export interface SpawnOptions extends SurfaceOptions {}
export interface BackgroundOptions extends SurfaceOptions {}
export interface EarlyOptions extends SurfaceOptions {}

/**
 * Which binding artifact the generated loader actually loaded: `'native'` for
 * a native addon, otherwise the `platformArchABI` of the WASI flavor. Every
 * flavor napi-rs can build is listed, because `NAPI_RS_NATIVE_LIBRARY_PATH`
 * can point the loader at a WASI artifact this package does not build itself.
 */
export declare const __napiBindingTarget: 'native' | 'wasm32-wasi' | 'wasm32-wasip1'

/**
 * An open conversation and its background runs, which continue without it; see `openBackground`.
 *
 * @example
 * ```ts
 * import { openBackground } from "pi-subagent-native/extension";
 *
 * const options = { cwd: process.cwd(), sessionId: "session-1", delivered: [] };
 * const session = openBackground(options, ({ notices = [] }) => {
 * 	for (const notice of notices) console.error(notice);
 * });
 * const { text } = await session.command("list");
 * console.log(text, await session.runs(true), session.complete("st"));
 * await session.settled(60_000);
 * await session.close();
 * ```
 */
export declare class BackgroundSession {
  /**
   * Resolves with the conversation's live runs, its newest 100 background runs and its newest 100 foreground runs,
   * newest first, without an ended run whose key in a workflow has a newer run, unless its changes wait. `all`: the runs
   * of every conversation.
   */
  runs(all?: boolean | undefined | null): Promise<RunRecord[]>
  /**
   * Resolves with the runs that a person sees, newest first: the runs of this conversation as `runs` has them, and
   * at most 50 runs of other conversations in the same project that a person can still apply, undo or continue.
   */
  projectRuns(): Promise<RunRecord[]>
  /** Resolves with the workflows of the project, or with `all` those of all projects, with their runs, newest first. */
  workflows(all?: boolean | undefined | null): Promise<ShownWorkflow[]>
  /**
   * Runs the words after `/subagents ` on a line: `list`, `info`, `log`, `send`, `stop`, `resume`, `run`, `workflow`,
   * `background`, `undo`, `diff`, `apply`, `discard`, `agents` or `doctor` with its arguments. Resolves with the
   * report, also for a mistake. `host` answers the questions of a resumed run. `pi` describes pi as the caller knows
   * it by now, for `agents`, `doctor` and `run`. `scripts` are the scripts that the caller has started after
   * `CommandReport.workflow` and that have not ended, for `stop`, `resume` and `workflow`.
   */
  command(line: string, host?: HostCallbacks | undefined | null, pi?: SurfaceOptions | undefined | null, scripts?: Array<HostScript> | undefined | null): Promise<CommandReport>
  /**
   * Continues an ended run in the session of its child, with `message` as its next prompt, or sends `message` to a
   * running run, which reads it before its next turn. `run` is the run's session key, its id or the beginning of that, its label, or the id
   * of its child's session. Foreground runs can be continued too. Resolves with a receipt as `spawnSession` does;
   * the result comes through `openBackground`. `host` answers the questions of the run.
   *
   * @example
   * ```ts
   * import { openBackground } from "pi-subagent-native/extension";
   *
   * const session = openBackground({ cwd: process.cwd(), sessionId: "session-1", delivered: [] }, () => {});
   * const { status, error } = await session.continueRun("1a2b3c4d", "Now fix it.");
   * console.log(status, error);
   * await session.close();
   * ```
   */
  continueRun(run: string, message?: string | undefined | null, host?: HostCallbacks | undefined | null): Promise<SpawnReceipt>
  /**
   * Resumes interrupted runs after a restart of pi. `keys` are the ones in `DeliveryMessage.restart`. A run is
   * resumed this way at most twice. Resolves with the report. `host` answers the questions of the runs.
   */
  restartRuns(keys: Array<string>, host?: HostCallbacks | undefined | null): Promise<CommandReport>
  /**
   * Returns at most 20 completions of the words after `/subagents `. Empty if the line is complete. Answers from memory; for the
   * file of a workflow it reads one directory.
   */
  complete(prefix: string): Array<Completion>
  /**
   * Resolves with the newest entries of a run's conversation. `key` is `RunRecord.key`. Rejects when there is no
   * such run, or no readable file.
   */
  transcript(key: string, options?: TranscriptOptions | undefined | null): Promise<Transcript>
  /**
   * Answers `/stop`: ends every run of the conversation, including foreground runs and runs in other processes. `turn`: the
   * caller also ends the current turn. Resolves with the report, after at most 10 seconds.
   */
  stopAll(turn?: boolean | undefined | null): Promise<CommandReport>
  /** Resolves with the report on the end of a workflow's process, which the host started after `CommandReport.workflow`. */
  workflowEnded(end: WorkflowEnd): Promise<CommandReport>
  /**
   * Resolves with the interrupted workflows of the project that a file has started, except for `scripts`, which the caller has
   * started already.
   */
  interruptedWorkflows(scripts?: Array<HostScript> | undefined | null): Promise<InterruptedWorkflow[]>
  /**
   * Confirms that these deliveries are in the conversation. Resolves with false when that could not be stored: they
   * may be offered again after a restart, so recognize them by their ids.
   */
  delivered(deliveryIds: Array<string>): Promise<boolean>
  /**
   * Resolves with true when no run of the conversation is live and `onEvent` has received all results. It is for a
   * host that would exit otherwise. Runs that take longer than `timeoutMs` milliseconds are ended as at a hard limit.
   * If absent, the limit is `background.headlessWaitMs`, where 0 is no limit. Resolves with false if `onEvent` has not
   * received all results: the conversation was closed, or `onEvent` still fails after the limit.
   */
  settled(timeoutMs?: number | undefined | null): Promise<boolean>
  /**
   * As `settled`, but resolves with true as soon as a run has asked the conversation (`deliveries.questions`), once for all
   * questions since the last time. After an answer, wait again. Otherwise resolves with false, also once `onEvent` has
   * failed six times in a row.
   *
   * @example
   * ```ts
   * import { openBackground } from "pi-subagent-native/extension";
   *
   * const session = openBackground({ cwd: process.cwd(), sessionId: "session-1", delivered: [] }, ({ deliveries }) => {
   * 	for (const { runId, question } of deliveries?.questions ?? []) {
   * 		console.log(question);
   * 		session.continueRun(runId, "The newer one.");
   * 	}
   * });
   * while (await session.settledOrAsked()) console.log("a run has asked");
   * await session.close();
   * ```
   */
  settledOrAsked(timeoutMs?: number | undefined | null): Promise<boolean>
  /**
   * Closes the conversation: no event follows, unconfirmed deliveries wait until it is opened again, and its runs
   * continue.
   */
  close(): Promise<void>
  /**
   * Calls a session tool, as the model of the conversation does: a tool whose name begins with `sessions_`, except
   * `sessions_spawn`. `params` match the schema from `describeTools`. `host` answers the questions of a continued run.
   * `callId` is the host's id of the call: a continued run claims the child that `bootEarly` booted under it. Throws
   * for another tool.
   */
  useTool(tool: string, params: object, host?: HostCallbacks | undefined | null, callId?: string | undefined | null): SessionToolCall
}

/**
 * The card of a call of a tool: it remembers all updates, and can be drawn at any time. Details and arguments come as
 * JSON. If the details are not from this package, their text is drawn.
 *
 * @example
 * ```ts
 * import { CallCard, Palette } from "pi-subagent-native/extension";
 *
 * const palette = new Palette("{}");
 * const card = new CallCard("subagent");
 * card.ask(JSON.stringify({ agent: "explorer", task: "Find the loader." }));
 * card.start(Date.now());
 * console.log(card.head(palette, 80, { isExpanded: false, nowMs: Date.now() }).length, card.isRunning);
 * ```
 */
export declare class CallCard {
  /** Creates the card of a call of the tool with this name. */
  constructor(tool: string)
  /** Takes the arguments of the call, which can still be arriving. */
  ask(arguments: string): void
  /** The call is being carried out. */
  start(nowMs: number): void
  /** Takes an update: its details and its text. */
  update(details: string, text: string, nowMs: number): void
  /** Takes the result. */
  finish(details: string, text: string, hasFailed: boolean, nowMs: number): void
  /**
   * Takes what commands have done with runs since then, as JSON: `BackgroundEvent.settled`, or an object like
   * `{ [runId]: { changes?, timesResumed?, hasEnded? } }`. The card of a result then no longer offers these commands.
   */
  settle(settled: string): void
  /** Draws who works on what. */
  head(palette: Palette, width: number, extent: CardExtent): Array<string>
  /** Draws its progress, or its result. */
  body(palette: Palette, width: number, extent: CardExtent): Array<string>
  /** True while its clock ticks. */
  get isRunning(): boolean
  /** Milliseconds that the call has taken; absent where that is not known. */
  elapsedMs(nowMs: number): number | null
}

/**
 * Decides when the messages of `openBackground` go into a session, so that each message is in it exactly once: a host
 * such as pi drops or refuses a message at some moments without saying so. Report each event, then take steps until
 * there is none.
 *
 * @example
 * ```ts
 * import { DeliveryDispatcher } from "pi-subagent-native/extension";
 *
 * const session = ["delivery-1"];
 * const dispatcher = new DeliveryDispatcher(true, session);
 * dispatcher.add(["delivery-2"], true);
 * dispatcher.settled(false);
 * for (let step = dispatcher.next(); step; step = dispatcher.next()) {
 * 	if (step.step === "check") dispatcher.contains(session);
 * 	if (step.step !== "send") continue;
 * 	session.push(step.message ?? "");
 * 	dispatcher.sent();
 * }
 * console.log(session, dispatcher.waiting());
 * ```
 */
export declare class DeliveryDispatcher {
  /**
   * Creates the dispatcher of a session that already contains the deliveries `delivered`. `hasUser`: a user decides
   * when the model works.
   */
  constructor(hasUser: boolean, delivered: Array<string>)
  /** Takes a message. False: the session was given all of it before. */
  add(deliveryIds: Array<string>, triggerTurn: boolean): boolean
  /** The messages that wait or are on their way, each by the first of its `deliveryIds`. */
  waiting(): Array<string>
  /** Returns the time until the next call of `check`, in milliseconds. Absent if there is nothing left to do. */
  checkAfterMs(): number | null
  /** Time has passed. `isIdle`: no turn is running. */
  check(isIdle: boolean): void
  /** A prompt has arrived, and its turn is being prepared. */
  prompted(): void
  /** The turn of a prompt is about to start. */
  turnStarts(): void
  /** A turn has started. */
  turnStarted(): void
  /** The model has ended a message, for this reason. */
  answered(stopReason?: string | undefined | null): void
  /** The session may contain more than before. */
  sessionExtended(): void
  /** The model is about to stop: returns the messages that join the session now. Take steps first. */
  join(): JoiningMessages | null
  /** The model has stopped. `aborted`: it was aborted; otherwise it is done. */
  settled(aborted: boolean): void
  /** The host would exit now, unless the model continues. */
  drain(): void
  /** The session has been closed: forgets its messages, which are offered again when it is opened. */
  forget(): void
  /** Answers `check`: the deliveries in the session, and its file, if it has one. */
  contains(deliveryIds: Array<string>, file?: string | undefined | null): void
  /** Answers `send`: the session has taken the message. */
  sent(): void
  /** Returns the next step. Absent if there is none. */
  next(): DeliveryStep | null
}

/**
 * A call whose arguments are still arriving; see `bootEarly`. Dropping it is the same as `end`.
 *
 * @example
 * ```ts
 * import { bootEarly } from "pi-subagent-native/extension";
 *
 * const early = bootEarly({ tool: "subagent", callId: "call-1", cwd: process.cwd() });
 * early.push('{"agent":"explorer",');
 * await early.end();
 * ```
 */
export declare class EarlyCall {
  /**
   * Takes the next piece of the call's arguments: raw JSON, split anywhere. Returns at once. Text that is no JSON
   * boots nothing.
   */
  push(piece: string): void
  /** Ends the children that no run has claimed. Resolves when they are gone. */
  end(): Promise<void>
}

/**
 * The calls of a host's model while they arrive: decides for which calls children are booted, and ends the children
 * that no call will use. Feed it with the events of pi.
 *
 * @example
 * ```ts
 * import { EarlyCalls } from "pi-subagent-native/extension";
 *
 * const calls = new EarlyCalls();
 * const call = { contentIndex: 0, name: "subagent", id: "call-1" };
 * calls.take({ ...call, type: "toolcall_start" });
 * const wanted = calls.take({ ...call, type: "toolcall_delta", json: '{"agent":"explorer"' });
 * if (wanted) calls.boot({ ...wanted, cwd: process.cwd() });
 * calls.messageEnded("toolUse");
 * calls.finished("call-1");
 * await calls.close();
 * ```
 */
export declare class EarlyCalls {
  /** Creates the calls of a model of which none has arrived yet. */
  constructor()
  /** Takes a piece. The call is returned when `boot` should be called for it. */
  take(piece: CallPiece): ArrivingCall | null
  /**
   * Boots children for the call that `take` has returned last, with the pieces that have arrived and those that
   * follow; see `bootEarly`.
   */
  boot(options: EarlyOptions): void
  /** A message of the model is complete. If it ended with `error`, `aborted` or `length`, none of its calls is executed. */
  messageEnded(stopReason?: string | undefined | null): void
  /** A call has ended: it was executed, refused or invalid. */
  finished(callId: string): void
  /** No call that has arrived will be executed any more. */
  clear(): void
  /**
   * Does the same as `clear`, for a host that is closing. Resolves when the children that no run has claimed are
   * gone.
   */
  close(): Promise<void>
}

/**
 * Collects the event stream of `pi --mode json` as it arrives, in at most 3 MiB of memory.
 *
 * @example
 * ```ts
 * import { OutputCollector } from "pi-subagent-native/extension";
 *
 * const collector = new OutputCollector();
 * for await (const piece of process.stdin) collector.push(piece);
 * console.log((await collector.finish()).output);
 * ```
 */
export declare class OutputCollector {
  /** Creates a collector that has read nothing. */
  constructor()
  /** Takes the next piece, which may end anywhere. */
  push(piece: string | Uint8Array): void
  /** Resolves with what has arrived, and starts anew. */
  finish(): Promise<CollectedOutput>
}

/**
 * The styles of one theme. Make one per theme, and draw everything with it.
 *
 * @example
 * ```ts
 * import { Palette } from "pi-subagent-native/extension";
 *
 * const styles = { colors: { accent: ["\u001b[36m", "\u001b[39m"] }, bold: ["\u001b[1m", "\u001b[22m"] };
 * console.log(new Palette(JSON.stringify({ ...styles, expandKey: "ctrl+o" })));
 * ```
 */
export declare class Palette {
  /**
   * Reads the styles from JSON: the control sequences before and after a text for each of `colors` and for `bold`, and
   * `expandKey`, the key that shows all of a card. A missing colour is not drawn. `markdown` lays out Markdown in a
   * width; without it, or if it throws, the source is drawn.
   */
  constructor(styles: string, markdown?: (text: string, width: number) => Array<string>)
}

/**
 * The panel of background runs. After each call, carry out its steps until there is none, and draw it again.
 *
 * @example
 * ```ts
 * import { Palette, Panel, panelKeys } from "pi-subagent-native/extension";
 *
 * const panel = new Panel(true);
 * panel.setRuns("[]", [], Date.now());
 * for (let next = panel.next(); next; next = panel.next()) {
 * 	if (next.step === "runs") panel.answer(next.id, '{"runs":[],"workflows":[]}', undefined, Date.now());
 * }
 * const view = { rows: 24, theme: 0, keys: panelKeys().map(({ own }) => own), nowMs: Date.now() };
 * for (const line of panel.draw(new Palette("{}"), 80, view)) console.log(line);
 * ```
 */
export declare class Panel {
  /** Opens the panel, with the transcript of the run with the key `requested`. `canAnswer`: `answer` steps are possible. */
  constructor(canAnswer: boolean, requested?: string | undefined | null)
  /** Takes the runs of the session as JSON, and the keys of the runs with unread results. */
  setRuns(runs: string, unread: Array<string>, nowMs: number): void
  /** Takes the answer to a step as JSON, or the message of its error. */
  answer(id: number, answer: string | undefined | null, problem: string | undefined | null, nowMs: number): void
  /** Allows the next read of the transcript that the step with this id has read. Call it some time after each answer. */
  rested(id: number): void
  /** Updates the clocks, and requests old data again. Call it once a second. */
  tick(nowMs: number): void
  /** Does the action of a key; `undefined` stands for any other key. */
  press(action?: PanelKey["action"] | undefined | null): void
  /** Scrolls up (negative) or down. */
  scroll(lines: number): void
  /** Takes the text that a `type` step has asked for. */
  submit(text: string): void
  /** Returns the next step. */
  next(): PanelStep | null
  /** Draws exactly `view.rows` lines. */
  draw(palette: Palette, width: number, view: PanelView): Array<string>
}

/**
 * A question over the screen, of which no character is hidden. The first choice is the harmless one. Any other answer is accepted
 * only after the question was scrolled to its end.
 *
 * @example
 * ```ts
 * import { Palette, QuestionScreen } from "pi-subagent-native/extension";
 *
 * const question = new QuestionScreen("explorer asks", "Remove it?", "rm -rf build", ["No", "Yes"]);
 * const named = { up: "up", down: "down", pageUp: "pageUp", pageDown: "pageDown" };
 * const keys = { ...named, end: "end", confirm: "enter", cancel: "escape" };
 * for (const line of question.draw(new Palette("{}"), 40, 24, keys)) console.log(line);
 * question.press("down");
 * console.log(question.chosen, question.accepts(false));
 * ```
 */
export declare class QuestionScreen {
  /** Opens a question. */
  constructor(heading: string, title: string, message: string, choices: Array<string>)
  /** The position of the selected choice. */
  get chosen(): number
  /** Moves the selection, or scrolls. */
  press(key: "up" | "down" | "pageUp" | "pageDown" | "home" | "end"): void
  /** Returns true if an answer may be taken. */
  accepts(isHarmless: boolean): boolean
  /** The columns of a row inside the frame of a question with this width, for the line of `draw`. */
  innerWidth(width: number): number
  /** Draws the question for a screen of `rows`. `input` is the line in which the user writes the answer. */
  draw(palette: Palette, width: number, rows: number, keys: QuestionKeyNames, input?: string | undefined | null): Array<string>
}

/**
 * A running call: one run, or several. The call is aborted when this handle and every promise of its result are
 * garbage collected.
 *
 * @example
 * ```ts
 * import { startRun } from "pi-subagent-native/extension";
 *
 * const handle = startRun({ agent: "explorer", task: "Find the entry point.", cwd: process.cwd() });
 * const timer = setTimeout(() => handle.abort("took too long"), 60_000);
 * const { isError = false, content } = await handle.result();
 * clearTimeout(timer);
 * console.log(handle.runId, isError, content[0]?.text);
 * ```
 */
export declare class RunHandle {
  /**
   * The call's id: eight hexadecimal characters. One run has its directory named after it; until the child has
   * started it may change.
   */
  get runId(): string
  /**
   * Resolves with the result, including every failure that a user or a child caused. Calling it again gives the same
   * result. Rejects only for a bug in the addon.
   */
  result(): Promise<ToolResult>
  /** Ends the call; its result has the outcome `aborted` and names `reason`. Does nothing once the call has ended. */
  abort(reason?: string | undefined | null): void
  /**
   * Moves the call to the background: its runs that have not ended continue there with all they have, and `result`
   * resolves at once, with the outcome `background` for each of them. Resolves with a receipt for each, once they
   * are stored; a chain continues as one run. The results of the runs come through `openBackground`. A moved call
   * ignores `abort`. If the call cannot be moved, it keeps running, and the only receipt gives the reason.
   */
  background(): Promise<SpawnReceipt[]>
  /**
   * Ends the call because its host is exiting: children get at most two seconds to exit. Resolves when they have
   * exited.
   */
  close(): Promise<void>
  /**
   * Sends a message to every working child of the call, which reads it before its next turn. False when no child
   * took it: none works, or the protocol is `json`, which takes no messages.
   */
  steer(message: string): boolean
}

/**
 * A call of a session tool that may wait for a reply.
 *
 * @example
 * ```ts
 * import { openBackground } from "pi-subagent-native/extension";
 *
 * const session = openBackground({ cwd: process.cwd(), sessionId: "session-1", delivered: [] }, () => {});
 * const call = session.useTool("sessions_send", { sessionKey: "1a2b3c4d", message: "Go on.", timeoutSeconds: 60 });
 * process.once("SIGINT", () => call.abort());
 * console.log((await call.result()).content[0]?.text);
 * await session.close();
 * ```
 */
export declare class SessionToolCall {
  /** Resolves with the answer. Failures are in it. */
  result(): Promise<SessionToolAnswer>
  /** Ends the wait for a reply. A sent message stays sent, and its result arrives as a message. */
  abort(): void
}

/**
 * A workflow whose script runs in this process; see `openWorkflow`.
 *
 * @example
 * ```ts
 * import { openWorkflow } from "pi-subagent-native/extension";
 *
 * const workflow = await openWorkflow({ cwd: process.cwd(), id: "review" });
 * process.once("SIGINT", () => workflow.stop());
 * workflow.phase("read");
 * await workflow.finish("completed");
 * ```
 */
export declare class WorkflowHandle {
  /** The account that its runs need for its budget. */
  get account(): string
  /** Enters a phase. Runs that start from now on belong to it. */
  phase(name: string): void
  /** Ends all of its runs, and starts no further ones. */
  stop(): void
  /** Records the end of its script. Its results are kept. Without this call it counts as interrupted once its process has ended. */
  finish(state: "completed" | "failed" | "stopped" | "interrupted", error?: string | undefined | null): Promise<void>
}

/** The type of the messages that announce how runs ended. */
export declare const ANNOUNCEMENT: string

/** The answer to a question. An empty object cancels the dialog. */
export interface Answer {
  /** The chosen option or the text. It counts only if `confirmed` is absent. */
  value?: string
  /** Yes or no, for `confirm`. */
  confirmed?: boolean
}

/** A conversation to open, and the pi around it. `sessionId` or `parentSessionFile` names it. */
export interface BackgroundOptions {
  /** The ids of the deliveries that are in the conversation already. */
  delivered: Array<string>
  /**
   * The ids of deliveries that this process is still putting into it; they are not offered again.
   * @default []
   */
  sent?: Array<string>
}

/**
 * Boots the children of a call while its arguments still arrive: only children of agents that need no one's consent,
 * and only while the queue has a free slot. Each waits for its task without doing anything. `startRun`,
 * `startParallel`, `startChain`, `spawnSession` or `BackgroundSession.useTool` claims it by `callId`. A child that is not claimed
 * within 30 seconds of the last `push` is ended without a trace. An unknown `tool` boots nothing. The configuration key `earlyBoot`
 * switches this off.
 *
 * @example
 * ```ts
 * import { bootEarly, startRun } from "pi-subagent-native/extension";
 *
 * const place = { cwd: process.cwd(), callId: "call-1" };
 * const early = bootEarly({ ...place, tool: "subagent" });
 * early.push('{"agent":"explorer",');
 * early.push('"task":"List the tests."}');
 * const { content } = await startRun({ ...place, agent: "explorer", task: "List the tests." }).result();
 * await early.end();
 * console.log(content[0]?.text);
 * ```
 */
export declare function bootEarly(options: EarlyOptions): EarlyCall

/** A piece of a call as pi streams it, in `assistantMessageEvent` of `message_update`. */
export interface CallPiece {
  /** `toolcall_start`, `toolcall_delta` or `toolcall_end`; any other type is ignored. */
  type: string
  /** The position of the call in its message, which pi calls `contentIndex`. */
  contentIndex: number
  /** The tool's name, as far as it is known. */
  name?: string
  /** The call's id, as far as it is known. */
  id?: string
  /** A part of the arguments, as raw JSON; at the end, all of them. */
  json?: string
}

/** The requested size of a card. */
export interface CardExtent {
  /** All of it. */
  isExpanded: boolean
  /** Lines of the terminal, if known. */
  rows?: number
  /** The time, in milliseconds since 1970. */
  nowMs: number
  /** The name of the key that stops a call, for the card of a call that has run for a while. */
  stopKey?: string
  /** The name of the key that moves it to the background. */
  backgroundKey?: string
}

/** Several tasks one after the other, and the pi that asks. */
export interface ChainOptions {
  /** 1 to `maxChainSteps` steps (8 unless configured, never more than 64). */
  steps: Array<TaskOptions>
  /** The host's id of the call; its first step claims the child that `bootEarly` booted under it. */
  callId?: string
  /**
   * True when the caller's signal has fired already: nothing is started, and the outcome is `aborted`.
   * @default false
   */
  aborted?: boolean
}

/**
 * Returns the mistakes in the text of an agent, as a program gives it in `agents`. Empty if it can run.
 *
 * @example
 * ```ts
 * import os from "node:os";
 * import { checkAgent } from "pi-subagent-native/extension";
 *
 * const lines = ["---", "name: scout", "tools: gerp", "---", "Look."];
 * for (const { message } of checkAgent(lines.join(os.EOL))) console.error(message);
 * ```
 */
export declare function checkAgent(text: string): Array<Diagnostic>

/**
 * Returns the first mistake in a configuration, as a program gives it in `config`. `null` for a valid one.
 *
 * @example
 * ```ts
 * import { checkConfig } from "pi-subagent-native/extension";
 *
 * console.log(checkConfig({ maxConcurrent: 4 }) ?? "valid");
 * ```
 */
export declare function checkConfig(config: Record<string, unknown>): string | null

/**
 * Returns the reason why a value is not a schema of results. `null` for a schema.
 *
 * @example
 * ```ts
 * import { checkSchema } from "pi-subagent-native/extension";
 *
 * console.log(checkSchema({ type: "object", properties: { files: { type: "array" } } }) ?? "a schema");
 * ```
 */
export declare function checkSchema(schema: unknown): string | null

/** The beginning of the ids of the workflows that scripts of pi's `codemode` use. A session follows. */
export declare const CODEMODE_WORKFLOW: string

/**
 * Collects the event stream of `pi --mode json` from memory.
 *
 * @example
 * ```ts
 * import { collectOutput } from "pi-subagent-native/extension";
 *
 * const { final, counts } = await collectOutput('{"type":"agent_settled"}');
 * console.log(final, counts.events);
 * ```
 */
export declare function collectOutput(jsonl: string | Uint8Array): Promise<CollectedOutput>

/**
 * Collects the event stream of `pi --mode json` from a file of any size, in at most 3 MiB of memory. Rejects if the file cannot
 * be read.
 *
 * @example
 * ```ts
 * import { collectOutputFile } from "pi-subagent-native/extension";
 *
 * const { output, usage } = await collectOutputFile("run.jsonl").catch(() => ({ output: "", usage: undefined }));
 * console.log(output, usage?.cost);
 * ```
 */
export declare function collectOutputFile(path: string): Promise<CollectedOutput>

/**
 * Returns the ids of the deliveries in entries of a session, given as a list in JSON: of messages that announce
 * results or questions, and of replies that a tool waited for. Entries that cannot contain deliveries may be omitted.
 *
 * @example
 * ```ts
 * import { deliveredIn } from "pi-subagent-native/extension";
 *
 * console.log(deliveredIn("[]").length);
 * ```
 */
export declare function deliveredIn(entries: string): Array<string>

/**
 * Describes the tools to register. Equal files and options give equal bytes, so that prompt caches stay valid.
 *
 * @example
 * ```ts
 * import { describeTools } from "pi-subagent-native/extension";
 *
 * const { register, tools, delegationPolicy = "" } = await describeTools({ cwd: process.cwd() });
 * if (register) for (const { name, parameters } of tools) console.log(name, JSON.stringify(parameters));
 * console.log(delegationPolicy);
 * ```
 */
export declare function describeTools(options: SurfaceOptions): Promise<ToolSurfaces>

/**
 * Lists the agents of a directory, and the tools that a child of each would get. Reads agent files, and asks the
 * warden what this machine can enforce.
 *
 * @example
 * ```ts
 * import { discoverAgents } from "pi-subagent-native/extension";
 *
 * const { agents, diagnostics } = await discoverAgents({ cwd: process.cwd() });
 * for (const { name, source, tools } of agents) console.log(name, source, tools.join(" "));
 * for (const { severity, message } of diagnostics) console.error(severity, message);
 * ```
 */
export declare function discoverAgents(options: SurfaceOptions): Promise<AgentCatalog>

/**
 * Checks everything a delegation needs: configuration, agents, pi's command, directories, the sandbox. Starts pi once
 * to ask for its version and waits at most 20 seconds for it. Findings never reject.
 *
 * @example
 * ```ts
 * import { doctor } from "pi-subagent-native/extension";
 *
 * const { ok, checks } = await doctor({ cwd: process.cwd() });
 * for (const { status, area, message, hint = "" } of checks) console.log(status, area, message, hint);
 * process.exitCode = ok ? 0 : 1;
 * ```
 */
export declare function doctor(options: SurfaceOptions): Promise<DoctorReport>

/**
 * Draws the message that announces how background runs ended, given its details as JSON; `null` for anything else.
 * `settled` has the form that `CallCard.settle` takes.
 *
 * @example
 * ```ts
 * import { drawAnnouncement, Palette } from "pi-subagent-native/extension";
 *
 * console.log(drawAnnouncement(new Palette("{}"), 80, "{}", false));
 * ```
 */
export declare function drawAnnouncement(palette: Palette, width: number, details: string, isExpanded: boolean, settled?: string | undefined | null): Array<string> | null

/**
 * Draws a pending question on one line. `hint` says how to answer, and is shown if there is room for it.
 *
 * @example
 * ```ts
 * import { drawQuestionLine, Palette } from "pi-subagent-native/extension";
 *
 * console.log(drawQuestionLine(new Palette("{}"), 40, "explorer asks: Remove it?", "alt+a answers").length);
 * ```
 */
export declare function drawQuestionLine(palette: Palette, width: number, sentence: string, hint: string): Array<string>

/**
 * Draws a report, given as the JSON that commands store; `null` for anything else.
 *
 * @example
 * ```ts
 * import { drawReport, Palette } from "pi-subagent-native/extension";
 *
 * const report = { title: "Runs", lines: [{ mark: "ok", text: "one" }], text: "" };
 * console.log(drawReport(new Palette("{}"), 80, JSON.stringify(report))?.length);
 * ```
 */
export declare function drawReport(palette: Palette, width: number, report: string): Array<string> | null

/**
 * Draws foreign text in one of `paletteColors`, wrapped and without control characters.
 *
 * @example
 * ```ts
 * import { drawText, Palette } from "pi-subagent-native/extension";
 *
 * console.log(drawText(new Palette("{}"), 20, "dim", "A text of several words").length);
 * ```
 */
export declare function drawText(palette: Palette, width: number, color: string, text: string): Array<string>

/**
 * Draws the widget above the editor in at most `maxRows` + 1 lines: the running workflows in place of their runs, the other active
 * runs, and the ended runs whose results are unread, all given as JSON.
 *
 * @example
 * ```ts
 * import { drawWidget, Palette } from "pi-subagent-native/extension";
 *
 * console.log(drawWidget(new Palette("{}"), 80, "[]", "[]", "[]", 5).length);
 * ```
 */
export declare function drawWidget(palette: Palette, width: number, live: string, unread: string, workflows: string, maxRows: number, now?: number | undefined | null): Array<string>

/**
 * Writes a duration: `3.2s`, `47s`, `5m12s`, `1h02m`, `3d04h`. With `wholeSeconds`, for a clock that runs, there are no tenths.
 *
 * @example
 * ```ts
 * import { durationText } from "pi-subagent-native/extension";
 *
 * console.log(durationText(312_000), durationText(3_200, true));
 * ```
 */
export declare function durationText(ms: number, wholeSeconds?: boolean | undefined | null): string

/** A call whose arguments are still arriving, and the pi that asks. */
export interface EarlyOptions {
  /** The tool that is being called. */
  tool: "subagent" | "subagent_parallel" | "subagent_chain" | "sessions_spawn" | "sessions_send"
  /** The host's id of the call, which `startRun`, `startParallel`, `startChain`, `spawnSession` or `useTool` gets as well. */
  callId: string
}

/**
 * Ends every background run of this process that is not detached (`background.onExit`), because the process is about to exit.
 * Their outcome is `interrupted`; their partial answers are kept. Every conversation is closed, as by `BackgroundSession.close`:
 * the results wait until it is opened again. Resolves when their children have ended, after at most 20 seconds per agent
 * directory, with a sentence for the user if any run was ended.
 *
 * @example
 * ```ts
 * import { endBackground } from "pi-subagent-native/extension";
 *
 * console.log((await endBackground()) ?? "no background run was under way");
 * ```
 */
export declare function endBackground(): Promise<string | undefined>

/**
 * Ends the children that wait for the next call (`spare.count`). Resolves when all of their processes and files are gone. The
 * end of the JavaScript thread ends them as well.
 *
 * @example
 * ```ts
 * import { endSpares, startRun } from "pi-subagent-native/extension";
 *
 * const options = { cwd: process.cwd(), agent: "explorer", config: { spare: { count: 1 } } };
 * for (const task of ["List the tests.", "List the docs."]) {
 * 	const { content } = await startRun({ ...options, task }).result();
 * 	console.log(content[0]?.text);
 * }
 * await endSpares();
 * ```
 */
export declare function endSpares(): Promise<void>

/**
 * The callbacks through which a call asks its host. Each one is optional, and none keeps the process alive. A callback
 * that throws or rejects counts as unanswered.
 *
 * @example
 * ```ts
 * import { startRun } from "pi-subagent-native/extension";
 *
 * const handle = startRun({ agent: "reviewer", task: "Review the last commit.", cwd: process.cwd() }, undefined, {
 * 	confirm: ({ path }) => path.startsWith(process.cwd()),
 * 	ask: ({ method, options = [] }) => (method === "select" && options[0] ? { value: options[0] } : {}),
 * });
 * console.log((await handle.result()).content[0]?.text);
 * ```
 */
export interface HostCallbacks {
  /**
   * Asks the user whether an agent that a project defines may run: once per content of its file. False and no answer
   * refuse the run; the refusal says which it was. Without this callback `nonInteractivePolicy` decides.
   */
  confirm?: (request: ConfirmRequest) => Promise<boolean> | boolean
  /**
   * Refreshes a login's token that would expire while a sandboxed child runs; true when it did. Without this
   * callback the child refreshes its own copy, which is taken back at its end.
   */
  refresh?: (request: RefreshRequest) => Promise<boolean> | boolean
  /**
   * Looks up a model as pi does; asked for every model that is not the session's. A model that is unknown or has no
   * login refuses the run before its child is started. Without this callback, and without an answer within 5 seconds,
   * the child finds out.
   */
  model?: (request: ModelRequest) => Promise<HostModel> | HostModel
  /** Passes a question of a child on to the user. Without this callback every question is cancelled. */
  ask?: (question: Question) => Promise<Answer> | Answer
  /** Hears the id of a question, of `confirm` or `ask`, whose answer is not waited for any more: its run has ended. */
  withdraw?: (id: number) => void
}

/**
 * Runs one background run in a process of its own: reads the request from standard input, answers with a line on
 * standard output, and resolves when the run has ended. Only the addon calls this, in the process it starts for
 * `background.onExit: "keep"`.
 *
 * @example
 * ```ts
 * import { hostRun } from "pi-subagent-native/extension";
 *
 * await hostRun();
 * ```
 */
export declare function hostRun(): Promise<void>

/**
 * Reports what would be redacted in a text: for each rule its name, the kind of values it finds, their number and
 * their positions.
 *
 * @example
 * ```ts
 * import { inspectOutput } from "pi-subagent-native/extension";
 *
 * const found = await inspectOutput("token: correct-horse", { secrets: ["correct-horse"] });
 * for (const { rule, what, ranges } of found) console.log(rule, what, ranges[0]?.start);
 * ```
 */
export declare function inspectOutput(text: string, options?: SanitizeOptions | undefined | null): Promise<Redaction[]>

/**
 * Lists the agents that `spawnSession` accepts.
 *
 * @example
 * ```ts
 * import { listSpawnable } from "pi-subagent-native/extension";
 *
 * const { agents, defaultAgent } = await listSpawnable({ cwd: process.cwd() });
 * for (const { id, description } of agents) console.log(id === defaultAgent ? "*" : " ", id, description);
 * ```
 */
export declare function listSpawnable(options: SpawnableOptions): Promise<SpawnableAgents>

/**
 * Reads the configuration of a directory. Rejects when `options.config` itself has invalid values; mistakes in files
 * are `diagnostics`.
 *
 * @example
 * ```ts
 * import { loadConfig } from "pi-subagent-native/extension";
 *
 * const { values, diagnostics, broken } = await loadConfig({ cwd: process.cwd() });
 * console.log(values.maxConcurrent, broken?.message ?? "readable", diagnostics.length);
 * ```
 */
export declare function loadConfig(options: SurfaceOptions): Promise<LoadedConfig>

/** A mark: one column wide. */
export interface MarkStyle {
  /** The name of the mark. */
  name: "none" | "ok" | "info" | "warning" | "error" | "running" | "asking" | "queued" | "starting" | "started" | "retrying" | "skipped" | "added" | "removed" | "hunk"
  /** The sign itself; empty for `none`. */
  sign: string
  /** The theme colour it is drawn in. */
  color: "success" | "muted" | "warning" | "error" | "accent" | "toolDiffAdded" | "toolDiffRemoved"
}

/**
 * All marks.
 *
 * @example
 * ```ts
 * import { markStyles } from "pi-subagent-native/extension";
 *
 * for (const { name, sign, color } of markStyles()) console.log(name, sign, color);
 * ```
 */
export declare function markStyles(): Array<MarkStyle>

/**
 * Opens the conversation `sessionId`. `onEvent` gets the changes of its background runs and their results, one event
 * at a time and at most five a second. If it returns a promise, the next event waits for that. If `onEvent` throws or
 * its promise rejects, the deliveries of that event are offered again, after pauses of up to ten seconds. Opening
 * a conversation that is open in this process replaces the earlier one.
 *
 * @example
 * ```ts
 * import { openBackground } from "pi-subagent-native/extension";
 *
 * const delivered: string[] = [];
 * const options = { cwd: process.cwd(), sessionId: "session-1", delivered };
 * const session = openBackground(options, async ({ deliveries }) => {
 * 	if (!deliveries) return;
 * 	console.log(deliveries.text);
 * 	delivered.push(...deliveries.deliveryIds);
 * 	await session.delivered(deliveries.deliveryIds);
 * });
 * await session.settled();
 * await session.close();
 * ```
 */
export declare function openBackground(options: BackgroundOptions, onEvent: (event: BackgroundEvent) => void): BackgroundSession

/**
 * Opens a workflow: its script begins, or begins again. Runs with a `workflow` of this id then belong to its phases, count for
 * its limits, and are listed with it. Its budget in dollars holds for runs that have its `account`. `onStop` hears that a person
 * has stopped it; its runs have then been ended.
 *
 * Rejects if the workflow runs already, in this process or in another one, or if the store of runs cannot be used.
 *
 * @example
 * ```ts
 * import { openWorkflow, startRun } from "pi-subagent-native/extension";
 *
 * const cwd = process.cwd();
 * const workflow = await openWorkflow({ cwd, id: "review", limits: { maxRuns: 20 } });
 * workflow.phase("read");
 * const { account } = workflow;
 * const run = startRun({ cwd, account, agent: "explorer", task: "Where?", workflow: { id: "review", key: "where" } });
 * console.log((await run.result()).content[0]?.text);
 * await workflow.finish("completed");
 * ```
 */
export declare function openWorkflow(options: WorkflowOptions, onStop?: () => void): Promise<WorkflowHandle>

/** The limits to which a text is cut. The limit that is reached first counts, and the marker counts within it. */
export interface OutputLimits {
  /**
   * Bytes of UTF-8, from 0; `Infinity` is no limit.
   * @default 51200
   */
  maxBytes?: number
  /**
   * From 0; `Infinity` is no limit.
   * @default 2000
   */
  maxLines?: number
  /** The location of the whole text, which the marker names. */
  fullText?: string
}

/**
 * The names of the colours of pi's theme that drawings use.
 *
 * @example
 * ```ts
 * import { paletteColors } from "pi-subagent-native/extension";
 *
 * console.log(paletteColors().join());
 * ```
 */
export declare function paletteColors(): Array<string>

/** The keys of an action of the panel. */
export interface PanelKey {
  /** The action. */
  action: "up" | "down" | "pageUp" | "pageDown" | "halfUp" | "halfDown" | "top" | "bottom" | "open" | "tools" | "answer" | "stop" | "background" | "message" | "resume" | "log" | "info" | "diff" | "all" | "discard" | "again" | "keys" | "back" | "left"
  /** The action of pi's that is the same: the keys that the user has chosen for it come first. */
  pi?: string
  /** The panel's own keys, as pi names keys. */
  own: Array<string>
  /** The action in words. */
  description: string
}

/**
 * All keys of the panel, in the order in which they are shown.
 *
 * @example
 * ```ts
 * import { panelKeys } from "pi-subagent-native/extension";
 *
 * for (const { action, own, description } of panelKeys()) console.log(action, own.join(" "), description);
 * ```
 */
export declare function panelKeys(): Array<PanelKey>

/** A request of the panel. Which of the other fields it has depends on `step`. */
export interface PanelStep {
  /**
   * `close`: leave the screen. `answer`: open the question of the run `text`. `type`: ask for a line of text with the label
   * `text`, for `submit`. `command`: run the command `text` of `/subagents`. `runs`: read the runs. `transcript`: read the
   * transcript of the run with the key `text`. The last three expect an `answer`.
   */
  step: "close" | "answer" | "type" | "command" | "runs" | "transcript"
  /** The id of the answer. */
  id: number
  /** A run, a label, a command or a key. */
  text: string
  /** True for the runs of all sessions. */
  isAll: boolean
  /** The number of entries to read. */
  entries: number
  /** True if tool calls count as entries. */
  tools: boolean
}

/** The appearance of the panel. */
export interface PanelView {
  /** The height of the screen. */
  rows: number
  /** Changes whenever the theme does. */
  theme: number
  /** The names of the keys for each of `panelKeys`, with the user's own keys first. */
  keys: Array<Array<string>>
  /** The time, in milliseconds since 1970. */
  nowMs: number
}

/** Several tasks side by side, and the pi that asks. */
export interface ParallelOptions {
  /** 1 to `maxParallelTasks` tasks (8 unless configured, never more than 64). */
  tasks: Array<TaskOptions>
  /** The host's id of the call; its runs claim the children that `bootEarly` booted under it. */
  callId?: string
  /**
   * True when the caller's signal has fired already: nothing is started, and the outcome is `aborted`.
   * @default false
   */
  aborted?: boolean
}

/**
 * Puts the arguments of a call, as JSON, into the form of the tool's schema. A value with only one possible meaning is
 * converted: a list sent as text, a number sent as text, an empty optional value, a name of another harness. Throws if
 * there is no such tool.
 *
 * @example
 * ```ts
 * import { prepareArguments } from "pi-subagent-native/extension";
 *
 * const sent = JSON.stringify({ subagent_type: "explorer", prompt: "List the tests.", cwd: "" });
 * const { arguments: prepared, problem } = prepareArguments("subagent", sent);
 * console.log(prepared ?? problem);
 * ```
 */
export declare function prepareArguments(tool: string, json: string): PreparedArguments

/**
 * Returns the question that a line after `/subagents` refers to: the first matching one of `waiting`, which has the
 * oldest first. `null` if the line is another command.
 *
 * @example
 * ```ts
 * import { questionToAnswer } from "pi-subagent-native/extension";
 *
 * const waiting = [{ id: 7, runId: "1a2b3c4d", agent: "explorer" }];
 * console.log(questionToAnswer("answer explorer", waiting)?.id);
 * ```
 */
export declare function questionToAnswer(line: string, waiting: Array<WaitingQuestion>): ChosenQuestion | null

/**
 * Removes a workflow of the project `cwd` and its results. False if a process runs it, or if it is not known.
 *
 * @example
 * ```ts
 * import { removeWorkflow } from "pi-subagent-native/extension";
 *
 * console.log(await removeWorkflow({ cwd: process.cwd() }, "review"));
 * ```
 */
export declare function removeWorkflow(options: SurfaceOptions, id: string): Promise<boolean>

/**
 * Runs that belong together, each with a call of its own. While a run waits for the others, its child may boot
 * ahead (`bootAhead`).
 */
export interface RunGroup {
  /** The id of the group, the same for all of its runs in this process. */
  id: string
  /** The maximum number of its children at the same time; 0 counts as 1. */
  limit: number
}

/** One agent, one task, and the pi that asks. */
export interface RunOptions {
  /** The agent's name. */
  agent: string
  /**
   * The task; not blank. The child reads it unchanged, unless it begins with a slash: pi would take that
   * for a command. A line end then comes before it, in the `json` protocol the word `Task:`.
   */
  task: string
  /**
   * The directory the child works in, as `cwd` of `TaskOptions`.
   * @default the directory of the conversation
   */
  childCwd?: string
  /** As in `SpawnOptions`: a model that wins over agent and configuration. */
  childModel?: string
  /** As in `SpawnOptions`: a thinking level that wins over agent and configuration. */
  childThinking?: string
  /**
   * A JSON Schema of the result: the child submits one of this shape, and `structured` of the result has it. Wins
   * over the agent's. At most 16 KiB.
   */
  outputSchema?: Record<string, unknown>
  /** The time limit of the run, in milliseconds. A shorter one of the agent still applies. */
  timeoutMs?: number
  /**
   * The budget of the run: `maxCost` in USD, `maxTokens` and `maxTurns`. Stricter limits of the agent or the configuration
   * still apply.
   */
  budget?: RunBudget
  /**
   * The place of the run in a workflow. A completed run with the same key and the same request gives its stored result, one
   * under way is waited for, and an interrupted one continues in its session.
   */
  workflow?: WorkflowKey
  /** The group of the run. If the group has as many children as its limit allows, the run waits in the queue. */
  group?: RunGroup
  /**
   * The host's id of the call; the run claims the child that `bootEarly` booted under it, unless it has an
   * `outputSchema`.
   */
  callId?: string
  /**
   * True when the caller's signal has fired already: nothing is started, and the outcome is `aborted`.
   * @default false
   */
  aborted?: boolean
}

/** The values and exceptions of a sanitizer, in addition to its rules. */
export interface SanitizeOptions {
  /**
   * Exact secret values.
   * @default those in this process's environment
   */
  secrets?: Array<string>
  /** The text of a file in the format of pi's `auth.json`; its credentials are added to `secrets`. */
  authJson?: string
  /**
   * The user's home directories.
   * @default this user's
   */
  homes?: Array<string>
  /**
   * The home directories that are shown as `~`: the user's own, but not in code; all users', in code too; none.
   * @default "own"
   */
  homePaths?: "own" | "all" | "off"
  /**
   * Exact values to leave as they are, and rules to switch off, as `rule:NAME`. The call rejects if an entry names
   * no rule.
   */
  allow?: Array<string>
}

/**
 * Replaces secrets with placeholders, home directories with `~`, and drops control characters and terminal escapes.
 * Sanitizing twice changes nothing more.
 *
 * @example
 * ```ts
 * import { sanitizeOutput } from "pi-subagent-native/extension";
 *
 * console.log(await sanitizeOutput("token: correct-horse", { secrets: ["correct-horse"] }));
 * ```
 */
export declare function sanitizeOutput(text: string, options?: SanitizeOptions | undefined | null): Promise<string>

/**
 * A report of one sentence, for what commands do not say themselves. Another word than a mark is none.
 *
 * @example
 * ```ts
 * import { sentenceReport } from "pi-subagent-native/extension";
 *
 * console.log(sentenceReport("info", "There is no question").text);
 * ```
 */
export declare function sentenceReport(mark: Exclude<ReportLine["mark"], undefined>, text: string): CommandReport

/** A background run, and the pi that asks. */
export interface SpawnOptions {
  /** The task; not blank. */
  task: string
  /**
   * The agent's name.
   * @default the configured `defaultAgent`
   */
  agent?: string
  /** A name for people; cut at 80 characters. */
  label?: string
  /**
   * A model that wins over agent and configuration, named as pi names models, or without the callback `model`
   * `provider/id` or an id that is unique among `models`. An unknown one is skipped with a warning.
   */
  childModel?: string
  /**
   * A thinking level that wins over agent and configuration: `off`, `minimal`, `low`, `medium`, `high`,
   * `xhigh` or `max`. An unknown one is skipped with a warning.
   */
  childThinking?: string
  /**
   * The limit of the whole run in seconds, 0 to 604800 (a week); 0 is no limit but that on silence and
   * the agent's own `timeoutMs`.
   * @default 0
   */
  runTimeoutSeconds?: number
  /**
   * The rule for archiving the transcript: `keep`: after `archiveAfterMinutes`; `delete`: once the result was
   * delivered.
   * @default \"keep\"
   */
  cleanup?: string
  /** A JSON Schema of the result, as in `RunOptions`. */
  outputSchema?: Record<string, unknown>
  /** Every model of the hosting pi, `provider/id`. Absent: unknown, and any `provider/id` is accepted. */
  models?: Array<string>
  /** The host's id of the tool call, to claim the child that was booted for it; see `bootEarly`. */
  callId?: string
}

/**
 * Asks for a background run. Resolves with a receipt as soon as it is accepted or refused, never with its result: the
 * conversation gets that through `openBackground`. The run is stored before its child starts, and continues when the
 * conversation is closed. `sessionId` or `parentSessionFile` is required.
 *
 * @example
 * ```ts
 * import { spawnSession } from "pi-subagent-native/extension";
 *
 * const { status, runId, error } = await spawnSession({
 * 	cwd: process.cwd(),
 * 	sessionId: "session-1",
 * 	task: "List the public functions.",
 * 	runTimeoutSeconds: 600,
 * });
 * console.log(status, runId ?? error);
 * ```
 */
export declare function spawnSession(options: SpawnOptions, host?: HostCallbacks | undefined | null): Promise<SpawnReceipt>

/**
 * Runs several steps one after the other, each with the answer of the one before, and returns at once. The first step
 * that fails ends the call. All agents are looked up before the first child starts. Callbacks as for `startRun`.
 *
 * @example
 * ```ts
 * import { startChain } from "pi-subagent-native/extension";
 *
 * const handle = startChain({
 * 	cwd: process.cwd(),
 * 	steps: [
 * 		{ agent: "explorer", task: "Find the slowest test." },
 * 		{ agent: "explorer", task: "Explain why it is slow: {previous}" },
 * 	],
 * });
 * const { content } = await handle.result();
 * console.log(content[0]?.text);
 * ```
 */
export declare function startChain(options: ChainOptions, onUpdate?: (update: ToolResult) => void, host?: HostCallbacks | undefined | null): RunHandle

/**
 * Runs several tasks side by side, at most `parallelConcurrency` of them at once, and returns at once. A task that
 * fails does not disturb the others; the call fails when all of them do. All agents are looked up before the first
 * child starts. Callbacks as for `startRun`.
 *
 * @example
 * ```ts
 * import { startParallel } from "pi-subagent-native/extension";
 *
 * const handle = startParallel({
 * 	cwd: process.cwd(),
 * 	tasks: [
 * 		{ agent: "explorer", task: "Summarize src." },
 * 		{ agent: "explorer", task: "Summarize the tests." },
 * 	],
 * });
 * const { details } = await handle.result();
 * for (const { outcome, output = "" } of details.results) console.log(outcome, output);
 * ```
 */
export declare function startParallel(options: ParallelOptions, onUpdate?: (update: ToolResult) => void, host?: HostCallbacks | undefined | null): RunHandle

/**
 * Runs one agent on one task, and returns at once.
 *
 * `onUpdate` gets the newest state at most ten times a second, the last time before the result resolves. When it
 * throws or returns a promise that rejects, no more updates follow; updates do not wait for its promises. `host`
 * answers the questions of the run. No callback keeps the process alive. A callback that refers to the handle keeps
 * the handle: end such a run with `abort`.
 *
 * Throws only for arguments of the wrong type. Every other failure is in the result.
 *
 * @example
 * ```ts
 * import { startRun } from "pi-subagent-native/extension";
 *
 * const handle = startRun(
 * 	{ agent: "explorer", task: "Which file parses the configuration?", cwd: process.cwd() },
 * 	({ details }) => console.log(details.streaming?.state, details.streaming?.turnCount),
 * );
 * const { content, isError = false, details } = await handle.result();
 * if (isError) console.error(details.error?.code, details.error?.message);
 * else console.log(content[0]?.text);
 * ```
 */
export declare function startRun(options: RunOptions, onUpdate?: (update: ToolResult) => void, host?: HostCallbacks | undefined | null): RunHandle

/**
 * Puts a state into the words that every screen uses.
 *
 * @example
 * ```ts
 * import { stateLabel } from "pi-subagent-native/extension";
 *
 * const { mark, word, note = word } = stateLabel({ state: "queued", position: 3 });
 * console.log(mark, note);
 * ```
 */
export declare function stateLabel(status: RunStatus): StateLabel

/**
 * Stops a workflow of the project `cwd`: its runs end, no further ones start, and its script hears of it. False if no process
 * runs it.
 *
 * @example
 * ```ts
 * import { stopWorkflow } from "pi-subagent-native/extension";
 *
 * console.log(await stopWorkflow({ cwd: process.cwd() }, "review"));
 * ```
 */
export declare function stopWorkflow(options: SurfaceOptions, id: string): Promise<boolean>

/** A directory and the pi around it: what every call has. */
export interface SurfaceOptions {
  /** The directory of the conversation. Absolute, or relative to the process's own. */
  cwd: string
  /**
   * pi's directory for agents, settings and sessions.
   * @default `PI_CODING_AGENT_DIR`, else `~/.pi/agent`
   */
  agentDir?: string
  /** The session file of the conversation. The sessions of children are kept next to it. */
  parentSessionFile?: string
  /** The id of the conversation. Its cost is counted under this id, or under `parentSessionFile` without it. */
  sessionId?: string
  /**
   * The model of the conversation, `provider/id`. A child inherits it unless its agent or the configuration
   * names one.
   */
  model?: string
  /**
   * True when an extension provides that model; a child then loads all extensions.
   * @default false
   */
  modelFromExtension?: boolean
  /**
   * The providers that extensions have registered; a child whose model is one of theirs loads all
   * extensions.
   * @default []
   */
  extensionProviders?: Array<string>
  /**
   * Those of `extensionProviders` that pi does not know without an extension. A call is refused if its child
   * would not know its model.
   * @default []
   */
  extensionOnlyProviders?: Array<string>
  /**
   * The thinking level of the conversation. A child inherits it unless its agent or the configuration names
   * one.
   */
  thinking?: string
  /** The tools of the hosting pi. Absent: unknown, and no tool is dropped for being unavailable. */
  tools?: Array<HostTool>
  /**
   * The extensions of the user that the hosting pi loads, without this package. Every child that may write
   * loads those of them that watch tool calls. Absent: unknown, and pi's own files are read.
   */
  extensions?: Array<HostExtension>
  /**
   * True when the hosting pi loads only the extensions that its command line names (`--no-extensions`); a child
   * then loads no others.
   * @default false
   */
  onlyNamedExtensions?: boolean
  /**
   * Keys that the hosting pi holds in its memory only, as `--api-key` gives them. A child gets them in its copy of
   * `auth.json`, and they are redacted.
   * @default []
   */
  sessionKeys?: Array<SessionKey>
  /**
   * The names of this package that the hosting pi gives to something else; `doctor` names them.
   * @default []
   */
  takenNames?: Array<TakenName>
  /**
   * The texts of the agents that the program defines itself, in the form of agent files. They win over files.
   * @default []
   */
  agents?: Array<string>
  /**
   * The account of a group of runs whose cost counts together, in place of the conversation's: `sessionBudget`
   * limits it.
   */
  account?: string
  /** The skills of the hosting pi. Absent: unknown, and agents that name skills get none. */
  skills?: Array<HostSkill>
  /** Values laid over the configuration files: the object under `subagents`. */
  config?: Record<string, unknown>
  /** Variables added to a child's environment, which is otherwise this process's own. */
  env?: Record<string, string>
  /**
   * The command that starts pi, program first.
   * @default the hosting pi, else `pi` from `PATH`
   */
  piCommand?: Array<string>
  /** The executable of the hosting pi: its `process.execPath`. */
  hostExecutable?: string
  /** The script of the hosting pi: its `process.argv[1]`. */
  hostScript?: string
}

/**
 * Returns what to tell the user about names of this package that the hosting pi gives to something else (`takenNames`):
 * whose they are, and what to remove. Sanitized.
 *
 * @example
 * ```ts
 * import { takenNameNotices } from "pi-subagent-native/extension";
 *
 * const takenNames = [{ kind: "tool" as const, name: "subagent", path: "/home/user/other.ts" }];
 * for (const notice of takenNameNotices({ cwd: process.cwd(), takenNames })) console.error(notice);
 * ```
 */
export declare function takenNameNotices(options: SurfaceOptions): Array<string>

/**
 * Returns the columns of a text in a terminal, as pi measures them.
 *
 * @example
 * ```ts
 * import { textWidth } from "pi-subagent-native/extension";
 *
 * console.log(textWidth("世界"));
 * ```
 */
export declare function textWidth(text: string): number

/**
 * Writes a tool call on one line of at most 300 characters, as pi writes calls of its own tools: `$ cargo test`, `read
 * src/main.rs:1-10`. The arguments must be sanitized.
 *
 * @example
 * ```ts
 * import { toolCallLine } from "pi-subagent-native/extension";
 *
 * console.log(toolCallLine("read", { path: "src/main.rs", offset: 1, limit: 10 }));
 * ```
 */
export declare function toolCallLine(name: string, args: unknown): string

/** The part of a conversation to read. */
export interface TranscriptOptions {
  /**
   * The number of the newest entries to read: 1 to 2000. Other numbers are clamped.
   * @default 40
   */
  entries?: number
  /**
   * True if tool calls and their results count as entries.
   * @default false
   */
  tools?: boolean
}

/**
 * Keeps the head of a text. Rejects for a limit that is negative or NaN.
 *
 * @example
 * ```ts
 * import { truncateHead } from "pi-subagent-native/extension";
 *
 * const versions = JSON.stringify(process.versions, null, 1);
 * const { text, keptLines, totalLines } = await truncateHead(versions, { maxLines: 9 });
 * console.log(text, keptLines, totalLines);
 * ```
 */
export declare function truncateHead(text: string, limits?: OutputLimits | undefined | null): Promise<TruncatedOutput>

/**
 * Keeps the head and the tail of a text, because the conclusions are there. Rejects if a limit is negative or NaN.
 *
 * @example
 * ```ts
 * import { truncateOutput } from "pi-subagent-native/extension";
 *
 * const limits = { maxBytes: 1024, fullText: "words.txt" };
 * const { text, truncated } = await truncateOutput("word ".repeat(5000), limits);
 * console.log(truncated, text);
 * ```
 */
export declare function truncateOutput(text: string, limits?: OutputLimits | undefined | null): Promise<TruncatedOutput>

/**
 * Keeps the tail of a text. Rejects for a limit that is negative or NaN.
 *
 * @example
 * ```ts
 * import { truncateTail } from "pi-subagent-native/extension";
 *
 * const { text, keptBytes, totalBytes } = await truncateTail("word ".repeat(5000), { maxBytes: 1024 });
 * console.log(text, keptBytes, totalBytes);
 * ```
 */
export declare function truncateTail(text: string, limits?: OutputLimits | undefined | null): Promise<TruncatedOutput>

/**
 * Sums up the usage of runs, in words.
 *
 * @example
 * ```ts
 * import { usageText } from "pi-subagent-native/extension";
 *
 * const usage = { input: 12_340, output: 950, cacheRead: 0, cacheWrite: 0, cost: 0.045, turns: 3 };
 * const { turns = "", tokens = "", cost = "" } = usageText([usage]);
 * console.log(turns, tokens, cost);
 * ```
 */
export declare function usageText(usages: Array<RunUsage>): UsageText

/** The end of the process of a workflow. */
export interface WorkflowEnd {
  /** The path of its script. */
  file: string
  /** Its exit code; absent if a signal ended it. */
  exitCode?: number
  /** True if the user has stopped it. */
  wasStopped: boolean
  /** The time since its start, in milliseconds. */
  durationMs: number
  /** Its output; after a failure its errors. */
  output: string
}

/** A workflow to open, and the pi around it. */
export interface WorkflowOptions {
  /** The id of the workflow, of your choice. It is unique in the project, which is the directory `cwd`. */
  id: string
  /**
   * A name for people.
   * @default the id
   */
  name?: string
  /** The file of its script. */
  file?: string
  /** The id of the workflow that starts this one. */
  parent?: string
  /** Its limits. */
  limits?: WorkflowLimits
}

/**
 * Lists the workflows of the project `cwd`, or of all projects, the newest first.
 *
 * @example
 * ```ts
 * import { workflows } from "pi-subagent-native/extension";
 *
 * for (const { id, state, runs } of await workflows({ cwd: process.cwd() })) console.log(id, state, runs.length);
 * ```
 */
export declare function workflows(options: SurfaceOptions, isAll?: boolean | undefined | null): Promise<WorkflowRecord[]>
