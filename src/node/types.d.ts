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
