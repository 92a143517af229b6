// pi-subagent-native 0.1.0. Generated from api/ by `npm run build:extension`.
var __create = Object.create;
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __getProtoOf = Object.getPrototypeOf;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __export = (target2, all) => {
  for (var name in all)
    __defProp(target2, name, { get: all[name], enumerable: true });
};
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key2 of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key2) && key2 !== except)
        __defProp(to, key2, { get: () => from[key2], enumerable: !(desc = __getOwnPropDesc(from, key2)) || desc.enumerable });
  }
  return to;
};
var __toESM = (mod, isNodeMode, target2) => (target2 = mod != null ? __create(__getProtoOf(mod)) : {}, __copyProps(
  // If the importer is in node compatibility mode or this is not an ESM
  // file that has been converted to a CommonJS file using a Babel-
  // compatible transform (i.e. "__esModule" has not been set), then set
  // "default" to the CommonJS "module.exports" for node compatibility.
  isNodeMode || !mod || !mod.__esModule ? __defProp(target2, "default", { value: mod, enumerable: true }) : target2,
  mod
));
var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

// api/index.ts
var index_exports = {};
__export(index_exports, {
  OptionsError: () => OptionsError,
  collect: () => collect,
  collectOutput: () => import_native3.collectOutput,
  defineAgent: () => defineAgent,
  openSession: () => openSession,
  run: () => run,
  sanitize: () => sanitize,
  sanitizeOutput: () => import_native3.sanitizeOutput,
  startRun: () => import_native3.startRun,
  truncate: () => truncate,
  truncateOutput: () => import_native3.truncateOutput
});
module.exports = __toCommonJS(index_exports);

// api/group.ts
var import_node_crypto = require("node:crypto");

// api/options.ts
var import_node_util = require("node:util");
var import_native = require("./native.js");

// api/agent.ts
function agentText(agent2) {
  const { prompt, ...fields } = { description: agent2.name, ...agent2 };
  const lines = Object.entries(fields).filter(([, value]) => value !== void 0).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `---
${lines.join("\n")}
---
${String(prompt)}
`;
}
function defineAgent(agent2) {
  checkAgentObject(agent2, "agent");
  return agent2;
}

// api/schema.ts
var target = "draft-2020-12";
var standardOf = (schema2) => schema2["~standard"];
function jsonSchemaOf(schema2) {
  const standard = standardOf(schema2);
  const json = standard ? standard.jsonSchema?.input({ target }) : schema2;
  return json === void 0 ? void 0 : JSON.parse(JSON.stringify(json));
}
async function validated(schema2, value) {
  const standard = standardOf(schema2);
  if (!standard) return { value };
  const { issues, value: output } = await standard.validate(value);
  if (!issues) return { value: output };
  const described = issues.map(({ message, path = [] }) => [path.map(key).join("."), message].filter(Boolean).join(": "));
  return { problem: described.join("; ") };
}
var key = (step) => String(typeof step === "object" && step !== null && "key" in step ? step.key : step);

