// pi-subagent-native 0.2.0. Generated from api/ by `npm run build:extension`.
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
    for (let key3 of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key3) && key3 !== except)
        __defProp(to, key3, { get: () => from[key3], enumerable: !(desc = __getOwnPropDesc(from, key3)) || desc.enumerable });
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
  WorkflowError: () => WorkflowError,
  collect: () => collect,
  collectOutput: () => import_native3.collectOutput,
  defineAgent: () => defineAgent,
  openSession: () => openSession,
  run: () => run,
  sanitize: () => sanitize,
  sanitizeOutput: () => import_native3.sanitizeOutput,
  startRun: () => import_native3.startRun,
  truncate: () => truncate,
  truncateOutput: () => import_native3.truncateOutput,
  workflow: () => workflow
});
module.exports = __toCommonJS(index_exports);

// api/group.ts
var import_node_crypto = require("node:crypto");
var import_node_os = require("node:os");
var native2 = __toESM(require("./native.js"));

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
var refusedByArktype = ["date", "domain", "proto", "unit"];
function refuse({ code }) {
  throw new Error(`arktype knows no JSON Schema for this \`${code}\``);
}
var libraryOptions = {
  arktype: { fallback: Object.fromEntries(refusedByArktype.map((code) => [code, refuse])) }
};
var standardOf = (schema2) => schema2["~standard"];
function jsonSchemaOf(schema2) {
  const standard = standardOf(schema2);
  const options = standard && libraryOptions[standard.vendor];
  const json = standard ? standard.jsonSchema?.input({ target, ...options && { libraryOptions: options } }) : schema2;
  return json === void 0 ? void 0 : JSON.parse(JSON.stringify(json));
}
async function validated(schema2, value) {
  const standard = standardOf(schema2);
  if (!standard) return { value };
  const { issues, value: output } = await standard.validate(value);
  if (!issues) return { value: output };
  const described = issues.map(
    ({ message, path = [] }) => [path.map(key).join("."), message].filter(Boolean).join(": ")
  );
  return { problem: described.join("; ") };
}
var key = (step) => String(typeof step === "object" && step !== null && "key" in step ? step.key : step);

// api/options.ts
var OptionsError = class extends TypeError {
  name = "OptionsError";
  path;
  expected;
  constructor(path, value, expected) {
    super(`\`${path}\` is ${shown(value)}; expected ${expected}`);
    this.path = path;
    this.expected = expected;
    hideFields(this, { value });
  }
};
function hideFields(error, fields) {
  for (const [name, value] of Object.entries(fields)) Object.defineProperty(error, name, { value });
}
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
var boolean = expecting((value) => typeof value === "boolean", "true or false");
var callback = expecting((value) => typeof value === "function", "a function");
var texts = expecting(
  (value) => isTexts(value) && value.length > 0,
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
  (value) => isObject(value) && Object.values(value).every((item) => ["string", "undefined"].includes(typeof item)),
  "an object whose values are texts"
);
var agentName = expecting(
  (value) => typeof value === "string" && value.trim() !== "",
  "the name of an agent in a file: another process may have to start the run again, and it does not know an agent in code. Write the agent into `agents/NAME.md` of `agentDir` or `.pi/agents/NAME.md` of the project, or start it with `run`"
);
var agent = (value, path) => {
  if (typeof value === "string") return text(value, path);
  checkAgentObject(value, path);
};
var schema = (value, path) => {
  if (!isObject(value) && typeof value !== "function") {
    throw new OptionsError(path, value, "a JSON Schema, or a schema of a library with Standard Schema");
  }
  const json = jsonSchema(value, path);
  const problem = (0, import_native.checkSchema)(json) ?? wrongPattern(json);
  if (problem) throw new OptionsError(path, json, `a JSON Schema of results: ${problem}`);
};
function checkJson(value, path, around = []) {
  if (typeof value === "number" && !Number.isFinite(value)) throw new OptionsError(path, value, "a finite number");
  if (["bigint", "function", "symbol"].includes(typeof value)) {
    throw new OptionsError(path, value, `a value that JSON can represent: a ${typeof value} has no form in JSON`);
  }
  if (typeof value !== "object" || value === null) return;
  if (around.includes(value))
    throw new OptionsError(path, value, "a value that JSON can represent: it contains itself");
  for (const [name, part] of Object.entries(value)) {
    checkJson(part, Array.isArray(value) ? `${path}[${name}]` : field(path, name), [...around, value]);
  }
}
var schemaKeywords = new Set(
  "items prefixItems additionalItems unevaluatedItems contains anyOf oneOf allOf not if then else additionalProperties unevaluatedProperties propertyNames properties patternProperties dependentSchemas $defs definitions".split(" ")
);
var namedSchemas = /* @__PURE__ */ new Set(["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"]);
function wrongPattern(schema2, pointer = "#") {
  if (!isObject(schema2)) return void 0;
  const { pattern, patternProperties } = schema2;
  for (const text2 of [pattern, ...Object.keys(isObject(patternProperties) ? patternProperties : {})]) {
    const problem = typeof text2 === "string" ? patternProblem(text2) : void 0;
    if (problem) return `the pattern at \`${pointer}\` is invalid: ${problem}`;
  }
  for (const [keyword, value] of Object.entries(schema2)) {
    if (!schemaKeywords.has(keyword)) continue;
    const parts = Array.isArray(value) || namedSchemas.has(keyword) && isObject(value) ? Object.entries(value) : [["", value]];
    for (const [name, part] of parts) {
      const key3 = String(name).replaceAll("~", "~0").replaceAll("/", "~1");
      const problem = wrongPattern(part, [pointer, keyword, ...key3 ? [key3] : []].join("/"));
      if (problem) return problem;
    }
  }
  return void 0;
}
function patternProblem(pattern) {
  try {
    new RegExp(pattern, "u");
    return void 0;
  } catch (error) {
    return messageOf(error);
  }
}
var messageOf = (error) => error instanceof Error ? error.message : String(error);
var config = (value, path) => {
  if (!isObject(value)) throw new OptionsError(path, value, "an object");
  checkJson(value, path);
  const problem = (0, import_native.checkConfig)(value);
  if (!problem) return;
  const [, name = ""] = /^`([^`]+)`/.exec(problem) ?? [];
  const wrong = name.split(".").reduce((part, key3) => isObject(part) ? part[key3] : void 0, value);
  if (wrong === void 0) throw new OptionsError(path, value, `settings as in a configuration file: ${problem}`);
  throw new OptionsError(`${path}.${name}`, wrong, expectedIn(problem, "a setting as in a configuration file"));
};
function expectedIn(message, otherwise) {
  const [, expected] = message.split("; expected ");
  return expected ?? `${otherwise}: ${message}`;
}
function jsonSchema(value, path) {
  const expected = "a schema that can be written as JSON Schema";
  let json;
  try {
    json = jsonSchemaOf(value);
  } catch (error) {
    const [why] = messageOf(error).split(/\.?(?:\n|$)/);
    throw new OptionsError(
      path,
      value,
      `${expected}, but its library says: ${why}. Use a type of JSON there, such as a text, and convert its value afterwards`
    );
  }
  if (json) return json;
  const how = "with zod from 4.2 or arktype from 2.1.28 it is built in; for valibot use `toStandardJsonSchema`";
  throw new OptionsError(path, value, `${expected} (\`~standard.jsonSchema\`): ${how}`);
}
var place = { cwd: text, agentDir: text, env: environment, piCommand: texts, config };
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
function checkRun(options, path = "") {
  if (isObject(options) && options.key !== void 0) {
    const fix = "no key outside of a workflow; write `workflow(id, {}, (wf) => wf.run({ key, \u2026 }))`";
    throw new OptionsError(field(path, "key"), options.key, fix);
  }
  checkShape(options, path, runShape);
}
var maxKeyChars = 512;
var key2 = expecting(
  (value) => typeof value === "string" && value.trim() !== "" && value.length <= maxKeyChars,
  `a text that is not blank, of at most ${maxKeyChars} characters`
);
var checkWorkflowRun = (options, path) => checkShape(options, path, {
  required: ["key", ...runShape.required ?? []],
  fields: { key: key2, phase: text, ...runShape.fields }
});
var reservedId = /["\p{Cc}]|^workflow:/u;
function checkWorkflowId(id) {
  key2(id, "id");
  const written = String(id);
  const fix = `a text without \`"\` and control characters that does not begin with \`workflow:\` or \`${import_native.CODEMODE_WORKFLOW}\``;
  if (reservedId.test(written) || written.startsWith(import_native.CODEMODE_WORKFLOW)) throw new OptionsError("id", id, fix);
}
var checkWorkflow = (options) => checkShape(options, "options", {
  fields: {
    name: text,
    file: text,
    budget: nested({ fields: { maxCost: cost, maxTokens: count } }),
    maxRuns: count,
    maxDepth: count,
    signal,
    onUpdate: callback,
    onQuestion: callback,
    onConfirm: callback,
    ...place
  }
});
var checkWorkflowParallel = (options) => checkShape(options, "options", { fields: { concurrency: count, settle: boolean } });
var checkParallel = (options) => checkShape(options, "options", { fields: { ...groupFields, concurrency: count } });
var checkChain = (options) => checkShape(options, "options", { fields: groupFields });
var checkSession = (options) => checkShape(options, "", {
  required: ["id"],
  fields: { id: text, onMessage: callback, onNotice: callback, onQuestion: callback, onConfirm: callback, ...place }
});
var checkSpawn = (options) => checkShape(options, "", {
  required: ["agent", "task"],
  fields: { agent: agentName, task: text, label: text, model, thinking, timeoutMs: timeout, schema }
});
var checkHistory = (options) => checkShape(options, "options", { fields: { entries: count, tools: boolean } });
var checkRunName = (run2) => text(run2, "run");
var checkMessage = (message) => text(message, "message");
var checkWait = (timeoutMs) => timeoutMs === void 0 || timeout(timeoutMs, "timeoutMs");
var string = expecting((value) => typeof value === "string", "a text");
var limit = expecting((value) => typeof value === "number" && value >= 0, "a number from 0");
var isTexts = (value) => Array.isArray(value) && value.every((item) => typeof item === "string");
var list = expecting(isTexts, "a list of texts");
var switchOrList = expecting(
  (value) => typeof value === "boolean" || isTexts(value),
  "true, false, or a list of texts"
);
var oneOf = (...values) => expecting((value) => values.includes(value), `one of ${values.join(", ")}`);
function checkSanitize(value, options) {
  string(value, "text");
  const homePaths = oneOf("own", "all", "off");
  checkShape(options, "options", {
    fields: { secrets, authJson, homes: list, homePaths, allow: list }
  });
}
var sizeOf = (value) => ({
  [import_node_util.inspect.custom]: () => typeof value === "string" ? `a text of ${Buffer.byteLength(value)} bytes` : `a value of the type ${typeof value}`
});
var secrets = (value, path) => {
  if (!isTexts(value)) throw new OptionsError(path, sizeOf(value), "a list of texts");
};
var authJson = (value, path) => {
  let json;
  try {
    json = typeof value === "string" ? JSON.parse(value) : void 0;
  } catch {
  }
  if (!isObject(json))
    throw new OptionsError(path, sizeOf(value), "the text of a file like pi's `auth.json`: a JSON object");
};
var unsearchable = (secret, index) => new OptionsError(
  `options.secrets[${index}]`,
  sizeOf(secret),
  "a secret of at least 8 bytes that is no number, path, address without a login, or word of fewer than 16 letters; such values also occur in innocent texts, and are not replaced. Leave it out, or replace it yourself"
);
function checkTruncate(value, limits) {
  string(value, "text");
  checkShape(limits, "limits", {
    fields: { maxBytes: limit, maxLines: limit, fullText: string, keep: oneOf("ends", "head", "tail") }
  });
}
function checkSource(source) {
  const isText = typeof source === "string" || source instanceof Uint8Array;
  if (isText || isObject(source) && Symbol.asyncIterator in source) return;
  if (!isObject(source) || !("file" in source)) {
    throw new OptionsError("source", source, "a text, bytes, a stream of either, or `{ file: path }`");
  }
  checkShape(source, "source", { fields: { file: text } });
}
var checkPiece = expecting(
  (piece) => typeof piece === "string" || piece instanceof Uint8Array,
  "a stream of texts or bytes"
);
function checkAgentObject(value, path) {
  if (!isObject(value)) throw new OptionsError(path, value, "the name of an agent, or an object that defines one");
  for (const [name2, check] of Object.entries(agentFields)) {
    if (value[name2] !== void 0 || name2 === "name" || name2 === "prompt") check(value[name2], field(path, name2));
  }
  const { prompt: _, ...fields } = value;
  for (const [name2, item] of Object.entries(fields)) {
    if (item === null) throw new OptionsError(field(path, name2), item, "a value, or no such field for the default");
    checkJson(item, field(path, name2));
  }
  const isMistake = ({ severity, code }) => severity !== "info" || ["FRONTMATTER_FIELD_IGNORED", "AGENT_SWITCHED_OFF"].includes(code);
  const [mistake] = (0, import_native.checkAgent)(agentText(value)).filter(isMistake);
  if (!mistake) return;
  const [, name] = /^`([^`]+)`/.exec(mistake.message) ?? [];
  if (name === void 0 || !Object.hasOwn(value, name)) {
    throw new OptionsError(path, value, `an agent without mistakes: ${mistake.message}`);
  }
  const otherwise = mistake.code === "AGENT_SWITCHED_OFF" ? "no such field in code" : "a field as in an agent file";
  throw new OptionsError(field(path, name), value[name], expectedIn(mistake.message, otherwise));
}
var agentFields = {
  name: expecting(
    (value) => typeof value === "string" && /^[\p{L}\p{N}][\p{L}\p{N}\p{M}._-]{0,63}$/u.test(value),
    "a name of at most 64 letters, digits, `.`, `_` and `-` that starts with a letter or a digit"
  ),
  prompt: text,
  description: text,
  tools: list,
  disallowedTools: list,
  extensions: switchOrList,
  skills: switchOrList,
  readonly: boolean,
  model: text,
  thinking,
  check: text,
  isolation: oneOf("none", "auto", "private")
};
function checkedList(value, path, entry) {
  if (!Array.isArray(value) || value.length === 0) {
    throw new OptionsError(path, value, "a list with at least one entry");
  }
  for (const [index, item] of value.entries()) entry(item, `${path}[${index}]`);
  return value.map((item) => isObject(item) ? { ...item } : item);
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
var import_promises2 = require("node:fs/promises");

// extension/host/submission.ts
var import_promises = require("node:fs/promises");
async function submittedBy({ structured, structuredFile }) {
  if (structured !== void 0 || !structuredFile) return structured;
  return JSON.parse(await (0, import_promises.readFile)(structuredFile, "utf8"));
}

// api/result.ts
var noUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0, turns: 0 };
var codes = {
  aborted: "SUBAGENT_ABORTED",
  budget: "SUBAGENT_OVER_BUDGET",
  background: "MOVED_TO_BACKGROUND"
};
var wordings = [
  [/; (use another one(, and do not ask for it again)?|do the work yourself)$/, ""],
  [/ and `subagents\.nonInteractivePolicy` is `deny`/, ", and no one was asked to allow it: pass `onConfirm`"],
  [/the user did not allow it, and is asked again .*$/, "`onConfirm` has not allowed it"],
  [/the user has not answered whether it may run/, "`onConfirm` has not answered whether it may run"],
  [/before the user could be asked/, "before `onConfirm` could be asked"],
  [/^stopped on request$/, "stopped by `stop`"],
  [/^pi ended (before the run started|during the run)/, "the process ended $1"],
  [
    /pi waits at most (\d+) ms for background runs before it ends \(`background.headlessWaitMs`\)/,
    "`settled` waits at most $1 ms (its argument, or `background.headlessWaitMs`)"
  ],
  [/`\/subagents resume \w+` continues its session/, "`send` continues it"],
  [/(, as `\/subagents doctor` says)/, ""]
];
function forProgram(message) {
  return wordings.reduce((text2, [words, own]) => text2.replace(words, own), message);
}
var movedToBackground = "the run continues in the background, and its session receives the result";
async function resultOf(native5, schema2, { aborted, budget }) {
  const [details] = native5.details.results;
  const base = {
    outcome: details?.outcome ?? "failed",
    usage: details?.usage ?? noUsage,
    ...details && { details },
    ...details?.reused && { reused: true },
    ...details?.runId !== void 0 && { runId: details.runId },
    ...details?.caveats && { caveats: details.caveats }
  };
  const said = details?.output ?? "";
  if (base.outcome !== "completed") {
    const code = details?.quotaExhausted === void 0 ? codes[base.outcome] ?? errorCode(native5) : "SUBAGENT_QUOTA_EXHAUSTED";
    const words = details?.error ?? native5.details.error?.message ?? native5.content[0]?.text ?? "the run failed";
    const own = { aborted, background: movedToBackground }[base.outcome];
    const message = own ?? forProgram(budget ? words.replace("`sessionBudget.maxCost`", budget) : words);
    return { ok: false, error: { code, message }, partial: said, ...base };
  }
  if (!schema2) return { ok: true, text: said, data: void 0, ...base };
  const checked = await checkedData(details ?? {}, schema2);
  if ("problem" in checked) {
    return { ok: false, error: { code: "RESULT_INVALID", message: checked.problem }, partial: said, ...base };
  }
  return { ok: true, text: said, data: checked.value, ...base };
}
var cutBytes = 64 * 1024;
async function wholeText(result) {
  const file = result.details?.fullOutputFile;
  if (!result.ok || !file || Buffer.byteLength(result.text) < cutBytes / 2) return result;
  return { ...result, text: await (0, import_promises2.readFile)(file, "utf8") };
}
function errorCode({ details: { error } }) {
  return error && error.code !== "SUBAGENT_OUTPUT_TRUNCATED" ? error.code : "SUBAGENT_FAILED";
}
async function checkedData(details, schema2) {
  try {
    return await validated(schema2, await submittedBy(details));
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

// api/task.ts
var native = __toESM(require("./native.js"));

// api/updates.ts
var maxWaitingTools = 64;
var maxWaitingText = 64 * 1024;
var anchorChars = 200;
var cutChars = 1024;
var Changes = class {
  #base = { state: "queued", elapsedMs: 0, usage: noUsage };
  #state = "";
  #attempt = 1;
  /** The known items, each as a text. */
  #items = [];
  /** The known words of a message whose items have not come. */
  #open = "";
  #message = 0;
  #retry = 0;
  /** Returns the updates that lead from the state before to this one. */
  take(native5) {
    const now = native5.details.streaming;
    if (!now) return [];
    const base = { state: now.state, elapsedMs: now.elapsedMs, usage: now.usage };
    this.#base = base;
    const updates = [];
    const { position, blockedBy, retry, attempt, displayItems } = now;
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
    if (attempt !== this.#attempt) {
      this.#attempt = attempt;
      this.#items = [];
      this.#open = "";
    }
    const said = now.hasText ? native5.content[0]?.text ?? "" : "";
    updates.push(...this.#ofItems(displayItems, said));
    if (!isEnded(said, displayItems)) updates.push(...this.#text(this.#openText(said)));
    return updates;
  }
  /** The child asks a question. */
  question(sentence) {
    return { type: "question", ...this.#base, sentence };
  }
  /** The run has ended. Its last items may not have been in a state. */
  done(result) {
    const { details, reused } = result;
    const items = reused ? [] : details?.displayItems ?? [];
    const elapsedMs = details?.durationMs ?? this.#base.elapsedMs;
    return [...this.#ofItems(items, ""), { type: "done", state: "ended", elapsedMs, usage: result.usage, result }];
  }
  /** The updates for the items after the known ones. */
  #ofItems(items, said) {
    return this.#newItems(items).flatMap(
      (item) => item.type === "text" ? this.#text(this.#endedText(wholeText2(item.text, said))) : [{ type: "tool", ...this.#base, name: item.name, args: item.args }]
    );
  }
  #text(text2) {
    return text2 === "" ? [] : [{ type: "text", ...this.#base, text: text2, message: this.#message }];
  }
  /** The words of a message that the child writes, after the known ones. */
  #openText(said) {
    const rest = this.#open === "" ? void 0 : after(said, this.#open);
    if (rest === void 0) this.#message += 1;
    this.#open = said;
    return rest ?? said;
  }
  /** The words of a part of a message that has ended, after the known ones. */
  #endedText(text2) {
    const open2 = this.#open;
    if (open2.length > text2.length && open2.startsWith(text2)) {
      this.#open = open2.slice(text2.length).replace(/^\n/, "");
      return "";
    }
    const rest = open2 === "" ? void 0 : after(text2, open2);
    if (rest === void 0) this.#message += 1;
    this.#open = "";
    return rest ?? text2;
  }
  /** The items after the known ones. Of many items only the newest are there. */
  #newItems(items) {
    const known = this.#items;
    const texts2 = items.map((item) => item.type === "text" ? item.text : JSON.stringify([item.name, item.args]));
    this.#items = texts2;
    const isAt = (dropped, skipped) => known.slice(dropped).every((text2, index) => text2 === texts2[index + skipped]);
    for (let shift = 0; ; shift += 1) {
      if (isAt(shift, 0)) return items.slice(known.length - shift);
      if (isAt(0, shift)) return items.slice(known.length + shift);
    }
  }
};
function after(text2, known) {
  if (text2.startsWith(known)) return text2.slice(known.length);
  const anchor = known.slice(-anchorChars);
  const at = anchor.length === anchorChars ? text2.lastIndexOf(anchor) : -1;
  return at < 0 ? void 0 : text2.slice(at + anchor.length);
}
function isEnded(said, items) {
  const words = said.trimEnd();
  if (words === "") return true;
  const texts2 = items.flatMap((item) => item.type === "text" ? [item.text] : []);
  const last = texts2.at(-1) ?? "";
  if (last.startsWith(words) || isWhole(last, said)) return true;
  let joined = last;
  for (let at = -2; joined.length < words.length && texts2.at(at) !== void 0; at -= 1)
    joined = `${texts2.at(at)}