// api/options.ts
var OptionsError = class extends TypeError {
  name = "OptionsError";
  path;
  value;
  expected;
  constructor(path, value, expected) {
    super(`\`${path}\` is ${shown(value)}; expected ${expected}`);
    this.path = path;
    this.value = value;
    this.expected = expected;
  }
};
var shownChars = 80;
function shown(value) {
  const text2 = (0, import_node_util.inspect)(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: shownChars });
  return text2.length > shownChars ? `${text2.slice(0, shownChars)}\u2026` : text2;
}
var expecting = (isRight, expected) => (value, path) => {
  if (!isRight(value)) throw new OptionsError(path, value, expected);
};
var isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
var text = expecting((value) => typeof value === "string" && value.trim() !== "", "a text that is not blank");
var callback = expecting((value) => typeof value === "function", "a function");
var object = expecting(isObject, "an object");
var texts = expecting(
  (value) => Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string"),
  "a list of texts that is not empty"
);
var signal = expecting((value) => value instanceof AbortSignal, "an AbortSignal");
var cost = expecting((value) => typeof value === "number" && value > 0 && value < Infinity, "US dollars above 0");
var count = expecting((value) => Number.isSafeInteger(value) && value > 0, "a whole number from 1");
var maxTimeoutMs = 6048e5;
var timeout = expecting(
  (value) => typeof value === "number" && value >= 1 && value <= maxTimeoutMs,
  `milliseconds from 1 to ${maxTimeoutMs} (a week)`
);
var levels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];
var thinking = expecting((value) => levels.includes(value), `one of ${levels.join(", ")}`);
var model = expecting(
  (value) => typeof value === "string" && /^[^\s/-][^\s/]*\/\S+$/.test(value),
  "a model as `provider/id`, such as `anthropic/claude-sonnet-5`"
);
var environment = expecting(
  (value) => isObject(value) && Object.values(value).every((item) => typeof item === "string"),
  "an object whose values are texts"
);
var agent = (value, path) => {
  if (typeof value === "string") return text(value, path);
  checkAgentObject(value, path);
};
var schema = (value, path) => {
  if (!isObject(value) && typeof value !== "function") {
    throw new OptionsError(path, value, "a JSON Schema, or a schema of a library with Standard Schema");
  }
  const json = jsonSchemaOf(value);
  if (!json) {
    const how = "with zod from 4.2 or arktype from 2.1.28 it is built in; for valibot use `toStandardJsonSchema`";
    throw new OptionsError(path, value, `a schema that can be written as JSON Schema (\`~standard.jsonSchema\`): ${how}`);
  }
  const problem = (0, import_native.checkSchema)(json);
  if (problem) throw new OptionsError(path, json, `a JSON Schema of results: ${problem}`);
};
var place = { cwd: text, agentDir: text, env: environment, piCommand: texts, config: object };
var nested = (shape) => (value, path) => checkShape(value, path, shape);
var runShape = {
  required: ["agent", "task"],
  fields: {
    agent,
    task: text,
    schema,
    model,
    thinking,
    budget: nested({ fields: { maxCost: cost, maxTokens: count, maxTurns: count } }),
    timeoutMs: timeout,
    signal,
    sessionId: text,
    onQuestion: callback,
    onConfirm: callback,
    ...place
  }
};
var groupFields = { budget: nested({ required: ["maxCost"], fields: { maxCost: cost } }), signal };
var checkRun = (options, path = "") => checkShape(options, path, runShape);
var checkParallel = (options) => checkShape(options, "options", { fields: { ...groupFields, concurrency: count } });
var checkChain = (options) => checkShape(options, "options", { fields: groupFields });
var checkSession = (options) => checkShape(options, "", {
  required: ["id"],
  fields: { id: text, onMessage: callback, onNotice: callback, onQuestion: callback, onConfirm: callback, ...place }
});
var checkSpawn = (options) => checkShape(options, "", {
  required: ["agent", "task"],
  fields: { agent: text, task: text, label: text, model, thinking, timeoutMs: timeout, schema }
});
function checkAgentObject(value, path) {
  if (!isObject(value)) throw new OptionsError(path, value, "the name of an agent, or an object that defines one");
  text(value.name, field(path, "name"));
  text(value.prompt, field(path, "prompt"));
  const mistakes = (0, import_native.checkAgent)(agentText(value)).filter(({ severity }) => severity !== "info");
  if (mistakes.length > 0) {
    throw new OptionsError(path, value, `an agent without mistakes: ${mistakes.map(({ message }) => message).join("; ")}`);
  }
}
function checkList(value, path, entry) {
  if (!Array.isArray(value) || value.length === 0) {
    throw new OptionsError(path, value, "a list with at least one entry");
  }
  for (const [index, item] of value.entries()) entry(item, `${path}[${index}]`);
}
function checkShape(value, path, { required = [], fields }) {
  if (!isObject(value)) throw new OptionsError(path || "options", value, "an object");
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(fields, name)) {
      const known = Object.keys(fields).join(", ");
      throw new OptionsError(field(path, name), value[name], `no option of this name; the options are ${known}`);
    }
  }
  for (const [name, check] of Object.entries(fields)) {
    if (value[name] !== void 0 || required.includes(name)) check(value[name], field(path, name));
  }
}
var field = (path, name) => path ? `${path}.${name}` : name;