${joined}`;
  return joined.trimEnd() === words;
}
var isWhole = (text2, said) => text2.length >= cutChars && said.endsWith(text2.slice(-anchorChars));
function wholeText2(text2, said) {
  if (!isWhole(text2, said)) return text2;
  return said.slice(Math.max(0, said.indexOf(text2.slice(0, anchorChars))));
}
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
      await new Promise((resolve2) => this.#wakes.push(resolve2));
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
    while (length() > maxWaitingText && this.#waiting.filter(({ type }) => type === "text").length > 1)
      this.#drop("text");
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
  #sessionId;
  #ended;
  /** The message of the result if the program has ended the run. */
  #aborted;
  /** `options` are checked. The run claims the child that was booted under `callId`. `onState` gets its states. */
  constructor(options, group, callId, onState) {
    const { schema: schema2, signal: signal2 } = options;
    const given = { ...nativeOptions(options, group), ...callId !== void 0 && { callId } };
    this.#sessionId = given.sessionId;
    const host = hostOf(options, (sentence) => this.#push(this.#changes.question(sentence)));
    const onUpdate = (update) => {
      for (const change of this.#changes.take(update)) this.#push(change);
      onState?.(update);
    };
    this.#handle = native.startRun({ ...given, aborted: signal2?.aborted ?? false }, onUpdate, host);
    const abort = () => this.abort(reasonOf(signal2));
    if (signal2?.aborted) this.#aborted = abortedBy(reasonOf(signal2));
    else signal2?.addEventListener("abort", abort, { once: true });
    live.add(this);
    this.#result = this.#handle.result().then(async (ended) => {
      signal2?.removeEventListener("abort", abort);
      const result = await resultOf(ended, schema2, { aborted: this.#aborted, budget: budgetOf(group) });
      for (const update of this.#changes.done(result)) {
        this.#ended = update;
        this.#push(update);
      }
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
    const words = reason === void 0 ? void 0 : inWords(reason);
    this.#aborted ??= abortedBy(words);
    this.#handle.abort(words);
  }
  steer(message) {
    checkMessage(message);
    return this.#handle.steer(message);
  }
  async background() {
    const sessionId = this.#sessionId;
    if (sessionId === void 0) {
      throw new Error(
        "the run has no session for its result: pass `sessionId`, and open that session with `openSession`"
      );
    }
    const [receipt] = await this.#handle.background();
    const run2 = backgroundRun(receipt);
    for (const onBackground of backgroundListeners) onBackground(sessionId);
    return run2;
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
  [Symbol.dispose]() {
    this.abort("its block has ended");
  }
  async [Symbol.asyncDispose]() {
    this[Symbol.dispose]();
    await this.#result;
  }
  #push(update) {
    for (const reader of this.#readers) reader.push(update);
  }
};
var backgroundListeners = /* @__PURE__ */ new Set();
function guarded(call, failed) {
  try {
    Promise.resolve(call()).catch(failed);
  } catch (error) {
    failed(error);
  }
}
function abortedBy(reason) {
  return reason?.trim() ? `aborted: ${reason}` : "aborted by the program";
}
var budgetOf = (group) => group?.maxCost === void 0 ? void 0 : `\`budget.maxCost\` of the ${group.workflow ? "workflow" : "group"}`;
function backgroundRun(receipt) {
  const { runId, childSessionKey, warnings = [], error } = receipt ?? {};
  if (!runId || !childSessionKey) throw new Error(error === void 0 ? "the run was not accepted" : forProgram(error));
  return { runId, sessionKey: childSessionKey, warnings };
}
function hostedPlace() {
  return globalThis[hosted] ?? {};
}
var hosted = /* @__PURE__ */ Symbol.for("pi-subagent-native.place");
function placeOf({
  cwd,
  agentDir,
  env,
  piCommand,
  config: config2
}) {
  return {
    ...hostedPlace(),
    cwd: cwd ?? process.cwd(),
    ...agentDir !== void 0 && { agentDir },
    ...env && { env: variablesOf(env) },
    ...piCommand && { piCommand: [...piCommand] },
    ...config2 && { config: config2 }
  };
}
function variablesOf(env) {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => value === void 0 ? [] : [[name, value]])
  );
}
function groupOptions({ account, maxCost, limit: limit2, workflow: workflow2 }, { cwd, config: config2 }) {
  return {
    ...account !== void 0 && { account },
    ...limit2 && { group: limit2 },
    ...maxCost !== void 0 && { config: { ...config2, sessionBudget: { maxCost } } },
    // The workflow's project decides which agents and which configuration there are; the child works in its own directory.
    ...workflow2?.project !== void 0 && { cwd: workflow2.project, childCwd: cwd },
    ...workflow2 && { workflow: workflow2 }
  };
}
function nativeOptions(options, group) {
  const { agent: agent2, task, schema: schema2, model: model2, thinking: thinking2, budget, timeoutMs, sessionId } = options;
  const outputSchema = schema2 && jsonSchemaOf(schema2);
  const place2 = placeOf(options);
  return {
    ...place2,
    ...group && groupOptions(group, place2),
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
var warn = (sentence) => process.emitWarning(sentence, "SubagentWarning");
function hostOf({ onQuestion, onConfirm }, asked, note = warn) {
  const open2 = /* @__PURE__ */ new Map();
  const noting = async (call, what) => {
    try {
      return await call();
    } catch (error) {
      note(`${what}: ${String(error)}`);
      throw error;
    }
  };
  const ask = async ({ id, forConversation: _, ...question }) => {
    const controller = new AbortController();
    open2.set(id, controller);
    asked(question.sentence);
    try {
      const given = { ...question, signal: controller.signal };
      const failed = `onQuestion has failed, and the question of ${question.agent} is cancelled`;
      return await noting(() => onQuestion?.(given), failed) ?? {};
    } finally {
      open2.delete(id);
    }
  };
  return {
    ...onQuestion && { ask },
    ...onConfirm && {
      confirm: (request) => noting(() => onConfirm(request), "onConfirm has failed, and the run is refused")
    },
    withdraw: (id) => open2.get(id)?.abort()
  };
}
function reasonOf(signal2) {
  return inWords(signal2?.reason);
}
function inWords(reason) {
  return reason instanceof Error ? reason.message : String(reason);
}

// api/group.ts
var defaultConcurrency = 8;
var plentifulBytes = 2 ** 31;
var pieceMs = 1e4;
function parallel(given, options = {}) {
  const tasks = checkedList(given, "tasks", checkRun);
  checkParallel(options);
  const { concurrency = defaultConcurrency } = options;
  const limit2 = Math.min(concurrency, tasks.length);
  const group = new TaskGroup(options, { id: (0, import_node_crypto.randomUUID)(), limit: limit2 });
  const waiting = tasks.entries();
  const worker = async () => {
    for (const [index, task] of waiting) group.finish(index, await group.run(task));
  };
  const workers = Array.from({ length: Math.min(limit2 + 1, tasks.length) }, worker);
  group.endWith(Promise.all(workers), tasks.length);
  return group;
}
function chain(given, options = {}) {
  const steps = checkedList(given, "steps", (step, path) => typeof step === "function" || checkRun(step, path));
  if (typeof steps[0] === "function") {
    throw new OptionsError("steps[0]", steps[0], "options: no step comes before the first one");
  }
  checkChain(options);
  const group = new TaskGroup(options);
  const work = async () => {
    let before;
    let child;
    for (const [index, step] of steps.entries()) {
      const next = group.childOf(steps[index + 1]);
      const result = await group.step(step, before, index, { child, next });
      await child?.end();
      child = next;
      group.finish(index, result);
      if (!result.ok) break;
      before = result;
    }
    await child?.end();
  };
  group.endWith(work(), steps.length);
  return group;
}
var NextChild = class {
  callId = (0, import_node_crypto.randomUUID)();
  #options;
  #bootsAtOnce = (0, import_node_os.availableParallelism)() > 1 && availableBytes() >= plentifulBytes;
  #early;
  #timer;
  constructor(options) {
    this.#options = options;
  }
  /** Takes the newest state of the step before. */
  follow({ details: { streaming: now } }) {
    if (this.#early || !now) return;
    const hasSlot = now.state === "starting" || now.state === "running";
    if (now.hasText || hasSlot && this.#bootsAtOnce) guarded(() => this.#boot(), ignore);
  }
  #boot() {
    const { agent: agent2, childCwd: cwd, childModel: model2, childThinking: thinking2 } = this.#options;
    const early = native2.bootEarly({ ...this.#options, tool: "subagent", callId: this.callId });
    this.#early = early;
    early.push(JSON.stringify({ agent: agent2, cwd, model: model2, thinking: thinking2, task: "" }));
    this.#timer = setInterval(() => guarded(() => early.push(""), ignore), pieceMs).unref();
  }
  /** Ends the child, unless its step has taken it. */
  async end() {
    clearInterval(this.#timer);
    await this.#early?.end();
  }
};
var ignore = () => {
};
var availableBytes = () => process.availableMemory?.() ?? 0;
var TaskGroup = class {
  #group;
  #running = /* @__PURE__ */ new Set();
  #ended = [];
  #signal;
  /** Fires when all tasks are aborted. */
  #stop = new AbortController();
  #onAbort = () => this.abort(reasonOf(this.#signal));
  /** The message of the results once all tasks were aborted. */
  #aborted;
  #hasEnded = false;
  #wake = [];
  #results = Promise.resolve([]);
  constructor({ budget, signal: signal2 }, limit2) {
    this.#group = {
      ...budget && { account: `group:${(0, import_node_crypto.randomUUID)()}`, maxCost: budget.maxCost },
      ...limit2 && { limit: limit2 }
    };
    this.#signal = signal2;
    if (signal2?.aborted) this.#onAbort();
    else signal2?.addEventListener("abort", this.#onAbort, { once: true });
  }
  get [Symbol.toStringTag]() {
    return "Tasks";
  }
  /**
   * Returns the child of the next step. `undefined` if there is none, if the step is not known yet, or if an early child would not
   * have its tools or its limits.
   */
  childOf(step) {
    if (!step || typeof step === "function" || step.schema || step.budget) return void 0;
    return new NextChild(nativeOptions(step, this.#group));
  }
  /** Runs one task, unless all were aborted. */
  async run(options, { child, next } = {}) {
    if (this.#aborted !== void 0) return abortedResult(this.#aborted);
    const task = new RunTask(options, this.#group, child?.callId, (now) => next?.follow(now));
    this.#running.add(task);
    try {
      return await task;
    } finally {
      this.#running.delete(task);
    }
  }
  /** Runs a step of a chain. A function that throws, rejects or makes wrong options has failed. */
  async step(step, before, index, children) {
    try {
      const options = typeof step === "function" ? await this.#made(step, before) : step;
      if (this.#aborted !== void 0) return abortedResult(this.#aborted);
      checkRun(options, `steps[${index}]`);
      return await this.run(options, children);
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      const error = { code: "INVALID_INPUT", message, cause };
      return { ok: false, error, partial: "", outcome: "skipped", usage: noUsage };
    }
  }
  /** Returns the options that a function makes. Resolves with nothing once all tasks are aborted: the function may never settle. */
  async #made(step, before) {
    const { signal: signal2 } = this.#stop;
    if (signal2.aborted) return void 0;
    const aborted = new Promise((resolve2) => {
      signal2.addEventListener("abort", () => resolve2(void 0), { once: true });
    });
    return await Promise.race([step(before, { signal: signal2 }), aborted]);
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
  abort(reason) {
    const words = reason === void 0 ? void 0 : inWords(reason);
    this.#aborted ??= abortedBy(words);
    for (const task of this.#running) task.abort(words);
    if (!this.#hasEnded) this.#stop.abort(reason);
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
        await new Promise((resolve2) => this.#wake.push(resolve2));
      }
    }
  }
  [Symbol.dispose]() {
    this.abort("its block has ended");
  }
  async [Symbol.asyncDispose]() {
    this[Symbol.dispose]();
    await this.#results;
  }
  #wakeAll() {
    for (const wake of this.#wake.splice(0)) wake();
  }
};
function abortedResult(aborted) {
  const message = `not started: ${aborted}`;
  return { ok: false, error: { code: "SUBAGENT_ABORTED", message }, partial: "", outcome: "aborted", usage: noUsage };
}

// api/index.ts
var import_native3 = require("./native.js");

// api/session.ts
var import_node_async_hooks = require("node:async_hooks");
var import_node_os2 = require("node:os");
var import_node_path = require("node:path");
var native3 = __toESM(require("./native.js"));
function openSession(options) {
  checkSession(options);
  return new ProgramSession(options);
}
var open = /* @__PURE__ */ new Set();
function nameOf(id, { agentDir, env }) {
  const { PI_CODING_AGENT_DIR: configured } = { ...process.env, ...env };
  return JSON.stringify([(0, import_node_path.resolve)(agentDir ?? (configured || (0, import_node_path.join)((0, import_node_os2.homedir)(), ".pi", "agent"))), id]);
}
var receiving = new import_node_async_hooks.AsyncLocalStorage();
var unlimitedMs = 2 ** 31 - 1;
var ProgramSession = class {
  #id;
  #name;
  #onMessage;
  #onNotice;
  #place;
  #host;
  #native;
  #isClosed = false;
  #closing;
  /** The last failure of `onMessage`, until it has received a message. */
  #failure;
  /** True while `onMessage` has a message and has not returned. */
  #isReceiving = false;
  /** The number of runs that this process has started. */
  #started = 0;
  #isHolding = false;
  constructor(options) {
    const { id, onMessage, onNotice = warn } = options;
    this.#id = id;
    this.#place = { ...placeOf(options), sessionId: id };
    this.#name = nameOf(id, this.#place);
    if (open.has(this.#name)) {
      throw new Error(
        `the session ${JSON.stringify(id)} is open in this process: share the object that \`openSession\` returned, or await its \`close()\` first`
      );
    }
    this.#onMessage = onMessage;
    this.#onNotice = (notice) => guarded(
      () => onNotice(notice),
      (error) => warn(`onNotice of session ${JSON.stringify(id)} has failed: ${String(error)}; it was given: ${notice}`)
    );
    this.#host = hostOf(options, () => {
    }, this.#onNotice);
    this.#native = native3.openBackground({ ...this.#place, delivered: [] }, async ({ deliveries, notices = [] }) => {
      for (const notice of notices) this.#onNotice(notice);
      if (deliveries && onMessage) await this.#receive(deliveries, onMessage);
    });
    open.add(this.#name);
    backgroundListeners.add(this.#onBackground);
  }
  /** Gives a message to the program. The engine delivers it again after a failure. */
  async #receive(deliveries, onMessage) {
    const state = { session: this, isReceiving: true };
    try {
      const message = await messageOf2(deliveries, this.#onNotice);
      this.#isReceiving = true;
      await receiving.run(state, async () => await onMessage(message));
      this.#failure = void 0;
    } catch (error) {
      this.#failure = String(error);
      this.#onNotice(
        `onMessage of session ${JSON.stringify(this.#id)} has failed, and gets the message again: ${this.#failure}`
      );
      throw error;
    } finally {
      state.isReceiving = false;
      this.#isReceiving = false;
    }
    await this.#native.delivered(deliveries.deliveryIds);
  }
  #onBackground = (sessionId) => {
    if (sessionId === this.#id) void this.#hold();
  };
  /** Keeps the process alive until the runs of this process have ended and `onMessage` has received their results. */
  async #hold() {
    this.#started += 1;
    if (!this.#onMessage || this.#isHolding) return;
    this.#isHolding = true;
    for (let started = 0; started !== this.#started; ) {
      started = this.#started;
      await this.#native.settled(unlimitedMs).catch(() => false);
    }
    this.#isHolding = false;
  }
  spawn(options) {
    checkSpawn(options);
    return this.#spawn(options);
  }
  async #spawn(options) {
    this.#checkOpen();
    const { agent: agent2, task, label, model: model2, thinking: thinking2, timeoutMs, schema: schema2 } = options;
    const outputSchema = schema2 && jsonSchemaOf(schema2);
    const receipt = await native3.spawnSession(
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
    const run2 = backgroundRun(receipt);
    void this.#hold();
    return run2;
  }
  async list() {
    this.#checkOpen();
    return await this.#native.runs();
  }
  history(run2, options = {}) {
    checkRunName(run2);
    checkHistory(options);
    return this.#history(run2, options);
  }
  async #history(run2, options) {
    const found = await this.#find(run2);
    if (!found) throw unknownRun(run2);
    return (await this.#native.transcript(found.key, options)).entries;
  }
  send(run2, message) {
    checkRunName(run2);
    checkMessage(message);
    return this.#orUnknown(run2, async () => {
      const continued = backgroundRun(await this.#native.continueRun(run2, message, this.#host));
      void this.#hold();
      return continued;
    });
  }
  stop(run2) {
    if (run2 !== void 0) checkRunName(run2);
    return this.#stop(run2);
  }
  async #stop(run2) {
    if (run2 === void 0) {
      this.#checkOpen();
      await this.#native.stopAll();
      return;
    }
    await this.#orUnknown(run2, async () => {
      const { isError, content } = await this.#native.useTool("sessions_stop", { sessionKey: run2 }).result();
      if (isError) throw new Error(JSON.parse(content[0]?.text ?? "{}").error);
    });
  }
  /** Returns the run with this id, session key or label. */
  async #find(run2) {
    const runs = await this.list();
    return runs.find(({ runId, sessionKey, label }) => [runId, sessionKey, label].includes(run2));
  }
  /** Calls the engine, which has more words for an unknown run than a program needs. */
  async #orUnknown(run2, call) {
    this.#checkOpen();
    try {
      return await call();
    } catch (error) {
      throw await this.#find(run2) ? error : unknownRun(run2);
    }
  }
  #checkOpen() {
    if (this.#isClosed) throw new Error("the session is closed; open it again with `openSession`");
  }
  settled(timeoutMs) {
    checkWait(timeoutMs);
    return this.#settled(timeoutMs);
  }
  async #settled(timeoutMs) {
    this.#checkOpen();
    const message = receiving.getStore();
    if (message?.session === this && message.isReceiving) {
      throw new Error(
        "`settled` would wait for the message that `onMessage` receives now: call it outside of `onMessage`"
      );
    }
    if (await this.#received(timeoutMs)) return;
    const failed = this.#failure && `onMessage has failed: ${this.#failure}`;
    const why = this.#isClosed ? "the session was closed" : failed ?? (this.#isReceiving ? "onMessage has not returned" : void 0);
    throw new Error(`not every result was received${why ? `: ${why}` : " in time"}`);
  }
  /** Returns false if `onMessage` has not received every result, and at the limit if it has not returned. */
  async #received(timeoutMs) {
    const settled = this.#native.settled(timeoutMs);
    if (timeoutMs === void 0) return await settled;
    let timer;
    const stuck = new Promise((resolve2) => {
      timer = setTimeout(() => this.#isReceiving && resolve2(false), timeoutMs);
    });
    try {
      return await Promise.race([settled, stuck]);
    } finally {
      clearTimeout(timer);
    }
  }
  async close() {
    this.#isClosed = true;
    backgroundListeners.delete(this.#onBackground);
    this.#closing ??= this.#native.close().finally(() => open.delete(this.#name));
    await this.#closing;
  }
  async [Symbol.asyncDispose]() {
    await this.close();
  }
};
var unknownRun = (run2) => new Error(`the session has no run ${JSON.stringify(run2)}; expected a run's id, its session key or its label`);
async function messageOf2({ deliveryIds, runs, questions }, onNotice) {
  return {
    id: deliveryIds.join(" "),
    results: await Promise.all(runs.map((run2) => resultOf2(run2, onNotice))),
    questions: questions.map(({ runId, agent: agent2, question, options }) => ({ runId, agent: agent2, question, options }))
  };
}
async function resultOf2(run2, onNotice) {
  const ok = run2.status === "success";
  const text2 = run2.result ?? run2.partial ?? "";
  const data = await submittedBy(run2).catch(
    ({ message }) => onNotice(`the submitted value of run ${run2.runId} cannot be read: ${message}`)
  );
  return {
    runId: run2.runId,
    run: run2,
    ok,
    text: text2,
    ...data !== void 0 && { data },
    ...run2.error !== void 0 && { error: forProgram(run2.error) }
  };
}

// api/text.ts
var import_native2 = require("./native.js");
var keepers = { ends: import_native2.truncateOutput, head: import_native2.truncateHead, tail: import_native2.truncateTail };
function sanitize(text2, options = {}) {
  checkSanitize(text2, options);
  return sanitized(text2, options);
}
async function sanitized(text2, options) {
  const { secrets: secrets2 = [] } = options;
  const alone = await Promise.all(secrets2.map((secret) => (0, import_native2.sanitizeOutput)(secret, { secrets: [secret], homes: [] })));
  const index = secrets2.findIndex((secret, at) => secret === alone[at]);
  if (index >= 0) throw unsearchable(secrets2[index] ?? "", index);
  return await (0, import_native2.sanitizeOutput)(text2, options);
}
function truncate(text2, options = {}) {
  checkTruncate(text2, options);
  const { keep = "ends", ...limits } = options;
  return keepers[keep](text2, limits);
}
function collect(source) {
  checkSource(source);
  return collected(source);
}
async function collected(source) {
  if (typeof source === "string" || source instanceof Uint8Array) return await (0, import_native2.collectOutput)(source);
  if ("file" in source) return await (0, import_native2.collectOutputFile)(source.file);
  const collector = new import_native2.OutputCollector();
  for await (const piece of source) {
    checkPiece(piece, "source");
    collector.push(piece);
  }
  return await collector.finish();
}

// api/workflow.ts
var import_node_async_hooks2 = require("node:async_hooks");
var native4 = __toESM(require("./native.js"));
var WorkflowError = class extends Error {
  name = "WorkflowError";
  code;
  /** The key of the run. */
  key;
  constructor(failures, results) {
    const [{ key: key3, result }, ...more] = failures;
    const others = more.length > 0 ? ` (and ${more.length} more)` : "";
    super(`run ${JSON.stringify(key3)}: ${result.error.message}${others}`);
    this.code = result.error.code;
    this.key = key3;
    hideFields(this, { result, failures: [...failures], results });
  }
};
var current = new import_node_async_hooks2.AsyncLocalStorage();
var defaultConcurrency2 = 8;
var defaultMaxRuns = 100;
var defaultMaxDepth = 3;
var updateMs = 100;
function workflow(id, options, script) {
  checkWorkflowId(id);
  checkWorkflow(options);
  if (typeof script !== "function") throw new OptionsError("script", script, "a function that gets the workflow");
  const outer = current.getStore();
  const maxDepth = Math.min(options.maxDepth ?? defaultMaxDepth, outer ? outer.maxDepth : Number.POSITIVE_INFINITY);
  const depth = (outer?.depth ?? 0) + 1;
  if (depth > maxDepth) {
    throw new OptionsError(
      "maxDepth",
      maxDepth,
      `at least ${depth}: workflow ${JSON.stringify(id)} is ${depth - 1} levels deep`
    );
  }
  const running = new Script(id, options, outer, { depth, maxDepth });
  return running.execute(script);
}
var Noted = class extends Promise {
  isAwaited = false;
  static get [Symbol.species]() {
    return Promise;
  }
  /** Calls `failed` with the error. Does not count as awaiting. */
  onFailure(failed) {
    super.then(void 0, failed);
    return this;
  }
  // biome-ignore lint/suspicious/noThenProperty: `await` calls it
  then(onValue, onError) {
    this.isAwaited = true;
    return super.then(onValue, onError);
  }
};
var Script = class {
  id;
  depth;
  maxDepth;
  signal;
  #options;
  #outer;
  #stop = new AbortController();
  #pending = /* @__PURE__ */ new Set();
  #results = [];
  #failures = [];
  #board;
  #handle;
  #phase;
  /** The failure after which no run starts. */
  #exhausted;
  #hasEnded = false;
  constructor(id, options, outer, { depth, maxDepth }) {
    this.id = id;
    this.depth = depth;
    this.maxDepth = maxDepth;
    this.#options = options;
    this.#outer = outer;
    const signals = [this.#stop.signal, options.signal, outer?.signal].filter((signal2) => signal2 !== void 0);
    this.signal = AbortSignal.any(signals);
    this.#board = new Board(id, options.onUpdate);
  }
  /** The account of its runs. A workflow within another one shares its budget, unless it has its own. */
  get account() {
    const { maxCost } = this.#options.budget ?? {};
    if (maxCost === void 0 && this.#outer) return this.#outer.account;
    return { account: this.#handle?.account ?? "", ...maxCost !== void 0 && { maxCost } };
  }
  async #open() {
    const { name, file, budget, maxRuns = defaultMaxRuns } = this.#options;
    const parent = this.#outer?.id;
    this.#handle = await native4.openWorkflow(
      {
        ...placeOf(this.#options),
        id: this.id,
        limits: { ...defined(budget ?? {}), maxRuns },
        ...name !== void 0 && { name },
        ...file !== void 0 && { file },
        ...parent !== void 0 && { parent }
      },
      () => this.#stop.abort(new Error("the workflow was stopped"))
    );
  }
  async execute(script) {
    await this.#open();
    let value;
    try {
      value = await current.run(this, async () => await script(this));
    } catch (error) {
      await this.#end(this.signal.aborted ? "stopped" : "failed", error);
      throw error;
    }
    await this.#end("completed");
    return value;
  }
  phase(name) {
    if (typeof name !== "string" || name.trim() === "")
      throw new OptionsError("phase", name, "a text that is not blank");
    this.#phase = name;
    this.#handle?.phase(name);
    this.#board.phase(name);
  }
  run(options) {
    checkWorkflowRun(options, "");
    return this.#noted(this.#run(options));
  }
  /** Returns a promise whose failure the script may handle later. */
  #noted(run2) {
    if (this.#hasEnded) return run2;
    const noted = new Noted((resolve2) => resolve2(run2));
    return noted.onFailure((error) => {
      if (!this.signal.aborted) this.#failures.push({ of: noted, error });
    });
  }
  async #run(options) {
    const result = await this.#start(options);
    if (!result.ok) throw new WorkflowError([{ key: options.key, result }], this.#results);
    return result;
  }
  parallel(given, options = {}) {
    const tasks = checkedList(given, "tasks", checkWorkflowRun);
    checkWorkflowParallel(options);
    return this.#noted(this.#parallel(tasks, options));
  }
  async #parallel(tasks, options) {
    const { concurrency = defaultConcurrency2, settle = false } = options;
    const results = [];
    const waiting = tasks.entries();
    const worker = async () => {
      for (const [index, task] of waiting) results[index] = await this.#start(task);
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, tasks.length) }, worker));
    const [first, ...more] = results.flatMap(
      (result, index) => result.ok ? [] : [{ key: tasks[index]?.key ?? "", result }]
    );
    if (first && !settle) throw new WorkflowError([first, ...more], this.#results);
    return results;
  }
  /** Runs one task to its end. */
  async #start(options) {
    const refused = this.#refusal();
    if (refused) return refused;
    const { key: key3, phase = this.#phase, ...own } = options;
    const { agentDir, env, piCommand, config: config2, onQuestion, onConfirm } = this.#options;
    const project = placeOf(this.#options).cwd;
    const given = { cwd: project, agentDir, env, piCommand, config: config2, onQuestion, onConfirm, ...defined(own) };
    const signal2 = own.signal ? AbortSignal.any([own.signal, this.signal]) : this.signal;
    const task = new RunTask({ ...given, signal: signal2 }, {
      ...this.account,
      workflow: { id: this.id, key: key3, project, ...phase !== void 0 && { phase } }
    });
    this.#board.add(task, key3, phase);
    const pending = this.#finished(task, key3);
    this.#pending.add(pending);
    try {
      return await pending;
    } finally {
      this.#pending.delete(pending);
    }
  }
  async #finished(task, key3) {
    const follow = this.#board.follow(task);
    const result = this.#withStored(await wholeText(await task));
    await follow;
    this.#board.end(task, result);
    this.#results.push({ key: key3, result });
    if (!result.ok && result.error.code === "SUBAGENT_QUOTA_EXHAUSTED") this.#exhausted ??= result;
    return result;
  }
  /** Adds to a refused value that the engine has stored it as the result of its key. */
  #withStored(result) {
    if (result.ok || result.error.code !== "RESULT_INVALID") return result;
    const message = `${result.error.message}. The value is stored: the key gives it again until its task changes, its schema accepts it, or \`/subagents discard --yes workflow:${this.id}\` removes the workflow`;
    return { ...result, error: { ...result.error, message } };
  }
  /** The result of a run that may not start. */
  #refusal() {
    if (this.#hasEnded)
      throw new Error(`workflow ${JSON.stringify(this.id)} has ended: await each run in its function`);
    if (this.signal.aborted) {
      const message2 = `not started: aborted: ${reasonOf(this.signal)}`;
      return {
        ok: false,
        error: { code: "SUBAGENT_ABORTED", message: message2 },
        partial: "",
        outcome: "aborted",
        usage: noUsage
      };
    }
    if (!this.#exhausted) return void 0;
    const message = `not started: ${this.#exhausted.error.message}`;
    const error = { code: this.#exhausted.error.code, message };
    return { ok: false, error, partial: "", outcome: "skipped", usage: noUsage };
  }
  /** Ends the runs that the script has not awaited, and records the end. */
  async #end(state, error) {
    this.#hasEnded = true;
    this.#stop.abort(new Error("its workflow has ended"));
    await Promise.allSettled(this.#pending);
    this.#board.close();
    for (const { of, error: error2 } of this.#failures) {
      if (of.isAwaited) continue;
      const name = JSON.stringify(this.id);
      warn(`workflow ${name} has not awaited a failed run: ${inWords(error2)}`);
    }
    const message = error === void 0 ? void 0 : error instanceof Error ? error.message : String(error);
    await this.#handle?.finish(state, message);
  }
};
function defined(options) {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== void 0));
}
var Board = class {
  #id;
  #onUpdate;
  #entries = /* @__PURE__ */ new Map();
  #phases = [];
  /** The run whose words are the newest. */
  #newest;
  #timer;
  constructor(id, onUpdate) {
    this.#id = id;
    this.#onUpdate = onUpdate;
  }
  phase(name) {
    if (!this.#phases.includes(name)) this.#phases.push(name);
    this.#change();
  }
  add(task, key3, phase) {
    if (phase !== void 0 && !this.#phases.includes(phase)) this.#phases.push(phase);
    this.#entries.set(task, { key: key3, phase, state: "queued", cost: 0, tokens: 0, text: "", message: 0 });
    this.#change();
  }
  /** Follows a run to its end. */
  async follow(task) {
    if (!this.#onUpdate) return;
    const entry = this.#entries.get(task);
    for await (const update of task) {
      if (!entry || update.type === "done") continue;
      entry.state = update.state === "queued" ? "queued" : "running";
      ({ cost: entry.cost, tokens: entry.tokens } = spentOf(update.usage));
      if (update.type === "text") {
        const isSame = update.message === entry.message;
        entry.text = newest((isSame ? entry.text : "") + update.text);
        entry.message = update.message;
        this.#newest = entry;
      }
      this.#change();
    }
  }
  end(task, result) {
    const entry = this.#entries.get(task);
    if (!entry) return;
    const isReused = result.reused === true;
    entry.state = result.ok ? isReused ? "reused" : "completed" : "failed";
    ({ cost: entry.cost, tokens: entry.tokens } = isReused ? { cost: 0, tokens: 0 } : spentOf(result.usage));
    this.#change();
  }
  /** Sends the last update. */
  close() {
    clearTimeout(this.#timer);
    this.#send();
  }
  #change() {
    if (!this.#onUpdate) return;
    this.#timer ??= setTimeout(() => this.#send(), updateMs).unref();
  }
  #send() {
    this.#timer = void 0;
    const onUpdate = this.#onUpdate;
    if (!onUpdate) return;
    guarded(
      () => onUpdate(this.#update()),
      (error) => {
        if (this.#onUpdate !== onUpdate) return;
        this.#onUpdate = void 0;
        const name = JSON.stringify(this.#id);
        warn(`onUpdate of workflow ${name} has failed: ${String(error)}`);
      }
    );
  }
  #update() {
    const entries = [...this.#entries.values()];
    const phases = this.#phases.map((name) => ({
      name,
      counts: countsOf(entries.filter(({ phase: phase2 }) => phase2 === name))
    }));
    const phase = this.#phases.at(-1);
    return {
      id: this.#id,
      ...phase !== void 0 && { phase },
      phases,
      counts: countsOf(entries),
      cost: rounded(entries.reduce((sum, { cost: cost2 }) => sum + cost2, 0)),
      tokens: entries.reduce((sum, { tokens }) => sum + tokens, 0),
      text: this.#newest?.text ?? "",
      ...this.#newest && { key: this.#newest.key }
    };
  }
};
var textChars = 2e3;
function newest(text2) {
  if (text2.length <= textChars) return text2;
  const end = text2.slice(-textChars);
  const start = /\s/.exec(end)?.index;
  return start === void 0 ? end : end.slice(start + 1);
}
var rounded = (cost2) => Math.round(cost2 * 1e9) / 1e9;
var spentOf = ({ input, output, cacheRead, cacheWrite, cost: cost2 }) => ({
  cost: cost2,
  tokens: input + output + cacheRead + cacheWrite
});
function countsOf(entries) {
  const counts = { queued: 0, running: 0, completed: 0, reused: 0, failed: 0 };
  for (const { state } of entries) counts[state] += 1;
  return counts;
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
  WorkflowError,
  collect,
  collectOutput,
  defineAgent,
  openSession,
  run,
  sanitize,
  sanitizeOutput,
  startRun,
  truncate,
  truncateOutput,
  workflow
});