// api/result.ts
var noUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0, turns: 0 };
var codes = {
  aborted: "SUBAGENT_ABORTED",
  budget: "SUBAGENT_OVER_BUDGET",
  background: "MOVED_TO_BACKGROUND"
};
async function resultOf(native3, schema2, aborted) {
  const [details] = native3.details.results;
  const base = {
    outcome: details?.outcome ?? "failed",
    usage: details?.usage ?? noUsage,
    ...details && { details },
    ...details?.runId !== void 0 && { runId: details.runId }
  };
  const said = details?.output ?? "";
  if (base.outcome !== "completed") {
    const code = codes[base.outcome] ?? errorCode(native3);
    const reason = base.outcome === "aborted" && aborted ? `aborted: ${aborted}` : void 0;
    const message = reason ?? details?.error ?? native3.details.error?.message ?? native3.content[0]?.text ?? "the run failed";
    return { ok: false, error: { code, message }, partial: said, ...base };
  }
  if (!schema2) return { ok: true, text: said, data: void 0, ...base };
  const submitted = await submittedBy(details);
  const checked = await validated(schema2, submitted);
  if ("problem" in checked) {
    return { ok: false, error: { code: "RESULT_INVALID", message: checked.problem }, partial: said, ...base };
  }
  return { ok: true, text: said, data: checked.value, ...base };
}
function errorCode({ details: { error } }) {
  return error && error.code !== "SUBAGENT_OUTPUT_TRUNCATED" ? error.code : "SUBAGENT_FAILED";
}
async function submittedBy(details) {
  if (details?.structured !== void 0 || !details?.structuredFile) return details?.structured;
  const { readFile } = await import("node:fs/promises");
  return JSON.parse(await readFile(details.structuredFile, "utf8"));
}

// api/task.ts
var native = __toESM(require("./native.js"));

// api/updates.ts
var maxWaitingTools = 64;
var maxWaitingText = 64 * 1024;
var anchorChars = 200;
var Changes = class {
  #base = { state: "queued", elapsedMs: 0, usage: noUsage };
  #state = "";
  #said = "";
  #message = 0;
  #calls = [];
  #retry = 0;
  /** Returns the updates that lead from the state before to this one. */
  take(native3) {
    const now = native3.details.streaming;
    if (!now) return [];
    const base = { state: now.state, elapsedMs: now.elapsedMs, usage: now.usage };
    this.#base = base;
    const updates = [];
    const { position, blockedBy, retry } = now;
    const state = `${now.state} ${position ?? ""} ${blockedBy ?? ""}`;
    if (state !== this.#state) {
      this.#state = state;
      const where = { ...position !== void 0 && { position }, ...blockedBy !== void 0 && { blockedBy } };
      updates.push({ type: "state", ...base, ...where });
    }
    if (retry && retry.atMs !== this.#retry) {
      this.#retry = retry.atMs;
      const why = retry.error === void 0 ? {} : { error: retry.error };
      updates.push({ type: "retry", ...base, attempt: retry.attempt, atMs: retry.atMs, ...why });
    }
    for (const { name, args } of this.#newCalls(now.displayItems)) updates.push({ type: "tool", ...base, name, args });
    const text2 = now.hasText ? this.#newText(native3.content[0]?.text ?? "") : "";
    if (text2) updates.push({ type: "text", ...base, text: text2, message: this.#message });
    return updates;
  }
  /** The child asks a question. */
  question(sentence) {
    return { type: "question", ...this.#base, sentence };
  }
  /** The run has ended. */
  done(result) {
    const elapsedMs = result.details?.durationMs ?? this.#base.elapsedMs;
    return { type: "done", state: "ended", elapsedMs, usage: result.usage, result };
  }
  /** The text after the known one. A text that does not continue it is a new message. */
  #newText(said) {
    const known = this.#said;
    this.#said = said;
    if (known && said.startsWith(known)) return said.slice(known.length);
    const anchor = known.slice(-anchorChars);
    const at = anchor.length === anchorChars ? said.lastIndexOf(anchor) : -1;
    if (at >= 0) return said.slice(at + anchor.length);
    this.#message += 1;
    return said;
  }
  /** The calls after the known ones. Of many calls only the newest are there. */
  #newCalls(items) {
    const calls = items.filter((item) => item.type === "toolCall");
    const texts2 = calls.map((call) => JSON.stringify(call));
    const known = this.#calls;
    this.#calls = texts2;
    const isKept = (dropped2) => known.slice(dropped2).every((text2, index) => text2 === texts2[index]);
    let dropped = 0;
    while (!isKept(dropped)) dropped += 1;
    return calls.slice(known.length - dropped);
  }
};
var Reader = class {
  #waiting = [];
  #wakes = [];
  #hasEnded = false;
  #onReturn;
  constructor(onReturn) {
    this.#onReturn = onReturn;
  }
  push(update) {
    const last = this.#waiting.at(-1);
    if (update.type === "text" && last?.type === "text" && last.message === update.message) {
      this.#waiting[this.#waiting.length - 1] = { ...update, text: last.text + update.text };
    } else if (update.type === "state") {
      this.#waiting = [...this.#waiting.filter(({ type }) => type !== "state"), update];
    } else {
      this.#waiting.push(update);
    }
    this.#bound();
    this.#wakeAll();
  }
  /** No update follows. */
  end() {
    this.#hasEnded = true;
    this.#wakeAll();
  }
  async next() {
    for (; ; ) {
      const value = this.#waiting.shift();
      if (value) return { value, done: false };
      if (this.#hasEnded) return { value: void 0, done: true };
      await new Promise((resolve) => this.#wakes.push(resolve));
    }
  }
  async return() {
    this.#waiting = [];
    this.end();
    this.#onReturn(this);
    return { value: void 0, done: true };
  }
  #wakeAll() {
    for (const wake of this.#wakes.splice(0)) wake();
  }
  /** Leaves out the oldest of what a slow reader has missed. */
  #bound() {
    const tools = this.#waiting.filter(({ type }) => type === "tool").length;
    if (tools > maxWaitingTools) this.#drop("tool");
    const length = () => this.#waiting.reduce((sum, update) => sum + (update.type === "text" ? update.text.length : 0), 0);
    if (length() <= maxWaitingText) return;
    while (length() > maxWaitingText && this.#waiting.filter(({ type }) => type === "text").length > 1) this.#drop("text");
    this.#waiting = this.#waiting.map(
      (update) => update.type === "text" ? { ...update, text: update.text.slice(-maxWaitingText) } : update
    );
  }
  #drop(type) {
    const oldest = this.#waiting.findIndex((update) => update.type === type);
    if (oldest >= 0) this.#waiting.splice(oldest, 1);
  }
};

// api/task.ts
var live = /* @__PURE__ */ new Set();
var RunTask = class {
  #handle;
  #result;
  #readers = /* @__PURE__ */ new Set();
  #changes = new Changes();
  #ended;
  #abortReason;
  /** `options` are checked. */
  constructor(options, group) {
    const { schema: schema2, signal: signal2 } = options;
    const host = hostOf(options, (sentence) => this.#push(this.#changes.question(sentence)));
    const onUpdate = (update) => {
      for (const change of this.#changes.take(update)) this.#push(change);
    };
    this.#handle = native.startRun(
      { ...nativeOptions(options, group), aborted: signal2?.aborted ?? false },
      onUpdate,
      host
    );
    const abort = () => this.abort(reasonOf(signal2));
    if (signal2?.aborted) this.#abortReason = reasonOf(signal2);
    else signal2?.addEventListener("abort", abort, { once: true });
    live.add(this);
    this.#result = this.#handle.result().then(async (ended) => {
      signal2?.removeEventListener("abort", abort);
      const result = await resultOf(ended, schema2, this.#abortReason);
      this.#ended = this.#changes.done(result);
      this.#push(this.#ended);
      for (const reader of this.#readers) reader.end();
      live.delete(this);
      return result;
    });
  }
  get id() {
    return this.#handle.runId;
  }
  get [Symbol.toStringTag]() {
    return "Task";
  }
  abort(reason) {
    this.#abortReason ??= reason;
    this.#handle.abort(reason);
  }
  steer(message) {
    return this.#handle.steer(message);
  }
  async background() {
    const [receipt] = await this.#handle.background();
    return backgroundRun(receipt);
  }
  // biome-ignore lint/suspicious/noThenProperty: a task is awaited
  then(onResult, onError) {
    return this.#result.then(onResult, onError);
  }
  catch(onError) {
    return this.#result.catch(onError);
  }
  finally(onEnd) {
    return this.#result.finally(onEnd);
  }
  [Symbol.asyncIterator]() {
    const reader = new Reader((left) => this.#readers.delete(left));
    if (this.#ended) {
      reader.push(this.#ended);
      reader.end();
    } else {
      this.#readers.add(reader);
    }
    return reader;
  }
  async [Symbol.asyncDispose]() {
    this.abort("its block has ended");
    await this.#result;
  }
  #push(update) {
    for (const reader of this.#readers) reader.push(update);
  }
};
function backgroundRun(receipt) {
  const { runId, childSessionKey, warnings = [], error } = receipt ?? {};
  if (!runId || !childSessionKey) throw new Error(error ?? "the run was not accepted");
  return { runId, sessionKey: childSessionKey, warnings };
}
function placeOf({ cwd, agentDir, env, piCommand, config }) {
  return {
    cwd: cwd ?? process.cwd(),
    ...agentDir !== void 0 && { agentDir },
    ...env && { env },
    ...piCommand && { piCommand: [...piCommand] },
    ...config && { config }
  };
}
function nativeOptions(options, group) {
  const { agent: agent2, task, schema: schema2, model: model2, thinking: thinking2, budget, timeoutMs, sessionId } = options;
  const outputSchema = schema2 && jsonSchemaOf(schema2);
  const place2 = placeOf(options);
  return {
    ...place2,
    ...group && { account: group.account, config: { ...place2.config, sessionBudget: { maxCost: group.maxCost } } },
    ...typeof agent2 === "string" ? { agent: agent2 } : { agent: agent2.name, agents: [agentText(agent2)] },
    task,
    ...model2 !== void 0 && { childModel: model2 },
    ...thinking2 !== void 0 && { childThinking: thinking2 },
    ...outputSchema && { outputSchema },
    ...budget && { budget },
    ...timeoutMs !== void 0 && { timeoutMs },
    ...sessionId !== void 0 && { sessionId }
  };
}
function hostOf({ onQuestion, onConfirm }, asked) {
  const open = /* @__PURE__ */ new Map();
  const ask = async ({ id, forConversation: _, ...question }) => {
    const controller = new AbortController();
    open.set(id, controller);
    asked(question.sentence);
    try {
      return await onQuestion?.({ ...question, signal: controller.signal }) ?? {};
    } finally {
      open.delete(id);
    }
  };
  return {
    ...onQuestion && { ask },
    ...onConfirm && { confirm: onConfirm },
    withdraw: (id) => open.get(id)?.abort()
  };
}
function reasonOf(signal2) {
  const reason = signal2?.reason;
  return reason instanceof Error ? reason.message : String(reason);
}

// api/group.ts
var defaultConcurrency = 8;
function parallel(tasks, options = {}) {
  checkList(tasks, "tasks", checkRun);
  checkParallel(options);
  const group = new TaskGroup(options);
  const { concurrency = defaultConcurrency } = options;
  const waiting = tasks.entries();
  const worker = async () => {
    for (const [index, task] of waiting) group.finish(index, await group.run(task));
  };
  const workers = Array.from({ length: Math.min(concurrency, tasks.length) }, worker);
  group.endWith(Promise.all(workers), tasks.length);
  return group;
}
function chain(steps, options = {}) {
  checkList(steps, "steps", (step, path) => typeof step === "function" || checkRun(step, path));
  if (typeof steps[0] === "function") {
    throw new OptionsError("steps[0]", steps[0], "options: no step comes before the first one");
  }
  checkChain(options);
  const group = new TaskGroup(options);
  const work = async () => {
    let before;
    for (const [index, step] of steps.entries()) {
      const result = await group.step(step, before, index);
      group.finish(index, result);
      if (!result.ok) break;
      before = result;
    }
  };
  group.endWith(work(), steps.length);
  return group;
}
var TaskGroup = class {
  #group;
  #running = /* @__PURE__ */ new Set();
  #ended = [];
  #signal;
  #onAbort = () => this.abort(reasonOf(this.#signal));
  #aborted;
  #hasEnded = false;
  #wake = [];
  #results = Promise.resolve([]);
  constructor({ budget, signal: signal2 }) {
    this.#group = budget && { account: `group:${(0, import_node_crypto.randomUUID)()}`, maxCost: budget.maxCost };
    this.#signal = signal2;
    if (signal2?.aborted) this.#onAbort();
    else signal2?.addEventListener("abort", this.#onAbort, { once: true });
  }
  get [Symbol.toStringTag]() {
    return "Tasks";
  }
  /** Runs one task, unless all were aborted. */
  async run(options) {
    if (this.#aborted !== void 0) return abortedResult(this.#aborted);
    const task = new RunTask(options, this.#group);
    this.#running.add(task);
    try {
      return await task;
    } finally {
      this.#running.delete(task);
    }
  }
  /** Runs a step of a chain. A function that throws, or makes wrong options, has failed. */
  async step(step, before, index) {
    try {
      const options = typeof step === "function" ? step(before) : step;
      checkRun(options, `steps[${index}]`);
      return await this.run(options);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { ok: false, error: { code: "INVALID_INPUT", message }, partial: "", outcome: "skipped", usage: noUsage };
    }
  }
  finish(index, result) {
    this.#ended.push({ index, result });
    this.#wakeAll();
  }
  /** Resolves with the results in order once `work` is done. */
  endWith(work, count2) {
    this.#results = work.then(() => {
      this.#hasEnded = true;
      this.#signal?.removeEventListener("abort", this.#onAbort);
      this.#wakeAll();
      const results = Array.from({ length: count2 });
      for (const { index, result } of this.#ended) results[index] = result;
      return results.filter((result) => result !== void 0);
    });
  }
  abort(reason = "aborted") {
    this.#aborted ??= reason;
    for (const task of this.#running) task.abort(reason);
  }
  // biome-ignore lint/suspicious/noThenProperty: a group is awaited
  then(onResults, onError) {
    return this.#results.then(onResults, onError);
  }
  catch(onError) {
    return this.#results.catch(onError);
  }
  finally(onEnd) {
    return this.#results.finally(onEnd);
  }
  async *[Symbol.asyncIterator]() {
    for (let next = 0; ; ) {
      const ended = this.#ended[next];
      if (ended) {
        next += 1;
        yield ended;
      } else if (this.#hasEnded) {
        return void 0;
      } else {
        await new Promise((resolve) => this.#wake.push(resolve));
      }
    }
  }
  async [Symbol.asyncDispose]() {
    this.abort("its block has ended");
    await this.#results;
  }
  #wakeAll() {
    for (const wake of this.#wake.splice(0)) wake();
  }
};
function abortedResult(reason) {
  const message = `aborted before it started: ${reason}`;
  return { ok: false, error: { code: "SUBAGENT_ABORTED", message }, partial: "", outcome: "aborted", usage: noUsage };
}

// api/index.ts
var import_native3 = require("./native.js");

// api/session.ts
var native2 = __toESM(require("./native.js"));
function openSession(options) {
  checkSession(options);
  return new ProgramSession(options);
}
var ProgramSession = class {
  #place;
  #host;
  #native;
  constructor(options) {
    const { id, onMessage, onNotice = (notice) => process.emitWarning(notice, "SubagentWarning") } = options;
    this.#place = { ...placeOf(options), sessionId: id };
    this.#host = hostOf(options, () => {
    });
    this.#native = native2.openBackground({ ...this.#place, delivered: [] }, async ({ deliveries, notices = [] }) => {
      for (const notice of notices) onNotice(notice);
      if (!deliveries || !onMessage) return;
      await onMessage(messageOf(deliveries));
      await this.#native.delivered(deliveries.deliveryIds);
    });
  }
  async spawn(options) {
    checkSpawn(options);
    const { agent: agent2, task, label, model: model2, thinking: thinking2, timeoutMs, schema: schema2 } = options;
    const outputSchema = schema2 && jsonSchemaOf(schema2);
    const receipt = await native2.spawnSession(
      {
        ...this.#place,
        agent: agent2,
        task,
        ...label !== void 0 && { label },
        ...model2 !== void 0 && { childModel: model2 },
        ...thinking2 !== void 0 && { childThinking: thinking2 },
        ...timeoutMs !== void 0 && { runTimeoutSeconds: timeoutMs / 1e3 },
        ...outputSchema && { outputSchema }
      },
      this.#host
    );
    return backgroundRun(receipt);
  }
  async list() {
    return await this.#native.runs();
  }
  async history(run2, options = {}) {
    const runs = await this.list();
    const found = runs.find(({ runId, sessionKey, label }) => [runId, sessionKey, label].includes(run2));
    if (!found) throw new Error(`the session has no run ${JSON.stringify(run2)}`);
    return (await this.#native.transcript(found.key, options)).entries;
  }
  async send(run2, message) {
    return backgroundRun(await this.#native.continueRun(run2, message, this.#host));
  }
  async stop(run2) {
    if (run2 === void 0) {
      await this.#native.stopAll();
      return;
    }
    const { isError, content } = await this.#native.useTool("sessions_stop", { sessionKey: run2 }).result();
    if (isError) throw new Error(JSON.parse(content[0]?.text ?? "{}").error);
  }
  async settled(timeoutMs) {
    await this.#native.settled(timeoutMs);
  }
  async close() {
    await this.#native.close();
  }
  async [Symbol.asyncDispose]() {
    await this.close();
  }
};
function messageOf({ deliveryIds, runs, questions }) {
  return {
    id: deliveryIds.join(" "),
    results: runs.map(resultOf2),
    questions: questions.map(({ runId, agent: agent2, question, options }) => ({ runId, agent: agent2, question, options }))
  };
}
function resultOf2(run2) {
  const ok = run2.status === "success";
  const text2 = run2.result ?? run2.partial ?? "";
  return {
    runId: run2.runId,
    run: run2,
    ok,
    text: text2,
    ...run2.structured !== void 0 && { data: run2.structured },
    ...run2.error !== void 0 && { error: run2.error }
  };
}

// api/text.ts
var import_native2 = require("./native.js");
var keepers = { ends: import_native2.truncateOutput, head: import_native2.truncateHead, tail: import_native2.truncateTail };
async function sanitize(text2, options) {
  return await (0, import_native2.sanitizeOutput)(text2, options);
}
async function truncate(text2, { keep = "ends", ...limits } = {}) {
  if (!Object.hasOwn(keepers, keep)) throw new OptionsError("keep", keep, "ends, head or tail");
  return await keepers[keep](text2, limits);
}
async function collect(source) {
  if (typeof source === "string" || source instanceof Uint8Array) return await (0, import_native2.collectOutput)(source);
  if ("file" in source) return await (0, import_native2.collectOutputFile)(source.file);
  const collector = new import_native2.OutputCollector();
  for await (const piece of source) collector.push(piece);
  return await collector.finish();
}

// api/index.ts
function one(options) {
  checkRun(options);
  return new RunTask(options);
}
var run = Object.assign(one, { parallel, chain });
// Annotate the CommonJS export names for ESM import in node:
0 && (module.exports = {
  OptionsError,
  collect,
  collectOutput,
  defineAgent,
  openSession,
  run,
  sanitize,
  sanitizeOutput,
  startRun,
  truncate,
  truncateOutput
});
