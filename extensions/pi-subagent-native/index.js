// pi-subagent-native 0.2.0 684437997bc612ff. Generated from extension/ by `npm run build:extension`.
var __create = Object.create;
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __getProtoOf = Object.getPrototypeOf;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __commonJS = (cb, mod) => function __require() {
  try {
    return mod || (0, cb[__getOwnPropNames(cb)[0]])((mod = { exports: {} }).exports, mod), mod.exports;
  } catch (e) {
    throw mod = 0, e;
  }
};
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  }
  return to;
};
var __toESM = (mod, isNodeMode, target) => (target = mod != null ? __create(__getProtoOf(mod)) : {}, __copyProps(
  // If the importer is in node compatibility mode or this is not an ESM
  // file that has been converted to a CommonJS file using a Babel-
  // compatible transform (i.e. "__esModule" has not been set), then set
  // "default" to the CommonJS "module.exports" for node compatibility.
  isNodeMode || !mod || !mod.__esModule ? __defProp(target, "default", { value: mod, enumerable: true }) : target,
  mod
));

// extension/child-guard.cjs
var require_child_guard = __commonJS({
  "extension/child-guard.cjs"(exports, module2) {
    "use strict";
    var fs = process.getBuiltinModule?.("node:fs");
    var os = process.getBuiltinModule?.("node:os");
    var paths = process.getBuiltinModule?.("node:path");
    var urls = process.getBuiltinModule?.("node:url");
    var CHANGES = /* @__PURE__ */ new Set(["edit", "write"]);
    var NEVER_ALLOWED_LSP_ACTIONS = /* @__PURE__ */ new Set(["rename", "codeaction", "restart"]);
    var ANNOUNCING = "Your work on the task is done, and its result is kept.";
    var REPORTING = "Your time for this task is up.";
    function readPolicy(environment) {
      return {
        tools: environment.PI_SUBAGENT_TOOLS === void 0 ? void 0 : names(environment.PI_SUBAGENT_TOOLS),
        lsp: environment.PI_SUBAGENT_ALLOW_LSP === "1",
        lspActions: names(environment.PI_SUBAGENT_LSP_ACTIONS ?? ""),
        asks: environment.PI_SUBAGENT_ASK,
        submits: environment.PI_SUBAGENT_SUBMIT,
        holdsTurns: environment.PI_SUBAGENT_HOLDS_TURNS === "1",
        ownShell: environment.PI_SUBAGENT_OWN_SHELL === "1",
        agentDir: environment.PI_SUBAGENT_OWN_SHELL === "1" ? environment.PI_CODING_AGENT_DIR : void 0
      };
    }
    function blockReason(policy, tool, input) {
      if (!policy.tools) {
        return `Tool \`${tool}\` is blocked: PI_SUBAGENT_TOOLS is not set, so this sub-agent may use no tool.`;
      }
      if (!isListed(policy.tools, tool)) {
        const allowed = [...policy.tools].join(", ") || "none";
        return `Tool \`${tool}\` is not allowed in this sub-agent. Allowed tools: ${allowed}.`;
      }
      return tool === "lsp" ? lspBlockReason(policy, input) : void 0;
    }
    function isListed(tools, tool) {
      if (tools.has(tool)) return true;
      return [...tools].some((entry) => entry.endsWith("*") && tool.startsWith(entry.slice(0, -1)));
    }
    function lspBlockReason(policy, input) {
      if (!policy.lsp) return "Tool `lsp` is switched off for sub-agents (allowLspTools).";
      const action = typeof input === "object" && input !== null && "action" in input ? input.action : void 0;
      if (typeof action !== "string") return "Tool `lsp` needs an `action` that this sub-agent may use.";
      if (policy.lspActions.has(action) && !NEVER_ALLOWED_LSP_ACTIONS.has(action.toLowerCase())) return void 0;
      const allowed = [...policy.lspActions].filter((name) => !NEVER_ALLOWED_LSP_ACTIONS.has(name.toLowerCase()));
      return `lsp action \`${action}\` is not allowed in this sub-agent. Allowed actions: ${allowed.join(", ") || "none"}.`;
    }
    function names(list2) {
      return new Set(
        list2.split(",").map((name) => name.trim()).filter((name) => name !== "")
      );
    }
    function shellBlockReason(policy, pi, tool) {
      if (!policy.ownShell || tool !== "bash") return void 0;
      const source = pi.getAllTools().find(({ name }) => name === tool)?.sourceInfo.source;
      if (source === "builtin") return void 0;
      return "Tool `bash` is blocked: an extension provides it, and the sandbox covers only pi's own shell.";
    }
    var SPACES = /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g;
    function pathOf(named, cwd) {
      const plain = named.replace(SPACES, " ").replace(/^@/, "");
      const home = plain.replace(/^~(?=\/|$)/, () => os?.homedir() ?? "~");
      return paths?.resolve(cwd, /^file:\/\//.test(home) ? urls?.fileURLToPath(home) ?? home : home) ?? home;
    }
    var MAX_LINKS = 40;
    function writtenPath(path, links = MAX_LINKS) {
      if (!fs || !paths) return path;
      try {
        return fs.realpathSync(path);
      } catch {
        const directory = paths.dirname(path);
        if (directory === path) return path;
        const real = paths.join(writtenPath(directory, links), paths.basename(path));
        try {
          return links > 0 ? writtenPath(paths.resolve(paths.dirname(real), fs.readlinkSync(real)), links - 1) : real;
        } catch {
          return real;
        }
      }
    }
    function protectAgentDir({ agentDir }) {
      const real = agentDir && writtenPath(agentDir);
      return ({ toolName, input }, cwd) => {
        const named = Object(input).path;
        if (!real || !paths || !CHANGES.has(toolName) || typeof named !== "string") return void 0;
        const path = writtenPath(pathOf(named, cwd));
        if (path !== real && !path.startsWith(real + paths.sep)) return void 0;
        return `\`${named}\` is in pi's agent directory, where a sandboxed sub-agent may change no file.`;
      };
    }
    function register(pi, tool, execute) {
      pi.registerTool(
        /** @type {ToolDefinition} */
        /** @type {unknown} */
        { ...tool, execute }
      );
    }
    function registerAsk(pi, { tool, prefix, answered, declined }) {
      const key = `${prefix}${crypto.randomUUID()}`;
      register(pi, tool, async (_id, { question, options = [] }, signal, _onUpdate, { ui }) => {
        const until = signal && { signal };
        const title = `${key} ${question}`;
        const answer2 = await (options.length > 0 ? ui.select(title, options, until) : ui.input(title, void 0, until));
        return { content: [{ type: "text", text: answer2 ? `${answered}: ${answer2}` : declined }], details: {} };
      });
      pi.on("session_start", (_event, { ui }) => {
        ui.input(key).catch(() => void 0);
      });
    }
    function registerSubmit(pi, tool) {
      register(pi, tool, async (_id, submitted) => {
        return { content: [{ type: "text", text: "Submitted." }], details: { submitted }, terminate: true };
      });
    }
    function stampOf(named) {
      if (typeof named !== "string" || !fs) return void 0;
      const plain = named.replace(/^@/, "").replace(/^~(?=\/|$)/, process.env.HOME ?? "~");
      try {
        const path = fs.realpathSync(plain);
        const { dev, ino, size, mtimeNs, ctimeNs } = fs.statSync(path, { bigint: true });
        return { path, stamp: [dev, ino, size, mtimeNs, ctimeNs].join() };
      } catch {
        return void 0;
      }
    }
    function watchFiles(pi) {
      const known = (
        /** @type {Map<string, string>} */
        /* @__PURE__ */ new Map()
      );
      const reading = (
        /** @type {Map<string, ReturnType<typeof stampOf>>} */
        /* @__PURE__ */ new Map()
      );
      pi.on("tool_result", ({ toolName, toolCallId, input, isError }) => {
        const begun = reading.get(toolCallId);
        reading.delete(toolCallId);
        const seen = toolName === "read" ? begun : CHANGES.has(toolName) ? stampOf(input.path) : void 0;
        if (seen && !isError) known.set(seen.path, seen.stamp);
        return void 0;
      });
      return ({ toolName, toolCallId, input }) => {
        const now = CHANGES.has(toolName) || toolName === "read" ? stampOf(Object(input).path) : void 0;
        if (toolName === "read") reading.set(toolCallId, now);
        const before = now && known.get(now.path);
        if (!now || toolName === "read" || before === void 0 || before === now.stamp) return void 0;
        return `\`${now.path}\` has changed since you last read it, and not by your \`edit\` or \`write\`. Read it again, then change it.`;
      };
    }
    var CONTEXT_STATUS = "pi-subagent-context";
    function reportContext(pi) {
      const report2 = (_event, context) => {
        const usage = context?.getContextUsage?.();
        if (usage) context?.ui.setStatus(CONTEXT_STATUS, `${usage.tokens ?? "?"}/${usage.contextWindow}`);
        return void 0;
      };
      pi.on("turn_end", report2);
      pi.on("session_compact", report2);
    }
    var GRANT_CHECK_MS = 5;
    var MAX_GRANT_CHECK_MS = 80;
    function holdTurns(pi) {
      if (!fs) return;
      const length = () => {
        const size = fs.statSync(__filename, { throwIfNoEntry: false })?.size;
        if (size !== void 0) return size;
        console.error(`the turn cannot begin: \`${__filename}\` no longer exists`);
        process.exit(1);
      };
      const before = length();
      let turns = 0;
      pi.on("turn_start", () => {
        turns += 1;
      });
      pi.on("context", async (_event, context) => {
        let pause = GRANT_CHECK_MS;
        while (length() < before + turns && !context?.signal?.aborted) {
          await new Promise((resolve3) => setTimeout(resolve3, pause));
          pause = Math.min(2 * pause, MAX_GRANT_CHECK_MS);
        }
        return void 0;
      });
    }
    function childGuard2(pi, { isSecond = false } = {}) {
      const policy = readPolicy(process.env);
      if (policy.asks && !isSecond) registerAsk(pi, JSON.parse(policy.asks));
      if (policy.submits && !isSecond) registerSubmit(pi, JSON.parse(policy.submits));
      if (policy.holdsTurns && !isSecond) holdTurns(pi);
      if (!isSecond) reportContext(pi);
      const staleReason = watchFiles(pi);
      const agentDirReason = protectAgentDir(policy);
      let isLastTurn = false;
      pi.on("before_agent_start", ({ prompt }) => {
        if (prompt !== void 0) isLastTurn = [ANNOUNCING, REPORTING].some((words) => prompt.startsWith(words));
        return void 0;
      });
      pi.on("tool_call", (event, context) => {
        const over = "The work is done; no tool runs any more.";
        const reason = isLastTurn ? over : blockReason(policy, event.toolName, event.input) ?? shellBlockReason(policy, pi, event.toolName) ?? agentDirReason(event, context?.cwd ?? process.cwd()) ?? staleReason(event);
        return (
          /** @type {ToolCallEventResult | undefined} */
          reason === void 0 ? void 0 : { block: true, reason }
        );
      });
    }
    childGuard2.blockReason = blockReason;
    childGuard2.readPolicy = readPolicy;
    module2.exports = childGuard2;
  }
});

// extension/host/guard.ts
import { writeSync } from "node:fs";

// node_modules/marked/lib/marked.esm.js
function A() {
  return { async: false, breaks: false, extensions: null, gfm: true, hooks: null, pedantic: false, renderer: null, silent: false, tokenizer: null, walkTokens: null };
}
var R = A();
function j(l3) {
  R = l3;
}
var z = { exec: () => null };
function I(l3) {
  let e = [];
  return (t) => {
    let n = Math.max(0, Math.min(3, t - 1)), s = e[n];
    return s || (s = l3(n), e[n] = s), s;
  };
}
function k(l3, e = "") {
  let t = typeof l3 == "string" ? l3 : l3.source, n = { replace: (s, r) => {
    let i = typeof r == "string" ? r : r.source;
    return i = i.replace(m.caret, "$1"), t = t.replace(s, i), n;
  }, getRegex: () => new RegExp(t, e) };
  return n;
}
var Oe = ((l3 = "") => {
  try {
    return !!new RegExp("(?<=1)(?<!1)" + l3);
  } catch {
    return false;
  }
})();
var m = { codeRemoveIndent: /^(?: {1,4}| {0,3}\t)/gm, outputLinkReplace: /\\([\[\]])/g, indentCodeCompensation: /^(\s+)(?:```)/, beginningSpace: /^\s+/, endingHash: /#$/, startingSpaceChar: /^ /, endingSpaceChar: / $/, nonSpaceChar: /[^ ]/, newLineCharGlobal: /\n/g, tabCharGlobal: /\t/g, multipleSpaceGlobal: /\s+/g, blankLine: /^[ \t]*$/, doubleBlankLine: /\n[ \t]*\n[ \t]*$/, blockquoteStart: /^ {0,3}>/, blockquoteSetextReplace: /\n {0,3}((?:=+|-+) *)(?=\n|$)/g, blockquoteSetextReplace2: /^ {0,3}>[ \t]?/gm, listReplaceNesting: /^ {1,4}(?=( {4})*[^ ])/g, listIsTask: /^\[[ xX]\] +\S/, listReplaceTask: /^\[[ xX]\] +/, listTaskCheckbox: /\[[ xX]\]/, anyLine: /\n.*\n/, hrefBrackets: /^<(.*)>$/, tableDelimiter: /[:|]/, tableAlignChars: /^\||\| *$/g, tableRowBlankLine: /\n[ \t]*$/, tableAlignRight: /^ *-+: *$/, tableAlignCenter: /^ *:-+: *$/, tableAlignLeft: /^ *:-+ *$/, startATag: /^<a /i, endATag: /^<\/a>/i, startPreScriptTag: /^<(pre|code|kbd|script)(\s|>)/i, endPreScriptTag: /^<\/(pre|code|kbd|script)(\s|>)/i, startAngleBracket: /^</, endAngleBracket: />$/, pedanticHrefTitle: /^([^'"]*[^\s])\s+(['"])(.*)\2/, unicodeAlphaNumeric: /[\p{L}\p{N}]/u, escapeTest: /[&<>"']/, escapeReplace: /[&<>"']/g, escapeTestNoEncode: /[<>"']|&(?!(#\d{1,7}|#[Xx][a-fA-F0-9]{1,6}|\w+);)/, escapeReplaceNoEncode: /[<>"']|&(?!(#\d{1,7}|#[Xx][a-fA-F0-9]{1,6}|\w+);)/g, caret: /(^|[^\[])\^/g, percentDecode: /%25/g, findPipe: /\|/g, splitPipe: / \|/, slashPipe: /\\\|/g, carriageReturn: /\r\n|\r/g, spaceLine: /^ +$/gm, notSpaceStart: /^\S*/, endingNewline: /\n$/, listItemRegex: (l3) => new RegExp(`^( {0,3}${l3})((?:[	 ][^\\n]*)?(?:\\n|$))`), nextBulletRegex: I((l3) => new RegExp(`^ {0,${l3}}(?:[*+-]|\\d{1,9}[.)])((?:[ 	][^\\n]*)?(?:\\n|$))`)), hrRegex: I((l3) => new RegExp(`^ {0,${l3}}((?:- *){3,}|(?:_ *){3,}|(?:\\* *){3,})(?:\\n+|$)`)), fencesBeginRegex: I((l3) => new RegExp(`^ {0,${l3}}(?:\`\`\`|~~~)`)), headingBeginRegex: I((l3) => new RegExp(`^ {0,${l3}}#`)), htmlBeginRegex: I((l3) => new RegExp(`^ {0,${l3}}<(?:[a-z].*>|!--)`, "i")), blockquoteBeginRegex: I((l3) => new RegExp(`^ {0,${l3}}>`)) };
var Te = /^(?:[ \t]*(?:\n|$))+/;
var we = /^((?: {4}| {0,3}\t)[^\n]+(?:\n(?:[ \t]*(?:\n|$))*)?)+/;
var ye = /^ {0,3}(`{3,}(?=[^`\n]*(?:\n|$))|~{3,})([^\n]*)(?:\n|$)(?:|([\s\S]*?)(?:\n|$))(?: {0,3}\1[~`]* *(?=\n|$)|$)/;
var q = /^ {0,3}((?:-[\t ]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})(?:\n+|$)/;
var Pe = /^ {0,3}(#{1,6})(?=\s|$)(.*)(?:\n+|$)/;
var U = / {0,3}(?:[*+-]|\d{1,9}[.)])/;
var oe = /^(?!bull |blockCode|fences|blockquote|heading|html|table)((?:.|\n(?!\s*?\n|bull |blockCode|fences|blockquote|heading|html|table))+?)\n {0,3}(=+|-+) *(?:\n+|$)/;
var ae = k(oe).replace(/bull/g, U).replace(/blockCode/g, /(?: {4}| {0,3}\t)/).replace(/fences/g, / {0,3}(?:`{3,}|~{3,})/).replace(/blockquote/g, / {0,3}>/).replace(/heading/g, / {0,3}#{1,6}(?:\s|$)/).replace(/html/g, / {0,3}<[^\n>]+>\n/).replace(/\|table/g, "").getRegex();
var Se = k(oe).replace(/bull/g, U).replace(/blockCode/g, /(?: {4}| {0,3}\t)/).replace(/fences/g, / {0,3}(?:`{3,}|~{3,})/).replace(/blockquote/g, / {0,3}>/).replace(/heading/g, / {0,3}#{1,6}(?:\s|$)/).replace(/html/g, / {0,3}<[^\n>]+>\n/).replace(/table/g, / {0,3}\|?(?:[:\- ]*\|)+[\:\- ]*\n/).getRegex();
var K = /^([^\n]+(?:\n(?!hr|heading|lheading|blockquote|fences|list|html|table|[ \t]+\n)[^\n]+)*)/;
var _e = /^[^\n]+/;
var W = /(?!\s*\])(?:\\[\s\S]|[^\[\]\\])+/;
var $e = k(/^ {0,3}\[(label)\]: *(?:\n[ \t]*)?([^<\s][^\s]*|<.*?>)(?:(?: +(?:\n[ \t]*)?| *\n[ \t]*)(title))? *(?:\n+|$)/).replace("label", W).replace("title", /(?:"(?:\\"?|[^"\\])*"|'[^'\n]*(?:\n[^'\n]+)*\n?'|\([^()]*\))/).getRegex();
var Le = k(/^(bull)([ \t][^\n]*?)?(?:\n|$)/).replace(/bull/g, U).getRegex();
var Q = "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|meta|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul";
var X = /<!--(?:-?>|[\s\S]*?(?:-->|$))/;
var Ee = k("^ {0,3}(?:<(script|pre|style|textarea)[\\s>][\\s\\S]*?(?:</\\1>[^\\n]*\\n*|$)|comment[^\\n]*(\\n+|$)|<\\?[\\s\\S]*?(?:\\?>[^\\n]*\\n*|$)|<![A-Z][\\s\\S]*?(?:>[^\\n]*\\n*|$)|<!\\[CDATA\\[[\\s\\S]*?(?:\\]\\]>[^\\n]*\\n*|$)|</?(tag)(?: +|\\n|/?>)[\\s\\S]*?(?:(?:\\n[ 	]*)+\\n|$)|<(?!script|pre|style|textarea)([a-z][\\w-]*)(?:attribute)*? */?>(?=[ \\t]*(?:\\n|$))[\\s\\S]*?(?:(?:\\n[ 	]*)+\\n|$)|</(?!script|pre|style|textarea)[a-z][\\w-]*\\s*>(?=[ \\t]*(?:\\n|$))[\\s\\S]*?(?:(?:\\n[ 	]*)+\\n|$))", "i").replace("comment", X).replace("tag", Q).replace("attribute", / +[a-zA-Z:_][\w.:-]*(?: *= *"[^"\n]*"| *= *'[^'\n]*'| *= *[^\s"'=<>`]+)?/).getRegex();
var le = (l3) => k(K).replace("hr", q).replace("heading", " {0,3}#{1,6}(?:\\s|$)").replace("|lheading", "").replace("|table", "").replace("blockquote", " {0,3}>").replace("fences", " {0,3}(?:`{3,}(?=[^`\\n]*(?:\\n|$))|~~~)[^\\n]*(?:\\n|$)").replace("list", l3).replace("html", "</?(?:tag)(?: +|\\n|/?>)|<(?:script|pre|style|textarea|!--)").replace("tag", Q).getRegex();
var ze = le(/ {0,3}(?:[*+-]|1[.)])[ \t]+[^ \t\n]/);
var Me = le(/ {0,3}(?:[*+-]|\d{1,9}[.)])(?:[ \t]|\n|$)/);
var Ae = k(/^( {0,3}> ?(paragraph|[^\n]*)(?:\n|$))+/).replace("paragraph", Me).getRegex();
var J = { blockquote: Ae, code: we, def: $e, fences: ye, heading: Pe, hr: q, html: Ee, lheading: ae, list: Le, newline: Te, paragraph: ze, table: z, text: _e };
var se = k("^ *([^\\n ].*)\\n {0,3}((?:\\| *)?:?-+:? *(?:\\| *:?-+:? *)*(?:\\| *)?)(?:\\n((?:(?! *\\n|hr|heading|blockquote|code|fences|list|html).*(?:\\n|$))*)\\n*|$)").replace("hr", q).replace("heading", " {0,3}#{1,6}(?:\\s|$)").replace("blockquote", " {0,3}>").replace("code", "(?: {4}| {0,3}	)[^\\n]").replace("fences", " {0,3}(?:`{3,}(?=[^`\\n]*(?:\\n|$))|~~~)[^\\n]*(?:\\n|$)").replace("list", " {0,3}(?:[*+-]|1[.)])[ \\t]").replace("html", "</?(?:tag)(?: +|\\n|/?>)|<(?:script|pre|style|textarea|!--)").replace("tag", Q).getRegex();
var Ie = { ...J, lheading: Se, table: se, paragraph: k(K).replace("hr", q).replace("heading", " {0,3}#{1,6}(?:\\s|$)").replace("|lheading", "").replace("table", se).replace("blockquote", " {0,3}>").replace("fences", " {0,3}(?:`{3,}(?=[^`\\n]*(?:\\n|$))|~~~)[^\\n]*(?:\\n|$)").replace("list", " {0,3}(?:[*+-]|1[.)])[ \\t]+[^ \\t\\n]").replace("html", "</?(?:tag)(?: +|\\n|/?>)|<(?:script|pre|style|textarea|!--)").replace("tag", Q).getRegex() };
var Ce = { ...J, html: k(`^ *(?:comment *(?:\\n|\\s*$)|<(tag)[\\s\\S]+?</\\1> *(?:\\n{2,}|\\s*$)|<tag(?:"[^"]*"|'[^']*'|\\s[^'"/>\\s]*)*?/?> *(?:\\n{2,}|\\s*$))`).replace("comment", X).replace(/tag/g, "(?!(?:a|em|strong|small|s|cite|q|dfn|abbr|data|time|code|var|samp|kbd|sub|sup|i|b|u|mark|ruby|rt|rp|bdi|bdo|span|br|wbr|ins|del|img)\\b)\\w+(?!:|[^\\w\\s@]*@)\\b").getRegex(), def: /^ *\[([^\]]+)\]: *<?([^\s>]+)>?(?: +(["(][^\n]+[")]))? *(?:\n+|$)/, heading: /^(#{1,6})(.*)(?:\n+|$)/, fences: z, lheading: /^(.+?)\n {0,3}(=+|-+) *(?:\n+|$)/, paragraph: k(K).replace("hr", q).replace("heading", ` *#{1,6} *[^
]`).replace("lheading", ae).replace("|table", "").replace("blockquote", " {0,3}>").replace("|fences", "").replace("|list", "").replace("|html", "").replace("|tag", "").getRegex() };
var Be = /^\\([!"#$%&'()*+,\-./:;<=>?@\[\]\\^_`{|}~])/;
var De = /^(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)/;
var ue = /^( {2,}|\\)\n(?!\s*$)/;
var qe = /^(`+|[^`])(?:(?= {2,}\n)|[\s\S]*?(?:(?=[\\<!\[`*_]|\b_|$)|[^ ](?= {2,}\n)))/;
var _ = /[\p{P}\p{S}]/u;
var C = /[\s\p{P}\p{S}]/u;
var v = /[^\s\p{P}\p{S}]/u;
var ve = k(/^((?![*_])punctSpace)/, "u").replace(/punctSpace/g, C).getRegex();
var He = /[\p{Pi}\p{Ps}"']/u;
var pe = /(?!~)[\p{P}\p{S}]/u;
var Ze = /(?!~)[\s\p{P}\p{S}]/u;
var Ge = /(?:[^\s\p{P}\p{S}]|~)/u;
var Qe = k(/link|precode-code|html/, "g").replace("link", /\[(?:[^\[\]`]|(?<a>`+)[^`]+\k<a>(?!`))*?\]\((?:\\[\s\S]|[^\\\(\)]|\((?:\\[\s\S]|[^\\\(\)])*\))*\)/).replace("precode-", Oe ? "(?<!`)()" : "(^^|[^`])").replace("code", /(?<b>`+)[^`]+\k<b>(?!`)/).replace("html", /<(?! )[^<>]*?>/).getRegex();
var ce = /^(?:\*+(?:((?!\*)punct)|([^\s*]))?)|^_+(?:((?!_)punct)|([^\s_]))?/;
var Ne = k(ce, "u").replace(/punct/g, _).getRegex();
var je = k(ce, "u").replace(/punct/g, pe).getRegex();
var Fe = /^(?:\*+(?:((?!\*)(?!openQuote)punct)|([^\s*]))?)|^_+(?:((?!_)(?!openQuote)punct)|([^\s_]))?/;
var Ue = k(Fe, "u").replace(/openQuote/g, He).replace(/punct/g, _).getRegex();
var he = "^[^_*]*?__[^_*]*?\\*[^_*]*?(?=__)|[^*]+(?=[^*])|(?!\\*)punct(\\*+)(?=[\\s]|$)|notPunctSpace(\\*+)(?!\\*)(?=punctSpace|$)|(?!\\*)punctSpace(\\*+)(?=notPunctSpace)|[\\s](\\*+)(?!\\*)(?=punct)|(?!\\*)punct(\\*+)(?!\\*)(?=punct)|notPunctSpace(\\*+)(?=notPunctSpace)";
var Ke = k(he, "gu").replace(/notPunctSpace/g, v).replace(/punctSpace/g, C).replace(/punct/g, _).getRegex();
var We = k(he, "gu").replace(/notPunctSpace/g, Ge).replace(/punctSpace/g, Ze).replace(/punct/g, pe).getRegex();
var Xe = "^[^_*]*?__[^_*]*?\\*[^_*]*?(?=__)|[^*]+(?=[^*])|(?!\\*)punct(\\*+)(?=[\\s]|$)|notPunctSpace(\\*+)(?!\\*)(?=punctSpace|$)|(?!\\*)[\\s](\\*+)(?=notPunctSpace)|[\\s](\\*+)(?!\\*)(?=punct)|(?!\\*)punct(\\*+)(?!\\*)(?=punct)|(?:(?!\\*)punct|notPunctSpace)(\\*+)(?!\\*)(?=notPunctSpace)";
var Je = k(Xe, "gu").replace(/notPunctSpace/g, v).replace(/punctSpace/g, C).replace(/punct/g, _).getRegex();
var Ve = k("^[^_*]*?\\*\\*[^_*]*?_[^_*]*?(?=\\*\\*)|[^_]+(?=[^_])|(?!_)punct(_+)(?=[\\s]|$)|notPunctSpace(_+)(?!_)(?=punctSpace|$)|(?!_)punctSpace(_+)(?=notPunctSpace)|[\\s](_+)(?!_)(?=punct)|(?!_)punct(_+)(?!_)(?=punct)", "gu").replace(/notPunctSpace/g, v).replace(/punctSpace/g, C).replace(/punct/g, _).getRegex();
var Ye = "^[^_*]*?\\*\\*[^_*]*?_[^_*]*?(?=\\*\\*)|[^_]+(?=[^_])|(?!_)punct(_+)(?=[\\s]|$)|notPunctSpace(_+)(?!_)(?=punctSpace|$)|(?!_)[\\s](_+)(?=notPunctSpace)|[\\s](_+)(?!_)(?=punct)|(?!_)punct(_+)(?!_)(?=punct)|(?:(?!_)punct|notPunctSpace)(_+)(?!_)(?=notPunctSpace)";
var et = k(Ye, "gu").replace(/notPunctSpace/g, v).replace(/punctSpace/g, C).replace(/punct/g, _).getRegex();
var tt = k(/^~~?(?:((?!~)punct)|[^\s~])/, "u").replace(/punct/g, _).getRegex();
var nt = "^[^~]+(?=[^~])|(?!~)punct(~~?)(?=[\\s]|$)|notPunctSpace(~~?)(?!~)(?=punctSpace|$)|(?!~)punctSpace(~~?)(?=notPunctSpace)|[\\s](~~?)(?!~)(?=punct)|(?!~)punct(~~?)(?!~)(?=punct)|notPunctSpace(~~?)(?=notPunctSpace)";
var rt = k(nt, "gu").replace(/notPunctSpace/g, v).replace(/punctSpace/g, C).replace(/punct/g, _).getRegex();
var st = k(/\\(punct)/, "gu").replace(/punct/g, _).getRegex();
var it = k(/^<(scheme:[^\s\x00-\x1f<>]*|email)>/).replace("scheme", /[a-zA-Z][a-zA-Z0-9+.-]{1,31}/).replace("email", /[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+(@)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+(?![-_])/).getRegex();
var ot = k(X).replace("(?:-->|$)", "-->").getRegex();
var at = k("^comment|^</[a-zA-Z][\\w:-]*\\s*>|^<[a-zA-Z][\\w-]*(?:attribute)*?\\s*/?>|^<\\?[\\s\\S]*?\\?>|^<![a-zA-Z]+\\s[\\s\\S]*?>|^<!\\[CDATA\\[[\\s\\S]*?\\]\\]>").replace("comment", ot).replace("attribute", /\s+[a-zA-Z:_][\w.:-]*(?:\s*=\s*"[^"]*"|\s*=\s*'[^']*'|\s*=\s*[^\s"'=<>`]+)?/).getRegex();
var G = /(?:\[(?:\\[\s\S]|[^\[\]\\])*\]|\\[\s\S]|`+(?!`)[^`]*?`+(?!`)|``+(?=\])|[^\[\]\\`])*?/;
var lt = k(/^!?\[(label)\]\(\s*(href)(?:(?:[ \t]+(?:\n[ \t]*)?|\n[ \t]*)(title))?\s*\)/).replace("label", G).replace("href", /<(?:\\.|[^\n<>\\])+>|[^ \t\n\x00-\x1f]+|(?=\))/).replace("title", /"(?:\\"?|[^"\\])*"|'(?:\\'?|[^'\\])*'|\((?:\\\)?|[^)\\])*\)/).getRegex();
var ke = k(/^!?\[(label)\]\[(ref)\]/).replace("label", G).replace("ref", W).getRegex();
var de = k(/^!?\[(ref)\](?:\[\])?/).replace("ref", W).getRegex();
var ut = k("reflink|nolink(?!\\()", "g").replace("reflink", ke).replace("nolink", de).getRegex();
var ie = /[hH][tT][tT][pP][sS]?|[fF][tT][pP]/;
var V = { _backpedal: z, anyPunctuation: st, autolink: it, blockSkip: Qe, br: ue, code: De, del: z, delLDelim: z, delRDelim: z, emStrongLDelim: Ne, emStrongRDelimAst: Ke, emStrongRDelimUnd: Ve, escape: Be, link: lt, nolink: de, punctuation: ve, reflink: ke, reflinkSearch: ut, tag: at, text: qe, url: z };
var pt = { ...V, emStrongLDelim: Ue, emStrongRDelimAst: Je, emStrongRDelimUnd: et, link: k(/^!?\[(label)\]\((.*?)\)/).replace("label", G).getRegex(), reflink: k(/^!?\[(label)\]\s*\[([^\]]*)\]/).replace("label", G).getRegex() };
var F = { ...V, emStrongRDelimAst: We, emStrongLDelim: je, delLDelim: tt, delRDelim: rt, url: k(/^((?:protocol):\/\/|www\.)(?:[a-zA-Z0-9\-]+\.?)+[^\s<]*|^email/).replace("protocol", ie).replace("email", /[A-Za-z0-9._+-]+(@)[a-zA-Z0-9-_]+(?:\.[a-zA-Z0-9-_]*[a-zA-Z0-9])+(?![-_])/).getRegex(), _backpedal: /(?:[^?!.,:;*_'"~()&]+|\([^)]*\)|&(?![a-zA-Z0-9]+;$)|[?!.,:;*_'"~)]+(?!$))+/, del: /^(~~?)(?=[^\s~])((?:\\[\s\S]|[^\\])*?(?:\\[\s\S]|[^\s~\\]))\1(?=[^~]|$)/, text: k(/^(`+|~+|[^`~])(?:(?=[`~])|(?= {2,}\n)|(?=[a-zA-Z0-9.!#$%&'*+\/=?_`{\|}~-]+@)|[\s\S]*?(?:(?=[\\<!\[`*~_]|\b_|protocol:\/\/|www\.|$)|[^ ](?= {2,}\n)|[^a-zA-Z0-9.!#$%&'*+\/=?_`{\|}~-](?=[a-zA-Z0-9.!#$%&'*+\/=?_`{\|}~-]+@)))/).replace("protocol", ie).getRegex() };
var ct = { ...F, br: k(ue).replace("{2,}", "*").getRegex(), text: k(F.text).replace("\\b_", "\\b_| {2,}\\n").replace(/\{2,\}/g, "*").getRegex() };
var H = { normal: J, gfm: Ie, pedantic: Ce };
var B = { normal: V, gfm: F, breaks: ct, pedantic: pt };
var ht = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
var ge = (l3) => ht[l3];
function T(l3, e) {
  if (e) {
    if (m.escapeTest.test(l3)) return l3.replace(m.escapeReplace, ge);
  } else if (m.escapeTestNoEncode.test(l3)) return l3.replace(m.escapeReplaceNoEncode, ge);
  return l3;
}
function Y(l3) {
  try {
    l3 = encodeURI(l3).replace(m.percentDecode, "%");
  } catch {
    return null;
  }
  return l3;
}
function ee(l3, e) {
  let t = l3.replace(m.findPipe, (r, i, o) => {
    let u = false, a = i;
    for (; --a >= 0 && o[a] === "\\"; ) u = !u;
    return u ? "|" : " |";
  }), n = t.split(m.splitPipe), s = 0;
  if (n[0].trim() || n.shift(), n.length > 0 && !n.at(-1)?.trim() && n.pop(), e) if (n.length > e) n.splice(e);
  else for (; n.length < e; ) n.push("");
  for (; s < n.length; s++) n[s] = n[s].trim().replace(m.slashPipe, "|");
  return n;
}
function $(l3, e, t) {
  let n = l3.length;
  if (n === 0) return "";
  let s = 0;
  for (; s < n; ) {
    let r = l3.charAt(n - s - 1);
    if (r === e && !t) s++;
    else if (r !== e && t) s++;
    else break;
  }
  return l3.slice(0, n - s);
}
function te(l3) {
  let e = l3.split(`
`), t = e.length - 1;
  for (; t >= 0 && m.blankLine.test(e[t]); ) t--;
  return e.length - t <= 2 ? l3 : e.slice(0, t + 1).join(`
`);
}
function fe(l3, e) {
  if (l3.indexOf(e[1]) === -1) return -1;
  let t = 0;
  for (let n = 0; n < l3.length; n++) if (l3[n] === "\\") n++;
  else if (l3[n] === e[0]) t++;
  else if (l3[n] === e[1] && (t--, t < 0)) return n;
  return t > 0 ? -2 : -1;
}
function me(l3, e = 0) {
  let t = e, n = "";
  for (let s of l3) if (s === "	") {
    let r = 4 - t % 4;
    n += " ".repeat(r), t += r;
  } else n += s, t++;
  return n;
}
function xe(l3, e, t, n, s) {
  let r = e.href, i = e.title || null, o = l3[1].replace(s.other.outputLinkReplace, "$1"), u = l3[0].charAt(0) === "!";
  n.state.inLink = true;
  let a = n.state.linkEmitted, p = n.state.inRawBlock;
  n.state.linkEmitted = false;
  let c = n.inlineTokens(o), h = n.state.linkEmitted;
  if (n.state.linkEmitted = a, n.state.inLink = false, !u) {
    if (h) {
      n.state.inRawBlock = p;
      return;
    }
    n.state.linkEmitted = true;
  }
  return { type: u ? "image" : "link", raw: t, href: r, title: i, text: o, tokens: c };
}
function kt(l3, e, t) {
  let n = l3.match(t.other.indentCodeCompensation);
  if (n === null) return e;
  let s = n[1];
  return e.split(`
`).map((r) => {
    let i = r.match(t.other.beginningSpace);
    if (i === null) return r;
    let [o] = i;
    return o.length >= s.length ? r.slice(s.length) : r;
  }).join(`
`);
}
var y = class {
  options;
  rules;
  lexer;
  constructor(e) {
    this.options = e || R;
  }
  space(e) {
    let t = this.rules.block.newline.exec(e);
    if (t && t[0].length > 0) return { type: "space", raw: t[0] };
  }
  code(e) {
    let t = this.rules.block.code.exec(e);
    if (t) {
      let n = this.options.pedantic ? t[0] : te(t[0]), s = n.replace(this.rules.other.codeRemoveIndent, "");
      return { type: "code", raw: n, codeBlockStyle: "indented", text: s };
    }
  }
  fences(e) {
    let t = this.rules.block.fences.exec(e);
    if (t) {
      let n = t[0], s = kt(n, t[3] || "", this.rules);
      return { type: "code", raw: n, lang: t[2] ? t[2].trim().replace(this.rules.inline.anyPunctuation, "$1") : t[2], text: s };
    }
  }
  heading(e) {
    let t = this.rules.block.heading.exec(e);
    if (t) {
      let n = t[2].trim();
      if (this.rules.other.endingHash.test(n)) {
        let s = $(n, "#");
        (this.options.pedantic || !s || this.rules.other.endingSpaceChar.test(s)) && (n = s.trim());
      }
      return { type: "heading", raw: $(t[0], `
`), depth: t[1].length, text: n, tokens: this.lexer.inline(n) };
    }
  }
  hr(e) {
    let t = this.rules.block.hr.exec(e);
    if (t) return { type: "hr", raw: $(t[0], `
`) };
  }
  blockquote(e) {
    let t = this.rules.block.blockquote.exec(e);
    if (t) {
      let n = $(t[0], `
`).split(`
`), s = "", r = "", i = [];
      for (; n.length > 0; ) {
        let o = false, u = [], a;
        for (a = 0; a < n.length; a++) if (this.rules.other.blockquoteStart.test(n[a])) u.push(n[a]), o = true;
        else if (!o) u.push(n[a]);
        else break;
        n = n.slice(a);
        let p = u.join(`
`), c = p.replace(this.rules.other.blockquoteSetextReplace, `
    $1`).replace(this.rules.other.blockquoteSetextReplace2, "");
        s = s ? `${s}
${p}` : p, r = r ? `${r}
${c}` : c;
        let h = this.lexer.state.top;
        if (this.lexer.state.top = true, this.lexer.blockTokens(c, i, true), this.lexer.state.top = h, n.length === 0) break;
        let d = i.at(-1);
        if (d?.type === "code") break;
        if (d?.type === "blockquote") {
          let O = d, g = n.join(`
`), w = O.raw + `
` + g.replace(this.rules.other.blockquoteSetextReplace2, ""), E = this.blockquote(w);
          i[i.length - 1] = E, s = `${s}
${g}`, r = r.substring(0, r.length - O.text.length) + E.text;
          break;
        } else if (d?.type === "list") {
          let O = d, g = O.raw + `
` + n.join(`
`), w = this.list(g);
          i[i.length - 1] = w, s = s.substring(0, s.length - d.raw.length) + w.raw, r = r.substring(0, r.length - O.raw.length) + w.raw, n = g.substring(i.at(-1).raw.length).split(`
`);
          continue;
        }
      }
      return { type: "blockquote", raw: s, tokens: i, text: r };
    }
  }
  list(e) {
    let t = this.rules.block.list.exec(e);
    if (t) {
      let n = t[1].trim(), s = n.length > 1, r = { type: "list", raw: "", ordered: s, start: s ? +n.slice(0, -1) : "", loose: false, items: [] };
      n = s ? `\\d{1,9}\\${n.slice(-1)}` : `\\${n}`, this.options.pedantic && (n = s ? n : "[*+-]");
      let i = this.rules.other.listItemRegex(n), o = false;
      for (; e; ) {
        let a = false, p = "", c = "";
        if (!(t = i.exec(e)) || this.rules.block.hr.test(e)) break;
        p = t[0], e = e.substring(p.length);
        let h = me(t[2].split(`
`, 1)[0], t[1].length), d = e.split(`
`, 1)[0], O = !h.trim(), g = 0;
        if (this.options.pedantic ? (g = 2, c = h.trimStart()) : O ? g = t[1].length + 1 : (g = h.search(this.rules.other.nonSpaceChar), g = g > 4 ? 1 : g, c = h.slice(g), g += t[1].length), O && this.rules.other.blankLine.test(d) && (p += d + `
`, e = e.substring(d.length + 1), a = true), !a) {
          let w = this.rules.other.nextBulletRegex(g), E = this.rules.other.hrRegex(g), ne = this.rules.other.fencesBeginRegex(g), re = this.rules.other.headingBeginRegex(g), be = this.rules.other.htmlBeginRegex(g), Re = this.rules.other.blockquoteBeginRegex(g);
          for (; e; ) {
            let N = e.split(`
`, 1)[0], D;
            if (d = N, this.options.pedantic ? (d = d.replace(this.rules.other.listReplaceNesting, "  "), D = d) : D = d.replace(this.rules.other.tabCharGlobal, "    "), ne.test(d) || re.test(d) || be.test(d) || Re.test(d) || w.test(d) || E.test(d)) break;
            if (D.search(this.rules.other.nonSpaceChar) >= g || !d.trim()) c += `
` + D.slice(g);
            else {
              if (O || h.replace(this.rules.other.tabCharGlobal, "    ").search(this.rules.other.nonSpaceChar) >= 4 || ne.test(h) || re.test(h) || E.test(h)) break;
              c += `
` + d;
            }
            O = !d.trim(), p += N + `
`, e = e.substring(N.length + 1), h = D.slice(g);
          }
        }
        r.loose || (o ? r.loose = true : this.rules.other.doubleBlankLine.test(p) && (o = true)), r.items.push({ type: "list_item", raw: p, task: !!this.options.gfm && this.rules.other.listIsTask.test(c), loose: false, text: c, tokens: [] }), r.raw += p;
      }
      let u = r.items.at(-1);
      if (u) u.raw = u.raw.trimEnd(), u.text = u.text.trimEnd();
      else return;
      r.raw = r.raw.trimEnd();
      for (let a of r.items) if (this.lexer.state.top = false, a.tokens = this.lexer.blockTokens(a.text, []), !r.loose) {
        let p = a.tokens.filter((h) => h.type === "space"), c = p.length > 0 && p.some((h) => this.rules.other.anyLine.test(h.raw));
        r.loose = c;
      }
      for (let a of r.items) {
        let p = a.tokens[0];
        if (a.task && (p?.type === "text" || p?.type === "paragraph")) {
          a.text = a.text.replace(this.rules.other.listReplaceTask, ""), p.raw = p.raw.replace(this.rules.other.listReplaceTask, ""), p.text = p.text.replace(this.rules.other.listReplaceTask, "");
          for (let h = this.lexer.inlineQueue.length - 1; h >= 0; h--) if (this.rules.other.listIsTask.test(this.lexer.inlineQueue[h].src)) {
            this.lexer.inlineQueue[h].src = this.lexer.inlineQueue[h].src.replace(this.rules.other.listReplaceTask, "");
            break;
          }
          let c = this.rules.other.listTaskCheckbox.exec(a.raw);
          if (c) {
            let h = { type: "checkbox", raw: c[0] + " ", checked: c[0] !== "[ ]" };
            a.checked = h.checked, r.loose ? a.tokens[0] && ["paragraph", "text"].includes(a.tokens[0].type) && "tokens" in a.tokens[0] && a.tokens[0].tokens ? (a.tokens[0].raw = h.raw + a.tokens[0].raw, a.tokens[0].text = h.raw + a.tokens[0].text, a.tokens[0].tokens.unshift(h)) : a.tokens.unshift({ type: "paragraph", raw: h.raw, text: h.raw, tokens: [h] }) : a.tokens.unshift(h);
          }
        } else a.task && (a.task = false);
      }
      if (r.loose) for (let a of r.items) {
        a.loose = true;
        for (let p of a.tokens) p.type === "text" && (p.type = "paragraph");
      }
      return r;
    }
  }
  html(e) {
    let t = this.rules.block.html.exec(e);
    if (t) {
      let n = te(t[0]);
      return { type: "html", block: true, raw: n, pre: t[1] === "pre" || t[1] === "script" || t[1] === "style", text: n };
    }
  }
  def(e) {
    let t = this.rules.block.def.exec(e);
    if (t) {
      let n = t[1].toLowerCase().replace(this.rules.other.multipleSpaceGlobal, " "), s = t[2] ? t[2].replace(this.rules.other.hrefBrackets, "$1").replace(this.rules.inline.anyPunctuation, "$1") : "", r = t[3] ? t[3].substring(1, t[3].length - 1).replace(this.rules.inline.anyPunctuation, "$1") : t[3];
      return { type: "def", tag: n, raw: $(t[0], `
`), href: s, title: r };
    }
  }
  table(e) {
    let t = this.rules.block.table.exec(e);
    if (!t || !this.rules.other.tableDelimiter.test(t[2])) return;
    let n = ee(t[1]), s = t[2].replace(this.rules.other.tableAlignChars, "").split("|"), r = t[3]?.trim() ? t[3].replace(this.rules.other.tableRowBlankLine, "").split(`
`) : [], i = { type: "table", raw: $(t[0], `
`), header: [], align: [], rows: [] };
    if (n.length === s.length) {
      for (let o of s) this.rules.other.tableAlignRight.test(o) ? i.align.push("right") : this.rules.other.tableAlignCenter.test(o) ? i.align.push("center") : this.rules.other.tableAlignLeft.test(o) ? i.align.push("left") : i.align.push(null);
      for (let o = 0; o < n.length; o++) i.header.push({ text: n[o], tokens: this.lexer.inline(n[o]), header: true, align: i.align[o] });
      for (let o of r) i.rows.push(ee(o, i.header.length).map((u, a) => ({ text: u, tokens: this.lexer.inline(u), header: false, align: i.align[a] })));
      return i;
    }
  }
  lheading(e) {
    let t = this.rules.block.lheading.exec(e);
    if (t) {
      let n = t[1].trim();
      return { type: "heading", raw: $(t[0], `
`), depth: t[2].charAt(0) === "=" ? 1 : 2, text: n, tokens: this.lexer.inline(n) };
    }
  }
  paragraph(e) {
    let t = this.rules.block.paragraph.exec(e);
    if (t) {
      let n = t[1].charAt(t[1].length - 1) === `
` ? t[1].slice(0, -1) : t[1];
      return { type: "paragraph", raw: t[0], text: n, tokens: this.lexer.inline(n) };
    }
  }
  text(e) {
    let t = this.rules.block.text.exec(e);
    if (t) return { type: "text", raw: t[0], text: t[0], tokens: this.lexer.inline(t[0]) };
  }
  escape(e) {
    let t = this.rules.inline.escape.exec(e);
    if (t) return { type: "escape", raw: t[0], text: t[1] };
  }
  tag(e) {
    let t = this.rules.inline.tag.exec(e);
    if (t) return !this.lexer.state.inLink && this.rules.other.startATag.test(t[0]) ? this.lexer.state.inLink = true : this.lexer.state.inLink && this.rules.other.endATag.test(t[0]) && (this.lexer.state.inLink = false), !this.lexer.state.inRawBlock && this.rules.other.startPreScriptTag.test(t[0]) ? this.lexer.state.inRawBlock = true : this.lexer.state.inRawBlock && this.rules.other.endPreScriptTag.test(t[0]) && (this.lexer.state.inRawBlock = false), { type: "html", raw: t[0], inLink: this.lexer.state.inLink, inRawBlock: this.lexer.state.inRawBlock, block: false, text: t[0] };
  }
  link(e) {
    let t = this.rules.inline.link.exec(e);
    if (t) {
      let n = t[2].trim();
      if (!this.options.pedantic && this.rules.other.startAngleBracket.test(n)) {
        if (!this.rules.other.endAngleBracket.test(n)) return;
        let i = $(n.slice(0, -1), "\\");
        if ((n.length - i.length) % 2 === 0) return;
      } else {
        let i = fe(t[2], "()");
        if (i === -2) return;
        if (i > -1) {
          let u = (t[0].indexOf("!") === 0 ? 5 : 4) + t[1].length + i;
          t[2] = t[2].substring(0, i), t[0] = t[0].substring(0, u).trim(), t[3] = "";
        }
      }
      let s = t[2], r = "";
      if (this.options.pedantic) {
        let i = this.rules.other.pedanticHrefTitle.exec(s);
        i && (s = i[1], r = i[3]);
      } else r = t[3] ? t[3].slice(1, -1) : "";
      return s = s.trim(), this.rules.other.startAngleBracket.test(s) && (this.options.pedantic && !this.rules.other.endAngleBracket.test(n) ? s = s.slice(1) : s = s.slice(1, -1)), xe(t, { href: s && s.replace(this.rules.inline.anyPunctuation, "$1"), title: r && r.replace(this.rules.inline.anyPunctuation, "$1") }, t[0], this.lexer, this.rules);
    }
  }
  reflink(e, t) {
    let n;
    if ((n = this.rules.inline.reflink.exec(e)) || (n = this.rules.inline.nolink.exec(e))) {
      let s = (n[2] || n[1]).replace(this.rules.other.multipleSpaceGlobal, " "), r = t[s.toLowerCase()];
      if (!r) {
        let i = n[0].charAt(0);
        return { type: "text", raw: i, text: i };
      }
      return xe(n, r, n[0], this.lexer, this.rules);
    }
  }
  emStrong(e, t, n = "") {
    let s = this.rules.inline.emStrongLDelim.exec(e);
    if (!s || !s[1] && !s[2] && !s[3] && !s[4] || s[4] && n.match(this.rules.other.unicodeAlphaNumeric)) return;
    if (!(s[1] || s[3] || "") || !n || this.rules.inline.punctuation.exec(n)) {
      let i = [...s[0]].length - 1, o, u, a = i, p = 0, c = s[0][0], h = n === c, d = c === "*" ? this.rules.inline.emStrongRDelimAst : this.rules.inline.emStrongRDelimUnd;
      for (d.lastIndex = 0, t = t.slice(-1 * e.length + i); (s = d.exec(t)) !== null; ) {
        if (o = s[1] || s[2] || s[3] || s[4] || s[5] || s[6], !o) continue;
        if (u = [...o].length, s[3] || s[4]) {
          a += u;
          continue;
        } else if (s[5] || s[6]) {
          if (i % 3 && !((i + u) % 3)) {
            p += u;
            continue;
          }
          if (h) break;
        }
        if (a -= u, a > 0) continue;
        u = Math.min(u, u + a + p);
        let O = [...s[0]][0].length, g = e.slice(0, i + s.index + O + u);
        if (Math.min(i, u) % 2) {
          let E = g.slice(1, -1);
          return { type: "em", raw: g, text: E, tokens: this.lexer.inlineTokens(E) };
        }
        let w = g.slice(2, -2);
        return { type: "strong", raw: g, text: w, tokens: this.lexer.inlineTokens(w) };
      }
    }
  }
  codespan(e) {
    let t = this.rules.inline.code.exec(e);
    if (t) {
      let n = t[2].replace(this.rules.other.newLineCharGlobal, " "), s = this.rules.other.nonSpaceChar.test(n), r = this.rules.other.startingSpaceChar.test(n) && this.rules.other.endingSpaceChar.test(n);
      return s && r && (n = n.substring(1, n.length - 1)), { type: "codespan", raw: t[0], text: n };
    }
  }
  br(e) {
    let t = this.rules.inline.br.exec(e);
    if (t) return { type: "br", raw: t[0] };
  }
  del(e, t, n = "") {
    let s = this.rules.inline.delLDelim.exec(e);
    if (!s) return;
    if (!(s[1] || "") || !n || this.rules.inline.punctuation.exec(n)) {
      let i = [...s[0]].length - 1, o, u, a = i, p = this.rules.inline.delRDelim;
      for (p.lastIndex = 0, t = t.slice(-1 * e.length + i); (s = p.exec(t)) !== null; ) {
        if (o = s[1] || s[2] || s[3] || s[4] || s[5] || s[6], !o || (u = [...o].length, u !== i)) continue;
        if (s[3] || s[4]) {
          a += u;
          continue;
        }
        if (a -= u, a > 0) continue;
        u = Math.min(u, u + a);
        let c = [...s[0]][0].length, h = e.slice(0, i + s.index + c + u), d = h.slice(i, -i);
        return { type: "del", raw: h, text: d, tokens: this.lexer.inlineTokens(d) };
      }
    }
  }
  autolink(e) {
    let t = this.rules.inline.autolink.exec(e);
    if (t) {
      let n, s;
      return t[2] === "@" ? (n = t[1], s = "mailto:" + n) : (n = t[1], s = n), { type: "link", raw: t[0], text: n, href: s, tokens: [{ type: "text", raw: n, text: n }] };
    }
  }
  url(e) {
    let t;
    if (t = this.rules.inline.url.exec(e)) {
      let n, s;
      if (t[2] === "@") n = t[0], s = "mailto:" + n;
      else {
        let r;
        do
          r = t[0], t[0] = this.rules.inline._backpedal.exec(t[0])?.[0] ?? "";
        while (r !== t[0]);
        n = t[0], t[1] === "www." ? s = "http://" + t[0] : s = t[0];
      }
      return { type: "link", raw: t[0], text: n, href: s, tokens: [{ type: "text", raw: n, text: n }] };
    }
  }
  inlineText(e) {
    let t = this.rules.inline.text.exec(e);
    if (t) {
      let n = this.lexer.state.inRawBlock;
      return { type: "text", raw: t[0], text: t[0], escaped: n };
    }
  }
};
var x = class l {
  tokens;
  options;
  state;
  inlineQueue;
  tokenizer;
  constructor(e) {
    this.tokens = [], this.tokens.links = /* @__PURE__ */ Object.create(null), this.options = e || R, this.options.tokenizer = this.options.tokenizer || new y(), this.tokenizer = this.options.tokenizer, this.tokenizer.options = this.options, this.tokenizer.lexer = this, this.inlineQueue = [], this.state = { inLink: false, inRawBlock: false, linkEmitted: false, top: true };
    let t = { other: m, block: H.normal, inline: B.normal };
    this.options.pedantic ? (t.block = H.pedantic, t.inline = B.pedantic) : this.options.gfm && (t.block = H.gfm, this.options.breaks ? t.inline = B.breaks : t.inline = B.gfm), this.tokenizer.rules = t;
  }
  static get rules() {
    return { block: H, inline: B };
  }
  static lex(e, t) {
    return new l(t).lex(e);
  }
  static lexInline(e, t) {
    return new l(t).inlineTokens(e);
  }
  lex(e) {
    e = e.replace(m.carriageReturn, `
`), this.blockTokens(e, this.tokens);
    for (let t = 0; t < this.inlineQueue.length; t++) {
      let n = this.inlineQueue[t];
      this.inlineTokens(n.src, n.tokens);
    }
    return this.inlineQueue = [], this.tokens;
  }
  blockTokens(e, t = [], n = false) {
    this.tokenizer.lexer = this, this.options.pedantic && (e = e.replace(m.tabCharGlobal, "    ").replace(m.spaceLine, ""));
    let s = 1 / 0;
    for (; e; ) {
      if (e.length < s) s = e.length;
      else {
        this.infiniteLoopError(e.charCodeAt(0));
        break;
      }
      let r;
      if (this.options.extensions?.block?.some((o) => (r = o.call({ lexer: this }, e, t)) ? (e = e.substring(r.raw.length), t.push(r), true) : false)) continue;
      if (r = this.tokenizer.space(e)) {
        e = e.substring(r.raw.length);
        let o = t.at(-1);
        r.raw.length === 1 && o !== void 0 ? o.raw += `
` : t.push(r);
        continue;
      }
      if (r = this.tokenizer.code(e)) {
        e = e.substring(r.raw.length);
        let o = t.at(-1);
        o?.type === "paragraph" || o?.type === "text" ? (o.raw += (o.raw.endsWith(`
`) ? "" : `
`) + r.raw, o.text += `
` + r.text, this.inlineQueue.at(-1).src = o.text) : t.push(r);
        continue;
      }
      if (r = this.tokenizer.fences(e)) {
        e = e.substring(r.raw.length), t.push(r);
        continue;
      }
      if (r = this.tokenizer.heading(e)) {
        e = e.substring(r.raw.length), t.push(r);
        continue;
      }
      if (r = this.tokenizer.hr(e)) {
        e = e.substring(r.raw.length), t.push(r);
        continue;
      }
      if (r = this.tokenizer.blockquote(e)) {
        e = e.substring(r.raw.length), t.push(r);
        continue;
      }
      if (r = this.tokenizer.list(e)) {
        e = e.substring(r.raw.length), t.push(r);
        continue;
      }
      if (r = this.tokenizer.html(e)) {
        e = e.substring(r.raw.length), t.push(r);
        continue;
      }
      if (r = this.tokenizer.def(e)) {
        e = e.substring(r.raw.length);
        let o = t.at(-1);
        o?.type === "paragraph" || o?.type === "text" ? (o.raw += (o.raw.endsWith(`
`) ? "" : `
`) + r.raw, o.text += `
` + r.raw, this.inlineQueue.at(-1).src = o.text) : this.tokens.links[r.tag] || (this.tokens.links[r.tag] = { href: r.href, title: r.title }, t.push(r));
        continue;
      }
      if (r = this.tokenizer.table(e)) {
        e = e.substring(r.raw.length), t.push(r);
        continue;
      }
      if (r = this.tokenizer.lheading(e)) {
        e = e.substring(r.raw.length), t.push(r);
        continue;
      }
      let i = e;
      if (this.options.extensions?.startBlock) {
        let o = 1 / 0, u = e.slice(1), a;
        this.options.extensions.startBlock.forEach((p) => {
          a = p.call({ lexer: this }, u), typeof a == "number" && a >= 0 && (o = Math.min(o, a));
        }), o < 1 / 0 && o >= 0 && (i = e.substring(0, o + 1));
      }
      if (this.state.top && (r = this.tokenizer.paragraph(i))) {
        let o = t.at(-1);
        n && o?.type === "paragraph" ? (o.raw += (o.raw.endsWith(`
`) ? "" : `
`) + r.raw, o.text += `
` + r.text, this.inlineQueue.pop(), this.inlineQueue.at(-1).src = o.text) : t.push(r), n = i.length !== e.length, e = e.substring(r.raw.length);
        continue;
      }
      if (r = this.tokenizer.text(e)) {
        e = e.substring(r.raw.length);
        let o = t.at(-1);
        o?.type === "text" ? (o.raw += (o.raw.endsWith(`
`) ? "" : `
`) + r.raw, o.text += `
` + r.text, this.inlineQueue.pop(), this.inlineQueue.at(-1).src = o.text) : t.push(r);
        continue;
      }
      if (e) {
        this.infiniteLoopError(e.charCodeAt(0));
        break;
      }
    }
    return this.state.top = true, t;
  }
  inline(e, t = []) {
    return this.inlineQueue.push({ src: e, tokens: t }), t;
  }
  linkInText(e) {
    if (!e.includes("[")) return false;
    let t = this.tokenizer.rules.inline.link;
    for (let n of e.matchAll(this.tokenizer.rules.inline.blockSkip)) if (t.test(n[0]) && e.charAt(n.index - 1) !== "!") return true;
    for (let n of e.matchAll(this.tokenizer.rules.inline.reflinkSearch)) {
      let s = n[0], r = s.lastIndexOf("[");
      if (!(s.charAt(0) === "!" || !Object.hasOwn(this.tokens.links, s.slice(r + 1, -1))) && !(r > 1 && this.linkInText(s.slice(1, r - 1)))) return true;
    }
    return false;
  }
  inlineTokens(e, t = []) {
    this.tokenizer.lexer = this;
    let n = e;
    if (this.tokens.links && e.includes("[")) {
      let o = this.tokenizer.rules.inline.reflinkSearch, u = (a) => {
        let p = a.lastIndexOf("[");
        if (!Object.hasOwn(this.tokens.links, a.slice(p + 1, -1))) return a;
        if (p > 1 && a.charAt(0) !== "!") {
          let c = a.slice(1, p - 1);
          if (this.linkInText(c)) return "[" + c.replace(o, u) + "][" + "a".repeat(a.length - p - 2) + "]";
        }
        return "[" + "a".repeat(a.length - 2) + "]";
      };
      n = n.replace(o, u);
    }
    n = n.replace(this.tokenizer.rules.inline.anyPunctuation, (o) => "+".repeat(o.length)), n = n.replace(this.tokenizer.rules.inline.blockSkip, (o, u, a) => {
      let p = a ? a.length : 0;
      return o.slice(0, p) + "[" + "a".repeat(o.length - p - 2) + "]";
    }), n = this.options.hooks?.emStrongMask?.call({ lexer: this }, n) ?? n;
    let s = false, r = "", i = 1 / 0;
    for (; e; ) {
      if (e.length < i) i = e.length;
      else {
        this.infiniteLoopError(e.charCodeAt(0));
        break;
      }
      s || (r = ""), s = false;
      let o;
      if (this.options.extensions?.inline?.some((a) => (o = a.call({ lexer: this }, e, t)) ? (e = e.substring(o.raw.length), t.push(o), true) : false)) continue;
      if (o = this.tokenizer.escape(e)) {
        e = e.substring(o.raw.length), t.push(o);
        continue;
      }
      if (o = this.tokenizer.tag(e)) {
        e = e.substring(o.raw.length), t.push(o);
        continue;
      }
      if (o = this.tokenizer.link(e)) {
        e = e.substring(o.raw.length), t.push(o);
        continue;
      }
      if (o = this.tokenizer.reflink(e, this.tokens.links)) {
        e = e.substring(o.raw.length);
        let a = t.at(-1);
        o.type === "text" && a?.type === "text" ? (a.raw += o.raw, a.text += o.text) : t.push(o);
        continue;
      }
      if (o = this.tokenizer.emStrong(e, n, r)) {
        e = e.substring(o.raw.length), t.push(o);
        continue;
      }
      if (o = this.tokenizer.codespan(e)) {
        e = e.substring(o.raw.length), t.push(o);
        continue;
      }
      if (o = this.tokenizer.br(e)) {
        e = e.substring(o.raw.length), t.push(o);
        continue;
      }
      if (o = this.tokenizer.del(e, n, r)) {
        e = e.substring(o.raw.length), t.push(o);
        continue;
      }
      if (o = this.tokenizer.autolink(e)) {
        e = e.substring(o.raw.length), t.push(o);
        continue;
      }
      if (!this.state.inLink && (o = this.tokenizer.url(e))) {
        e = e.substring(o.raw.length), t.push(o);
        continue;
      }
      let u = e;
      if (this.options.extensions?.startInline) {
        let a = 1 / 0, p = e.slice(1), c;
        this.options.extensions.startInline.forEach((h) => {
          c = h.call({ lexer: this }, p), typeof c == "number" && c >= 0 && (a = Math.min(a, c));
        }), a < 1 / 0 && a >= 0 && (u = e.substring(0, a + 1));
      }
      if (o = this.tokenizer.inlineText(u)) {
        e = e.substring(o.raw.length), o.raw.slice(-1) !== "_" && (r = o.raw.slice(-1)), s = true;
        let a = t.at(-1);
        a?.type === "text" ? (a.raw += o.raw, a.text += o.text) : t.push(o);
        continue;
      }
      if (e) {
        this.infiniteLoopError(e.charCodeAt(0));
        break;
      }
    }
    return t;
  }
  infiniteLoopError(e) {
    let t = "Infinite loop on byte: " + e;
    if (this.options.silent) console.error(t);
    else throw new Error(t);
  }
};
var P = class {
  options;
  parser;
  constructor(e) {
    this.options = e || R;
  }
  space(e) {
    return "";
  }
  code({ text: e, lang: t, escaped: n }) {
    let s = (t || "").match(m.notSpaceStart)?.[0], r = e.replace(m.endingNewline, "") + `
`;
    return s ? '<pre><code class="language-' + T(s) + '">' + (n ? r : T(r, true)) + `</code></pre>
` : "<pre><code>" + (n ? r : T(r, true)) + `</code></pre>
`;
  }
  blockquote({ tokens: e }) {
    return `<blockquote>
${this.parser.parse(e)}</blockquote>
`;
  }
  html({ text: e }) {
    return e;
  }
  def(e) {
    return "";
  }
  heading({ tokens: e, depth: t }) {
    return `<h${t}>${this.parser.parseInline(e)}</h${t}>
`;
  }
  hr(e) {
    return `<hr>
`;
  }
  list(e) {
    let t = e.ordered, n = e.start, s = "";
    for (let o = 0; o < e.items.length; o++) {
      let u = e.items[o];
      s += this.listitem(u);
    }
    let r = t ? "ol" : "ul", i = t && n !== 1 ? ' start="' + n + '"' : "";
    return "<" + r + i + `>
` + s + "</" + r + `>
`;
  }
  listitem(e) {
    return `<li>${this.parser.parse(e.tokens)}</li>
`;
  }
  checkbox({ checked: e }) {
    return "<input " + (e ? 'checked="" ' : "") + 'disabled="" type="checkbox"> ';
  }
  paragraph({ tokens: e }) {
    return `<p>${this.parser.parseInline(e)}</p>
`;
  }
  table(e) {
    let t = "", n = "";
    for (let r = 0; r < e.header.length; r++) n += this.tablecell(e.header[r]);
    t += this.tablerow({ text: n });
    let s = "";
    for (let r = 0; r < e.rows.length; r++) {
      let i = e.rows[r];
      n = "";
      for (let o = 0; o < i.length; o++) n += this.tablecell(i[o]);
      s += this.tablerow({ text: n });
    }
    return s && (s = `<tbody>${s}</tbody>`), `<table>
<thead>
` + t + `</thead>
` + s + `</table>
`;
  }
  tablerow({ text: e }) {
    return `<tr>
${e}</tr>
`;
  }
  tablecell(e) {
    let t = this.parser.parseInline(e.tokens), n = e.header ? "th" : "td";
    return (e.align ? `<${n} align="${e.align}">` : `<${n}>`) + t + `</${n}>
`;
  }
  strong({ tokens: e }) {
    return `<strong>${this.parser.parseInline(e)}</strong>`;
  }
  em({ tokens: e }) {
    return `<em>${this.parser.parseInline(e)}</em>`;
  }
  codespan({ text: e }) {
    return `<code>${T(e, true)}</code>`;
  }
  br(e) {
    return "<br>";
  }
  del({ tokens: e }) {
    return `<del>${this.parser.parseInline(e)}</del>`;
  }
  link({ href: e, title: t, tokens: n }) {
    let s = this.parser.parseInline(n), r = Y(e);
    if (r === null) return s;
    e = r;
    let i = '<a href="' + e + '"';
    return t && (i += ' title="' + T(t) + '"'), i += ">" + s + "</a>", i;
  }
  image({ href: e, title: t, text: n, tokens: s }) {
    s && (n = this.parser.parseInline(s, this.parser.textRenderer));
    let r = Y(e);
    if (r === null) return T(n);
    e = r;
    let i = `<img src="${e}" alt="${T(n)}"`;
    return t && (i += ` title="${T(t)}"`), i += ">", i;
  }
  text(e) {
    return "tokens" in e && e.tokens ? this.parser.parseInline(e.tokens) : "escaped" in e && e.escaped ? e.text : T(e.text);
  }
};
var L = class {
  strong({ text: e }) {
    return e;
  }
  em({ text: e }) {
    return e;
  }
  codespan({ text: e }) {
    return e;
  }
  del({ text: e }) {
    return e;
  }
  html({ text: e }) {
    return e;
  }
  text({ text: e }) {
    return e;
  }
  link({ text: e }) {
    return "" + e;
  }
  image({ text: e }) {
    return "" + e;
  }
  br() {
    return "";
  }
  checkbox({ raw: e }) {
    return e;
  }
};
var b = class l2 {
  options;
  renderer;
  textRenderer;
  constructor(e) {
    this.options = e || R, this.options.renderer = this.options.renderer || new P(), this.renderer = this.options.renderer, this.renderer.options = this.options, this.renderer.parser = this, this.textRenderer = new L();
  }
  static parse(e, t) {
    return new l2(t).parse(e);
  }
  static parseInline(e, t) {
    return new l2(t).parseInline(e);
  }
  parse(e) {
    this.renderer.parser = this;
    let t = "";
    for (let n = 0; n < e.length; n++) {
      let s = e[n];
      if (this.options.extensions?.renderers?.[s.type]) {
        let i = s, o = this.options.extensions.renderers[i.type].call({ parser: this }, i);
        if (o !== false || !["space", "hr", "heading", "code", "table", "blockquote", "list", "checkbox", "html", "def", "paragraph", "text"].includes(i.type)) {
          t += o || "";
          continue;
        }
      }
      let r = s;
      switch (r.type) {
        case "space": {
          t += this.renderer.space(r);
          break;
        }
        case "hr": {
          t += this.renderer.hr(r);
          break;
        }
        case "heading": {
          t += this.renderer.heading(r);
          break;
        }
        case "code": {
          t += this.renderer.code(r);
          break;
        }
        case "table": {
          t += this.renderer.table(r);
          break;
        }
        case "blockquote": {
          t += this.renderer.blockquote(r);
          break;
        }
        case "list": {
          t += this.renderer.list(r);
          break;
        }
        case "checkbox": {
          t += this.renderer.checkbox(r);
          break;
        }
        case "html": {
          t += this.renderer.html(r);
          break;
        }
        case "def": {
          t += this.renderer.def(r);
          break;
        }
        case "paragraph": {
          t += this.renderer.paragraph(r);
          break;
        }
        case "text": {
          t += this.renderer.text(r);
          break;
        }
        default: {
          let i = 'Token with "' + r.type + '" type was not found.';
          if (this.options.silent) return console.error(i), "";
          throw new Error(i);
        }
      }
    }
    return t;
  }
  parseInline(e, t = this.renderer) {
    this.renderer.parser = this;
    let n = "";
    for (let s = 0; s < e.length; s++) {
      let r = e[s];
      if (this.options.extensions?.renderers?.[r.type]) {
        let o = this.options.extensions.renderers[r.type].call({ parser: this }, r);
        if (o !== false || !["escape", "html", "link", "image", "checkbox", "strong", "em", "codespan", "br", "del", "text"].includes(r.type)) {
          n += o || "";
          continue;
        }
      }
      let i = r;
      switch (i.type) {
        case "escape": {
          n += t.text(i);
          break;
        }
        case "html": {
          n += t.html(i);
          break;
        }
        case "link": {
          n += t.link(i);
          break;
        }
        case "image": {
          n += t.image(i);
          break;
        }
        case "checkbox": {
          n += t.checkbox(i);
          break;
        }
        case "strong": {
          n += t.strong(i);
          break;
        }
        case "em": {
          n += t.em(i);
          break;
        }
        case "codespan": {
          n += t.codespan(i);
          break;
        }
        case "br": {
          n += t.br(i);
          break;
        }
        case "del": {
          n += t.del(i);
          break;
        }
        case "text": {
          n += t.text(i);
          break;
        }
        default: {
          let o = 'Token with "' + i.type + '" type was not found.';
          if (this.options.silent) return console.error(o), "";
          throw new Error(o);
        }
      }
    }
    return n;
  }
};
var S = class {
  options;
  block;
  constructor(e) {
    this.options = e || R;
  }
  static passThroughHooks = /* @__PURE__ */ new Set(["preprocess", "postprocess", "processAllTokens", "emStrongMask"]);
  static passThroughHooksRespectAsync = /* @__PURE__ */ new Set(["preprocess", "postprocess", "processAllTokens"]);
  preprocess(e) {
    return e;
  }
  postprocess(e) {
    return e;
  }
  processAllTokens(e) {
    return e;
  }
  emStrongMask(e) {
    return e;
  }
  provideLexer(e = this.block) {
    return e ? x.lex : x.lexInline;
  }
  provideParser(e = this.block) {
    return e ? b.parse : b.parseInline;
  }
};
var Z = class {
  defaults = A();
  options = this.setOptions;
  parse = this.parseMarkdown(true);
  parseInline = this.parseMarkdown(false);
  Parser = b;
  Renderer = P;
  TextRenderer = L;
  Lexer = x;
  Tokenizer = y;
  Hooks = S;
  constructor(...e) {
    this.use(...e);
  }
  walkTokens(e, t) {
    let n = [];
    for (let s of e) switch (n = n.concat(t.call(this, s)), s.type) {
      case "table": {
        let r = s;
        for (let i of r.header) n = n.concat(this.walkTokens(i.tokens, t));
        for (let i of r.rows) for (let o of i) n = n.concat(this.walkTokens(o.tokens, t));
        break;
      }
      case "list": {
        let r = s;
        n = n.concat(this.walkTokens(r.items, t));
        break;
      }
      default: {
        let r = s;
        this.defaults.extensions?.childTokens?.[r.type] ? this.defaults.extensions.childTokens[r.type].forEach((i) => {
          let o = r[i].flat(1 / 0);
          n = n.concat(this.walkTokens(o, t));
        }) : r.tokens && (n = n.concat(this.walkTokens(r.tokens, t)));
      }
    }
    return n;
  }
  use(...e) {
    let t = this.defaults.extensions || { renderers: {}, childTokens: {} };
    return e.forEach((n) => {
      let s = { ...n };
      if (s.async = this.defaults.async || s.async || false, n.extensions && (n.extensions.forEach((r) => {
        if (!r.name) throw new Error("extension name required");
        if ("renderer" in r) {
          let i = t.renderers[r.name];
          i ? t.renderers[r.name] = function(...o) {
            let u = r.renderer.apply(this, o);
            return u === false && (u = i.apply(this, o)), u;
          } : t.renderers[r.name] = r.renderer;
        }
        if ("tokenizer" in r) {
          if (!r.level || r.level !== "block" && r.level !== "inline") throw new Error("extension level must be 'block' or 'inline'");
          let i = t[r.level];
          i ? i.unshift(r.tokenizer) : t[r.level] = [r.tokenizer], r.start && (r.level === "block" ? t.startBlock ? t.startBlock.push(r.start) : t.startBlock = [r.start] : r.level === "inline" && (t.startInline ? t.startInline.push(r.start) : t.startInline = [r.start]));
        }
        "childTokens" in r && r.childTokens && (t.childTokens[r.name] = r.childTokens);
      }), s.extensions = t), n.renderer) {
        let r = this.defaults.renderer || new P(this.defaults);
        for (let i in n.renderer) {
          if (!(i in r)) throw new Error(`renderer '${i}' does not exist`);
          if (["options", "parser"].includes(i)) continue;
          let o = i, u = n.renderer[o], a = r[o];
          r[o] = (...p) => {
            let c = u.apply(r, p);
            return c === false && (c = a.apply(r, p)), c || "";
          };
        }
        s.renderer = r;
      }
      if (n.tokenizer) {
        let r = this.defaults.tokenizer || new y(this.defaults);
        for (let i in n.tokenizer) {
          if (!(i in r)) throw new Error(`tokenizer '${i}' does not exist`);
          if (["options", "rules", "lexer"].includes(i)) continue;
          let o = i, u = n.tokenizer[o], a = r[o];
          r[o] = (...p) => {
            let c = u.apply(r, p);
            return c === false && (c = a.apply(r, p)), c;
          };
        }
        s.tokenizer = r;
      }
      if (n.hooks) {
        let r = this.defaults.hooks || new S();
        for (let i in n.hooks) {
          if (!(i in r)) throw new Error(`hook '${i}' does not exist`);
          if (["options", "block"].includes(i)) continue;
          let o = i, u = n.hooks[o], a = r[o];
          S.passThroughHooks.has(i) ? r[o] = (p) => {
            if (this.defaults.async && S.passThroughHooksRespectAsync.has(i)) return (async () => {
              let h = await u.call(r, p);
              return a.call(r, h);
            })();
            let c = u.call(r, p);
            return a.call(r, c);
          } : r[o] = (...p) => {
            if (this.defaults.async) return (async () => {
              let h = await u.apply(r, p);
              return h === false && (h = await a.apply(r, p)), h;
            })();
            let c = u.apply(r, p);
            return c === false && (c = a.apply(r, p)), c;
          };
        }
        s.hooks = r;
      }
      if (n.walkTokens) {
        let r = this.defaults.walkTokens, i = n.walkTokens;
        s.walkTokens = function(o) {
          let u = [];
          return u.push(i.call(this, o)), r && (u = u.concat(r.call(this, o))), u;
        };
      }
      this.defaults = { ...this.defaults, ...s };
    }), this;
  }
  setOptions(e) {
    return this.defaults = { ...this.defaults, ...e }, this;
  }
  lexer(e, t) {
    return x.lex(e, t ?? this.defaults);
  }
  parser(e, t) {
    return b.parse(e, t ?? this.defaults);
  }
  parseMarkdown(e) {
    return (n, s) => {
      let r = { ...s }, i = { ...this.defaults, ...r }, o = this.onError(!!i.silent, !!i.async);
      if (this.defaults.async === true && r.async === false) return o(new Error("marked(): The async option was set to true by an extension. Remove async: false from the parse options object to return a Promise."));
      if (typeof n > "u" || n === null) return o(new Error("marked(): input parameter is undefined or null"));
      if (typeof n != "string") return o(new Error("marked(): input parameter is of type " + Object.prototype.toString.call(n) + ", string expected"));
      if (i.hooks && (i.hooks.options = i, i.hooks.block = e), i.async) return (async () => {
        let u = i.hooks ? await i.hooks.preprocess(n) : n, p = await (i.hooks ? await i.hooks.provideLexer(e) : e ? x.lex : x.lexInline)(u, i), c = i.hooks ? await i.hooks.processAllTokens(p) : p;
        i.walkTokens && await Promise.all(this.walkTokens(c, i.walkTokens));
        let d = await (i.hooks ? await i.hooks.provideParser(e) : e ? b.parse : b.parseInline)(c, i);
        return i.hooks ? await i.hooks.postprocess(d) : d;
      })().catch(o);
      try {
        i.hooks && (n = i.hooks.preprocess(n));
        let a = (i.hooks ? i.hooks.provideLexer(e) : e ? x.lex : x.lexInline)(n, i);
        i.hooks && (a = i.hooks.processAllTokens(a)), i.walkTokens && this.walkTokens(a, i.walkTokens);
        let c = (i.hooks ? i.hooks.provideParser(e) : e ? b.parse : b.parseInline)(a, i);
        return i.hooks && (c = i.hooks.postprocess(c)), c;
      } catch (u) {
        return o(u);
      }
    };
  }
  onError(e, t) {
    return (n) => {
      if (n.message += `
Please report this to https://github.com/markedjs/marked.`, e) {
        let s = "<p>An error occurred:</p><pre>" + T(n.message + "", true) + "</pre>";
        return t ? Promise.resolve(s) : s;
      }
      if (t) return Promise.reject(n);
      throw n;
    };
  }
};
var M = new Z();
function f(l3, e) {
  return M.parse(l3, e);
}
f.options = f.setOptions = function(l3) {
  return M.setOptions(l3), f.defaults = M.defaults, j(f.defaults), f;
};
f.getDefaults = A;
f.defaults = R;
function dt(...l3) {
  return M.use(...l3), f.defaults = M.defaults, j(f.defaults), f;
}
f.use = dt;
f.walkTokens = function(l3, e) {
  return M.walkTokens(l3, e);
};
f.parseInline = M.parseInline;
f.Parser = b;
f.parser = b.parse;
f.Renderer = P;
f.TextRenderer = L;
f.Lexer = x;
f.lexer = x.lex;
f.Tokenizer = y;
f.Hooks = S;
f.parse = f;
var nn = f.options;
var rn = f.setOptions;
var sn = f.walkTokens;
var on = f.parseInline;
var ln = b.parse;
var un = x.lex;

// node_modules/get-east-asian-width/lookup-data.js
var ambiguousMinimalCodePoint = 161;
var ambiguousMaximumCodePoint = 1114109;
var ambiguousRanges = [161, 161, 164, 164, 167, 168, 170, 170, 173, 174, 176, 180, 182, 186, 188, 191, 198, 198, 208, 208, 215, 216, 222, 225, 230, 230, 232, 234, 236, 237, 240, 240, 242, 243, 247, 250, 252, 252, 254, 254, 257, 257, 273, 273, 275, 275, 283, 283, 294, 295, 299, 299, 305, 307, 312, 312, 319, 322, 324, 324, 328, 331, 333, 333, 338, 339, 358, 359, 363, 363, 462, 462, 464, 464, 466, 466, 468, 468, 470, 470, 472, 472, 474, 474, 476, 476, 593, 593, 609, 609, 708, 708, 711, 711, 713, 715, 717, 717, 720, 720, 728, 731, 733, 733, 735, 735, 768, 879, 913, 929, 931, 937, 945, 961, 963, 969, 1025, 1025, 1040, 1103, 1105, 1105, 8208, 8208, 8211, 8214, 8216, 8217, 8220, 8221, 8224, 8226, 8228, 8231, 8240, 8240, 8242, 8243, 8245, 8245, 8251, 8251, 8254, 8254, 8308, 8308, 8319, 8319, 8321, 8324, 8364, 8364, 8451, 8451, 8453, 8453, 8457, 8457, 8467, 8467, 8470, 8470, 8481, 8482, 8486, 8486, 8491, 8491, 8531, 8532, 8539, 8542, 8544, 8555, 8560, 8569, 8585, 8585, 8592, 8601, 8632, 8633, 8658, 8658, 8660, 8660, 8679, 8679, 8704, 8704, 8706, 8707, 8711, 8712, 8715, 8715, 8719, 8719, 8721, 8721, 8725, 8725, 8730, 8730, 8733, 8736, 8739, 8739, 8741, 8741, 8743, 8748, 8750, 8750, 8756, 8759, 8764, 8765, 8776, 8776, 8780, 8780, 8786, 8786, 8800, 8801, 8804, 8807, 8810, 8811, 8814, 8815, 8834, 8835, 8838, 8839, 8853, 8853, 8857, 8857, 8869, 8869, 8895, 8895, 8978, 8978, 9312, 9449, 9451, 9547, 9552, 9587, 9600, 9615, 9618, 9621, 9632, 9633, 9635, 9641, 9650, 9651, 9654, 9655, 9660, 9661, 9664, 9665, 9670, 9672, 9675, 9675, 9678, 9681, 9698, 9701, 9711, 9711, 9733, 9734, 9737, 9737, 9742, 9743, 9756, 9756, 9758, 9758, 9792, 9792, 9794, 9794, 9824, 9825, 9827, 9829, 9831, 9834, 9836, 9837, 9839, 9839, 9886, 9887, 9919, 9919, 9926, 9933, 9935, 9939, 9941, 9953, 9955, 9955, 9960, 9961, 9963, 9969, 9972, 9972, 9974, 9977, 9979, 9980, 9982, 9983, 10045, 10045, 10102, 10111, 11094, 11097, 12872, 12879, 57344, 63743, 65024, 65039, 65533, 65533, 127232, 127242, 127248, 127277, 127280, 127337, 127344, 127373, 127375, 127376, 127387, 127404, 917760, 917999, 983040, 1048573, 1048576, 1114109];
var fullwidthMinimalCodePoint = 12288;
var fullwidthMaximumCodePoint = 65510;
var fullwidthRanges = [12288, 12288, 65281, 65376, 65504, 65510];
var wideMinimalCodePoint = 4352;
var wideMaximumCodePoint = 262141;
var wideRanges = [4352, 4447, 8986, 8987, 9001, 9002, 9193, 9196, 9200, 9200, 9203, 9203, 9725, 9726, 9748, 9749, 9776, 9783, 9800, 9811, 9855, 9855, 9866, 9871, 9875, 9875, 9889, 9889, 9898, 9899, 9917, 9918, 9924, 9925, 9934, 9934, 9940, 9940, 9962, 9962, 9970, 9971, 9973, 9973, 9978, 9978, 9981, 9981, 9989, 9989, 9994, 9995, 10024, 10024, 10060, 10060, 10062, 10062, 10067, 10069, 10071, 10071, 10133, 10135, 10160, 10160, 10175, 10175, 11035, 11036, 11088, 11088, 11093, 11093, 11904, 11929, 11931, 12019, 12032, 12245, 12272, 12287, 12289, 12350, 12353, 12438, 12441, 12543, 12549, 12591, 12593, 12686, 12688, 12773, 12783, 12830, 12832, 12871, 12880, 42124, 42128, 42182, 43360, 43388, 44032, 55203, 63744, 64255, 65040, 65049, 65072, 65106, 65108, 65126, 65128, 65131, 94176, 94180, 94192, 94198, 94208, 101589, 101631, 101662, 101760, 101874, 110576, 110579, 110581, 110587, 110589, 110590, 110592, 110882, 110898, 110898, 110928, 110930, 110933, 110933, 110948, 110951, 110960, 111355, 119552, 119638, 119648, 119670, 126980, 126980, 127183, 127183, 127374, 127374, 127377, 127386, 127488, 127490, 127504, 127547, 127552, 127560, 127568, 127569, 127584, 127589, 127744, 127776, 127789, 127797, 127799, 127868, 127870, 127891, 127904, 127946, 127951, 127955, 127968, 127984, 127988, 127988, 127992, 128062, 128064, 128064, 128066, 128252, 128255, 128317, 128331, 128334, 128336, 128359, 128378, 128378, 128405, 128406, 128420, 128420, 128507, 128591, 128640, 128709, 128716, 128716, 128720, 128722, 128725, 128728, 128732, 128735, 128747, 128748, 128756, 128764, 128992, 129003, 129008, 129008, 129292, 129338, 129340, 129349, 129351, 129535, 129648, 129660, 129664, 129674, 129678, 129734, 129736, 129736, 129741, 129756, 129759, 129770, 129775, 129784, 131072, 196605, 196608, 262141];

// node_modules/get-east-asian-width/utilities.js
var isInRange = (ranges, codePoint) => {
  let low = 0;
  let high = Math.floor(ranges.length / 2) - 1;
  while (low <= high) {
    const mid = Math.floor((low + high) / 2);
    const i = mid * 2;
    if (codePoint < ranges[i]) {
      high = mid - 1;
    } else if (codePoint > ranges[i + 1]) {
      low = mid + 1;
    } else {
      return true;
    }
  }
  return false;
};

// node_modules/get-east-asian-width/lookup.js
var commonCjkCodePoint = 19968;
var [wideFastPathStart, wideFastPathEnd] = /* @__PURE__ */ findWideFastPathRange(wideRanges);
function findWideFastPathRange(ranges) {
  let fastPathStart = ranges[0];
  let fastPathEnd = ranges[1];
  for (let index = 0; index < ranges.length; index += 2) {
    const start2 = ranges[index];
    const end = ranges[index + 1];
    if (commonCjkCodePoint >= start2 && commonCjkCodePoint <= end) {
      return [start2, end];
    }
    if (end - start2 > fastPathEnd - fastPathStart) {
      fastPathStart = start2;
      fastPathEnd = end;
    }
  }
  return [fastPathStart, fastPathEnd];
}
var isAmbiguous = (codePoint) => {
  if (codePoint < ambiguousMinimalCodePoint || codePoint > ambiguousMaximumCodePoint) {
    return false;
  }
  return isInRange(ambiguousRanges, codePoint);
};
var isFullWidth = (codePoint) => {
  if (codePoint < fullwidthMinimalCodePoint || codePoint > fullwidthMaximumCodePoint) {
    return false;
  }
  return isInRange(fullwidthRanges, codePoint);
};
var isWide = (codePoint) => {
  if (codePoint >= wideFastPathStart && codePoint <= wideFastPathEnd) {
    return true;
  }
  if (codePoint < wideMinimalCodePoint || codePoint > wideMaximumCodePoint) {
    return false;
  }
  return isInRange(wideRanges, codePoint);
};

// node_modules/get-east-asian-width/index.js
function validate(codePoint) {
  if (!Number.isSafeInteger(codePoint)) {
    throw new TypeError(`Expected a code point, got \`${typeof codePoint}\`.`);
  }
}
function eastAsianWidth(codePoint, { ambiguousAsWide = false } = {}) {
  validate(codePoint);
  if (isFullWidth(codePoint) || isWide(codePoint) || ambiguousAsWide && isAmbiguous(codePoint)) {
    return 2;
  }
  return 1;
}

// node_modules/@earendil-works/pi-tui/dist/utils.js
var graphemeSegmenter = new Intl.Segmenter(void 0, { granularity: "grapheme" });
var wordSegmenter = new Intl.Segmenter(void 0, { granularity: "word" });
function getGraphemeSegmenter() {
  return graphemeSegmenter;
}
function getWordSegmenter() {
  return wordSegmenter;
}
function couldBeEmoji(segment) {
  const cp = segment.codePointAt(0);
  return cp >= 126976 && cp <= 130047 || // Emoji and Pictograph
  cp >= 8960 && cp <= 9215 || // Misc technical
  cp >= 9728 && cp <= 10175 || // Misc symbols, dingbats
  cp >= 11088 && cp <= 11093 || // Specific stars/circles
  segment.includes("\uFE0F") || // Contains VS16 (emoji presentation selector)
  segment.length > 2;
}
var zeroWidthRegex = new RegExp("^(?:\\p{Default_Ignorable_Code_Point}|\\p{Control}|\\p{Mark}|\\p{Surrogate})+$", "v");
var leadingNonPrintingRegex = new RegExp("^[\\p{Default_Ignorable_Code_Point}\\p{Control}\\p{Format}\\p{Mark}\\p{Surrogate}]+", "v");
var nonPrintingCharRegex = new RegExp("^(?:\\p{Default_Ignorable_Code_Point}|\\p{Control}|\\p{Format}|\\p{Mark}|\\p{Surrogate})$", "v");
var markCharRegex = new RegExp("^\\p{Mark}$", "v");
var terminalSpacingMarkRegex = new RegExp("^(?:[\\p{Spacing_Mark}--[\\u1734\\u302E\\u302F]]|[\\u065F\\u0F7F\\u102B\\u102C\\u1031\\u1033-\\u1035\\u1038\\u103A-\\u103E])+$", "v");
var rgiEmojiRegex = new RegExp("^\\p{RGI_Emoji}$", "v");
var WIDTH_CACHE_SIZE = 512;
var widthCache = /* @__PURE__ */ new Map();
var cjkBreakRegex = /[\p{Script_Extensions=Han}\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}\p{Script_Extensions=Hangul}\p{Script_Extensions=Bopomofo}]/u;
var cjkPunctuationRegex = new RegExp(`(?:(?=\\p{Punctuation})${cjkBreakRegex.source}|[\uFF0C\uFF0E\uFF1A\uFF1B\uFF01\uFF1F\uFF08\uFF09\uFF3B\uFF3D\uFF5B\uFF5D\u201C\u201D\u2018\u2019\u2026\u2014])`, "u");
var autocompleteSeparatorRegex = new RegExp(`(?:\\s|${cjkPunctuationRegex.source})`, "u");
var autocompleteBoundaryRegex = new RegExp(`(?:^|${autocompleteSeparatorRegex.source})`, "u");
function isPrintableAscii(str) {
  for (let i = 0; i < str.length; i++) {
    const code = str.charCodeAt(i);
    if (code < 32 || code > 126) {
      return false;
    }
  }
  return true;
}
function truncateFragmentToWidth(text, maxWidth) {
  if (maxWidth <= 0 || text.length === 0) {
    return { text: "", width: 0 };
  }
  if (isPrintableAscii(text)) {
    const clipped = text.slice(0, maxWidth);
    return { text: clipped, width: clipped.length };
  }
  const hasAnsi = text.includes("\x1B");
  const hasTabs = text.includes("	");
  if (!hasAnsi && !hasTabs) {
    let result2 = "";
    let width2 = 0;
    for (const { segment } of graphemeSegmenter.segment(text)) {
      const w = graphemeWidth(segment);
      if (width2 + w > maxWidth) {
        break;
      }
      result2 += segment;
      width2 += w;
    }
    return { text: result2, width: width2 };
  }
  let result = "";
  let width = 0;
  let i = 0;
  let pendingAnsi = "";
  while (i < text.length) {
    const ansi = extractAnsiCode(text, i);
    if (ansi) {
      pendingAnsi += ansi.code;
      i += ansi.length;
      continue;
    }
    if (text[i] === "	") {
      if (width + 3 > maxWidth) {
        break;
      }
      if (pendingAnsi) {
        result += pendingAnsi;
        pendingAnsi = "";
      }
      result += "	";
      width += 3;
      i++;
      continue;
    }
    let end = i;
    while (end < text.length && text[end] !== "	") {
      const nextAnsi = extractAnsiCode(text, end);
      if (nextAnsi) {
        break;
      }
      end++;
    }
    for (const { segment } of graphemeSegmenter.segment(text.slice(i, end))) {
      const w = graphemeWidth(segment);
      if (width + w > maxWidth) {
        return { text: result, width };
      }
      if (pendingAnsi) {
        result += pendingAnsi;
        pendingAnsi = "";
      }
      result += segment;
      width += w;
    }
    i = end;
  }
  return { text: result, width };
}
function finalizeTruncatedResult(prefix, prefixWidth, ellipsis, ellipsisWidth, maxWidth, pad) {
  const reset = "\x1B[0m";
  const hyperlinkClose = getActiveOsc8Close(prefix);
  const visibleWidth2 = prefixWidth + ellipsisWidth;
  let result;
  if (ellipsis.length > 0) {
    result = `${prefix}${hyperlinkClose}${reset}${ellipsis}${reset}`;
  } else {
    result = `${prefix}${hyperlinkClose}${reset}`;
  }
  return pad ? result + " ".repeat(Math.max(0, maxWidth - visibleWidth2)) : result;
}
function graphemeWidth(segment) {
  if (segment === "	") {
    return 3;
  }
  if (terminalSpacingMarkRegex.test(segment)) {
    return [...segment].length;
  }
  if (zeroWidthRegex.test(segment)) {
    return 0;
  }
  if (couldBeEmoji(segment) && rgiEmojiRegex.test(segment)) {
    return 2;
  }
  const base = segment.replace(leadingNonPrintingRegex, "");
  const cp = base.codePointAt(0);
  if (cp === void 0) {
    return 0;
  }
  if (cp >= 127462 && cp <= 127487) {
    return 2;
  }
  let width = eastAsianWidth(cp);
  let followsMark = false;
  const chars = [...base];
  for (const char of chars.slice(1)) {
    if (terminalSpacingMarkRegex.test(char)) {
      width += 1;
      followsMark = false;
    } else if (markCharRegex.test(char)) {
      followsMark = true;
    } else if (!nonPrintingCharRegex.test(char)) {
      const c = char.codePointAt(0);
      if (followsMark || c >= 65280 && c <= 65519) {
        width += eastAsianWidth(c);
      } else if (c === 3635 || c === 3763) {
        width += 1;
      }
      followsMark = false;
    }
  }
  return width;
}
function visibleWidth(str) {
  if (str.length === 0) {
    return 0;
  }
  if (isPrintableAscii(str)) {
    return str.length;
  }
  const cached2 = widthCache.get(str);
  if (cached2 !== void 0) {
    return cached2;
  }
  let clean = str;
  if (str.includes("	")) {
    clean = clean.replace(/\t/g, "   ");
  }
  if (clean.includes("\x1B")) {
    let stripped = "";
    let i = 0;
    while (i < clean.length) {
      const ansi = extractAnsiCode(clean, i);
      if (ansi) {
        i += ansi.length;
        continue;
      }
      stripped += clean[i];
      i++;
    }
    clean = stripped;
  }
  let width = 0;
  for (const { segment } of graphemeSegmenter.segment(clean)) {
    width += graphemeWidth(segment);
  }
  if (widthCache.size >= WIDTH_CACHE_SIZE) {
    const firstKey = widthCache.keys().next().value;
    if (firstKey !== void 0) {
      widthCache.delete(firstKey);
    }
  }
  widthCache.set(str, width);
  return width;
}
function extractAnsiCode(str, pos) {
  if (pos >= str.length || str[pos] !== "\x1B")
    return null;
  const next = str[pos + 1];
  if (next === "[") {
    let j2 = pos + 2;
    while (j2 < str.length && !/[mGKHJ]/.test(str[j2]))
      j2++;
    if (j2 < str.length)
      return { code: str.substring(pos, j2 + 1), length: j2 + 1 - pos };
    return null;
  }
  if (next === "]") {
    let j2 = pos + 2;
    while (j2 < str.length) {
      if (str[j2] === "\x07")
        return { code: str.substring(pos, j2 + 1), length: j2 + 1 - pos };
      if (str[j2] === "\x1B" && str[j2 + 1] === "\\")
        return { code: str.substring(pos, j2 + 2), length: j2 + 2 - pos };
      j2++;
    }
    return null;
  }
  if (next === "_") {
    let j2 = pos + 2;
    while (j2 < str.length) {
      if (str[j2] === "\x07")
        return { code: str.substring(pos, j2 + 1), length: j2 + 1 - pos };
      if (str[j2] === "\x1B" && str[j2 + 1] === "\\")
        return { code: str.substring(pos, j2 + 2), length: j2 + 2 - pos };
      j2++;
    }
    return null;
  }
  return null;
}
function parseOsc8Hyperlink(ansiCode) {
  if (!ansiCode.startsWith("\x1B]8;")) {
    return void 0;
  }
  const terminator = ansiCode.endsWith("\x07") ? "\x07" : "\x1B\\";
  const body = ansiCode.slice(4, terminator === "\x07" ? -1 : -2);
  const separatorIndex = body.indexOf(";");
  if (separatorIndex === -1) {
    return void 0;
  }
  const params = body.slice(0, separatorIndex);
  const url = body.slice(separatorIndex + 1);
  if (!url) {
    return null;
  }
  return { params, url, terminator };
}
function formatOsc8Hyperlink(hyperlink2) {
  return `\x1B]8;${hyperlink2.params};${hyperlink2.url}${hyperlink2.terminator}`;
}
function formatOsc8Close(terminator) {
  return `\x1B]8;;${terminator}`;
}
function getActiveOsc8Close(prefix) {
  if (!prefix.includes("\x1B]8;")) {
    return "";
  }
  let activeHyperlink = null;
  let i = 0;
  while (i < prefix.length) {
    const ansi = extractAnsiCode(prefix, i);
    if (ansi) {
      const hyperlink2 = parseOsc8Hyperlink(ansi.code);
      if (hyperlink2 !== void 0) {
        activeHyperlink = hyperlink2;
      }
      i += ansi.length;
    } else {
      i++;
    }
  }
  return activeHyperlink ? formatOsc8Close(activeHyperlink.terminator) : "";
}
var AnsiCodeTracker = class {
  // Track individual attributes separately so we can reset them specifically
  bold = false;
  dim = false;
  italic = false;
  underline = false;
  blink = false;
  inverse = false;
  hidden = false;
  strikethrough = false;
  fgColor = null;
  // Stores the full code like "31" or "38;5;240"
  bgColor = null;
  // Stores the full code like "41" or "48;5;240"
  activeHyperlink = null;
  process(ansiCode) {
    const hyperlink2 = parseOsc8Hyperlink(ansiCode);
    if (hyperlink2 !== void 0) {
      this.activeHyperlink = hyperlink2;
      return;
    }
    if (!ansiCode.endsWith("m")) {
      return;
    }
    const match = ansiCode.match(/\x1b\[([\d;]*)m/);
    if (!match)
      return;
    const params = match[1];
    if (params === "" || params === "0") {
      this.reset();
      return;
    }
    const parts = params.split(";");
    let i = 0;
    while (i < parts.length) {
      const code = Number.parseInt(parts[i], 10);
      if (code === 38 || code === 48) {
        if (parts[i + 1] === "5" && parts[i + 2] !== void 0) {
          const colorCode = `${parts[i]};${parts[i + 1]};${parts[i + 2]}`;
          if (code === 38) {
            this.fgColor = colorCode;
          } else {
            this.bgColor = colorCode;
          }
          i += 3;
          continue;
        } else if (parts[i + 1] === "2" && parts[i + 4] !== void 0) {
          const colorCode = `${parts[i]};${parts[i + 1]};${parts[i + 2]};${parts[i + 3]};${parts[i + 4]}`;
          if (code === 38) {
            this.fgColor = colorCode;
          } else {
            this.bgColor = colorCode;
          }
          i += 5;
          continue;
        }
      }
      switch (code) {
        case 0:
          this.reset();
          break;
        case 1:
          this.bold = true;
          break;
        case 2:
          this.dim = true;
          break;
        case 3:
          this.italic = true;
          break;
        case 4:
          this.underline = true;
          break;
        case 5:
          this.blink = true;
          break;
        case 7:
          this.inverse = true;
          break;
        case 8:
          this.hidden = true;
          break;
        case 9:
          this.strikethrough = true;
          break;
        case 21:
          this.bold = false;
          break;
        // Some terminals
        case 22:
          this.bold = false;
          this.dim = false;
          break;
        case 23:
          this.italic = false;
          break;
        case 24:
          this.underline = false;
          break;
        case 25:
          this.blink = false;
          break;
        case 27:
          this.inverse = false;
          break;
        case 28:
          this.hidden = false;
          break;
        case 29:
          this.strikethrough = false;
          break;
        case 39:
          this.fgColor = null;
          break;
        // Default fg
        case 49:
          this.bgColor = null;
          break;
        // Default bg
        default:
          if (code >= 30 && code <= 37 || code >= 90 && code <= 97) {
            this.fgColor = String(code);
          } else if (code >= 40 && code <= 47 || code >= 100 && code <= 107) {
            this.bgColor = String(code);
          }
          break;
      }
      i++;
    }
  }
  reset() {
    this.bold = false;
    this.dim = false;
    this.italic = false;
    this.underline = false;
    this.blink = false;
    this.inverse = false;
    this.hidden = false;
    this.strikethrough = false;
    this.fgColor = null;
    this.bgColor = null;
  }
  /** Clear all state for reuse. */
  clear() {
    this.reset();
    this.activeHyperlink = null;
  }
  getActiveCodes() {
    const codes = [];
    if (this.bold)
      codes.push("1");
    if (this.dim)
      codes.push("2");
    if (this.italic)
      codes.push("3");
    if (this.underline)
      codes.push("4");
    if (this.blink)
      codes.push("5");
    if (this.inverse)
      codes.push("7");
    if (this.hidden)
      codes.push("8");
    if (this.strikethrough)
      codes.push("9");
    if (this.fgColor)
      codes.push(this.fgColor);
    if (this.bgColor)
      codes.push(this.bgColor);
    let result = codes.length > 0 ? `\x1B[${codes.join(";")}m` : "";
    if (this.activeHyperlink) {
      result += formatOsc8Hyperlink(this.activeHyperlink);
    }
    return result;
  }
  getActiveBackgroundCode() {
    return this.bgColor ? `\x1B[${this.bgColor}m` : "";
  }
  hasActiveCodes() {
    return this.bold || this.dim || this.italic || this.underline || this.blink || this.inverse || this.hidden || this.strikethrough || this.fgColor !== null || this.bgColor !== null || this.activeHyperlink !== null;
  }
  /**
   * Get reset codes for attributes that need to be turned off at line end.
   * Underline must be closed to prevent bleeding into padding.
   * Active OSC 8 hyperlinks must be closed and re-opened on the next line.
   * Returns empty string if no attributes need closing.
   */
  getLineEndReset() {
    let result = "";
    if (this.underline) {
      result += "\x1B[24m";
    }
    if (this.activeHyperlink) {
      result += formatOsc8Close(this.activeHyperlink.terminator);
    }
    return result;
  }
};
function updateTrackerFromText(text, tracker) {
  let i = 0;
  while (i < text.length) {
    const ansiResult = extractAnsiCode(text, i);
    if (ansiResult) {
      tracker.process(ansiResult.code);
      i += ansiResult.length;
    } else {
      i++;
    }
  }
}
function splitIntoTokensWithAnsi(text) {
  const tokens = [];
  let current = "";
  let pendingAnsi = "";
  let currentKind = null;
  let i = 0;
  const flushCurrent = () => {
    if (!current) {
      return;
    }
    tokens.push(current);
    current = "";
    currentKind = null;
  };
  while (i < text.length) {
    const ansiResult = extractAnsiCode(text, i);
    if (ansiResult) {
      pendingAnsi += ansiResult.code;
      i += ansiResult.length;
      continue;
    }
    let end = i;
    while (end < text.length && !extractAnsiCode(text, end)) {
      end++;
    }
    for (const { segment } of graphemeSegmenter.segment(text.slice(i, end))) {
      const segmentIsSpace = segment === " ";
      if (!segmentIsSpace && cjkBreakRegex.test(segment)) {
        flushCurrent();
        const token = pendingAnsi + segment;
        pendingAnsi = "";
        tokens.push(token);
        continue;
      }
      const segmentKind = segmentIsSpace ? "space" : "word";
      if (current && currentKind !== segmentKind) {
        flushCurrent();
      }
      if (pendingAnsi) {
        current += pendingAnsi;
        pendingAnsi = "";
      }
      currentKind = segmentKind;
      current += segment;
    }
    i = end;
  }
  if (pendingAnsi) {
    if (current) {
      current += pendingAnsi;
    } else if (tokens.length > 0) {
      tokens[tokens.length - 1] += pendingAnsi;
    } else {
      current = pendingAnsi;
    }
  }
  if (current) {
    tokens.push(current);
  }
  return tokens;
}
function wrapTextWithAnsi(text, width) {
  if (!text) {
    return [""];
  }
  const inputLines = text.split(/\r\n|\r|\n/);
  const result = [];
  const tracker = new AnsiCodeTracker();
  for (const inputLine of inputLines) {
    const prefix = result.length > 0 ? tracker.getActiveCodes() : "";
    const wrappedLines = wrapSingleLine(prefix + inputLine, width);
    for (const wrappedLine of wrappedLines) {
      result.push(wrappedLine);
    }
    updateTrackerFromText(inputLine, tracker);
  }
  return result.length > 0 ? result : [""];
}
function wrapSingleLine(line, width) {
  if (!line) {
    return [""];
  }
  const visibleLength = visibleWidth(line);
  if (visibleLength <= width) {
    return [line];
  }
  const wrapped = [];
  const tracker = new AnsiCodeTracker();
  const tokens = splitIntoTokensWithAnsi(line);
  let currentLine = "";
  let currentVisibleLength = 0;
  for (const token of tokens) {
    const tokenVisibleLength = visibleWidth(token);
    const isWhitespace = token.trim() === "";
    if (tokenVisibleLength > width && !isWhitespace) {
      if (currentLine) {
        const lineEndReset = tracker.getLineEndReset();
        if (lineEndReset) {
          currentLine += lineEndReset;
        }
        wrapped.push(currentLine);
        currentLine = "";
        currentVisibleLength = 0;
      }
      const broken = breakLongWord(token, width, tracker);
      for (let i = 0; i < broken.length - 1; i++) {
        wrapped.push(broken[i]);
      }
      currentLine = broken[broken.length - 1];
      currentVisibleLength = visibleWidth(currentLine);
      continue;
    }
    const totalNeeded = currentVisibleLength + tokenVisibleLength;
    if (totalNeeded > width && currentVisibleLength > 0) {
      let lineToWrap = currentLine.trimEnd();
      const lineEndReset = tracker.getLineEndReset();
      if (lineEndReset) {
        lineToWrap += lineEndReset;
      }
      wrapped.push(lineToWrap);
      if (isWhitespace) {
        currentLine = tracker.getActiveCodes();
        currentVisibleLength = 0;
      } else {
        currentLine = tracker.getActiveCodes() + token;
        currentVisibleLength = tokenVisibleLength;
      }
    } else {
      currentLine += token;
      currentVisibleLength += tokenVisibleLength;
    }
    updateTrackerFromText(token, tracker);
  }
  if (currentLine) {
    wrapped.push(currentLine);
  }
  return wrapped.length > 0 ? wrapped.map((line2) => line2.trimEnd()) : [""];
}
var PUNCTUATION_REGEX = /[(){}[\]<>.,;:'"!?+\-=*/\\|&%^$#@~`]/;
function isWhitespaceChar(char) {
  return /\s/.test(char);
}
function breakLongWord(word, width, tracker) {
  const lines = [];
  let currentLine = tracker.getActiveCodes();
  let currentWidth = 0;
  let i = 0;
  const segments = [];
  while (i < word.length) {
    const ansiResult = extractAnsiCode(word, i);
    if (ansiResult) {
      segments.push({ type: "ansi", value: ansiResult.code });
      i += ansiResult.length;
    } else {
      let end = i;
      while (end < word.length) {
        const nextAnsi = extractAnsiCode(word, end);
        if (nextAnsi)
          break;
        end++;
      }
      const textPortion = word.slice(i, end);
      for (const seg of graphemeSegmenter.segment(textPortion)) {
        segments.push({ type: "grapheme", value: seg.segment });
      }
      i = end;
    }
  }
  for (const seg of segments) {
    if (seg.type === "ansi") {
      currentLine += seg.value;
      tracker.process(seg.value);
      continue;
    }
    const grapheme = seg.value;
    if (!grapheme)
      continue;
    const graphemeWidth2 = visibleWidth(grapheme);
    if (currentWidth + graphemeWidth2 > width) {
      const lineEndReset = tracker.getLineEndReset();
      if (lineEndReset) {
        currentLine += lineEndReset;
      }
      lines.push(currentLine);
      currentLine = tracker.getActiveCodes();
      currentWidth = 0;
    }
    currentLine += grapheme;
    currentWidth += graphemeWidth2;
  }
  if (currentLine) {
    lines.push(currentLine);
  }
  return lines.length > 0 ? lines : [""];
}
function applyBackgroundToLine(line, width, bgFn) {
  const visibleLen = visibleWidth(line);
  const paddingNeeded = Math.max(0, width - visibleLen);
  const padding = " ".repeat(paddingNeeded);
  const withPadding = line + padding;
  return bgFn(withPadding);
}
function truncateToWidth(text, maxWidth, ellipsis = "...", pad = false) {
  if (maxWidth <= 0) {
    return "";
  }
  if (text.length === 0) {
    return pad ? " ".repeat(maxWidth) : "";
  }
  const ellipsisWidth = visibleWidth(ellipsis);
  if (ellipsisWidth >= maxWidth) {
    const textWidth = visibleWidth(text);
    if (textWidth <= maxWidth) {
      return pad ? text + " ".repeat(maxWidth - textWidth) : text;
    }
    const clippedEllipsis = truncateFragmentToWidth(ellipsis, maxWidth);
    if (clippedEllipsis.width === 0) {
      return pad ? " ".repeat(maxWidth) : "";
    }
    return finalizeTruncatedResult("", 0, clippedEllipsis.text, clippedEllipsis.width, maxWidth, pad);
  }
  if (isPrintableAscii(text)) {
    if (text.length <= maxWidth) {
      return pad ? text + " ".repeat(maxWidth - text.length) : text;
    }
    const targetWidth2 = maxWidth - ellipsisWidth;
    return finalizeTruncatedResult(text.slice(0, targetWidth2), targetWidth2, ellipsis, ellipsisWidth, maxWidth, pad);
  }
  const targetWidth = maxWidth - ellipsisWidth;
  let result = "";
  let pendingAnsi = "";
  let visibleSoFar = 0;
  let keptWidth = 0;
  let keepContiguousPrefix = true;
  let overflowed = false;
  let exhaustedInput = false;
  const hasAnsi = text.includes("\x1B");
  const hasTabs = text.includes("	");
  if (!hasAnsi && !hasTabs) {
    for (const { segment } of graphemeSegmenter.segment(text)) {
      const width = graphemeWidth(segment);
      if (keepContiguousPrefix && keptWidth + width <= targetWidth) {
        result += segment;
        keptWidth += width;
      } else {
        keepContiguousPrefix = false;
      }
      visibleSoFar += width;
      if (visibleSoFar > maxWidth) {
        overflowed = true;
        break;
      }
    }
    exhaustedInput = !overflowed;
  } else {
    let i = 0;
    while (i < text.length) {
      const ansi = extractAnsiCode(text, i);
      if (ansi) {
        pendingAnsi += ansi.code;
        i += ansi.length;
        continue;
      }
      if (text[i] === "	") {
        if (keepContiguousPrefix && keptWidth + 3 <= targetWidth) {
          if (pendingAnsi) {
            result += pendingAnsi;
            pendingAnsi = "";
          }
          result += "	";
          keptWidth += 3;
        } else {
          keepContiguousPrefix = false;
          pendingAnsi = "";
        }
        visibleSoFar += 3;
        if (visibleSoFar > maxWidth) {
          overflowed = true;
          break;
        }
        i++;
        continue;
      }
      let end = i;
      while (end < text.length && text[end] !== "	") {
        const nextAnsi = extractAnsiCode(text, end);
        if (nextAnsi) {
          break;
        }
        end++;
      }
      for (const { segment } of graphemeSegmenter.segment(text.slice(i, end))) {
        const width = graphemeWidth(segment);
        if (keepContiguousPrefix && keptWidth + width <= targetWidth) {
          if (pendingAnsi) {
            result += pendingAnsi;
            pendingAnsi = "";
          }
          result += segment;
          keptWidth += width;
        } else {
          keepContiguousPrefix = false;
          pendingAnsi = "";
        }
        visibleSoFar += width;
        if (visibleSoFar > maxWidth) {
          overflowed = true;
          break;
        }
      }
      if (overflowed) {
        break;
      }
      i = end;
    }
    exhaustedInput = i >= text.length;
  }
  if (!overflowed && exhaustedInput) {
    return pad ? text + " ".repeat(Math.max(0, maxWidth - visibleSoFar)) : text;
  }
  return finalizeTruncatedResult(result, keptWidth, ellipsis, ellipsisWidth, maxWidth, pad);
}
function sliceByColumn(line, startCol, length, strict = false) {
  return sliceWithWidth(line, startCol, length, strict).text;
}
function sliceWithWidth(line, startCol, length, strict = false) {
  if (length <= 0)
    return { text: "", width: 0 };
  const endCol = startCol + length;
  let result = "", resultWidth = 0, currentCol = 0, i = 0, pendingAnsi = "";
  while (i < line.length) {
    const ansi = extractAnsiCode(line, i);
    if (ansi) {
      if (currentCol >= startCol && currentCol < endCol)
        result += ansi.code;
      else if (currentCol < startCol)
        pendingAnsi += ansi.code;
      i += ansi.length;
      continue;
    }
    let textEnd = i;
    while (textEnd < line.length && !extractAnsiCode(line, textEnd))
      textEnd++;
    for (const { segment } of graphemeSegmenter.segment(line.slice(i, textEnd))) {
      const w = graphemeWidth(segment);
      const inRange = currentCol >= startCol && currentCol < endCol;
      const fits = !strict || currentCol + w <= endCol;
      if (inRange && fits) {
        if (pendingAnsi) {
          result += pendingAnsi;
          pendingAnsi = "";
        }
        result += segment;
        resultWidth += w;
      }
      currentCol += w;
      if (currentCol >= endCol)
        break;
    }
    i = textEnd;
    if (currentCol >= endCol)
      break;
  }
  return { text: result, width: resultWidth };
}
var pooledStyleTracker = new AnsiCodeTracker();

// node_modules/@earendil-works/pi-tui/dist/keys.js
var _kittyProtocolActive = false;
var SYMBOL_KEYS = /* @__PURE__ */ new Set([
  "`",
  "-",
  "=",
  "[",
  "]",
  "\\",
  ";",
  "'",
  ",",
  ".",
  "/",
  "!",
  "@",
  "#",
  "$",
  "%",
  "^",
  "&",
  "*",
  "(",
  ")",
  "_",
  "+",
  "|",
  "~",
  "{",
  "}",
  ":",
  "<",
  ">",
  "?"
]);
var MODIFIERS = {
  shift: 1,
  alt: 2,
  ctrl: 4,
  super: 8
};
var LOCK_MASK = 64 + 128;
var CODEPOINTS = {
  escape: 27,
  tab: 9,
  enter: 13,
  space: 32,
  backspace: 127,
  kpEnter: 57414
  // Numpad Enter (Kitty protocol)
};
var ARROW_CODEPOINTS = {
  up: -1,
  down: -2,
  right: -3,
  left: -4
};
var FUNCTIONAL_CODEPOINTS = {
  delete: -10,
  insert: -11,
  pageUp: -12,
  pageDown: -13,
  home: -14,
  end: -15
};
var KITTY_FUNCTIONAL_KEY_EQUIVALENTS = /* @__PURE__ */ new Map([
  [57399, 48],
  // KP_0 -> 0
  [57400, 49],
  // KP_1 -> 1
  [57401, 50],
  // KP_2 -> 2
  [57402, 51],
  // KP_3 -> 3
  [57403, 52],
  // KP_4 -> 4
  [57404, 53],
  // KP_5 -> 5
  [57405, 54],
  // KP_6 -> 6
  [57406, 55],
  // KP_7 -> 7
  [57407, 56],
  // KP_8 -> 8
  [57408, 57],
  // KP_9 -> 9
  [57409, 46],
  // KP_DECIMAL -> .
  [57410, 47],
  // KP_DIVIDE -> /
  [57411, 42],
  // KP_MULTIPLY -> *
  [57412, 45],
  // KP_SUBTRACT -> -
  [57413, 43],
  // KP_ADD -> +
  [57415, 61],
  // KP_EQUAL -> =
  [57416, 44],
  // KP_SEPARATOR -> ,
  [57417, ARROW_CODEPOINTS.left],
  [57418, ARROW_CODEPOINTS.right],
  [57419, ARROW_CODEPOINTS.up],
  [57420, ARROW_CODEPOINTS.down],
  [57421, FUNCTIONAL_CODEPOINTS.pageUp],
  [57422, FUNCTIONAL_CODEPOINTS.pageDown],
  [57423, FUNCTIONAL_CODEPOINTS.home],
  [57424, FUNCTIONAL_CODEPOINTS.end],
  [57425, FUNCTIONAL_CODEPOINTS.insert],
  [57426, FUNCTIONAL_CODEPOINTS.delete]
]);
function normalizeKittyFunctionalCodepoint(codepoint) {
  return KITTY_FUNCTIONAL_KEY_EQUIVALENTS.get(codepoint) ?? codepoint;
}
function normalizeShiftedLetterIdentityCodepoint(codepoint, modifier) {
  const effectiveModifier = modifier & ~LOCK_MASK;
  if ((effectiveModifier & MODIFIERS.shift) !== 0 && codepoint >= 65 && codepoint <= 90) {
    return codepoint + 32;
  }
  return codepoint;
}
var LEGACY_KEY_SEQUENCES = {
  up: ["\x1B[A", "\x1BOA"],
  down: ["\x1B[B", "\x1BOB"],
  right: ["\x1B[C", "\x1BOC"],
  left: ["\x1B[D", "\x1BOD"],
  home: ["\x1B[H", "\x1BOH", "\x1B[1~", "\x1B[7~"],
  end: ["\x1B[F", "\x1BOF", "\x1B[4~", "\x1B[8~"],
  insert: ["\x1B[2~"],
  delete: ["\x1B[3~"],
  pageUp: ["\x1B[5~", "\x1B[[5~"],
  pageDown: ["\x1B[6~", "\x1B[[6~"],
  clear: ["\x1B[E", "\x1BOE"],
  f1: ["\x1BOP", "\x1B[11~", "\x1B[[A"],
  f2: ["\x1BOQ", "\x1B[12~", "\x1B[[B"],
  f3: ["\x1BOR", "\x1B[13~", "\x1B[[C"],
  f4: ["\x1BOS", "\x1B[14~", "\x1B[[D"],
  f5: ["\x1B[15~", "\x1B[[E"],
  f6: ["\x1B[17~"],
  f7: ["\x1B[18~"],
  f8: ["\x1B[19~"],
  f9: ["\x1B[20~"],
  f10: ["\x1B[21~"],
  f11: ["\x1B[23~"],
  f12: ["\x1B[24~"]
};
var LEGACY_SHIFT_SEQUENCES = {
  up: ["\x1B[a"],
  down: ["\x1B[b"],
  right: ["\x1B[c"],
  left: ["\x1B[d"],
  clear: ["\x1B[e"],
  insert: ["\x1B[2$"],
  delete: ["\x1B[3$"],
  pageUp: ["\x1B[5$"],
  pageDown: ["\x1B[6$"],
  home: ["\x1B[7$"],
  end: ["\x1B[8$"]
};
var LEGACY_CTRL_SEQUENCES = {
  up: ["\x1BOa"],
  down: ["\x1BOb"],
  right: ["\x1BOc"],
  left: ["\x1BOd"],
  clear: ["\x1BOe"],
  insert: ["\x1B[2^"],
  delete: ["\x1B[3^"],
  pageUp: ["\x1B[5^"],
  pageDown: ["\x1B[6^"],
  home: ["\x1B[7^"],
  end: ["\x1B[8^"]
};
var matchesLegacySequence = (data, sequences) => sequences.includes(data);
var matchesLegacyModifierSequence = (data, key, modifier) => {
  if (modifier === MODIFIERS.shift) {
    return matchesLegacySequence(data, LEGACY_SHIFT_SEQUENCES[key]);
  }
  if (modifier === MODIFIERS.ctrl) {
    return matchesLegacySequence(data, LEGACY_CTRL_SEQUENCES[key]);
  }
  return false;
};
var _lastEventType = "press";
function isKeyRelease(data) {
  if (data.includes("\x1B[200~")) {
    return false;
  }
  if (data.includes(":3u") || data.includes(":3~") || data.includes(":3A") || data.includes(":3B") || data.includes(":3C") || data.includes(":3D") || data.includes(":3H") || data.includes(":3F")) {
    return true;
  }
  return false;
}
function parseEventType(eventTypeStr) {
  if (!eventTypeStr)
    return "press";
  const eventType = parseInt(eventTypeStr, 10);
  if (eventType === 2)
    return "repeat";
  if (eventType === 3)
    return "release";
  return "press";
}
function parseKittySequence(data) {
  const csiUMatch = data.match(/^\x1b\[(\d+)(?::(\d*))?(?::(\d+))?(?:;(\d+))?(?::(\d+))?u$/);
  if (csiUMatch) {
    const codepoint = parseInt(csiUMatch[1], 10);
    const shiftedKey = csiUMatch[2] && csiUMatch[2].length > 0 ? parseInt(csiUMatch[2], 10) : void 0;
    const baseLayoutKey = csiUMatch[3] ? parseInt(csiUMatch[3], 10) : void 0;
    const modValue = csiUMatch[4] ? parseInt(csiUMatch[4], 10) : 1;
    const eventType = parseEventType(csiUMatch[5]);
    _lastEventType = eventType;
    return { codepoint, shiftedKey, baseLayoutKey, modifier: modValue - 1, eventType };
  }
  const arrowMatch = data.match(/^\x1b\[1;(\d+)(?::(\d+))?([ABCD])$/);
  if (arrowMatch) {
    const modValue = parseInt(arrowMatch[1], 10);
    const eventType = parseEventType(arrowMatch[2]);
    const arrowCodes = { A: -1, B: -2, C: -3, D: -4 };
    _lastEventType = eventType;
    return { codepoint: arrowCodes[arrowMatch[3]], modifier: modValue - 1, eventType };
  }
  const funcMatch = data.match(/^\x1b\[(\d+)(?:;(\d+))?(?::(\d+))?~$/);
  if (funcMatch) {
    const keyNum = parseInt(funcMatch[1], 10);
    const modValue = funcMatch[2] ? parseInt(funcMatch[2], 10) : 1;
    const eventType = parseEventType(funcMatch[3]);
    const funcCodes = {
      2: FUNCTIONAL_CODEPOINTS.insert,
      3: FUNCTIONAL_CODEPOINTS.delete,
      5: FUNCTIONAL_CODEPOINTS.pageUp,
      6: FUNCTIONAL_CODEPOINTS.pageDown,
      7: FUNCTIONAL_CODEPOINTS.home,
      8: FUNCTIONAL_CODEPOINTS.end
    };
    const codepoint = funcCodes[keyNum];
    if (codepoint !== void 0) {
      _lastEventType = eventType;
      return { codepoint, modifier: modValue - 1, eventType };
    }
  }
  const homeEndMatch = data.match(/^\x1b\[1;(\d+)(?::(\d+))?([HF])$/);
  if (homeEndMatch) {
    const modValue = parseInt(homeEndMatch[1], 10);
    const eventType = parseEventType(homeEndMatch[2]);
    const codepoint = homeEndMatch[3] === "H" ? FUNCTIONAL_CODEPOINTS.home : FUNCTIONAL_CODEPOINTS.end;
    _lastEventType = eventType;
    return { codepoint, modifier: modValue - 1, eventType };
  }
  return null;
}
function matchesKittySequence(data, expectedCodepoint, expectedModifier) {
  const parsed = parseKittySequence(data);
  if (!parsed)
    return false;
  const actualMod = parsed.modifier & ~LOCK_MASK;
  const expectedMod = expectedModifier & ~LOCK_MASK;
  if (actualMod !== expectedMod)
    return false;
  const normalizedCodepoint = normalizeShiftedLetterIdentityCodepoint(normalizeKittyFunctionalCodepoint(parsed.codepoint), parsed.modifier);
  const normalizedExpectedCodepoint = normalizeShiftedLetterIdentityCodepoint(normalizeKittyFunctionalCodepoint(expectedCodepoint), expectedModifier);
  if (normalizedCodepoint === normalizedExpectedCodepoint)
    return true;
  if (parsed.baseLayoutKey !== void 0 && parsed.baseLayoutKey === expectedCodepoint) {
    const cp = normalizedCodepoint;
    const isLatinLetter = cp >= 97 && cp <= 122;
    const isKnownSymbol = SYMBOL_KEYS.has(String.fromCharCode(cp));
    if (!isLatinLetter && !isKnownSymbol)
      return true;
  }
  return false;
}
function parseModifyOtherKeysSequence(data) {
  const match = data.match(/^\x1b\[27;(\d+);(\d+)~$/);
  if (!match)
    return null;
  const modValue = parseInt(match[1], 10);
  const codepoint = parseInt(match[2], 10);
  return { codepoint, modifier: modValue - 1 };
}
function matchesModifyOtherKeys(data, expectedKeycode, expectedModifier) {
  const parsed = parseModifyOtherKeysSequence(data);
  if (!parsed)
    return false;
  return parsed.codepoint === expectedKeycode && parsed.modifier === expectedModifier;
}
function isWindowsTerminalSession() {
  return Boolean(process.env.WT_SESSION) && !process.env.SSH_CONNECTION && !process.env.SSH_CLIENT && !process.env.SSH_TTY;
}
function matchesRawBackspace(data, expectedModifier) {
  if (data === "\x7F")
    return expectedModifier === 0;
  if (data !== "\b")
    return false;
  return isWindowsTerminalSession() ? expectedModifier === MODIFIERS.ctrl : expectedModifier === 0;
}
function rawCtrlChar(key) {
  const char = key.toLowerCase();
  const code = char.charCodeAt(0);
  if (code >= 97 && code <= 122 || char === "[" || char === "\\" || char === "]" || char === "_") {
    return String.fromCharCode(code & 31);
  }
  if (char === "-") {
    return String.fromCharCode(31);
  }
  return null;
}
function isDigitKey(key) {
  return key >= "0" && key <= "9";
}
function matchesPrintableModifyOtherKeys(data, expectedKeycode, expectedModifier) {
  if (expectedModifier === 0)
    return false;
  const parsed = parseModifyOtherKeysSequence(data);
  if (!parsed || parsed.modifier !== expectedModifier)
    return false;
  return normalizeShiftedLetterIdentityCodepoint(parsed.codepoint, parsed.modifier) === normalizeShiftedLetterIdentityCodepoint(expectedKeycode, expectedModifier);
}
function parseKeyId(keyId) {
  const parts = keyId.toLowerCase().split("+");
  const key = parts[parts.length - 1];
  if (!key)
    return null;
  return {
    key,
    ctrl: parts.includes("ctrl"),
    shift: parts.includes("shift"),
    alt: parts.includes("alt"),
    super: parts.includes("super")
  };
}
function matchesKey(data, keyId) {
  const parsed = parseKeyId(keyId);
  if (!parsed)
    return false;
  const { key, ctrl, shift, alt, super: superModifier } = parsed;
  let modifier = 0;
  if (shift)
    modifier |= MODIFIERS.shift;
  if (alt)
    modifier |= MODIFIERS.alt;
  if (ctrl)
    modifier |= MODIFIERS.ctrl;
  if (superModifier)
    modifier |= MODIFIERS.super;
  switch (key) {
    case "escape":
    case "esc":
      if (modifier !== 0)
        return false;
      return data === "\x1B" || matchesKittySequence(data, CODEPOINTS.escape, 0) || matchesModifyOtherKeys(data, CODEPOINTS.escape, 0);
    case "space":
      if (!_kittyProtocolActive) {
        if (modifier === MODIFIERS.ctrl && data === "\0") {
          return true;
        }
        if (modifier === MODIFIERS.alt && data === "\x1B ") {
          return true;
        }
      }
      if (modifier === 0) {
        return data === " " || matchesKittySequence(data, CODEPOINTS.space, 0) || matchesModifyOtherKeys(data, CODEPOINTS.space, 0);
      }
      return matchesKittySequence(data, CODEPOINTS.space, modifier) || matchesModifyOtherKeys(data, CODEPOINTS.space, modifier);
    case "tab":
      if (modifier === MODIFIERS.shift) {
        return data === "\x1B[Z" || matchesKittySequence(data, CODEPOINTS.tab, MODIFIERS.shift) || matchesModifyOtherKeys(data, CODEPOINTS.tab, MODIFIERS.shift);
      }
      if (modifier === 0) {
        return data === "	" || matchesKittySequence(data, CODEPOINTS.tab, 0);
      }
      return matchesKittySequence(data, CODEPOINTS.tab, modifier) || matchesModifyOtherKeys(data, CODEPOINTS.tab, modifier);
    case "enter":
    case "return":
      if (modifier === MODIFIERS.shift) {
        if (matchesKittySequence(data, CODEPOINTS.enter, MODIFIERS.shift) || matchesKittySequence(data, CODEPOINTS.kpEnter, MODIFIERS.shift)) {
          return true;
        }
        if (matchesModifyOtherKeys(data, CODEPOINTS.enter, MODIFIERS.shift)) {
          return true;
        }
        if (_kittyProtocolActive) {
          return data === "\x1B\r" || data === "\n";
        }
        return false;
      }
      if (modifier === MODIFIERS.alt) {
        if (matchesKittySequence(data, CODEPOINTS.enter, MODIFIERS.alt) || matchesKittySequence(data, CODEPOINTS.kpEnter, MODIFIERS.alt)) {
          return true;
        }
        if (matchesModifyOtherKeys(data, CODEPOINTS.enter, MODIFIERS.alt)) {
          return true;
        }
        if (!_kittyProtocolActive) {
          return data === "\x1B\r";
        }
        return false;
      }
      if (modifier === 0) {
        return data === "\r" || !_kittyProtocolActive && data === "\n" || data === "\x1BOM" || // SS3 M (numpad enter in some terminals)
        matchesKittySequence(data, CODEPOINTS.enter, 0) || matchesKittySequence(data, CODEPOINTS.kpEnter, 0);
      }
      return matchesKittySequence(data, CODEPOINTS.enter, modifier) || matchesKittySequence(data, CODEPOINTS.kpEnter, modifier) || matchesModifyOtherKeys(data, CODEPOINTS.enter, modifier);
    case "backspace":
      if (modifier === MODIFIERS.alt) {
        if (data === "\x1B\x7F" || data === "\x1B\b") {
          return true;
        }
        return matchesKittySequence(data, CODEPOINTS.backspace, MODIFIERS.alt) || matchesModifyOtherKeys(data, CODEPOINTS.backspace, MODIFIERS.alt);
      }
      if (modifier === MODIFIERS.ctrl) {
        if (matchesRawBackspace(data, MODIFIERS.ctrl))
          return true;
        return matchesKittySequence(data, CODEPOINTS.backspace, MODIFIERS.ctrl) || matchesModifyOtherKeys(data, CODEPOINTS.backspace, MODIFIERS.ctrl);
      }
      if (modifier === 0) {
        return matchesRawBackspace(data, 0) || matchesKittySequence(data, CODEPOINTS.backspace, 0) || matchesModifyOtherKeys(data, CODEPOINTS.backspace, 0);
      }
      return matchesKittySequence(data, CODEPOINTS.backspace, modifier) || matchesModifyOtherKeys(data, CODEPOINTS.backspace, modifier);
    case "insert":
      if (modifier === 0) {
        return matchesLegacySequence(data, LEGACY_KEY_SEQUENCES.insert) || matchesKittySequence(data, FUNCTIONAL_CODEPOINTS.insert, 0);
      }
      if (matchesLegacyModifierSequence(data, "insert", modifier)) {
        return true;
      }
      return matchesKittySequence(data, FUNCTIONAL_CODEPOINTS.insert, modifier);
    case "delete":
      if (modifier === 0) {
        return matchesLegacySequence(data, LEGACY_KEY_SEQUENCES.delete) || matchesKittySequence(data, FUNCTIONAL_CODEPOINTS.delete, 0);
      }
      if (matchesLegacyModifierSequence(data, "delete", modifier)) {
        return true;
      }
      return matchesKittySequence(data, FUNCTIONAL_CODEPOINTS.delete, modifier);
    case "clear":
      if (modifier === 0) {
        return matchesLegacySequence(data, LEGACY_KEY_SEQUENCES.clear);
      }
      return matchesLegacyModifierSequence(data, "clear", modifier);
    case "home":
      if (modifier === 0) {
        return matchesLegacySequence(data, LEGACY_KEY_SEQUENCES.home) || matchesKittySequence(data, FUNCTIONAL_CODEPOINTS.home, 0);
      }
      if (matchesLegacyModifierSequence(data, "home", modifier)) {
        return true;
      }
      return matchesKittySequence(data, FUNCTIONAL_CODEPOINTS.home, modifier);
    case "end":
      if (modifier === 0) {
        return matchesLegacySequence(data, LEGACY_KEY_SEQUENCES.end) || matchesKittySequence(data, FUNCTIONAL_CODEPOINTS.end, 0);
      }
      if (matchesLegacyModifierSequence(data, "end", modifier)) {
        return true;
      }
      return matchesKittySequence(data, FUNCTIONAL_CODEPOINTS.end, modifier);
    case "pageup":
      if (modifier === 0) {
        return matchesLegacySequence(data, LEGACY_KEY_SEQUENCES.pageUp) || matchesKittySequence(data, FUNCTIONAL_CODEPOINTS.pageUp, 0);
      }
      if (matchesLegacyModifierSequence(data, "pageUp", modifier)) {
        return true;
      }
      return matchesKittySequence(data, FUNCTIONAL_CODEPOINTS.pageUp, modifier);
    case "pagedown":
      if (modifier === 0) {
        return matchesLegacySequence(data, LEGACY_KEY_SEQUENCES.pageDown) || matchesKittySequence(data, FUNCTIONAL_CODEPOINTS.pageDown, 0);
      }
      if (matchesLegacyModifierSequence(data, "pageDown", modifier)) {
        return true;
      }
      return matchesKittySequence(data, FUNCTIONAL_CODEPOINTS.pageDown, modifier);
    case "up":
      if (modifier === MODIFIERS.alt) {
        return data === "\x1Bp" || matchesKittySequence(data, ARROW_CODEPOINTS.up, MODIFIERS.alt);
      }
      if (modifier === 0) {
        return matchesLegacySequence(data, LEGACY_KEY_SEQUENCES.up) || matchesKittySequence(data, ARROW_CODEPOINTS.up, 0);
      }
      if (matchesLegacyModifierSequence(data, "up", modifier)) {
        return true;
      }
      return matchesKittySequence(data, ARROW_CODEPOINTS.up, modifier);
    case "down":
      if (modifier === MODIFIERS.alt) {
        return data === "\x1Bn" || matchesKittySequence(data, ARROW_CODEPOINTS.down, MODIFIERS.alt);
      }
      if (modifier === 0) {
        return matchesLegacySequence(data, LEGACY_KEY_SEQUENCES.down) || matchesKittySequence(data, ARROW_CODEPOINTS.down, 0);
      }
      if (matchesLegacyModifierSequence(data, "down", modifier)) {
        return true;
      }
      return matchesKittySequence(data, ARROW_CODEPOINTS.down, modifier);
    case "left":
      if (modifier === MODIFIERS.alt) {
        return data === "\x1B[1;3D" || !_kittyProtocolActive && data === "\x1BB" || data === "\x1Bb" || matchesKittySequence(data, ARROW_CODEPOINTS.left, MODIFIERS.alt);
      }
      if (modifier === MODIFIERS.ctrl) {
        return data === "\x1B[1;5D" || matchesLegacyModifierSequence(data, "left", MODIFIERS.ctrl) || matchesKittySequence(data, ARROW_CODEPOINTS.left, MODIFIERS.ctrl);
      }
      if (modifier === 0) {
        return matchesLegacySequence(data, LEGACY_KEY_SEQUENCES.left) || matchesKittySequence(data, ARROW_CODEPOINTS.left, 0);
      }
      if (matchesLegacyModifierSequence(data, "left", modifier)) {
        return true;
      }
      return matchesKittySequence(data, ARROW_CODEPOINTS.left, modifier);
    case "right":
      if (modifier === MODIFIERS.alt) {
        return data === "\x1B[1;3C" || !_kittyProtocolActive && data === "\x1BF" || data === "\x1Bf" || matchesKittySequence(data, ARROW_CODEPOINTS.right, MODIFIERS.alt);
      }
      if (modifier === MODIFIERS.ctrl) {
        return data === "\x1B[1;5C" || matchesLegacyModifierSequence(data, "right", MODIFIERS.ctrl) || matchesKittySequence(data, ARROW_CODEPOINTS.right, MODIFIERS.ctrl);
      }
      if (modifier === 0) {
        return matchesLegacySequence(data, LEGACY_KEY_SEQUENCES.right) || matchesKittySequence(data, ARROW_CODEPOINTS.right, 0);
      }
      if (matchesLegacyModifierSequence(data, "right", modifier)) {
        return true;
      }
      return matchesKittySequence(data, ARROW_CODEPOINTS.right, modifier);
    case "f1":
    case "f2":
    case "f3":
    case "f4":
    case "f5":
    case "f6":
    case "f7":
    case "f8":
    case "f9":
    case "f10":
    case "f11":
    case "f12": {
      if (modifier !== 0) {
        return false;
      }
      const functionKey = key;
      return matchesLegacySequence(data, LEGACY_KEY_SEQUENCES[functionKey]);
    }
  }
  if (key.length === 1 && (key >= "a" && key <= "z" || isDigitKey(key) || SYMBOL_KEYS.has(key))) {
    const codepoint = key.charCodeAt(0);
    const rawCtrl = rawCtrlChar(key);
    const isLetter = key >= "a" && key <= "z";
    const isDigit = isDigitKey(key);
    if (modifier === MODIFIERS.ctrl + MODIFIERS.alt && !_kittyProtocolActive && rawCtrl) {
      if (data === `\x1B${rawCtrl}`)
        return true;
    }
    if (modifier === MODIFIERS.alt && !_kittyProtocolActive && (isLetter || isDigit || SYMBOL_KEYS.has(key))) {
      if (data === `\x1B${key}`)
        return true;
    }
    if (modifier === MODIFIERS.ctrl) {
      if (rawCtrl && data === rawCtrl)
        return true;
      return matchesKittySequence(data, codepoint, MODIFIERS.ctrl) || matchesPrintableModifyOtherKeys(data, codepoint, MODIFIERS.ctrl);
    }
    if (modifier === MODIFIERS.shift + MODIFIERS.ctrl) {
      return matchesKittySequence(data, codepoint, MODIFIERS.shift + MODIFIERS.ctrl) || matchesPrintableModifyOtherKeys(data, codepoint, MODIFIERS.shift + MODIFIERS.ctrl);
    }
    if (modifier === MODIFIERS.shift) {
      if (isLetter && data === key.toUpperCase())
        return true;
      return matchesKittySequence(data, codepoint, MODIFIERS.shift) || matchesPrintableModifyOtherKeys(data, codepoint, MODIFIERS.shift);
    }
    if (modifier !== 0) {
      return matchesKittySequence(data, codepoint, modifier) || matchesPrintableModifyOtherKeys(data, codepoint, modifier);
    }
    return data === key || matchesKittySequence(data, codepoint, 0);
  }
  return false;
}
var KITTY_CSI_U_REGEX = /^\x1b\[(\d+)(?::(\d*))?(?::(\d+))?(?:;(\d+))?(?::(\d+))?u$/;
var KITTY_PRINTABLE_ALLOWED_MODIFIERS = MODIFIERS.shift | LOCK_MASK;
function decodeKittyPrintable(data) {
  const match = data.match(KITTY_CSI_U_REGEX);
  if (!match)
    return void 0;
  const codepoint = Number.parseInt(match[1] ?? "", 10);
  if (!Number.isFinite(codepoint))
    return void 0;
  const shiftedKey = match[2] && match[2].length > 0 ? Number.parseInt(match[2], 10) : void 0;
  const modValue = match[4] ? Number.parseInt(match[4], 10) : 1;
  const modifier = Number.isFinite(modValue) ? modValue - 1 : 0;
  if ((modifier & ~KITTY_PRINTABLE_ALLOWED_MODIFIERS) !== 0)
    return void 0;
  if (modifier & (MODIFIERS.alt | MODIFIERS.ctrl))
    return void 0;
  let effectiveCodepoint = codepoint;
  if (modifier & MODIFIERS.shift && typeof shiftedKey === "number") {
    effectiveCodepoint = shiftedKey;
  }
  effectiveCodepoint = normalizeKittyFunctionalCodepoint(effectiveCodepoint);
  if (!Number.isFinite(effectiveCodepoint) || effectiveCodepoint < 32)
    return void 0;
  try {
    return String.fromCodePoint(effectiveCodepoint);
  } catch {
    return void 0;
  }
}

// node_modules/@earendil-works/pi-tui/dist/terminal-image.js
import { execSync } from "node:child_process";
var cachedCapabilities = null;
var capabilityOverrides = {};
function probeTmuxHyperlinks() {
  try {
    const termfeatures = execSync("tmux display-message -p '#{client_termfeatures}'", {
      encoding: "utf8",
      timeout: 250,
      stdio: ["ignore", "pipe", "ignore"]
    });
    return termfeatures.split(",").map((feature) => feature.trim()).includes("hyperlinks");
  } catch {
    return false;
  }
}
function detectCapabilitiesFromEnvironment(tmuxForwardsHyperlink) {
  const termProgram = process.env.TERM_PROGRAM?.toLowerCase() || "";
  const terminalEmulator = process.env.TERMINAL_EMULATOR?.toLowerCase() || "";
  const term = process.env.TERM?.toLowerCase() || "";
  const colorTerm = process.env.COLORTERM?.toLowerCase() || "";
  const hasTrueColorHint = colorTerm === "truecolor" || colorTerm === "24bit";
  const isWindowsConsole = process.platform === "win32";
  if (process.env.TMUX || term.startsWith("tmux")) {
    return { images: null, trueColor: hasTrueColorHint, hyperlinks: tmuxForwardsHyperlink() };
  }
  if (term.startsWith("screen")) {
    return { images: null, trueColor: hasTrueColorHint, hyperlinks: false };
  }
  if (process.env.KITTY_WINDOW_ID || termProgram === "kitty") {
    return { images: "kitty", trueColor: true, hyperlinks: true };
  }
  if (termProgram === "ghostty" || term.includes("ghostty") || process.env.GHOSTTY_RESOURCES_DIR) {
    return { images: "kitty", trueColor: true, hyperlinks: true };
  }
  if (process.env.WEZTERM_PANE || termProgram === "wezterm") {
    return { images: "kitty", trueColor: true, hyperlinks: true };
  }
  if (termProgram === "warpterminal" || process.env.WARP_SESSION_ID || process.env.WARP_TERMINAL_SESSION_UUID) {
    return { images: "kitty", trueColor: true, hyperlinks: true };
  }
  if (process.env.ITERM_SESSION_ID || termProgram === "iterm.app") {
    return { images: "iterm2", trueColor: true, hyperlinks: true };
  }
  if (process.env.WT_SESSION) {
    return { images: null, trueColor: true, hyperlinks: true };
  }
  if (termProgram === "alacritty" || termProgram === "vscode" || termProgram === "zed") {
    return { images: null, trueColor: true, hyperlinks: true };
  }
  if (terminalEmulator === "jetbrains-jediterm") {
    return { images: null, trueColor: true, hyperlinks: false };
  }
  if (isWindowsConsole) {
    return { images: null, trueColor: true, hyperlinks: false };
  }
  return { images: null, trueColor: hasTrueColorHint, hyperlinks: false };
}
function parseBooleanCapabilityOverride(value) {
  return value === "1" ? true : value === "0" ? false : void 0;
}
function detectCapabilities(tmuxForwardsHyperlink = probeTmuxHyperlinks) {
  const hyperlinks = parseBooleanCapabilityOverride(process.env.PI_HYPERLINKS);
  const detected = detectCapabilitiesFromEnvironment(hyperlinks === void 0 ? tmuxForwardsHyperlink : () => hyperlinks);
  const imageProtocol = process.env.PI_IMAGE_PROTOCOL?.toLowerCase();
  const images = imageProtocol === "kitty" || imageProtocol === "iterm2" ? imageProtocol : imageProtocol === "none" || imageProtocol === "0" ? null : void 0;
  const trueColor = parseBooleanCapabilityOverride(process.env.PI_TRUE_COLOR);
  return {
    ...detected,
    ...images !== void 0 ? { images } : {},
    ...trueColor !== void 0 ? { trueColor } : {},
    ...hyperlinks !== void 0 ? { hyperlinks } : {}
  };
}
function getCapabilities() {
  if (!cachedCapabilities) {
    const hyperlinks = capabilityOverrides.hyperlinks;
    cachedCapabilities = {
      ...detectCapabilities(hyperlinks === void 0 ? void 0 : () => hyperlinks),
      ...capabilityOverrides
    };
  }
  return cachedCapabilities;
}
var KITTY_PREFIX = "\x1B_G";
var ITERM2_PREFIX = "\x1B]1337;File=";
function isImageLine(line) {
  if (line.startsWith(KITTY_PREFIX) || line.startsWith(ITERM2_PREFIX)) {
    return true;
  }
  return line.includes(KITTY_PREFIX) || line.includes(ITERM2_PREFIX);
}
function hyperlink(text, url) {
  return `\x1B]8;;${url}\x1B\\${text}\x1B]8;;\x1B\\`;
}

// node_modules/@earendil-works/pi-tui/dist/tui.js
function dispatchMouseEvent(component2, event) {
  const result = component2.handleMouse?.(event);
  if (!result)
    return void 0;
  if ("target" in result)
    return result;
  if (!result.handled && !result.capture && !result.focus)
    return void 0;
  return {
    ...result,
    handled: true,
    ...result.focus ? { focusTarget: component2 } : {},
    target: {
      component: component2,
      originX: event.screenX - event.x,
      originY: event.screenY - event.y,
      width: event.width,
      height: event.height
    }
  };
}
var CURSOR_MARKER = "\x1B_pi:c\x07";

// node_modules/@earendil-works/pi-tui/dist/components/box.js
var Box = class {
  children = [];
  paddingX;
  paddingY;
  bgFn;
  // Cache for rendered output
  cache;
  mouseLayout;
  constructor(paddingX = 1, paddingY = 1, bgFn) {
    this.paddingX = paddingX;
    this.paddingY = paddingY;
    this.bgFn = bgFn;
  }
  addChild(component2) {
    this.children.push(component2);
    this.invalidateCache();
  }
  removeChild(component2) {
    const index = this.children.indexOf(component2);
    if (index !== -1) {
      this.children.splice(index, 1);
      this.invalidateCache();
    }
  }
  clear() {
    this.children = [];
    this.invalidateCache();
  }
  setBgFn(bgFn) {
    this.bgFn = bgFn;
  }
  invalidateCache() {
    this.cache = void 0;
  }
  matchCache(width, childLines, bgSample) {
    const cache = this.cache;
    return !!cache && cache.width === width && cache.bgSample === bgSample && cache.childLines.length === childLines.length && cache.childLines.every((line, i) => line === childLines[i]);
  }
  invalidate() {
    this.invalidateCache();
    for (const child of this.children) {
      child.invalidate?.();
    }
  }
  handleMouse(event) {
    const contentWidth = Math.max(1, event.width - this.paddingX * 2);
    const contentY = event.y - this.paddingY;
    const contentX = event.x - this.paddingX;
    if (contentY < 0 || contentX < 0 || contentX >= contentWidth)
      return void 0;
    const mouseChildren = this.mouseLayout?.width === contentWidth ? this.mouseLayout.children : this.children.map((component2) => ({ component: component2, height: component2.render(contentWidth).length }));
    let childY = 0;
    for (const { component: child, height: childHeight } of mouseChildren) {
      if (contentY >= childY && contentY < childY + childHeight) {
        return dispatchMouseEvent(child, {
          ...event,
          x: contentX,
          y: contentY - childY,
          width: contentWidth,
          height: childHeight
        });
      }
      childY += childHeight;
    }
    return void 0;
  }
  render(width) {
    if (this.children.length === 0) {
      return [];
    }
    const contentWidth = Math.max(1, width - this.paddingX * 2);
    const leftPad = " ".repeat(this.paddingX);
    const childLines = [];
    const mouseChildren = [];
    for (const child of this.children) {
      const lines = child.render(contentWidth);
      mouseChildren.push({ component: child, height: lines.length });
      for (const line of lines) {
        childLines.push(leftPad + line);
      }
    }
    this.mouseLayout = { width: contentWidth, children: mouseChildren };
    if (childLines.length === 0) {
      return [];
    }
    const bgSample = this.bgFn ? this.bgFn("test") : void 0;
    if (this.matchCache(width, childLines, bgSample)) {
      return this.cache.lines;
    }
    const result = [];
    for (let i = 0; i < this.paddingY; i++) {
      result.push(this.applyBg("", width));
    }
    for (const line of childLines) {
      result.push(this.applyBg(line, width));
    }
    for (let i = 0; i < this.paddingY; i++) {
      result.push(this.applyBg("", width));
    }
    this.cache = { childLines, width, bgSample, lines: result };
    return result;
  }
  applyBg(line, width) {
    const visLen = visibleWidth(line);
    const padNeeded = Math.max(0, width - visLen);
    const padded = line + " ".repeat(padNeeded);
    if (this.bgFn) {
      return applyBackgroundToLine(padded, width, this.bgFn);
    }
    return padded;
  }
};

// node_modules/@earendil-works/pi-tui/dist/keybindings.js
var TUI_KEYBINDINGS = {
  "tui.editor.cursorUp": { defaultKeys: "up", description: "Move cursor up" },
  "tui.editor.cursorDown": { defaultKeys: "down", description: "Move cursor down" },
  "tui.editor.historyPrevious": {
    defaultKeys: [],
    description: "Select previous prompt history entry"
  },
  "tui.editor.historyNext": {
    defaultKeys: [],
    description: "Select next prompt history entry"
  },
  "tui.editor.cursorLeft": {
    defaultKeys: ["left", "ctrl+b"],
    description: "Move cursor left"
  },
  "tui.editor.cursorRight": {
    defaultKeys: ["right", "ctrl+f"],
    description: "Move cursor right"
  },
  "tui.editor.cursorWordLeft": {
    defaultKeys: ["alt+left", "ctrl+left", "alt+b"],
    description: "Move cursor word left"
  },
  "tui.editor.cursorWordRight": {
    defaultKeys: ["alt+right", "ctrl+right", "alt+f"],
    description: "Move cursor word right"
  },
  "tui.editor.cursorLineStart": {
    defaultKeys: ["home", "ctrl+home", "ctrl+a"],
    description: "Move to line start"
  },
  "tui.editor.cursorLineEnd": {
    defaultKeys: ["end", "ctrl+end", "ctrl+e"],
    description: "Move to line end"
  },
  "tui.editor.jumpForward": {
    defaultKeys: "ctrl+]",
    description: "Jump forward to character"
  },
  "tui.editor.jumpBackward": {
    defaultKeys: "ctrl+alt+]",
    description: "Jump backward to character"
  },
  "tui.editor.pageUp": { defaultKeys: ["pageUp", "ctrl+pageUp"], description: "Page up" },
  "tui.editor.pageDown": { defaultKeys: ["pageDown", "ctrl+pageDown"], description: "Page down" },
  "tui.editor.deleteCharBackward": {
    defaultKeys: "backspace",
    description: "Delete character backward"
  },
  "tui.editor.deleteCharForward": {
    defaultKeys: ["delete", "ctrl+d"],
    description: "Delete character forward"
  },
  "tui.editor.deleteWordBackward": {
    defaultKeys: ["ctrl+w", "alt+backspace"],
    description: "Delete word backward"
  },
  "tui.editor.deleteWordForward": {
    defaultKeys: ["alt+d", "alt+delete"],
    description: "Delete word forward"
  },
  "tui.editor.deleteToLineStart": {
    defaultKeys: "ctrl+u",
    description: "Delete to line start"
  },
  "tui.editor.deleteToLineEnd": {
    defaultKeys: "ctrl+k",
    description: "Delete to line end"
  },
  "tui.editor.yank": { defaultKeys: "ctrl+y", description: "Yank" },
  "tui.editor.yankPop": { defaultKeys: "alt+y", description: "Yank pop" },
  "tui.editor.undo": { defaultKeys: "ctrl+-", description: "Undo" },
  "tui.input.newLine": { defaultKeys: ["shift+enter", "ctrl+j"], description: "Insert newline" },
  "tui.input.submit": { defaultKeys: "enter", description: "Submit input" },
  "tui.input.tab": { defaultKeys: "tab", description: "Tab / autocomplete" },
  "tui.input.copy": { defaultKeys: "ctrl+c", description: "Copy selection" },
  "tui.select.up": { defaultKeys: "up", description: "Move selection up" },
  "tui.select.down": { defaultKeys: "down", description: "Move selection down" },
  "tui.select.pageUp": { defaultKeys: "pageUp", description: "Selection page up" },
  "tui.select.pageDown": {
    defaultKeys: "pageDown",
    description: "Selection page down"
  },
  "tui.select.confirm": { defaultKeys: "enter", description: "Confirm selection" },
  "tui.select.cancel": {
    defaultKeys: ["escape", "ctrl+c"],
    description: "Cancel selection"
  },
  // These intentionally shadow the unmodified editor bindings in fullscreen mode.
  "tui.altScreen.pageUp": {
    defaultKeys: "pageUp",
    description: "Scroll viewport up one page"
  },
  "tui.altScreen.pageDown": {
    defaultKeys: "pageDown",
    description: "Scroll viewport down one page"
  },
  "tui.altScreen.halfPageUp": {
    defaultKeys: [],
    description: "Scroll viewport up half a page"
  },
  "tui.altScreen.halfPageDown": {
    defaultKeys: [],
    description: "Scroll viewport down half a page"
  },
  "tui.altScreen.lineUp": {
    defaultKeys: [],
    description: "Scroll viewport up one line"
  },
  "tui.altScreen.lineDown": {
    defaultKeys: [],
    description: "Scroll viewport down one line"
  },
  "tui.altScreen.previousPrompt": {
    defaultKeys: ["ctrl+shift+up", "ctrl+up"],
    description: "Jump to previous semantic prompt"
  },
  "tui.altScreen.nextPrompt": {
    defaultKeys: ["ctrl+shift+down", "ctrl+down"],
    description: "Jump to next semantic prompt"
  },
  "tui.altScreen.search": {
    defaultKeys: "ctrl+shift+f",
    description: "Search the primary scroll view"
  },
  "tui.altScreen.searchNext": {
    defaultKeys: ["enter", "ctrl+g"],
    description: "Select the next search match"
  },
  "tui.altScreen.searchPrevious": {
    defaultKeys: ["shift+enter", "ctrl+shift+g"],
    description: "Select the previous search match"
  },
  "tui.altScreen.searchClose": {
    defaultKeys: "escape",
    description: "Close transcript search"
  },
  "tui.altScreen.top": { defaultKeys: "home", description: "Scroll viewport to top" },
  "tui.altScreen.bottom": { defaultKeys: "end", description: "Scroll viewport to bottom" }
};
function normalizeKeys(keys) {
  if (keys === void 0)
    return [];
  const keyList = Array.isArray(keys) ? keys : [keys];
  const seen = /* @__PURE__ */ new Set();
  const result = [];
  for (const key of keyList) {
    if (!seen.has(key)) {
      seen.add(key);
      result.push(key);
    }
  }
  return result;
}
var KeybindingsManager = class {
  definitions;
  userBindings;
  keysById = /* @__PURE__ */ new Map();
  conflicts = [];
  constructor(definitions, userBindings = {}) {
    this.definitions = definitions;
    this.userBindings = userBindings;
    this.rebuild();
  }
  rebuild() {
    this.keysById.clear();
    this.conflicts = [];
    const userClaims = /* @__PURE__ */ new Map();
    for (const [keybinding, keys] of Object.entries(this.userBindings)) {
      if (!(keybinding in this.definitions))
        continue;
      for (const key of normalizeKeys(keys)) {
        const claimants = userClaims.get(key) ?? /* @__PURE__ */ new Set();
        claimants.add(keybinding);
        userClaims.set(key, claimants);
      }
    }
    for (const [key, keybindings] of userClaims) {
      if (keybindings.size > 1) {
        this.conflicts.push({ key, keybindings: [...keybindings] });
      }
    }
    for (const [id, definition] of Object.entries(this.definitions)) {
      const userKeys = this.userBindings[id];
      const keys = userKeys === void 0 ? normalizeKeys(definition.defaultKeys) : normalizeKeys(userKeys);
      this.keysById.set(id, keys);
    }
  }
  matches(data, keybinding) {
    const keys = this.keysById.get(keybinding) ?? [];
    for (const key of keys) {
      if (matchesKey(data, key))
        return true;
    }
    return false;
  }
  getKeys(keybinding) {
    return [...this.keysById.get(keybinding) ?? []];
  }
  getDefinition(keybinding) {
    return this.definitions[keybinding];
  }
  getConflicts() {
    return this.conflicts.map((conflict) => ({ ...conflict, keybindings: [...conflict.keybindings] }));
  }
  setUserBindings(userBindings) {
    this.userBindings = userBindings;
    this.rebuild();
  }
  getUserBindings() {
    return { ...this.userBindings };
  }
  getResolvedBindings() {
    const resolved = {};
    for (const id of Object.keys(this.definitions)) {
      const keys = this.keysById.get(id) ?? [];
      resolved[id] = keys.length === 1 ? keys[0] : [...keys];
    }
    return resolved;
  }
};
var globalKeybindings = null;
function setKeybindings(keybindings) {
  globalKeybindings = keybindings;
}
function getKeybindings() {
  if (!globalKeybindings) {
    globalKeybindings = new KeybindingsManager(TUI_KEYBINDINGS);
  }
  return globalKeybindings;
}

// node_modules/@earendil-works/pi-tui/dist/components/text.js
var Text = class {
  text;
  paddingX;
  // Left/right padding
  paddingY;
  // Top/bottom padding
  customBgFn;
  // Cache for rendered output
  cachedText;
  cachedWidth;
  cachedLines;
  constructor(text = "", paddingX = 1, paddingY = 1, customBgFn) {
    this.text = text;
    this.paddingX = paddingX;
    this.paddingY = paddingY;
    this.customBgFn = customBgFn;
  }
  setText(text) {
    this.text = text;
    this.cachedText = void 0;
    this.cachedWidth = void 0;
    this.cachedLines = void 0;
  }
  setCustomBgFn(customBgFn) {
    this.customBgFn = customBgFn;
    this.cachedText = void 0;
    this.cachedWidth = void 0;
    this.cachedLines = void 0;
  }
  invalidate() {
    this.cachedText = void 0;
    this.cachedWidth = void 0;
    this.cachedLines = void 0;
  }
  render(width) {
    if (this.cachedLines && this.cachedText === this.text && this.cachedWidth === width) {
      return this.cachedLines;
    }
    if (!this.text || this.text.trim() === "") {
      const result2 = [];
      this.cachedText = this.text;
      this.cachedWidth = width;
      this.cachedLines = result2;
      return result2;
    }
    const normalizedText = this.text.replace(/\t/g, "   ");
    const paddingX = Math.min(this.paddingX, Math.max(0, Math.floor((width - 1) / 2)));
    const contentWidth = Math.max(1, width - paddingX * 2);
    const wrappedLines = wrapTextWithAnsi(normalizedText, contentWidth);
    const leftMargin = " ".repeat(paddingX);
    const rightMargin = " ".repeat(paddingX);
    const contentLines = [];
    for (const line of wrappedLines) {
      const lineWithMargins = leftMargin + line + rightMargin;
      if (this.customBgFn) {
        contentLines.push(applyBackgroundToLine(lineWithMargins, width, this.customBgFn));
      } else {
        const visibleLen = visibleWidth(lineWithMargins);
        const paddingNeeded = Math.max(0, width - visibleLen);
        contentLines.push(lineWithMargins + " ".repeat(paddingNeeded));
      }
    }
    const emptyLine = " ".repeat(width);
    const emptyLines = [];
    for (let i = 0; i < this.paddingY; i++) {
      const line = this.customBgFn ? applyBackgroundToLine(emptyLine, width, this.customBgFn) : emptyLine;
      emptyLines.push(line);
    }
    const result = [...emptyLines, ...contentLines, ...emptyLines];
    this.cachedText = this.text;
    this.cachedWidth = width;
    this.cachedLines = result;
    return result.length > 0 ? result : [""];
  }
};

// node_modules/@earendil-works/pi-tui/dist/kill-ring.js
var KillRing = class {
  ring = [];
  /**
   * Add text to the kill ring.
   *
   * @param text - The killed text to add
   * @param opts - Push options
   * @param opts.prepend - If accumulating, prepend (backward deletion) or append (forward deletion)
   * @param opts.accumulate - Merge with the most recent entry instead of creating a new one
   */
  push(text, opts) {
    if (!text)
      return;
    if (opts.accumulate && this.ring.length > 0) {
      const last = this.ring.pop();
      this.ring.push(opts.prepend ? text + last : last + text);
    } else {
      this.ring.push(text);
    }
  }
  /** Get most recent entry without modifying the ring. */
  peek() {
    return this.ring.length > 0 ? this.ring[this.ring.length - 1] : void 0;
  }
  /** Move last entry to front (for yank-pop cycling). */
  rotate() {
    if (this.ring.length > 1) {
      const last = this.ring.pop();
      this.ring.unshift(last);
    }
  }
  get length() {
    return this.ring.length;
  }
};

// node_modules/@earendil-works/pi-tui/dist/undo-stack.js
var UndoStack = class {
  stack = [];
  /** Push a deep clone of the given state onto the stack. */
  push(state) {
    this.stack.push(structuredClone(state));
  }
  /** Pop and return the most recent snapshot, or undefined if empty. */
  pop() {
    return this.stack.pop();
  }
  /** Remove all snapshots. */
  clear() {
    this.stack.length = 0;
  }
  get length() {
    return this.stack.length;
  }
};

// node_modules/@earendil-works/pi-tui/dist/word-navigation.js
var wordSegmenter2 = getWordSegmenter();
function findWordBackward(text, cursor, options) {
  if (cursor <= 0)
    return 0;
  const textBeforeCursor = text.slice(0, cursor);
  const segmentFn = options?.segment;
  const isAtomic = options?.isAtomicSegment;
  const segments = segmentFn ? [...segmentFn(textBeforeCursor)] : [...wordSegmenter2.segment(textBeforeCursor)];
  let newCursor = cursor;
  while (segments.length > 0 && !isAtomic?.(segments[segments.length - 1]?.segment || "") && isWhitespaceChar(segments[segments.length - 1]?.segment || "")) {
    newCursor -= segments.pop()?.segment.length || 0;
  }
  if (segments.length === 0)
    return newCursor;
  const last = segments[segments.length - 1];
  if (isAtomic?.(last.segment)) {
    newCursor -= last.segment.length;
  } else if (last.isWordLike) {
    const segment = last.segment;
    const matches = [...segment.matchAll(new RegExp(PUNCTUATION_REGEX, "g"))];
    if (matches.length <= 0) {
      newCursor -= segment.length;
    } else {
      const lastMatch = matches[matches.length - 1];
      newCursor -= segment.length - (lastMatch.index + lastMatch[0].length);
    }
  } else {
    while (segments.length > 0 && !isAtomic?.(segments[segments.length - 1]?.segment || "") && !segments[segments.length - 1]?.isWordLike && !isWhitespaceChar(segments[segments.length - 1]?.segment || "")) {
      newCursor -= segments.pop()?.segment.length || 0;
    }
  }
  return newCursor;
}
function findWordForward(text, cursor, options) {
  if (cursor >= text.length)
    return text.length;
  const textAfterCursor = text.slice(cursor);
  const segmentFn = options?.segment;
  const isAtomic = options?.isAtomicSegment;
  const segments = segmentFn ? segmentFn(textAfterCursor) : wordSegmenter2.segment(textAfterCursor);
  const iterator = segments[Symbol.iterator]();
  let next = iterator.next();
  let newCursor = cursor;
  while (!next.done && !isAtomic?.(next.value.segment) && isWhitespaceChar(next.value.segment)) {
    newCursor += next.value.segment.length;
    next = iterator.next();
  }
  if (next.done)
    return newCursor;
  if (isAtomic?.(next.value.segment)) {
    newCursor += next.value.segment.length;
  } else if (next.value.isWordLike) {
    newCursor += PUNCTUATION_REGEX.exec(next.value.segment)?.index ?? next.value.segment.length;
  } else {
    while (!next.done && !isAtomic?.(next.value.segment) && !next.value.isWordLike && !isWhitespaceChar(next.value.segment)) {
      newCursor += next.value.segment.length;
      next = iterator.next();
    }
  }
  return newCursor;
}

// node_modules/@earendil-works/pi-tui/dist/components/input.js
var segmenter = getGraphemeSegmenter();
var Input = class {
  value = "";
  cursor = 0;
  // Cursor position in the value
  prompt;
  placeholder;
  placeholderStyle;
  renderedStartColumn = 0;
  onSubmit;
  onEscape;
  /** Focusable interface - set by TUI when focus changes */
  focused = false;
  // Bracketed paste mode buffering
  pasteBuffer = "";
  isInPaste = false;
  // Kill ring for Emacs-style kill/yank operations
  killRing = new KillRing();
  lastAction = null;
  // Undo support
  undoStack = new UndoStack();
  constructor(options = {}) {
    this.prompt = options.prompt ?? "> ";
    this.placeholder = options.placeholder ?? "";
    this.placeholderStyle = options.placeholderStyle ?? ((text) => text);
  }
  getValue() {
    return this.value;
  }
  setValue(value) {
    this.value = value;
    this.cursor = Math.min(this.cursor, value.length);
  }
  handleInput(data) {
    if (data.includes("\x1B[200~")) {
      this.isInPaste = true;
      this.pasteBuffer = "";
      data = data.replace("\x1B[200~", "");
    }
    if (this.isInPaste) {
      this.pasteBuffer += data;
      const endIndex = this.pasteBuffer.indexOf("\x1B[201~");
      if (endIndex !== -1) {
        const pasteContent = this.pasteBuffer.substring(0, endIndex);
        this.handlePaste(pasteContent);
        this.isInPaste = false;
        const remaining = this.pasteBuffer.substring(endIndex + 6);
        this.pasteBuffer = "";
        if (remaining) {
          this.handleInput(remaining);
        }
      }
      return;
    }
    const kb = getKeybindings();
    if (kb.matches(data, "tui.select.cancel")) {
      if (this.onEscape)
        this.onEscape();
      return;
    }
    if (kb.matches(data, "tui.editor.undo")) {
      this.undo();
      return;
    }
    if (kb.matches(data, "tui.input.submit") || data === "\n") {
      if (this.onSubmit)
        this.onSubmit(this.value);
      return;
    }
    if (kb.matches(data, "tui.editor.deleteCharBackward")) {
      this.handleBackspace();
      return;
    }
    if (kb.matches(data, "tui.editor.deleteCharForward")) {
      this.handleForwardDelete();
      return;
    }
    if (kb.matches(data, "tui.editor.deleteWordBackward")) {
      this.deleteWordBackwards();
      return;
    }
    if (kb.matches(data, "tui.editor.deleteWordForward")) {
      this.deleteWordForward();
      return;
    }
    if (kb.matches(data, "tui.editor.deleteToLineStart")) {
      this.deleteToLineStart();
      return;
    }
    if (kb.matches(data, "tui.editor.deleteToLineEnd")) {
      this.deleteToLineEnd();
      return;
    }
    if (kb.matches(data, "tui.editor.yank")) {
      this.yank();
      return;
    }
    if (kb.matches(data, "tui.editor.yankPop")) {
      this.yankPop();
      return;
    }
    if (kb.matches(data, "tui.editor.cursorLeft")) {
      this.lastAction = null;
      if (this.cursor > 0) {
        const beforeCursor = this.value.slice(0, this.cursor);
        const graphemes = [...segmenter.segment(beforeCursor)];
        const lastGrapheme = graphemes[graphemes.length - 1];
        this.cursor -= lastGrapheme ? lastGrapheme.segment.length : 1;
      }
      return;
    }
    if (kb.matches(data, "tui.editor.cursorRight")) {
      this.lastAction = null;
      if (this.cursor < this.value.length) {
        const afterCursor = this.value.slice(this.cursor);
        const graphemes = [...segmenter.segment(afterCursor)];
        const firstGrapheme = graphemes[0];
        this.cursor += firstGrapheme ? firstGrapheme.segment.length : 1;
      }
      return;
    }
    if (kb.matches(data, "tui.editor.cursorLineStart")) {
      this.lastAction = null;
      this.cursor = 0;
      return;
    }
    if (kb.matches(data, "tui.editor.cursorLineEnd")) {
      this.lastAction = null;
      this.cursor = this.value.length;
      return;
    }
    if (kb.matches(data, "tui.editor.cursorWordLeft")) {
      this.moveWordBackwards();
      return;
    }
    if (kb.matches(data, "tui.editor.cursorWordRight")) {
      this.moveWordForwards();
      return;
    }
    const kittyPrintable = decodeKittyPrintable(data);
    if (kittyPrintable !== void 0) {
      this.insertCharacter(kittyPrintable);
      return;
    }
    const hasControlChars = [...data].some((ch) => {
      const code = ch.charCodeAt(0);
      return code < 32 || code === 127 || code >= 128 && code <= 159;
    });
    if (!hasControlChars) {
      this.insertCharacter(data);
    }
  }
  handleMouse(event) {
    if (event.type !== "press" || event.button !== "left" || event.y !== 0)
      return void 0;
    const visibleColumn = Math.max(0, event.x - 2);
    const targetColumn = this.renderedStartColumn + visibleColumn;
    let currentColumn = 0;
    this.cursor = this.value.length;
    for (const grapheme of segmenter.segment(this.value)) {
      const nextColumn = currentColumn + visibleWidth(grapheme.segment);
      if (targetColumn < nextColumn) {
        this.cursor = grapheme.index;
        break;
      }
      currentColumn = nextColumn;
    }
    this.lastAction = null;
    return { handled: true, focus: true };
  }
  insertCharacter(char) {
    if (isWhitespaceChar(char) || this.lastAction !== "type-word") {
      this.pushUndo();
    }
    this.lastAction = "type-word";
    this.value = this.value.slice(0, this.cursor) + char + this.value.slice(this.cursor);
    this.cursor += char.length;
  }
  handleBackspace() {
    this.lastAction = null;
    if (this.cursor > 0) {
      this.pushUndo();
      const beforeCursor = this.value.slice(0, this.cursor);
      const graphemes = [...segmenter.segment(beforeCursor)];
      const lastGrapheme = graphemes[graphemes.length - 1];
      const graphemeLength = lastGrapheme ? lastGrapheme.segment.length : 1;
      this.value = this.value.slice(0, this.cursor - graphemeLength) + this.value.slice(this.cursor);
      this.cursor -= graphemeLength;
    }
  }
  handleForwardDelete() {
    this.lastAction = null;
    if (this.cursor < this.value.length) {
      this.pushUndo();
      const afterCursor = this.value.slice(this.cursor);
      const graphemes = [...segmenter.segment(afterCursor)];
      const firstGrapheme = graphemes[0];
      const graphemeLength = firstGrapheme ? firstGrapheme.segment.length : 1;
      this.value = this.value.slice(0, this.cursor) + this.value.slice(this.cursor + graphemeLength);
    }
  }
  deleteToLineStart() {
    if (this.cursor === 0)
      return;
    this.pushUndo();
    const deletedText = this.value.slice(0, this.cursor);
    this.killRing.push(deletedText, { prepend: true, accumulate: this.lastAction === "kill" });
    this.lastAction = "kill";
    this.value = this.value.slice(this.cursor);
    this.cursor = 0;
  }
  deleteToLineEnd() {
    if (this.cursor >= this.value.length)
      return;
    this.pushUndo();
    const deletedText = this.value.slice(this.cursor);
    this.killRing.push(deletedText, { prepend: false, accumulate: this.lastAction === "kill" });
    this.lastAction = "kill";
    this.value = this.value.slice(0, this.cursor);
  }
  deleteWordBackwards() {
    if (this.cursor === 0)
      return;
    const wasKill = this.lastAction === "kill";
    this.pushUndo();
    const oldCursor = this.cursor;
    this.moveWordBackwards();
    const deleteFrom = this.cursor;
    this.cursor = oldCursor;
    const deletedText = this.value.slice(deleteFrom, this.cursor);
    this.killRing.push(deletedText, { prepend: true, accumulate: wasKill });
    this.lastAction = "kill";
    this.value = this.value.slice(0, deleteFrom) + this.value.slice(this.cursor);
    this.cursor = deleteFrom;
  }
  deleteWordForward() {
    if (this.cursor >= this.value.length)
      return;
    const wasKill = this.lastAction === "kill";
    this.pushUndo();
    const oldCursor = this.cursor;
    this.moveWordForwards();
    const deleteTo = this.cursor;
    this.cursor = oldCursor;
    const deletedText = this.value.slice(this.cursor, deleteTo);
    this.killRing.push(deletedText, { prepend: false, accumulate: wasKill });
    this.lastAction = "kill";
    this.value = this.value.slice(0, this.cursor) + this.value.slice(deleteTo);
  }
  yank() {
    const text = this.killRing.peek();
    if (!text)
      return;
    this.pushUndo();
    this.value = this.value.slice(0, this.cursor) + text + this.value.slice(this.cursor);
    this.cursor += text.length;
    this.lastAction = "yank";
  }
  yankPop() {
    if (this.lastAction !== "yank" || this.killRing.length <= 1)
      return;
    this.pushUndo();
    const prevText = this.killRing.peek() || "";
    this.value = this.value.slice(0, this.cursor - prevText.length) + this.value.slice(this.cursor);
    this.cursor -= prevText.length;
    this.killRing.rotate();
    const text = this.killRing.peek() || "";
    this.value = this.value.slice(0, this.cursor) + text + this.value.slice(this.cursor);
    this.cursor += text.length;
    this.lastAction = "yank";
  }
  pushUndo() {
    this.undoStack.push({ value: this.value, cursor: this.cursor });
  }
  undo() {
    const snapshot = this.undoStack.pop();
    if (!snapshot)
      return;
    this.value = snapshot.value;
    this.cursor = snapshot.cursor;
    this.lastAction = null;
  }
  moveWordBackwards() {
    if (this.cursor === 0)
      return;
    this.lastAction = null;
    this.cursor = findWordBackward(this.value, this.cursor);
  }
  moveWordForwards() {
    if (this.cursor >= this.value.length)
      return;
    this.lastAction = null;
    this.cursor = findWordForward(this.value, this.cursor);
  }
  handlePaste(pastedText) {
    this.lastAction = null;
    this.pushUndo();
    const cleanText = pastedText.replace(/\r\n/g, "").replace(/\r/g, "").replace(/\n/g, "").replace(/\t/g, "    ");
    this.value = this.value.slice(0, this.cursor) + cleanText + this.value.slice(this.cursor);
    this.cursor += cleanText.length;
  }
  invalidate() {
  }
  render(width) {
    const availableWidth = width - visibleWidth(this.prompt);
    if (availableWidth <= 0) {
      return [truncateToWidth(this.prompt, width, "")];
    }
    if (this.value.length === 0 && this.placeholder) {
      const placeholder = truncateToWidth(this.placeholder, availableWidth, "");
      const graphemes2 = [...segmenter.segment(placeholder)];
      const atCursor2 = graphemes2[0]?.segment ?? " ";
      const afterCursor2 = placeholder.slice(atCursor2.length);
      const marker2 = this.focused ? CURSOR_MARKER : "";
      const cursorChar2 = `\x1B[7m${this.placeholderStyle(atCursor2)}\x1B[27m`;
      const textWithCursor2 = marker2 + cursorChar2 + this.placeholderStyle(afterCursor2);
      const padding2 = " ".repeat(Math.max(0, availableWidth - visibleWidth(textWithCursor2)));
      return [this.prompt + textWithCursor2 + padding2];
    }
    let visibleText = "";
    let cursorDisplay = this.cursor;
    this.renderedStartColumn = 0;
    const totalWidth = visibleWidth(this.value);
    if (totalWidth < availableWidth) {
      visibleText = this.value;
    } else {
      const scrollWidth = this.cursor === this.value.length ? availableWidth - 1 : availableWidth;
      const cursorCol = visibleWidth(this.value.slice(0, this.cursor));
      if (scrollWidth > 0) {
        const halfWidth = Math.floor(scrollWidth / 2);
        let startCol = 0;
        if (cursorCol < halfWidth) {
          startCol = 0;
        } else if (cursorCol > totalWidth - halfWidth) {
          startCol = Math.max(0, totalWidth - scrollWidth);
        } else {
          startCol = Math.max(0, cursorCol - halfWidth);
        }
        this.renderedStartColumn = startCol;
        visibleText = sliceByColumn(this.value, startCol, scrollWidth, true);
        const beforeCursor2 = sliceByColumn(this.value, startCol, Math.max(0, cursorCol - startCol), true);
        cursorDisplay = beforeCursor2.length;
      } else {
        visibleText = "";
        cursorDisplay = 0;
      }
    }
    const graphemes = [...segmenter.segment(visibleText.slice(cursorDisplay))];
    const cursorGrapheme = graphemes[0];
    const beforeCursor = visibleText.slice(0, cursorDisplay);
    const atCursor = cursorGrapheme?.segment ?? " ";
    const afterCursor = visibleText.slice(cursorDisplay + atCursor.length);
    const marker = this.focused ? CURSOR_MARKER : "";
    const cursorChar = `\x1B[7m${atCursor}\x1B[27m`;
    const textWithCursor = beforeCursor + marker + cursorChar + afterCursor;
    const visualLength = visibleWidth(textWithCursor);
    const padding = " ".repeat(Math.max(0, availableWidth - visualLength));
    const line = this.prompt + textWithCursor + padding;
    return [line];
  }
};

// node_modules/@earendil-works/pi-tui/dist/latex.js
var SYMBOLS = {
  alpha: "\u03B1",
  beta: "\u03B2",
  gamma: "\u03B3",
  delta: "\u03B4",
  epsilon: "\u03F5",
  varepsilon: "\u03B5",
  zeta: "\u03B6",
  eta: "\u03B7",
  theta: "\u03B8",
  vartheta: "\u03D1",
  iota: "\u03B9",
  kappa: "\u03BA",
  varkappa: "\u03F0",
  lambda: "\u03BB",
  mu: "\u03BC",
  nu: "\u03BD",
  xi: "\u03BE",
  pi: "\u03C0",
  varpi: "\u03D6",
  rho: "\u03C1",
  varrho: "\u03F1",
  sigma: "\u03C3",
  varsigma: "\u03C2",
  tau: "\u03C4",
  upsilon: "\u03C5",
  phi: "\u03D5",
  varphi: "\u03C6",
  chi: "\u03C7",
  psi: "\u03C8",
  omega: "\u03C9",
  Gamma: "\u0393",
  Delta: "\u0394",
  Theta: "\u0398",
  Lambda: "\u039B",
  Xi: "\u039E",
  Pi: "\u03A0",
  Sigma: "\u03A3",
  Upsilon: "\u03A5",
  Phi: "\u03A6",
  Psi: "\u03A8",
  Omega: "\u03A9",
  pm: "\xB1",
  mp: "\u2213",
  times: "\xD7",
  div: "\xF7",
  cdot: "\xB7",
  ast: "\u2217",
  star: "\u22C6",
  circ: "\u2218",
  bullet: "\u2022",
  oplus: "\u2295",
  ominus: "\u2296",
  otimes: "\u2297",
  oslash: "\u2298",
  odot: "\u2299",
  bigcirc: "\u25CB",
  dagger: "\u2020",
  ddagger: "\u2021",
  amalg: "\u2A3F",
  uplus: "\u228E",
  sqcap: "\u2293",
  sqcup: "\u2294",
  bowtie: "\u22C8",
  Join: "\u22C8",
  ltimes: "\u22C9",
  rtimes: "\u22CA",
  leftouterjoin: "\u27D5",
  rightouterjoin: "\u27D6",
  fullouterjoin: "\u27D7",
  triangleleft: "\u25C1",
  triangleright: "\u25B7",
  wr: "\u2240",
  cap: "\u2229",
  cup: "\u222A",
  bigcap: "\u22C2",
  bigcup: "\u22C3",
  bigwedge: "\u22C0",
  bigvee: "\u22C1",
  bigsqcup: "\u2A06",
  biguplus: "\u2A04",
  bigoplus: "\u2A01",
  bigotimes: "\u2A02",
  bigodot: "\u2A00",
  setminus: "\u2216",
  in: "\u2208",
  notin: "\u2209",
  ni: "\u220B",
  subset: "\u2282",
  supset: "\u2283",
  subseteq: "\u2286",
  supseteq: "\u2287",
  sqsubset: "\u228F",
  sqsupset: "\u2290",
  sqsubseteq: "\u2291",
  sqsupseteq: "\u2292",
  prec: "\u227A",
  preceq: "\u227C",
  succ: "\u227B",
  succeq: "\u227D",
  ll: "\u226A",
  gg: "\u226B",
  le: "\u2264",
  leq: "\u2264",
  leqslant: "\u2264",
  ge: "\u2265",
  geq: "\u2265",
  geqslant: "\u2265",
  ne: "\u2260",
  neq: "\u2260",
  equiv: "\u2261",
  approx: "\u2248",
  sim: "\u223C",
  simeq: "\u2243",
  cong: "\u2245",
  asymp: "\u224D",
  doteq: "\u2250",
  propto: "\u221D",
  parallel: "\u2225",
  perp: "\u22A5",
  mid: "\u2223",
  vdash: "\u22A2",
  dashv: "\u22A3",
  models: "\u22A8",
  Vdash: "\u22A9",
  Vvdash: "\u22AA",
  nvdash: "\u22AC",
  nvDash: "\u22AD",
  forall: "\u2200",
  exists: "\u2203",
  nexists: "\u2204",
  neg: "\xAC",
  land: "\u2227",
  wedge: "\u2227",
  lor: "\u2228",
  vee: "\u2228",
  to: "\u2192",
  rightarrow: "\u2192",
  longrightarrow: "\u2192",
  leftarrow: "\u2190",
  longleftarrow: "\u2190",
  gets: "\u2190",
  leftrightarrow: "\u2194",
  longleftrightarrow: "\u2194",
  hookleftarrow: "\u21A9",
  hookrightarrow: "\u21AA",
  twoheadleftarrow: "\u219E",
  twoheadrightarrow: "\u21A0",
  leftharpoonup: "\u21BC",
  leftharpoondown: "\u21BD",
  rightharpoonup: "\u21C0",
  rightharpoondown: "\u21C1",
  rightleftharpoons: "\u21CC",
  leftrightharpoons: "\u21CB",
  nearrow: "\u2197",
  searrow: "\u2198",
  swarrow: "\u2199",
  nwarrow: "\u2196",
  rightsquigarrow: "\u21DD",
  leadsto: "\u21DD",
  Rightarrow: "\u21D2",
  Longrightarrow: "\u21D2",
  Leftarrow: "\u21D0",
  Longleftarrow: "\u21D0",
  Leftrightarrow: "\u21D4",
  Longleftrightarrow: "\u21D4",
  implies: "\u21D2",
  iff: "\u21D4",
  mapsto: "\u21A6",
  longmapsto: "\u21A6",
  uparrow: "\u2191",
  downarrow: "\u2193",
  partial: "\u2202",
  nabla: "\u2207",
  int: "\u222B",
  iint: "\u222C",
  iiint: "\u222D",
  oint: "\u222E",
  sum: "\u2211",
  prod: "\u220F",
  coprod: "\u2210",
  infty: "\u221E",
  emptyset: "\u2205",
  varnothing: "\u2205",
  angle: "\u2220",
  therefore: "\u2234",
  because: "\u2235",
  aleph: "\u2135",
  beth: "\u2136",
  gimel: "\u2137",
  daleth: "\u2138",
  top: "\u22A4",
  bot: "\u22A5",
  triangle: "\u25B3",
  square: "\u25A1",
  lozenge: "\u25CA",
  checkmark: "\u2713",
  complement: "\u2201",
  wp: "\u2118",
  prime: "\u2032",
  ldots: "\u2026",
  dots: "\u2026",
  cdots: "\u22EF",
  vdots: "\u22EE",
  ddots: "\u22F1",
  ell: "\u2113",
  hbar: "\u210F",
  Im: "\u2111",
  Re: "\u211C",
  langle: "\u27E8",
  rangle: "\u27E9",
  vert: "|",
  lvert: "|",
  rvert: "|",
  Vert: "\u2016",
  lVert: "\u2016",
  rVert: "\u2016",
  lbrace: "{",
  rbrace: "}",
  backslash: "\\",
  lfloor: "\u230A",
  rfloor: "\u230B",
  lceil: "\u2308",
  rceil: "\u2309",
  colon: ":"
};
var NAMED_OPERATORS = /* @__PURE__ */ new Set([
  "arccos",
  "arcsin",
  "arctan",
  "arg",
  "cos",
  "cosh",
  "cot",
  "coth",
  "csc",
  "deg",
  "det",
  "dim",
  "exp",
  "gcd",
  "hom",
  "inf",
  "ker",
  "lg",
  "lim",
  "liminf",
  "limsup",
  "ln",
  "log",
  "max",
  "min",
  "Pr",
  "sec",
  "sin",
  "sinh",
  "sup",
  "tan",
  "tanh"
]);
var LIMIT_OPERATORS = /* @__PURE__ */ new Set([
  "argmax",
  "argmin",
  "inf",
  "injlim",
  "lim",
  "liminf",
  "limsup",
  "max",
  "min",
  "projlim",
  "sup"
]);
var DISPLAY_LIMIT_SYMBOLS = /* @__PURE__ */ new Set([
  "bigcap",
  "bigcup",
  "bigodot",
  "bigoplus",
  "bigotimes",
  "bigsqcup",
  "biguplus",
  "bigvee",
  "bigwedge",
  "coprod",
  "int",
  "iint",
  "iiint",
  "oint",
  "prod",
  "sum"
]);
var RELATION_COMMANDS = /* @__PURE__ */ new Set([
  "Leftarrow",
  "Leftrightarrow",
  "Longleftarrow",
  "Longleftrightarrow",
  "Longrightarrow",
  "Rightarrow",
  "Join",
  "Vdash",
  "Vvdash",
  "approx",
  "asymp",
  "bowtie",
  "cong",
  "dashv",
  "fullouterjoin",
  "doteq",
  "downarrow",
  "equiv",
  "ge",
  "geq",
  "geqslant",
  "gets",
  "gg",
  "hookleftarrow",
  "hookrightarrow",
  "iff",
  "implies",
  "in",
  "leadsto",
  "le",
  "leftarrow",
  "leftharpoondown",
  "leftharpoonup",
  "leftrightarrow",
  "leftrightharpoons",
  "leftouterjoin",
  "leq",
  "leqslant",
  "ll",
  "longleftarrow",
  "longleftrightarrow",
  "longmapsto",
  "longrightarrow",
  "ltimes",
  "mapsto",
  "mid",
  "models",
  "ne",
  "nearrow",
  "neq",
  "ni",
  "notin",
  "nvdash",
  "nvDash",
  "nwarrow",
  "parallel",
  "perp",
  "prec",
  "preceq",
  "propto",
  "rightharpoondown",
  "rightharpoonup",
  "rightleftharpoons",
  "rightouterjoin",
  "rightarrow",
  "rightsquigarrow",
  "rtimes",
  "searrow",
  "sim",
  "simeq",
  "sqsubset",
  "sqsubseteq",
  "sqsupset",
  "sqsupseteq",
  "subset",
  "subseteq",
  "succ",
  "succeq",
  "supset",
  "supseteq",
  "swarrow",
  "to",
  "triangleleft",
  "triangleright",
  "twoheadleftarrow",
  "twoheadrightarrow",
  "uparrow",
  "vdash"
]);
var NEGATED_SYMBOLS = {
  "<": "\u226E",
  ">": "\u226F",
  "=": "\u2260",
  "\u2208": "\u2209",
  "\u220B": "\u220C",
  "\u2223": "\u2224",
  "\u2225": "\u2226",
  "\u223C": "\u2241",
  "\u2243": "\u2244",
  "\u2245": "\u2247",
  "\u2248": "\u2249",
  "\u2261": "\u2262",
  "\u2264": "\u2270",
  "\u2265": "\u2271",
  "\u227A": "\u2280",
  "\u227B": "\u2281",
  "\u2282": "\u2284",
  "\u2283": "\u2285",
  "\u2286": "\u2288",
  "\u2287": "\u2289",
  "\u22A2": "\u22AC",
  "\u22A8": "\u22AD",
  "\u2194": "\u21AE",
  "\u2190": "\u219A",
  "\u2192": "\u219B",
  "\u21D2": "\u21CF",
  "\u21D0": "\u21CD",
  "\u21D4": "\u21CE",
  "\u227C": "\u22E0",
  "\u227D": "\u22E1"
};
var BLACKBOARD = {
  C: "\u2102",
  H: "\u210D",
  N: "\u2115",
  P: "\u2119",
  Q: "\u211A",
  R: "\u211D",
  Z: "\u2124"
};
var SUPERSCRIPTS = {
  "0": "\u2070",
  "1": "\xB9",
  "2": "\xB2",
  "3": "\xB3",
  "4": "\u2074",
  "5": "\u2075",
  "6": "\u2076",
  "7": "\u2077",
  "8": "\u2078",
  "9": "\u2079",
  "+": "\u207A",
  "-": "\u207B",
  "=": "\u207C",
  "(": "\u207D",
  ")": "\u207E",
  a: "\u1D43",
  b: "\u1D47",
  c: "\u1D9C",
  d: "\u1D48",
  e: "\u1D49",
  f: "\u1DA0",
  g: "\u1D4D",
  h: "\u02B0",
  i: "\u2071",
  j: "\u02B2",
  k: "\u1D4F",
  l: "\u02E1",
  m: "\u1D50",
  n: "\u207F",
  o: "\u1D52",
  p: "\u1D56",
  r: "\u02B3",
  s: "\u02E2",
  t: "\u1D57",
  u: "\u1D58",
  v: "\u1D5B",
  w: "\u02B7",
  x: "\u02E3",
  y: "\u02B8",
  z: "\u1DBB"
};
var SUBSCRIPTS = {
  "0": "\u2080",
  "1": "\u2081",
  "2": "\u2082",
  "3": "\u2083",
  "4": "\u2084",
  "5": "\u2085",
  "6": "\u2086",
  "7": "\u2087",
  "8": "\u2088",
  "9": "\u2089",
  "+": "\u208A",
  "-": "\u208B",
  "=": "\u208C",
  "(": "\u208D",
  ")": "\u208E",
  a: "\u2090",
  e: "\u2091",
  h: "\u2095",
  i: "\u1D62",
  j: "\u2C7C",
  k: "\u2096",
  l: "\u2097",
  m: "\u2098",
  n: "\u2099",
  o: "\u2092",
  p: "\u209A",
  r: "\u1D63",
  s: "\u209B",
  t: "\u209C",
  u: "\u1D64",
  v: "\u1D65",
  x: "\u2093"
};
var SPACING_COMMANDS = /* @__PURE__ */ new Set([
  ",",
  ":",
  ";",
  " ",
  ">",
  "enspace",
  "enskip",
  "medspace",
  "quad",
  "qquad",
  "thickspace",
  "thinspace"
]);
var NEGATIVE_SPACING_COMMANDS = /* @__PURE__ */ new Set(["!", "negmedspace", "negthickspace", "negthinspace"]);
var NEGATIVE_SPACE = "\0";
var FONT_SWITCH_COMMANDS = /* @__PURE__ */ new Set(["bf", "cal", "it", "rm", "sf", "sl", "tt"]);
var IGNORED_COMMANDS = /* @__PURE__ */ new Set([
  "displaystyle",
  "limits",
  "nolimits",
  "scriptstyle",
  "scriptscriptstyle",
  "textstyle"
]);
var SIZE_COMMANDS = /* @__PURE__ */ new Set([
  "big",
  "Big",
  "bigg",
  "Bigg",
  "bigl",
  "Bigl",
  "biggl",
  "Biggl",
  "bigr",
  "Bigr",
  "biggr",
  "Biggr"
]);
var PLAIN_WRAPPERS = /* @__PURE__ */ new Set([
  "emph",
  "mathcal",
  "mathbf",
  "mathfrak",
  "mathit",
  "mathrm",
  "mathnormal",
  "mathscr",
  "mathsf",
  "mathtt",
  "mathup",
  "mbox",
  "overbrace",
  "pmb",
  "smash",
  "substack",
  "text",
  "textbf",
  "textit",
  "textmd",
  "textnormal",
  "textrm",
  "textsc",
  "textsf",
  "textsl",
  "texttt",
  "textup",
  "underbrace",
  "bm",
  "boldsymbol"
]);
var ACCENTS = {
  acute: "\u0301",
  bar: "\u0305",
  breve: "\u0306",
  check: "\u030C",
  ddot: "\u0308",
  dot: "\u0307",
  grave: "\u0300",
  hat: "\u0302",
  mathring: "\u030A",
  overleftarrow: "\u20D6",
  overleftrightarrow: "\u20E1",
  overline: "\u0305",
  overrightarrow: "\u20D7",
  tilde: "\u0303",
  underline: "\u0332",
  vec: "\u20D7",
  widehat: "\u0302",
  widetilde: "\u0303"
};
function replaceCharacters(value, replacements) {
  let result = "";
  for (const character of value) {
    const replacement = replacements[character];
    if (replacement === void 0) {
      return void 0;
    }
    result += replacement;
  }
  return result;
}
function normalizeScriptValue(value) {
  return value.trim().replace(/\s*([=+-])\s*/g, "$1");
}
function formatUnicodeScript(value, kind) {
  return replaceCharacters(normalizeScriptValue(value), kind === "sub" ? SUBSCRIPTS : SUPERSCRIPTS);
}
function formatScript(value, kind) {
  value = normalizeScriptValue(value);
  const unicode = formatUnicodeScript(value, kind);
  if (unicode !== void 0) {
    return unicode;
  }
  const prefix = kind === "sub" ? "_" : "^";
  if (Array.from(value).length === 1 || kind === "sub" && /^[A-Za-z]+$/.test(value)) {
    return `${prefix}${value}`;
  }
  return `${prefix}(${value})`;
}
function formatFraction(numerator, denominator) {
  numerator = numerator.trim();
  denominator = denominator.trim();
  const simpleNumerator = /^[\p{L}\p{N}.]+$/u.test(numerator);
  const simpleDenominator = /^[\p{N}.]+$/u.test(denominator) || Array.from(denominator).length === 1;
  return `${simpleNumerator ? numerator : `(${numerator})`}/${simpleDenominator ? denominator : `(${denominator})`}`;
}
function formatRoot(value, symbol = "\u221A") {
  value = value.trim();
  return /^[\p{L}\p{N}.]+$/u.test(value) ? `${symbol}${value}` : `${symbol}(${value})`;
}
var NAMED_OPERATOR_START = "\u{F0004}";
var NAMED_OPERATOR_END = "\u{F0005}";
var NAMED_OPERATOR_LEFT_SPACING_PATTERN = /(?<=[\p{L}\p{N})\]}\u{f0001}])\u{f0004}/gu;
var NAMED_OPERATOR_RIGHT_SPACING_PATTERN = /\u{f0005}(?=[\p{L}\p{N}√\u{f0000}])/gu;
function normalizeOutput(value) {
  return value.replace(NAMED_OPERATOR_LEFT_SPACING_PATTERN, " ").replaceAll(NAMED_OPERATOR_START, "").replace(NAMED_OPERATOR_RIGHT_SPACING_PATTERN, " ").replaceAll(NAMED_OPERATOR_END, "").split("\n").map((line) => line.replace(/[ \t]+/g, " ").trim()).filter((line, index, lines) => line.length > 0 || index > 0 && index < lines.length - 1).join("\n").trim();
}
var LAYOUT_MARKER_START = "\u{F0000}";
var LAYOUT_MARKER_END = "\u{F0001}";
var LAYOUT_MARKER_PATTERN = /\u{f0000}(\d+)\u{f0001}/gu;
var TRAILING_LAYOUT_MARKER_PATTERN = /\u{f0000}(\d+)\u{f0001}$/u;
var PROTECTED_SPACE = "\u{F0002}";
function padLayoutLine(line, width, centered = false) {
  const padding = Math.max(0, width - visibleWidth(line));
  const left = centered ? Math.floor(padding / 2) : 0;
  return `${" ".repeat(left)}${line}${" ".repeat(padding - left)}`;
}
function joinLayouts(layouts) {
  if (layouts.length === 0) {
    return { lines: [""], width: 0, baseline: 0 };
  }
  const baseline = Math.max(...layouts.map((layout) => layout.baseline));
  const below = Math.max(...layouts.map((layout) => layout.lines.length - layout.baseline - 1));
  const lines = [];
  for (let row = 0; row <= baseline + below; row++) {
    let line = "";
    for (const layout of layouts) {
      const sourceRow = row - baseline + layout.baseline;
      line += sourceRow >= 0 && sourceRow < layout.lines.length ? padLayoutLine(layout.lines[sourceRow] ?? "", layout.width) : " ".repeat(layout.width);
    }
    lines.push(line.trimEnd());
  }
  return {
    lines,
    width: layouts.reduce((width, layout) => width + layout.width, 0),
    baseline
  };
}
function renderLayout(source, nodes) {
  const renderedLines = [];
  let firstBaseline = 0;
  for (const sourceLine of source.split("\n")) {
    const layouts = [];
    let position = 0;
    let previousNode;
    for (const match of sourceLine.matchAll(LAYOUT_MARKER_PATTERN)) {
      const index = match.index;
      const node = nodes[Number(match[1])];
      if (!node) {
        continue;
      }
      if (index > position) {
        const sliced = sourceLine.slice(position, index);
        const trimmed = (previousNode ? sliced.trimStart() : sliced).trimEnd();
        const preserveLeadingSpace = previousNode?.type === "matrix" && /^\s/.test(sliced);
        const preserveTrailingSpace = node.type === "matrix" && /\s$/.test(sliced);
        const text = trimmed ? `${preserveLeadingSpace ? " " : ""}${trimmed}${preserveTrailingSpace ? " " : ""}` : preserveLeadingSpace || preserveTrailingSpace ? " " : "";
        layouts.push({ lines: [text], width: visibleWidth(text), baseline: 0 });
      }
      if (node.type === "fraction") {
        const numerator = renderLayout(node.numerator, nodes);
        const denominator = renderLayout(node.denominator, nodes);
        const contentWidth = Math.max(numerator.width, denominator.width, 1);
        const width = contentWidth + 2;
        layouts.push({
          lines: [
            ...numerator.lines.map((line) => padLayoutLine(line, width, true)),
            ` ${"\u2500".repeat(contentWidth)} `,
            ...denominator.lines.map((line) => padLayoutLine(line, width, true))
          ],
          width,
          baseline: numerator.lines.length
        });
      } else if (node.type === "operator") {
        const contentWidth = Math.max(visibleWidth(node.operator), node.lower === void 0 ? 0 : visibleWidth(node.lower), node.upper === void 0 ? 0 : visibleWidth(node.upper));
        const lines = [];
        if (node.upper !== void 0) {
          lines.push(`${padLayoutLine(node.upper, contentWidth, true)} `);
        }
        lines.push(`${padLayoutLine(node.operator, contentWidth, true)} `);
        if (node.lower !== void 0) {
          lines.push(`${padLayoutLine(node.lower, contentWidth, true)} `);
        }
        layouts.push({
          lines,
          width: contentWidth + 1,
          baseline: node.upper === void 0 ? 0 : 1
        });
      } else if (node.type === "script") {
        const upper = node.upper === void 0 ? void 0 : renderLayout(node.upper, nodes);
        const lower = node.lower === void 0 ? void 0 : renderLayout(node.lower, nodes);
        const width = Math.max(upper?.width ?? 0, lower?.width ?? 0);
        layouts.push({
          lines: [
            ...upper?.lines.map((line) => padLayoutLine(line, width)) ?? [],
            " ".repeat(width),
            ...lower?.lines.map((line) => padLayoutLine(line, width)) ?? []
          ],
          width,
          baseline: upper?.lines.length ?? 0
        });
      } else {
        const width = Math.max(0, ...node.lines.map((line) => visibleWidth(line)));
        layouts.push({
          lines: node.lines.map((line) => padLayoutLine(line, width)),
          width,
          baseline: node.baseline
        });
      }
      position = index + match[0].length;
      previousNode = node;
    }
    if (position < sourceLine.length) {
      const sliced = sourceLine.slice(position);
      const trimmed = previousNode ? sliced.trimStart() : sliced;
      const text = previousNode?.type === "matrix" && /^\s/.test(sliced) ? ` ${trimmed}` : trimmed;
      layouts.push({ lines: [text], width: visibleWidth(text), baseline: 0 });
    }
    const lineLayout = joinLayouts(layouts);
    if (renderedLines.length === 0) {
      firstBaseline = lineLayout.baseline;
    }
    renderedLines.push(...lineLayout.lines);
  }
  return {
    lines: renderedLines,
    width: Math.max(0, ...renderedLines.map((line) => visibleWidth(line))),
    baseline: firstBaseline
  };
}
var LatexParser = class _LatexParser {
  source;
  layoutNodes;
  display;
  position = 0;
  supported = true;
  stackFractions = true;
  scriptDepth = 0;
  constructor(source, layoutNodes, display) {
    this.source = source;
    this.layoutNodes = layoutNodes;
    this.display = display;
  }
  render() {
    const rendered = this.parseSequence();
    if (!this.supported || this.position !== this.source.length) {
      return void 0;
    }
    return normalizeOutput(rendered);
  }
  parseSequence(endCharacter) {
    let result = "";
    while (this.position < this.source.length) {
      const character = this.source[this.position];
      if (endCharacter && character === endCharacter) {
        this.position++;
        return result;
      }
      if (character === "}") {
        this.supported = false;
        return result;
      }
      if (character === "{") {
        this.position++;
        result += this.parseSequence("}");
        continue;
      }
      if (character === "\\") {
        const command = this.parseCommand();
        if (command === NEGATIVE_SPACE) {
          result = result.trimEnd();
          if (result.endsWith(NAMED_OPERATOR_END)) {
            result = result.slice(0, -NAMED_OPERATOR_END.length);
          }
        } else {
          result += command;
        }
        continue;
      }
      if (character === "^" || character === "_") {
        this.position++;
        result = result.trimEnd();
        const script = this.parseScripts(character);
        if (result.endsWith(NAMED_OPERATOR_END)) {
          result = `${result.slice(0, -NAMED_OPERATOR_END.length)}${script}${NAMED_OPERATOR_END}`;
        } else {
          result += script;
        }
        continue;
      }
      if (/\s/.test(character)) {
        result += this.parseWhitespace();
        continue;
      }
      if (character === "=" || character === "<" || character === ">") {
        result = `${result.trimEnd()} ${character} `;
        this.position++;
        continue;
      }
      if (character === "&") {
        this.position++;
        continue;
      }
      if (character === "~") {
        this.position++;
        result += " ";
        continue;
      }
      if (character === ".") {
        const marker = TRAILING_LAYOUT_MARKER_PATTERN.exec(result);
        const node = marker ? this.layoutNodes[Number(marker[1])] : void 0;
        if (node?.type === "matrix") {
          const lastLine = node.lines.length - 1;
          node.lines[lastLine] = `${node.lines[lastLine] ?? ""}${character}`;
          this.position++;
          continue;
        }
      }
      result += character;
      this.position++;
    }
    if (endCharacter) {
      this.supported = false;
    }
    return result;
  }
  parseScripts(initialMarker) {
    const scripts = {};
    const order = [];
    const parse = (marker) => {
      const kind = marker === "_" ? "sub" : "sup";
      this.scriptDepth++;
      try {
        scripts[kind] = this.parseRequiredArgument(false);
      } finally {
        this.scriptDepth--;
      }
      order.push(kind);
    };
    parse(initialMarker);
    let nextPosition = this.position;
    while (nextPosition < this.source.length && /\s/.test(this.source[nextPosition] ?? "")) {
      nextPosition++;
    }
    const nextMarker = this.source[nextPosition];
    if ((nextMarker === "^" || nextMarker === "_") && nextMarker !== initialMarker) {
      this.position = nextPosition + 1;
      parse(nextMarker);
    }
    const subUnicode = scripts.sub === void 0 ? void 0 : formatUnicodeScript(scripts.sub, "sub");
    const supUnicode = scripts.sup === void 0 ? void 0 : formatUnicodeScript(scripts.sup, "sup");
    const canUseLayout = ![scripts.sub, scripts.sup].some((value) => value !== void 0 && (value.includes("/") || !value.includes(LAYOUT_MARKER_START) && Array.from(value).length > 1 && !/[A-Z*∗]/.test(value)));
    const needsLayout = this.display && canUseLayout && (this.scriptDepth > 0 || scripts.sub !== void 0 && subUnicode === void 0 || scripts.sup !== void 0 && supUnicode === void 0);
    if (!needsLayout) {
      return order.map((kind) => kind === "sub" ? subUnicode ?? formatScript(scripts.sub ?? "", kind) : supUnicode ?? formatScript(scripts.sup ?? "", kind)).join("");
    }
    const index = this.layoutNodes.push({
      type: "script",
      lower: scripts.sub === void 0 ? void 0 : normalizeOutput(scripts.sub),
      upper: scripts.sup === void 0 ? void 0 : normalizeOutput(scripts.sup)
    }) - 1;
    return `${LAYOUT_MARKER_START}${index}${LAYOUT_MARKER_END}`;
  }
  parseWhitespace() {
    while (this.position < this.source.length && /\s/.test(this.source[this.position] ?? "")) {
      this.position++;
    }
    return " ";
  }
  parseCommand() {
    this.position++;
    if (this.position >= this.source.length) {
      this.supported = false;
      return "";
    }
    let command = "";
    const first = this.source[this.position] ?? "";
    if (first === "\n" || first === "\r") {
      this.position++;
      if (first === "\r" && this.source[this.position] === "\n") {
        this.position++;
      }
      return " ";
    }
    if (/[A-Za-z]/.test(first)) {
      const start2 = this.position;
      while (this.position < this.source.length && /[A-Za-z]/.test(this.source[this.position] ?? "")) {
        this.position++;
      }
      command = this.source.slice(start2, this.position);
    } else {
      command = first;
      this.position++;
    }
    if (command === "\\") {
      return "\n";
    }
    if (SPACING_COMMANDS.has(command)) {
      return " ";
    }
    if (NEGATIVE_SPACING_COMMANDS.has(command)) {
      return NEGATIVE_SPACE;
    }
    if (FONT_SWITCH_COMMANDS.has(command)) {
      while (this.position < this.source.length && /\s/.test(this.source[this.position] ?? "")) {
        this.position++;
      }
      return "";
    }
    if (IGNORED_COMMANDS.has(command)) {
      return "";
    }
    if (command === "{" || command === "}" || command === "$" || command === "%" || command === "#" || command === "_" || command === "&") {
      return command;
    }
    if (command === "|") {
      return "\u2016";
    }
    if (command === "not") {
      const value = this.parseRequiredArgument(false).trim();
      const negated = NEGATED_SYMBOLS[value];
      if (negated !== void 0) {
        return ` ${negated} `;
      }
      const characters = Array.from(value);
      if (characters.length === 0) {
        this.supported = false;
        return "";
      }
      return ` ${characters[0]}\u0338${characters.slice(1).join("")} `;
    }
    if (LIMIT_OPERATORS.has(command)) {
      return this.parseOperator(command, "bracket", true, true);
    }
    const symbol = SYMBOLS[command];
    if (symbol !== void 0) {
      if (DISPLAY_LIMIT_SYMBOLS.has(command)) {
        return this.parseOperator(symbol, "script", true);
      }
      return command === "cdot" || command === "times" || RELATION_COMMANDS.has(command) ? ` ${symbol} ` : symbol;
    }
    if (NAMED_OPERATORS.has(command)) {
      return `${NAMED_OPERATOR_START}${command}${NAMED_OPERATOR_END}`;
    }
    if (SIZE_COMMANDS.has(command)) {
      return "";
    }
    if (command === "left" || command === "middle" || command === "right") {
      if (this.source[this.position] === ".") {
        this.position++;
      }
      return "";
    }
    if (command === "frac" || command === "dfrac" || command === "tfrac") {
      const shouldStack = this.display && this.stackFractions && command !== "tfrac";
      const numerator = this.parseRequiredArgument(!shouldStack);
      const denominator = this.parseRequiredArgument(!shouldStack);
      if (shouldStack) {
        const index = this.layoutNodes.push({
          type: "fraction",
          numerator: normalizeOutput(numerator),
          denominator: normalizeOutput(denominator)
        }) - 1;
        return `${LAYOUT_MARKER_START}${index}${LAYOUT_MARKER_END}`;
      }
      return formatFraction(numerator, denominator);
    }
    if (command === "sqrt") {
      const degree = this.parseOptionalArgument()?.trim();
      const value = this.parseRequiredArgument();
      if (degree === void 0 || degree === "2") {
        return formatRoot(value);
      }
      if (degree === "3") {
        return formatRoot(value, "\u221B");
      }
      if (degree === "4") {
        return formatRoot(value, "\u221C");
      }
      return `${formatScript(degree, "sup")}${formatRoot(value)}`;
    }
    if (command === "boxed" || command === "fbox") {
      return `[${this.parseRequiredArgument().trim()}]`;
    }
    if (command === "binom" || command === "dbinom" || command === "tbinom") {
      return `(${this.parseRequiredArgument()} choose ${this.parseRequiredArgument()})`;
    }
    const accent = ACCENTS[command];
    if (accent !== void 0) {
      const value = this.parseRequiredArgument();
      return Array.from(value).length === 1 ? `${value}${accent}` : `${command}(${value})`;
    }
    if (command === "mathbb") {
      const value = this.parseRequiredArgument();
      return Array.from(value, (character) => BLACKBOARD[character] ?? character).join("");
    }
    if (command === "operatorname") {
      const starred = this.source[this.position] === "*";
      if (starred) {
        this.position++;
      }
      const operator = normalizeOutput(this.parseRequiredArgument()).trim();
      return this.parseOperator(operator, "bracket", starred, true);
    }
    if (command === "mod" || command === "bmod") {
      return " mod ";
    }
    if (command === "pmod" || command === "pod") {
      const value = this.parseRequiredArgument().trim();
      return command === "pmod" ? ` (mod ${value})` : ` (${value})`;
    }
    if (command === "overset" || command === "stackrel") {
      const upper = this.parseRequiredArgument();
      const value = this.parseRequiredArgument().trim();
      return `${value}${formatScript(upper, "sup")}`;
    }
    if (command === "underset") {
      const lower = this.parseRequiredArgument();
      const value = this.parseRequiredArgument().trim();
      return `${value}${formatScript(lower, "sub")}`;
    }
    if (PLAIN_WRAPPERS.has(command)) {
      const value = this.parseRequiredArgument();
      return command.startsWith("text") || command === "mbox" ? value : value.trim();
    }
    if (command === "begin") {
      return this.parseEnvironment();
    }
    if (command === "end") {
      this.supported = false;
      return "";
    }
    this.supported = false;
    return `\\${command}`;
  }
  parseOperator(operator, inlineLowerStyle, displayLimits, spaced = false) {
    let useDisplayLimits = displayLimits;
    let modifierPosition = this.position;
    while (modifierPosition < this.source.length && /[ \t]/.test(this.source[modifierPosition] ?? "")) {
      modifierPosition++;
    }
    const modifier = /^\\(limits|nolimits)(?![A-Za-z])/.exec(this.source.slice(modifierPosition));
    if (modifier) {
      useDisplayLimits = modifier[1] === "limits";
      this.position = modifierPosition + modifier[0].length;
    }
    let lower;
    let upper;
    while (true) {
      let scriptPosition = this.position;
      while (scriptPosition < this.source.length && /[ \t]/.test(this.source[scriptPosition] ?? "")) {
        scriptPosition++;
      }
      const kind = this.source[scriptPosition];
      if (kind !== "_" && kind !== "^") {
        break;
      }
      this.position = scriptPosition + 1;
      const value = normalizeOutput(this.parseRequiredArgument(false)).replaceAll(" ", "");
      if (kind === "_") {
        if (lower !== void 0) {
          this.supported = false;
        }
        lower = value;
      } else {
        if (upper !== void 0) {
          this.supported = false;
        }
        upper = value;
      }
    }
    if (this.display && useDisplayLimits && (lower !== void 0 || upper !== void 0)) {
      const index = this.layoutNodes.push({ type: "operator", operator, lower, upper }) - 1;
      return `${LAYOUT_MARKER_START}${index}${LAYOUT_MARKER_END}`;
    }
    let rendered = operator;
    if (lower !== void 0) {
      rendered += inlineLowerStyle === "bracket" ? `[${lower}]` : formatScript(lower, "sub");
    }
    if (upper !== void 0) {
      rendered += formatScript(upper, "sup");
    }
    return spaced ? ` ${rendered} ` : rendered;
  }
  parseRequiredArgument(stackFractions = true) {
    const previousStackFractions = this.stackFractions;
    this.stackFractions = previousStackFractions && stackFractions;
    const value = this.parseRequiredArgumentValue();
    this.stackFractions = previousStackFractions;
    return value;
  }
  parseRequiredArgumentValue() {
    while (this.position < this.source.length && /\s/.test(this.source[this.position] ?? "")) {
      this.position++;
    }
    if (this.position >= this.source.length) {
      this.supported = false;
      return "";
    }
    if (this.source[this.position] === "{") {
      this.position++;
      return this.parseSequence("}");
    }
    if (this.source[this.position] === "\\") {
      return this.parseCommand();
    }
    const value = this.source[this.position] ?? "";
    this.position++;
    return value;
  }
  parseOptionalArgument() {
    while (this.position < this.source.length && /[ \t]/.test(this.source[this.position] ?? "")) {
      this.position++;
    }
    if (this.source[this.position] !== "[") {
      return void 0;
    }
    const end = this.source.indexOf("]", this.position + 1);
    if (end < 0) {
      this.supported = false;
      return void 0;
    }
    const value = this.source.slice(this.position + 1, end);
    this.position = end + 1;
    return this.renderNested(value);
  }
  readRawGroup() {
    while (this.position < this.source.length && /[ \t]/.test(this.source[this.position] ?? "")) {
      this.position++;
    }
    if (this.source[this.position] !== "{") {
      this.supported = false;
      return void 0;
    }
    const start2 = ++this.position;
    let depth = 1;
    while (this.position < this.source.length) {
      const character = this.source[this.position];
      if (character === "\\") {
        this.position += 2;
        continue;
      }
      if (character === "{")
        depth++;
      if (character === "}")
        depth--;
      if (depth === 0) {
        const value = this.source.slice(start2, this.position);
        this.position++;
        return value;
      }
      this.position++;
    }
    this.supported = false;
    return void 0;
  }
  splitEnvironmentRows(body) {
    return body.split(/\\\\(?:\[[^\]\n]*\])?/);
  }
  parseEnvironment() {
    const environment = this.readRawGroup();
    if (!environment) {
      return "";
    }
    const endMarker = `\\end{${environment}}`;
    const end = this.source.indexOf(endMarker, this.position);
    if (end < 0) {
      this.supported = false;
      return "";
    }
    const body = this.source.slice(this.position, end);
    this.position = end + endMarker.length;
    if (environment === "equation" || environment === "equation*" || environment === "displaymath") {
      return this.renderNested(body).trim();
    }
    if (environment === "aligned" || environment === "align" || environment === "align*" || environment === "alignedat" || environment === "alignat" || environment === "alignat*" || environment === "gather" || environment === "gathered" || environment === "multline" || environment === "multline*" || environment === "split") {
      const alignedAt = ["alignedat", "alignat", "alignat*"].includes(environment);
      const alignedBody = alignedAt ? body.replace(/^\s*\{[^}]*\}/, "") : body;
      return this.splitEnvironmentRows(alignedBody).map((row) => {
        const cells = row.split("&");
        const source = alignedAt ? Array.from({ length: Math.ceil(cells.length / 2) }, (_2, index) => cells.slice(index * 2, index * 2 + 2).join("")).join(" ") : cells.join("");
        return this.renderNested(source).trim();
      }).filter(Boolean).join("\n");
    }
    if (environment === "cases" || environment === "cases*") {
      return this.renderCases(body);
    }
    if (["array", "matrix", "smallmatrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix"].includes(environment)) {
      const matrixBody = environment === "array" ? body.replace(/^\s*\{[^}]*\}/, "") : body;
      return this.renderMatrix(environment, matrixBody);
    }
    this.supported = false;
    return body;
  }
  renderCases(body) {
    const rows = this.splitEnvironmentRows(body).map((row) => row.split("&").map((cell) => this.renderNested(cell, false).trim())).filter((row) => row.some(Boolean));
    const valueWidth = Math.max(0, ...rows.map((row) => visibleWidth((row[0] ?? "").replace(/,\s*$/, ""))));
    const contents = rows.map((row) => {
      const value = (row[0] ?? "").replace(/,\s*$/, "");
      const condition = row[1] ?? "";
      if (!condition) {
        return value;
      }
      const conditionPrefix = /^(?:if|when|for|otherwise)\b/i.test(condition) ? " " : " if ";
      return `${value}${PROTECTED_SPACE.repeat(valueWidth - visibleWidth(value))}${conditionPrefix}${condition}`;
    });
    if (contents.length <= 1) {
      return contents.length === 0 ? "" : `\u23A7 ${contents[0]}`;
    }
    const middle = Math.floor(contents.length / 2);
    const visualRows = [...contents];
    if (contents.length % 2 === 0) {
      visualRows.splice(middle, 0, void 0);
    }
    const lines = visualRows.map((content, index2) => {
      const delimiter = index2 === 0 ? "\u23A7" : index2 === visualRows.length - 1 ? "\u23A9" : "\u23A8";
      return content === void 0 ? delimiter : `${delimiter} ${content}`;
    });
    const index = this.layoutNodes.push({ type: "matrix", lines, baseline: middle }) - 1;
    return `${LAYOUT_MARKER_START}${index}${LAYOUT_MARKER_END}`;
  }
  renderMatrix(environment, body) {
    const matrix = this.splitEnvironmentRows(body).map((row) => row.split("&").map((cell) => this.renderNested(cell, false).trim())).filter((row) => row.some(Boolean));
    const columnCount = Math.max(0, ...matrix.map((row) => row.length));
    const columnWidths = Array.from({ length: columnCount }, (_2, column) => Math.max(0, ...matrix.map((row) => visibleWidth(row[column] ?? ""))));
    const rows = matrix.map((row) => Array.from({ length: columnCount }, (_2, column) => {
      const cell = row[column] ?? "";
      return `${cell}${PROTECTED_SPACE.repeat(Math.max(0, (columnWidths[column] ?? 0) - visibleWidth(cell)))}`;
    }).join(" \u2502 "));
    let lines;
    if (environment === "array" || environment === "matrix" || environment === "smallmatrix") {
      lines = rows;
    } else {
      const delimiters = {
        pmatrix: ["\u239B", "\u239E", "\u239C", "\u239F", "\u239D", "\u23A0"],
        bmatrix: ["\u23A1", "\u23A4", "\u23A2", "\u23A5", "\u23A3", "\u23A6"],
        Bmatrix: ["\u23A7", "\u23AB", "\u23A8", "\u23AC", "\u23A9", "\u23AD"],
        vmatrix: ["\u2502", "\u2502", "\u2502", "\u2502", "\u2502", "\u2502"],
        Vmatrix: ["\u2551", "\u2551", "\u2551", "\u2551", "\u2551", "\u2551"]
      };
      const delimiter = delimiters[environment];
      if (!delimiter) {
        this.supported = false;
        return rows.join("\n");
      }
      lines = rows.map((row, index2) => {
        const left = index2 === 0 ? delimiter[0] : index2 === rows.length - 1 ? delimiter[4] : delimiter[2];
        const right = index2 === 0 ? delimiter[1] : index2 === rows.length - 1 ? delimiter[5] : delimiter[3];
        return `${left} ${row} ${right}`;
      });
    }
    if (lines.length <= 1) {
      return lines[0] ?? "";
    }
    const index = this.layoutNodes.push({ type: "matrix", lines, baseline: 0 }) - 1;
    return `${LAYOUT_MARKER_START}${index}${LAYOUT_MARKER_END}`;
  }
  renderNested(source, stackFractions = true) {
    const rendered = new _LatexParser(source, this.layoutNodes, this.display && stackFractions).render();
    if (rendered === void 0) {
      this.supported = false;
      return source;
    }
    return rendered;
  }
};
function renderLatex(source, options = {}) {
  const layoutNodes = [];
  const rendered = new LatexParser(source, layoutNodes, options.display === true).render();
  if (rendered === void 0) {
    return void 0;
  }
  if (layoutNodes.length === 0) {
    return rendered.replaceAll(PROTECTED_SPACE, " ");
  }
  const lines = renderLayout(rendered, layoutNodes).lines;
  const indentation = Math.min(...lines.filter((line) => line.trim()).map((line) => line.length - line.trimStart().length));
  return lines.map((line) => line.slice(indentation).trimEnd()).join("\n").trimEnd().replaceAll(PROTECTED_SPACE, " ");
}

// node_modules/@earendil-works/pi-tui/dist/components/markdown.js
var STRICT_STRIKETHROUGH_REGEX = /^(~~)(?=[^\s~])((?:\\.|[^\\])*?(?:\\.|[^\s~\\]))\1(?=[^~]|$)/;
var StrictStrikethroughTokenizer = class extends y {
  del(src) {
    const match = STRICT_STRIKETHROUGH_REGEX.exec(src);
    if (!match) {
      return void 0;
    }
    const text = match[2];
    return {
      type: "del",
      raw: match[0],
      text,
      tokens: this.lexer.inlineTokens(text)
    };
  }
};
function isEscaped(source, index) {
  let backslashes = 0;
  for (let position = index - 1; position >= 0 && source[position] === "\\"; position--) {
    backslashes++;
  }
  return backslashes % 2 === 1;
}
function findClosingDelimiter(source, closing, start2) {
  let index = source.indexOf(closing, start2);
  while (index >= 0 && isEscaped(source, index)) {
    index = source.indexOf(closing, index + closing.length);
  }
  return index;
}
function looksLikePendingDollarMath(source) {
  return /\\[A-Za-z]+|[_^=+*/<>()[\]|±≤≥≠≈∈→⇒∞∫∑√-]/.test(source);
}
function tokenizeInlineLatex(source) {
  let opening = "";
  let closing = "";
  if (source.startsWith("$$")) {
    opening = "$$";
    closing = "$$";
  } else if (source.startsWith("\\(")) {
    opening = "\\(";
    closing = "\\)";
  } else if (source.startsWith("\\[")) {
    opening = "\\[";
    closing = "\\]";
  } else if (source.startsWith("$") && !/^\$\s/.test(source)) {
    opening = "$";
    closing = "$";
  } else {
    return void 0;
  }
  const closingIndex = findClosingDelimiter(source, closing, opening.length);
  if (closingIndex >= 0 && opening === "$" && (/\s$/.test(source.slice(opening.length, closingIndex)) || /^\d/.test(source.slice(closingIndex + 1)) || /^[A-Z_][A-Z0-9_]*(?:[^A-Za-z0-9_\s])?$/.test(source.slice(opening.length, closingIndex)) && /^[A-Za-z_][A-Za-z0-9_]*/.test(source.slice(closingIndex + 1)) || source.slice(opening.length, closingIndex).includes("`"))) {
    return void 0;
  }
  if (closingIndex < 0) {
    const pendingSource = source.slice(opening.length);
    if (opening.startsWith("\\") || looksLikePendingDollarMath(pendingSource)) {
      return { type: "latex", raw: source, text: pendingSource, pending: true };
    }
    return void 0;
  }
  const text = source.slice(opening.length, closingIndex);
  if (!text || text.includes("\n")) {
    return void 0;
  }
  const raw = source.slice(0, closingIndex + closing.length);
  return { type: "latex", raw, text };
}
function tokenizeBlockLatex(source) {
  const dollarMatch = /^ {0,3}\$\$[ \t]*(?:\n)?([\s\S]*?)\$\$[ \t]*(?:\n|$)/.exec(source);
  if (dollarMatch?.[1]) {
    return { type: "latexBlock", raw: dollarMatch[0], text: dollarMatch[1].trim() };
  }
  const bracketMatch = /^ {0,3}\\\[[ \t]*(?:\n)?([\s\S]*?)\\\][ \t]*(?:\n|$)/.exec(source);
  if (bracketMatch?.[1]) {
    return { type: "latexBlock", raw: bracketMatch[0], text: bracketMatch[1].trim() };
  }
  const pendingBracket = /^ {0,3}\\\[[ \t]*(?:\n)?([\s\S]*)$/.exec(source);
  if (pendingBracket) {
    return { type: "latexBlock", raw: pendingBracket[0], text: pendingBracket[1], pending: true };
  }
  const pendingDollar = /^ {0,3}\$\$[ \t]*(?:\n)?([\s\S]*)$/.exec(source);
  if (pendingDollar?.[1] && looksLikePendingDollarMath(pendingDollar[1])) {
    return { type: "latexBlock", raw: pendingDollar[0], text: pendingDollar[1], pending: true };
  }
  return void 0;
}
var LATEX_MARKDOWN_EXTENSIONS = [
  {
    name: "latexBlock",
    level: "block",
    start(source) {
      const match = /(?:^|\n) {0,3}(?:\$\$|\\\[)/.exec(source);
      return match ? match.index + (match[0].startsWith("\n") ? 1 : 0) : void 0;
    },
    tokenizer: tokenizeBlockLatex
  },
  {
    name: "latex",
    level: "inline",
    start(source) {
      const indices = [source.indexOf("$"), source.indexOf("\\("), source.indexOf("\\[")].filter((index) => index >= 0);
      return indices.length > 0 ? Math.min(...indices) : void 0;
    },
    tokenizer: tokenizeInlineLatex
  }
];
function trimPartialClosingFences(tokens) {
  const token = tokens[tokens.length - 1];
  if (token?.type === "list") {
    trimPartialClosingFences(token.items[token.items.length - 1]?.tokens ?? []);
    return;
  }
  if (token?.type === "blockquote") {
    trimPartialClosingFences(token.tokens ?? []);
    return;
  }
  if (token?.type !== "code") {
    return;
  }
  const marker = /^(`{3,}|~{3,})/.exec(token.raw)?.[1];
  const lastLine = token.raw.split("\n").pop();
  if (!marker || !lastLine || lastLine.length >= marker.length || lastLine !== marker[0]?.repeat(lastLine.length)) {
    return;
  }
  token.text = token.text.slice(0, -lastLine.length).replace(/\n$/, "");
}
var markdownParser = new Z();
markdownParser.setOptions({
  tokenizer: new StrictStrikethroughTokenizer()
});
markdownParser.use({ extensions: [...LATEX_MARKDOWN_EXTENSIONS] });
var Markdown = class {
  text;
  paddingX;
  // Left/right padding
  paddingY;
  // Top/bottom padding
  defaultTextStyle;
  theme;
  options;
  defaultStylePrefix;
  // Cache for rendered output
  cachedText;
  cachedWidth;
  cachedLines;
  constructor(text, paddingX, paddingY, theme, defaultTextStyle, options) {
    this.text = text;
    this.paddingX = paddingX;
    this.paddingY = paddingY;
    this.theme = theme;
    this.defaultTextStyle = defaultTextStyle;
    this.options = options ? { ...options } : {};
  }
  setText(text) {
    this.text = text;
    this.invalidate();
  }
  invalidate() {
    this.cachedText = void 0;
    this.cachedWidth = void 0;
    this.cachedLines = void 0;
  }
  render(width) {
    if (this.cachedLines && this.cachedText === this.text && this.cachedWidth === width) {
      return this.cachedLines;
    }
    const contentWidth = Math.max(1, width - this.paddingX * 2);
    const text = this.options.transform?.(this.text, contentWidth) ?? this.text;
    if (!text || text.trim() === "") {
      const result2 = [];
      this.cachedText = this.text;
      this.cachedWidth = width;
      this.cachedLines = result2;
      return result2;
    }
    const normalizedText = text.replace(/\t/g, "   ");
    const tokens = markdownParser.lexer(normalizedText);
    trimPartialClosingFences(tokens);
    const renderedLines = [];
    for (let i = 0; i < tokens.length; i++) {
      const token = tokens[i];
      const nextToken = tokens[i + 1];
      const tokenLines = this.renderToken(token, contentWidth, nextToken?.type);
      for (const tokenLine of tokenLines) {
        renderedLines.push(tokenLine);
      }
    }
    const wrappedLines = [];
    for (const line of renderedLines) {
      if (isImageLine(line)) {
        wrappedLines.push(line);
      } else {
        for (const wrappedLine of wrapTextWithAnsi(line, contentWidth)) {
          wrappedLines.push(wrappedLine);
        }
      }
    }
    const leftMargin = " ".repeat(this.paddingX);
    const rightMargin = " ".repeat(this.paddingX);
    const bgFn = this.defaultTextStyle?.bgColor;
    const contentLines = [];
    for (const line of wrappedLines) {
      if (isImageLine(line)) {
        contentLines.push(line);
        continue;
      }
      const lineWithMargins = leftMargin + line + rightMargin;
      if (bgFn) {
        contentLines.push(applyBackgroundToLine(lineWithMargins, width, bgFn));
      } else {
        const visibleLen = visibleWidth(lineWithMargins);
        const paddingNeeded = Math.max(0, width - visibleLen);
        contentLines.push(lineWithMargins + " ".repeat(paddingNeeded));
      }
    }
    const emptyLine = " ".repeat(width);
    const emptyLines = [];
    for (let i = 0; i < this.paddingY; i++) {
      const line = bgFn ? applyBackgroundToLine(emptyLine, width, bgFn) : emptyLine;
      emptyLines.push(line);
    }
    const result = emptyLines.concat(contentLines, emptyLines);
    this.cachedText = this.text;
    this.cachedWidth = width;
    this.cachedLines = result;
    return result.length > 0 ? result : [""];
  }
  /**
   * Apply default text style to a string.
   * This is the base styling applied to all text content.
   * NOTE: Background color is NOT applied here - it's applied at the padding stage
   * to ensure it extends to the full line width.
   */
  applyDefaultStyle(text) {
    if (!this.defaultTextStyle) {
      return text;
    }
    let styled = text;
    if (this.defaultTextStyle.color) {
      styled = this.defaultTextStyle.color(styled);
    }
    if (this.defaultTextStyle.bold) {
      styled = this.theme.bold(styled);
    }
    if (this.defaultTextStyle.italic) {
      styled = this.theme.italic(styled);
    }
    if (this.defaultTextStyle.strikethrough) {
      styled = this.theme.strikethrough(styled);
    }
    if (this.defaultTextStyle.underline) {
      styled = this.theme.underline(styled);
    }
    return styled;
  }
  getDefaultStylePrefix() {
    if (!this.defaultTextStyle) {
      return "";
    }
    if (this.defaultStylePrefix !== void 0) {
      return this.defaultStylePrefix;
    }
    const sentinel = "\0";
    let styled = sentinel;
    if (this.defaultTextStyle.color) {
      styled = this.defaultTextStyle.color(styled);
    }
    if (this.defaultTextStyle.bold) {
      styled = this.theme.bold(styled);
    }
    if (this.defaultTextStyle.italic) {
      styled = this.theme.italic(styled);
    }
    if (this.defaultTextStyle.strikethrough) {
      styled = this.theme.strikethrough(styled);
    }
    if (this.defaultTextStyle.underline) {
      styled = this.theme.underline(styled);
    }
    const sentinelIndex = styled.indexOf(sentinel);
    this.defaultStylePrefix = sentinelIndex >= 0 ? styled.slice(0, sentinelIndex) : "";
    return this.defaultStylePrefix;
  }
  getStylePrefix(styleFn) {
    const sentinel = "\0";
    const styled = styleFn(sentinel);
    const sentinelIndex = styled.indexOf(sentinel);
    return sentinelIndex >= 0 ? styled.slice(0, sentinelIndex) : "";
  }
  getDefaultInlineStyleContext() {
    return {
      applyText: (text) => this.applyDefaultStyle(text),
      stylePrefix: this.getDefaultStylePrefix()
    };
  }
  renderToken(token, width, nextTokenType, styleContext) {
    const lines = [];
    switch (token.type) {
      case "heading": {
        const headingLevel = token.depth;
        const headingPrefix = `${"#".repeat(headingLevel)} `;
        let headingStyleFn;
        if (headingLevel === 1) {
          headingStyleFn = (text) => this.theme.heading(this.theme.bold(this.theme.underline(text)));
        } else {
          headingStyleFn = (text) => this.theme.heading(this.theme.bold(text));
        }
        const headingStyleContext = {
          applyText: headingStyleFn,
          stylePrefix: this.getStylePrefix(headingStyleFn)
        };
        const headingText = this.renderInlineTokens(token.tokens || [], headingStyleContext);
        const styledHeading = headingLevel >= 3 ? headingStyleFn(headingPrefix) + headingText : headingText;
        lines.push(styledHeading);
        if (nextTokenType && nextTokenType !== "space") {
          lines.push("");
        }
        break;
      }
      case "paragraph": {
        const paragraphText = this.renderInlineTokens(token.tokens || [], styleContext);
        lines.push(paragraphText);
        if (nextTokenType && nextTokenType !== "list" && nextTokenType !== "space") {
          lines.push("");
        }
        break;
      }
      case "text":
        lines.push(this.renderInlineTokens([token], styleContext));
        break;
      case "latexBlock": {
        const latexToken = token;
        const rendered = !latexToken.pending && this.options.renderLatex !== false ? renderLatex(latexToken.text, { display: true }) ?? latexToken.raw.trim() : latexToken.raw.trim();
        for (const line of rendered.split("\n")) {
          lines.push(this.applyDefaultStyle(line));
        }
        if (nextTokenType && nextTokenType !== "space") {
          lines.push("");
        }
        break;
      }
      case "code": {
        const indent = this.theme.codeBlockIndent ?? "  ";
        lines.push(this.theme.codeBlockBorder(`\`\`\`${token.lang || ""}`));
        if (this.theme.highlightCode) {
          const highlightedLines = this.theme.highlightCode(token.text, token.lang);
          for (const hlLine of highlightedLines) {
            lines.push(`${indent}${hlLine}`);
          }
        } else {
          const codeLines = token.text.split("\n");
          for (const codeLine of codeLines) {
            lines.push(`${indent}${this.theme.codeBlock(codeLine)}`);
          }
        }
        lines.push(this.theme.codeBlockBorder("```"));
        if (nextTokenType && nextTokenType !== "space") {
          lines.push("");
        }
        break;
      }
      case "list": {
        const listLines = this.renderList(token, 0, width, styleContext);
        lines.push(...listLines);
        break;
      }
      case "table": {
        const tableLines = this.renderTable(token, width, nextTokenType, styleContext);
        lines.push(...tableLines);
        break;
      }
      case "blockquote": {
        const quoteStyle = (text) => this.theme.quote(this.theme.italic(text));
        const quoteStylePrefix = this.getStylePrefix(quoteStyle);
        const applyQuoteStyle = (line) => {
          if (!quoteStylePrefix) {
            return quoteStyle(line);
          }
          const lineWithReappliedStyle = line.replace(/\x1b\[0m/g, `\x1B[0m${quoteStylePrefix}`);
          return quoteStyle(lineWithReappliedStyle);
        };
        const quoteContentWidth = Math.max(1, width - 2);
        const quoteInlineStyleContext = {
          applyText: (text) => text,
          stylePrefix: quoteStylePrefix
        };
        const quoteTokens = token.tokens || [];
        const renderedQuoteLines = [];
        for (let i = 0; i < quoteTokens.length; i++) {
          const quoteToken = quoteTokens[i];
          const nextQuoteToken = quoteTokens[i + 1];
          renderedQuoteLines.push(...this.renderToken(quoteToken, quoteContentWidth, nextQuoteToken?.type, quoteInlineStyleContext));
        }
        while (renderedQuoteLines.length > 0 && renderedQuoteLines[renderedQuoteLines.length - 1] === "") {
          renderedQuoteLines.pop();
        }
        for (const quoteLine of renderedQuoteLines) {
          const styledLine = applyQuoteStyle(quoteLine);
          const wrappedLines = wrapTextWithAnsi(styledLine, quoteContentWidth);
          for (const wrappedLine of wrappedLines) {
            lines.push(this.theme.quoteBorder("\u2502 ") + wrappedLine);
          }
        }
        if (nextTokenType && nextTokenType !== "space") {
          lines.push("");
        }
        break;
      }
      case "hr":
        lines.push(this.theme.hr("\u2500".repeat(Math.min(width, 80))));
        if (nextTokenType && nextTokenType !== "space") {
          lines.push("");
        }
        break;
      case "html":
        if ("raw" in token && typeof token.raw === "string") {
          lines.push(this.applyDefaultStyle(token.raw.trim()));
        }
        break;
      case "space":
        lines.push("");
        break;
      default:
        if ("text" in token && typeof token.text === "string") {
          lines.push(token.text);
        }
    }
    return lines;
  }
  renderInlineTokens(tokens, styleContext) {
    let result = "";
    const resolvedStyleContext = styleContext ?? this.getDefaultInlineStyleContext();
    const { applyText, stylePrefix } = resolvedStyleContext;
    const applyTextWithNewlines = (text) => {
      const segments = text.split("\n");
      return segments.map((segment) => applyText(segment)).join("\n");
    };
    for (const token of tokens) {
      switch (token.type) {
        case "latex": {
          const latexToken = token;
          const rendered = !latexToken.pending && this.options.renderLatex !== false ? renderLatex(latexToken.text) ?? latexToken.raw : latexToken.raw;
          result += applyTextWithNewlines(rendered);
          break;
        }
        case "escape":
          result += applyTextWithNewlines(this.options.preserveBackslashEscapes ? token.raw : token.text);
          break;
        case "text":
          if (token.tokens && token.tokens.length > 0) {
            result += this.renderInlineTokens(token.tokens, resolvedStyleContext);
          } else {
            result += applyTextWithNewlines(token.text);
          }
          break;
        case "paragraph":
          result += this.renderInlineTokens(token.tokens || [], resolvedStyleContext);
          break;
        case "strong": {
          const boldContent = this.renderInlineTokens(token.tokens || [], resolvedStyleContext);
          result += this.theme.bold(boldContent) + stylePrefix;
          break;
        }
        case "em": {
          const italicContent = this.renderInlineTokens(token.tokens || [], resolvedStyleContext);
          result += this.theme.italic(italicContent) + stylePrefix;
          break;
        }
        case "codespan":
          result += this.theme.code(token.text) + stylePrefix;
          break;
        case "link": {
          const linkText = this.renderInlineTokens(token.tokens || [], resolvedStyleContext);
          const styledLink = this.theme.link(this.theme.underline(linkText));
          if (getCapabilities().hyperlinks) {
            result += hyperlink(styledLink, token.href) + stylePrefix;
          } else {
            const hrefForComparison = token.href.startsWith("mailto:") ? token.href.slice(7) : token.href;
            if (token.text === token.href || token.text === hrefForComparison) {
              result += styledLink + stylePrefix;
            } else {
              result += styledLink + this.theme.linkUrl(` (${token.href})`) + stylePrefix;
            }
          }
          break;
        }
        case "br":
          result += "\n";
          break;
        case "del": {
          const delContent = this.renderInlineTokens(token.tokens || [], resolvedStyleContext);
          result += this.theme.strikethrough(delContent) + stylePrefix;
          break;
        }
        case "html":
          if ("raw" in token && typeof token.raw === "string") {
            result += applyTextWithNewlines(token.raw);
          }
          break;
        default:
          if ("text" in token && typeof token.text === "string") {
            result += applyTextWithNewlines(token.text);
          }
      }
    }
    while (stylePrefix && result.endsWith(stylePrefix)) {
      result = result.slice(0, -stylePrefix.length);
    }
    return result;
  }
  getOrderedListMarker(item) {
    const match = /^(?: {0,3})(\d{1,9}[.)])[ \t]+/.exec(item.raw);
    return match ? `${match[1]} ` : void 0;
  }
  getUnorderedListMarker(item) {
    const match = /^(?: {0,3})([-+*])(?:[ \t]+|(?=\r?\n|$))/.exec(item.raw);
    return match ? `${match[1]} ` : void 0;
  }
  /**
   * Render a list with proper nesting support
   */
  renderList(token, depth, width, styleContext) {
    const lines = [];
    const indent = "    ".repeat(depth);
    const startNumber = typeof token.start === "number" ? token.start : 1;
    for (let i = 0; i < token.items.length; i++) {
      const item = token.items[i];
      const isLastItem = i === token.items.length - 1;
      const bullet = token.ordered ? this.options.preserveOrderedListMarkers ? this.getOrderedListMarker(item) ?? `${startNumber + i}. ` : `${startNumber + i}. ` : this.options.preserveOrderedListMarkers ? this.getUnorderedListMarker(item) ?? "- " : "- ";
      const taskMarker = item.task ? `[${item.checked ? "x" : " "}] ` : "";
      const marker = bullet + taskMarker;
      const firstPrefix = indent + this.theme.listBullet(marker);
      const continuationPrefix = indent + " ".repeat(visibleWidth(marker));
      const itemWidth = Math.max(1, width - visibleWidth(firstPrefix));
      let renderedAnyLine = false;
      for (const itemToken of item.tokens) {
        if (itemToken.type === "list") {
          lines.push(...this.renderList(itemToken, depth + 1, width, styleContext));
          renderedAnyLine = true;
          continue;
        }
        const itemLines = this.renderToken(itemToken, itemWidth, void 0, styleContext);
        for (const line of itemLines) {
          for (const wrappedLine of wrapTextWithAnsi(line, itemWidth)) {
            const linePrefix = renderedAnyLine ? continuationPrefix : firstPrefix;
            lines.push(linePrefix + wrappedLine);
            renderedAnyLine = true;
          }
        }
      }
      if (!renderedAnyLine) {
        lines.push(firstPrefix);
      }
      if (token.loose && !isLastItem) {
        lines.push("");
      }
    }
    return lines;
  }
  /**
   * Get the visible width of the longest word in a string.
   */
  getLongestWordWidth(text, maxWidth) {
    const words = text.split(/\s+/).filter((word) => word.length > 0);
    let longest = 0;
    for (const word of words) {
      longest = Math.max(longest, visibleWidth(word));
    }
    if (maxWidth === void 0) {
      return longest;
    }
    return Math.min(longest, maxWidth);
  }
  /**
   * Wrap a table cell to fit into a column.
   *
   * Delegates to wrapTextWithAnsi() so ANSI codes + long tokens are handled
   * consistently with the rest of the renderer.
   */
  wrapCellText(text, maxWidth, stylePrefix = "") {
    const lines = wrapTextWithAnsi(text, Math.max(1, maxWidth));
    return lines.map((line, index) => {
      const styleReset = index < lines.length - 1 ? "\x1B[22;23;24;25;27;28;29;39m" : "";
      return `${line}${styleReset}${stylePrefix}`;
    });
  }
  /**
   * Render a table with width-aware cell wrapping.
   * Cells that don't fit are wrapped to multiple lines.
   */
  renderTable(token, availableWidth, nextTokenType, styleContext) {
    const lines = [];
    const numCols = token.header.length;
    if (numCols === 0) {
      return lines;
    }
    const borderOverhead = 3 * numCols + 1;
    const availableForCells = availableWidth - borderOverhead;
    if (availableForCells < numCols) {
      const fallbackLines = token.raw ? wrapTextWithAnsi(token.raw, availableWidth) : [];
      if (nextTokenType && nextTokenType !== "space") {
        fallbackLines.push("");
      }
      return fallbackLines;
    }
    const maxUnbrokenWordWidth = 30;
    const naturalWidths = [];
    const minWordWidths = [];
    for (let i = 0; i < numCols; i++) {
      const headerText = this.renderInlineTokens(token.header[i].tokens || [], styleContext);
      naturalWidths[i] = visibleWidth(headerText);
      minWordWidths[i] = Math.max(1, this.getLongestWordWidth(headerText, maxUnbrokenWordWidth));
    }
    for (const row of token.rows) {
      for (let i = 0; i < row.length; i++) {
        const cellText = this.renderInlineTokens(row[i].tokens || [], styleContext);
        naturalWidths[i] = Math.max(naturalWidths[i] || 0, visibleWidth(cellText));
        minWordWidths[i] = Math.max(minWordWidths[i] || 1, this.getLongestWordWidth(cellText, maxUnbrokenWordWidth));
      }
    }
    let minColumnWidths = minWordWidths;
    let minCellsWidth = minColumnWidths.reduce((a, b2) => a + b2, 0);
    if (minCellsWidth > availableForCells) {
      minColumnWidths = new Array(numCols).fill(1);
      const remaining = availableForCells - numCols;
      if (remaining > 0) {
        const totalWeight = minWordWidths.reduce((total, width) => total + Math.max(0, width - 1), 0);
        const growth = minWordWidths.map((width) => {
          const weight = Math.max(0, width - 1);
          return totalWeight > 0 ? Math.floor(weight / totalWeight * remaining) : 0;
        });
        for (let i = 0; i < numCols; i++) {
          minColumnWidths[i] += growth[i] ?? 0;
        }
        const allocated = growth.reduce((total, width) => total + width, 0);
        let leftover = remaining - allocated;
        for (let i = 0; leftover > 0 && i < numCols; i++) {
          minColumnWidths[i]++;
          leftover--;
        }
      }
      minCellsWidth = minColumnWidths.reduce((a, b2) => a + b2, 0);
    }
    const totalNaturalWidth = naturalWidths.reduce((a, b2) => a + b2, 0) + borderOverhead;
    let columnWidths;
    if (totalNaturalWidth <= availableWidth) {
      columnWidths = naturalWidths.map((width, index) => Math.max(width, minColumnWidths[index]));
    } else {
      const totalGrowPotential = naturalWidths.reduce((total, width, index) => {
        return total + Math.max(0, width - minColumnWidths[index]);
      }, 0);
      const extraWidth = Math.max(0, availableForCells - minCellsWidth);
      columnWidths = minColumnWidths.map((minWidth, index) => {
        const naturalWidth = naturalWidths[index];
        const minWidthDelta = Math.max(0, naturalWidth - minWidth);
        let grow = 0;
        if (totalGrowPotential > 0) {
          grow = Math.floor(minWidthDelta / totalGrowPotential * extraWidth);
        }
        return minWidth + grow;
      });
      const allocated = columnWidths.reduce((a, b2) => a + b2, 0);
      let remaining = availableForCells - allocated;
      while (remaining > 0) {
        let grew = false;
        for (let i = 0; i < numCols && remaining > 0; i++) {
          if (columnWidths[i] < naturalWidths[i]) {
            columnWidths[i]++;
            remaining--;
            grew = true;
          }
        }
        if (!grew) {
          break;
        }
      }
    }
    const topBorderCells = columnWidths.map((w) => "\u2500".repeat(w));
    lines.push(`\u250C\u2500${topBorderCells.join("\u2500\u252C\u2500")}\u2500\u2510`);
    const headerCellLines = token.header.map((cell, i) => {
      const text = this.renderInlineTokens(cell.tokens || [], styleContext);
      return this.wrapCellText(text, columnWidths[i], styleContext?.stylePrefix);
    });
    const headerLineCount = Math.max(...headerCellLines.map((c) => c.length));
    for (let lineIdx = 0; lineIdx < headerLineCount; lineIdx++) {
      const rowParts = headerCellLines.map((cellLines, colIdx) => {
        const text = cellLines[lineIdx] || "";
        const padded = text + " ".repeat(Math.max(0, columnWidths[colIdx] - visibleWidth(text)));
        return this.theme.bold(padded);
      });
      lines.push(`\u2502 ${rowParts.join(" \u2502 ")} \u2502`);
    }
    const separatorCells = columnWidths.map((w) => "\u2500".repeat(w));
    const separatorLine = `\u251C\u2500${separatorCells.join("\u2500\u253C\u2500")}\u2500\u2524`;
    lines.push(separatorLine);
    for (let rowIndex = 0; rowIndex < token.rows.length; rowIndex++) {
      const row = token.rows[rowIndex];
      const rowCellLines = row.map((cell, i) => {
        const text = this.renderInlineTokens(cell.tokens || [], styleContext);
        return this.wrapCellText(text, columnWidths[i], styleContext?.stylePrefix);
      });
      const rowLineCount = Math.max(...rowCellLines.map((c) => c.length));
      for (let lineIdx = 0; lineIdx < rowLineCount; lineIdx++) {
        const rowParts = rowCellLines.map((cellLines, colIdx) => {
          const text = cellLines[lineIdx] || "";
          return text + " ".repeat(Math.max(0, columnWidths[colIdx] - visibleWidth(text)));
        });
        lines.push(`\u2502 ${rowParts.join(" \u2502 ")} \u2502`);
      }
      if (rowIndex < token.rows.length - 1) {
        lines.push(separatorLine);
      }
    }
    const bottomBorderCells = columnWidths.map((w) => "\u2500".repeat(w));
    lines.push(`\u2514\u2500${bottomBorderCells.join("\u2500\u2534\u2500")}\u2500\u2518`);
    if (nextTokenType && nextTokenType !== "space") {
      lines.push("");
    }
    return lines;
  }
};

// node_modules/@earendil-works/pi-tui/dist/components/spacer.js
var Spacer = class {
  lines;
  constructor(lines = 1) {
    this.lines = lines;
  }
  setLines(lines) {
    this.lines = lines;
  }
  invalidate() {
  }
  render(_width) {
    const result = [];
    for (let i = 0; i < this.lines; i++) {
      result.push("");
    }
    return result;
  }
};

// extension/ui/text.ts
var ELLIPSIS = "\u2026";
var RESET = "\x1B[0m";
var UNSTYLED = "\x1B[22;23;24;29;39m";
var ESCAPES = (
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control sequences
  /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[PX^_][^\u001b]*(?:\u001b\\)?|[\u001b\u009b]\[?[0-?]*[ -/]*[@-~]/g
);
var CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;
var SAFE = /^[\n -~]*$/;
function plainText(text) {
  if (SAFE.test(text)) return text;
  return text.toWellFormed().replace(/\r\n?/g, "\n").replace(/\t/g, "   ").replace(ESCAPES, "").replace(CONTROLS, "");
}
function oneLine(text) {
  return plainText(text).replace(/\s+/g, " ").trim();
}
var STYLES = /\u001b\[[\d;]*m/g;
var NARROW = /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u2199\u21a9-\u22ff\u2500-\u25fc\u2713\u2717\u276f]*$/;
function widthOf(line) {
  const bare = line.includes("\x1B") ? line.replace(STYLES, "") : line;
  return NARROW.test(bare) ? bare.length : visibleWidth(line);
}
function clip(line, width) {
  if (width <= 0) return "";
  if (widthOf(line) <= width) return line;
  const cut = truncateToWidth(line, width, ELLIPSIS);
  return cut.replace(RESET, "").replace(RESET, line.includes("\x1B") ? UNSTYLED : "");
}

// extension/host/build.ts
import { readFileSync, realpathSync } from "node:fs";
import { SourceMap } from "node:module";
import { basename, sep } from "node:path";
import { fileURLToPath } from "node:url";
var packageFolder = new URL("../../", import.meta.url);
function isOwnFile(file) {
  return realPath(file).startsWith(realPath(fileURLToPath(new URL("extensions", packageFolder))) + sep);
}
function isOwnPrompt(file) {
  return realPath(file).startsWith(realPath(fileURLToPath(new URL("prompts", packageFolder))) + sep);
}
function realPath(file) {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
var FIRST_LINE = /^\/\/ pi-subagent-native (\S+) \S+\./;
function staleNotice() {
  if (false) return void 0;
  const onDisk = FIRST_LINE.exec(ownText());
  if (!onDisk || onDisk[0].includes(` ${"0.2.0 684437997bc612ff"}.`)) return void 0;
  const [version] = "0.2.0 684437997bc612ff".split(" ");
  const what = onDisk[1] === version ? "another build of it" : onDisk[1];
  return `this pi still runs ${version}, while ${what} is installed; restart pi to use it`;
}
function ownText() {
  try {
    return readFileSync(new URL(import.meta.url), "utf8");
  } catch {
    return "";
  }
}
var FRAME = /([^\s(]+):(\d+):(\d+)\)?$/m;
var map;
function positionOf({ stack = "" }) {
  const [, file = "", line, column] = FRAME.exec(stack) ?? [];
  if (!line || !column) return void 0;
  return file === import.meta.url && origin(Number(line), Number(column)) || `${basename(file)}:${line}:${column}`;
}
function origin(line, column) {
  try {
    map ??= new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(import.meta.url)}.map`, "utf8")));
  } catch {
    return void 0;
  }
  const entry = map.findEntry(line - 1, column - 1);
  if (!("originalSource" in entry)) return void 0;
  return `${basename(entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

// extension/host/guard.ts
var MAX_CHARACTERS = 300;
var session;
var isReported = false;
var pending;
function showFailuresIn(context, isNew) {
  session = context;
  if (isNew) isReported = pending !== void 0;
  if (pending !== void 0) showPending();
}
function recordFailure(what, error) {
  if (isReported) return;
  isReported = true;
  pending = `${failureText(what, error)}. The rest of the extension continues. Please report this`;
  setImmediate(showPending);
}
function showPending() {
  if (pending === void 0 || !session) return;
  try {
    showNotice(pending, session);
    pending = void 0;
  } catch {
  }
}
function failureLine(what, error, width) {
  return clip(`\u2717 pi-subagent-native: ${failureText(what, error)}`, width);
}
function failureText(what, error) {
  try {
    const text = `${what} failed: ${error}`.slice(0, MAX_CHARACTERS);
    const position = error instanceof Error && positionOf(error);
    return oneLine(position ? `${text} (${position})` : text);
  } catch {
    return `${what} failed`;
  }
}
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
function runGuarded(what, run, otherwise) {
  const recover = (error) => {
    recordFailure(what, error);
    return otherwise;
  };
  try {
    const result = run();
    return result instanceof Promise ? result.catch(recover) : result;
  } catch (error) {
    return recover(error);
  }
}
function reportFailure(what, promise) {
  promise.catch((error) => recordFailure(what, error));
}
function guardedInterval(what, run, everyMs) {
  return setInterval(() => runGuarded(what, run), everyMs).unref();
}
function guardedTimeout(what, run, afterMs) {
  return setTimeout(() => runGuarded(what, run), afterMs).unref();
}
var STDERR = 2;
var Notices = class {
  shown = /* @__PURE__ */ new Set();
  announce(notices, context) {
    const fresh = notices.filter((notice) => !this.shown.has(notice));
    if (fresh.length === 0) return;
    for (const notice of fresh) this.shown.add(notice);
    showNotice(fresh.join("\n"), context);
  }
};
function showNotice(notice, context) {
  const text = `pi-subagent-native: ${notice}`;
  if (context.hasUI) context.ui.notify(text, "warning");
  else printError(text);
}
function printError(text) {
  try {
    writeSync(STDERR, `${text}
`);
  } catch {
  }
}
function printAtExit(text) {
  process.once("exit", () => printError(wrapTextWithAnsi(text, process.stderr.columns || text.length).join("\n")));
}

// extension/host/stored.ts
var isText = (value) => typeof value === "string";
function contentText({ content }) {
  if (isText(content)) return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => isObject(part) && isText(part.text) ? part.text : "").join("\n");
}
function asJson(value, fields) {
  try {
    const json = JSON.stringify(value, fields) ?? "";
    if (!/\\ud[89a-f]/.test(json)) return json;
    return JSON.stringify(JSON.parse(json), (_2, field) => isText(field) ? field.toWellFormed() : field);
  } catch {
    return "";
  }
}
var isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
function defined(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== void 0));
}

// extension/background/deliveries.ts
function openDeliveries({ pi, context, background, native, arrived }) {
  const idsInSession = () => native.deliveredIn(deliveryEntries(context.sessionManager.getEntries()));
  const delivered = idsInSession();
  const dispatcher = new native.DeliveryDispatcher(context.hasUI, delivered);
  const messages = /* @__PURE__ */ new Map();
  let timer;
  let signal;
  function advance() {
    try {
      for (let next = dispatcher.next(); next; next = dispatcher.next()) {
        const { step, triggerTurn = false, deliveryIds = [] } = next;
        const message = messages.get(next.message ?? "");
        if (step === "check") dispatcher.contains(idsInSession(), context.sessionManager.getSessionFile());
        if (step === "confirm") background.session?.delivered(deliveryIds).catch(() => void 0);
        if (step === "arrived" && message) arrived(message);
        if (step === "send" && message) {
          pi.sendMessage(message.announcement, { triggerTurn, ...triggerTurn && { deliverAs: "followUp" } });
          dispatcher.sent();
        }
      }
    } finally {
      watch();
    }
  }
  function watch() {
    const waiting = dispatcher.waiting();
    for (const id of messages.keys()) if (!waiting.includes(id)) messages.delete(id);
    background.setUndelivered([...messages.values()].flatMap(({ runs }) => runs));
    const checkAfterMs = dispatcher.checkAfterMs();
    if (checkAfterMs !== null && checkAfterMs !== void 0) {
      timer ??= guardedInterval("delivering results", check, checkAfterMs);
      return;
    }
    clearInterval(timer);
    timer = void 0;
  }
  function check() {
    whileOpen(() => {
      dispatcher.check(context.isIdle());
      advance();
    });
  }
  function whileOpen(work) {
    try {
      work();
    } catch {
      try {
        context.isIdle();
        watch();
      } catch {
        forget();
      }
    }
  }
  function forget() {
    dispatcher.forget();
    watch();
  }
  return {
    /** The ids of the deliveries that were in the session when it was opened. */
    delivered,
    /** Queues a message from the addon for delivery. */
    add(message) {
      const [id] = message.deliveryIds;
      if (id === void 0 || !dispatcher.add(message.deliveryIds, message.triggerTurn)) return;
      messages.set(id, message);
      check();
    },
    /** Notes that a prompt has arrived and that pi prepares its turn. */
    prompted: () => dispatcher.prompted(),
    /** Delivers the queued messages before the prompt's turn starts. */
    beforeStart() {
      dispatcher.turnStarts();
      advance();
    },
    started(by) {
      dispatcher.turnStarted();
      signal = by;
    },
    /** Notes the end of a message. pi adds the message to the session after its handlers have finished. */
    messageEnded(message) {
      if (message.role === "assistant") dispatcher.answered(message.stopReason);
      if (timer) setImmediate(() => whileOpen(checkGrowth));
    },
    /** Adds the queued messages to the session before the run settles, so that the model continues with them. */
    async beforeSettle(event) {
      let joining;
      for (let isMore = true; isMore && !joining; ) {
        isMore = !context.hasUI && await background.settledOrAsked();
        checkGrowth();
        joining = dispatcher.join() ?? void 0;
      }
      if (!joining) return void 0;
      const joined = joining.messages.flatMap((id) => messages.get(id)?.announcement ?? []);
      const drafts = joined.map((message) => ({ type: "custom_message", ...message }));
      return { entries: [...event.entries, ...drafts], continue: event.continue || joining.continue };
    },
    /** Notes that the run has settled. */
    settled(aborted) {
      dispatcher.settled(aborted || signal?.aborted || false);
      signal = void 0;
      advance();
    },
    /**
     * Waits for the runs that a command started, and for the model's answers to their results. Without a user, pi exits
     * right after the command.
     */
    async drain(waitForIdle) {
      for (let isMore = true; isMore; ) {
        isMore = await background.settledOrAsked();
        dispatcher.drain();
        advance();
        await waitForIdle();
      }
    },
    /** Ends the deliveries. The addon keeps the messages that are not in the session. */
    close() {
      checkGrowth();
      forget();
    }
  };
  function checkGrowth() {
    dispatcher.sessionExtended();
    advance();
  }
}
function deliveryEntries(entries) {
  const hasIds = (part) => isObject(part) && isObject(part.details) && part.details.deliveryIds !== void 0;
  const found3 = entries.filter((entry) => isObject(entry) && (hasIds(entry) || hasIds(entry.message)));
  return asJson(found3, ["customType", "message", "role", "toolName", "details", "deliveryIds"]);
}

// extension/background/registry.ts
var COLLECTING_MS = 3e3;
var NONE = [];
var NOTHING_SETTLED = "{}";
var Background = class {
  /** The addon's view of the open session. Absent while no session is open, or without the addon. */
  session;
  /** All live runs of the session, and the runs that have ended since it was opened, newest first. */
  runs = NONE;
  /** The running workflows of the session. */
  workflows = [];
  /** The state of runs and their changes after commands, as `CallCard.settle` takes it. */
  settled = NOTHING_SETTLED;
  changes;
  /** The ids of foreground runs without a card: scripts have called them. */
  withoutCard = /* @__PURE__ */ new Set();
  undelivered = NONE;
  /** The run ends (`endOf`) whose results have been offered for delivery. */
  offered = /* @__PURE__ */ new Set();
  listeners = /* @__PURE__ */ new Set();
  /** The runs that have ended and whose results are not in the session yet. */
  get unread() {
    const now = Date.now();
    const arriving = this.runs.filter((run) => {
      const isFresh = now - (run.endedMs ?? 0) < COLLECTING_MS;
      return isFresh && !isLive(run) && !run.isForeground && !this.offered.has(endOf(run));
    });
    return [...arriving, ...this.undelivered];
  }
  /** Sets the runs whose results are waiting for delivery. */
  setUndelivered(runs) {
    const before = this.undelivered.map(endOf).join();
    this.undelivered = runsOf(runs);
    const now = this.undelivered.map(endOf);
    for (const end of now) this.offered.add(end);
    if (now.join() !== before) this.publish(this.runs);
  }
  /** Calls `listener` after every change. Returns a function that unsubscribes it. */
  subscribe(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
  /**
   * Opens a session. `onEvent` receives all its other events. If `onEvent` throws, the addon offers the results again.
   */
  open(native, options, onEvent) {
    let view;
    view = native.openBackground(options, (event) => {
      if (view && this.session !== view) return;
      if (event.workflows) this.workflows = event.workflows;
      if (event.settled) this.changes = event.settled;
      const runs = event.runs ? runsOf(event.runs) : this.runs;
      if (event.settled || event.runs) this.settled = settledOf(this.changes, runs);
      if (event.runs || event.settled || event.workflows) this.publish(runs);
      onEvent(event);
    });
    this.session = view;
  }
  /** Closes the session here and returns its view, so that the caller can close it too. */
  leave() {
    const { session: session2 } = this;
    this.session = void 0;
    this.undelivered = NONE;
    this.offered.clear();
    this.settled = NOTHING_SETTLED;
    this.changes = void 0;
    this.workflows = [];
    this.withoutCard.clear();
    this.publish(NONE);
    return session2;
  }
  /**
   * Waits until all runs of the session have settled or one of them asks the conversation. Returns true in the second
   * case. A signal to pi also ends the wait, because pi waits for its handlers before it exits.
   */
  async settledOrAsked() {
    const { session: session2 } = this;
    if (!session2) return false;
    const { promise, resolve: resolve3 } = Promise.withResolvers();
    const signals = ["SIGTERM", "SIGHUP"];
    const leave = () => resolve3(false);
    for (const signal of signals) process.once(signal, leave);
    try {
      return await Promise.race([session2.settledOrAsked(), promise]);
    } finally {
      for (const signal of signals) process.off(signal, leave);
      await new Promise((resolved) => setImmediate(resolved));
    }
  }
  publish(runs) {
    this.runs = runs;
    for (const listener of this.listeners) runGuarded("showing the background runs", () => listener(this.runs));
  }
};
function isLive({ state }) {
  return state !== "ended";
}
function settledOf(changes = {}, runs) {
  const settled2 = new Map(Object.entries(changes).map(([id, state]) => [id, { changes: state }]));
  for (const run of runs) {
    const hasEnded = !isLive(run) && !run.isForeground;
    const { runId, timesResumed } = run;
    if (hasEnded || timesResumed > 0) settled2.set(runId, { ...settled2.get(runId), timesResumed, hasEnded });
  }
  return JSON.stringify(Object.fromEntries(settled2));
}
function endOf({ key, timesResumed }) {
  return `${key} ${timesResumed}`;
}
function runsOf(runs) {
  return Array.isArray(runs) ? runs.filter((run) => isObject(run)) : [];
}

// extension/host/native.ts
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath as fileURLToPath2 } from "node:url";
var loaded;
function loadAddon() {
  try {
    loaded ??= createRequire(packageFolder)("./native.js");
    return { native: loaded };
  } catch (error) {
    return { problem: describe(error) };
  }
}
function describe(error) {
  const here = `${process.platform}-${process.arch}, Node ${process.versions.node}`;
  const { platform = here, reason = firstLine(error), isSupported = true } = error ?? {};
  const folder = resolve(fileURLToPath2(packageFolder));
  const remedy = existsSync(join(folder, "Cargo.toml")) ? `Run \`npm run setup\` in ${folder}.` : "Install the package again with `pi install npm:pi-subagent-native`, with optional dependencies allowed.";
  return `the native addon of pi-subagent-native could not be loaded (${platform}): ${reason}.` + (isSupported ? ` ${remedy}` : "");
}
function firstLine(error) {
  return messageOf(error).split("\n", 1)[0];
}

// extension/questions/questions.ts
var queues = /* @__PURE__ */ new Map();
var MAX_WITHDRAWN = 100;
var Questions = class {
  queue;
  presenter;
  /** The ids of questions that were withdrawn before they arrived here. */
  withdrawn = [];
  /** Starts showing the questions of this session. Some may have been pending since before a reload. */
  attach(session2, presenter) {
    const changed = () => presenter.update(this.list());
    this.presenter?.close();
    this.queue = Object.assign(queues.get(session2) ?? { waiting: [], session: session2 }, { changed });
    this.presenter = presenter;
    queues.set(session2, this.queue);
    changed();
  }
  /**
   * Stops showing questions. The open ones are left unanswered, unless the next load of the extension asks them again.
   */
  detach(isReload) {
    const { queue, presenter } = this;
    this.queue = void 0;
    this.presenter = void 0;
    presenter?.close();
    if (!queue) return;
    queue.changed = () => {
    };
    if (isReload) return;
    queues.delete(queue.session);
    for (const { settle } of queue.waiting) settle();
  }
  /** Returns all pending questions, oldest first, or only those of one tool call. */
  list(callId) {
    const all = this.queue?.waiting ?? [];
    return callId === void 0 ? all : all.filter((asked) => asked.callId === callId);
  }
  /**
   * Opens the question that a line after `/subagents` refers to. `problem` is the reason why there is none. Returns
   * `undefined` for any other command.
   */
  open(line) {
    const waiting = this.list().map(({ id, runId, agent, label }) => ({ id, runId, agent, ...label && { label } }));
    const chosen = loadAddon().native?.questionToAnswer(line, waiting);
    if (chosen?.id !== void 0) this.presenter?.open(chosen.id);
    return chosen ?? void 0;
  }
  /**
   * Returns the callbacks for runs of this session. `callId` marks the questions of one tool call. A question for consent opens
   * at once while `isAwaited` returns true: the user has just sent the command that asks it.
   */
  callbacks(session2, callId, isAwaited = () => false) {
    const of = callId === void 0 ? {} : { callId };
    return {
      confirm: async ({ path: _path, ...request }) => {
        const asked = this.ask(session2, { ...request, ...of, method: "consent" });
        if (isAwaited()) this.presenter?.open(request.id);
        const answer2 = await asked;
        if (answer2?.confirmed === void 0) throw new Error("no one has answered");
        return answer2.confirmed;
      },
      ask: async (question) => {
        const answer2 = await this.ask(session2, { ...question, ...of });
        if (!answer2 && question.forConversation) throw new Error("no one has answered");
        return answer2 ?? {};
      },
      withdraw: (id) => {
        const waiting = queues.get(session2)?.waiting.find((asked) => asked.id === id);
        if (waiting) waiting.settle();
        else this.withdrawn = [...this.withdrawn, id].slice(-MAX_WITHDRAWN);
      }
    };
  }
  /** Asks a question. The addon withdraws it when it stops waiting. */
  async ask(session2, asked) {
    const queue = queues.get(session2);
    if (!queue || this.withdrawn.includes(asked.id)) return void 0;
    const { promise, resolve: resolve3 } = Promise.withResolvers();
    const since = performance.now();
    const waiting = {
      ...asked,
      since,
      endsAt: since + asked.timeoutMs,
      settle(answer2) {
        resolve3(answer2);
        queue.waiting = queue.waiting.filter((other) => other !== waiting);
        queue.changed();
      }
    };
    queue.waiting = [...queue.waiting, waiting];
    queue.changed();
    return await promise;
  }
};
function isForConversation(asked) {
  return asked.method !== "consent" && asked.forConversation === true;
}
function questionLine({ sentence }, pen, hint = "") {
  return pen.drawn((native, ...on2) => native.drawQuestionLine(...on2, sentence, hint))?.join("") ?? "";
}

// extension/ui/keys.ts
var DEFAULTS = {
  ...TUI_KEYBINDINGS,
  "app.interrupt": { defaultKeys: "escape" },
  "app.tools.expand": { defaultKeys: "ctrl+o" }
};
function keyText(binding, source = {}) {
  return source.keyText?.(binding) ?? keysOf(binding, source).map(keyName).join("/");
}
function keysOf(binding, source) {
  return source.getKeys?.(binding) ?? [DEFAULTS[binding]?.defaultKeys ?? []].flat();
}
function keyName(key) {
  return process.platform === "darwin" ? key.replace(/\balt\b/, "option") : key;
}
function panelKeys(bindings) {
  const all = loadAddon().native?.panelKeys() ?? [];
  return {
    /** Returns the action of a key, given the characters that the terminal sent. */
    actionOf(data) {
      const chosen = all.find(({ pi }) => pi && bindings.matches?.(data, pi));
      return (chosen ?? all.find(({ own }) => own.some((key) => isPressed(data, key))))?.action;
    },
    /** Returns the names of the keys of each action. */
    names: () => all.map(({ pi, own }) => [.../* @__PURE__ */ new Set([...pi ? keysOf(pi, bindings) : [], ...own])].map(keyName))
  };
}
function isPressed(data, key) {
  if (matchesKey(data, key)) return true;
  return key === "?" && (decodeKittyPrintable(data) === key || matchesKey(data, "shift+?"));
}

// extension/host/pi.ts
import { readFileSync as readFileSync2, realpathSync as realpathSync2 } from "node:fs";
import { findPackageJSON } from "node:module";
import { pathToFileURL } from "node:url";
var PI = "@earendil-works/pi-coding-agent";
var loaded2 = {};
var loadedLibrary = () => loaded2;
async function library() {
  const program = pathToFileURL(realpathSync2(process.argv[1] ?? ""));
  const description = findPackageJSON(program);
  const isPi = description !== void 0 && JSON.parse(readFileSync2(description, "utf8")).name === PI;
  loaded2 = isPi ? await import(new URL("index.js", program).href) : {};
  return loaded2;
}

// extension/ui/prose.ts
var MAX_CODE = 3e4;
function prose(source, pen) {
  const text = plainText(source).trim();
  try {
    const lines = new Markdown(text, 0, 0, markdownTheme(pen)).render(Math.max(1, pen.width));
    return lines.map((line) => pen.clip(line.trimEnd()));
  } catch {
    return wrapTextWithAnsi(text, Math.max(1, pen.width));
  }
}
function markdownTheme(pen) {
  const colored = (color) => (text) => pen.fg(color, text);
  return {
    heading: colored("mdHeading"),
    link: colored("mdLink"),
    linkUrl: colored("mdLinkUrl"),
    code: colored("mdCode"),
    codeBlock: colored("mdCodeBlock"),
    codeBlockBorder: colored("mdCodeBlockBorder"),
    quote: colored("mdQuote"),
    quoteBorder: colored("mdQuoteBorder"),
    hr: colored("mdHr"),
    listBullet: colored("mdListBullet"),
    bold: (text) => pen.emphasis("bold", text),
    italic: (text) => pen.emphasis("italic", text),
    underline: (text) => pen.emphasis("underline", text),
    strikethrough: (text) => pen.emphasis("strikethrough", text),
    highlightCode: (code, language) => highlighted(code, language) ?? code.split("\n").map(colored("mdCodeBlock"))
  };
}
function highlighted(code, language) {
  try {
    return code.length > MAX_CODE ? void 0 : loadedLibrary().highlightCode?.(code, language);
  } catch {
    return void 0;
  }
}

// extension/ui/pen.ts
var Style = class {
  theme;
  constructor(theme) {
    this.theme = theme;
  }
  fg(color, text) {
    return safely(text, () => this.theme.fg(color, text));
  }
  bg(ground, text) {
    return safely(text, () => this.theme.bg?.(ground, text));
  }
  bold(text) {
    return this.emphasis("bold", text);
  }
  emphasis(kind, text) {
    return safely(text, () => this.theme[kind]?.(text));
  }
};
function safely(text, styled) {
  if (text === "") return text;
  try {
    return styled() ?? text;
  } catch {
    return text;
  }
}
var Pen = class _Pen extends Style {
  width;
  keys;
  palette;
  /** `keys` looks up the user's keys. */
  constructor(theme, width, keys = {}) {
    super(theme);
    this.width = Math.max(0, width);
    this.keys = keys;
  }
  /** Draws to the right of a margin. Blank lines stay empty. */
  indented(columns, draw) {
    const margin = " ".repeat(columns);
    const lines = draw(new _Pen(this.theme, this.width - columns, this.keys));
    return lines.map((line) => line === "" ? line : margin + line);
  }
  /** Cuts a styled line. */
  clip(line) {
    return clip(line, this.width);
  }
  /** Draws untrusted text in one colour. */
  paragraph(text, color) {
    const lines = this.drawn((native, ...on2) => native.drawText(...on2, color, text));
    return lines ?? wrapTextWithAnsi(this.fg(color, plainText(text).trim()), Math.max(1, this.width));
  }
  /**
   * Returns the lines of a drawing of the addon, or `undefined` if there is no drawing or no addon. A line that pi finds too wide is
   * cut, because pi would end.
   */
  drawn(draw) {
    const { native } = loadAddon();
    if (!native) return void 0;
    this.palette ??= paletteOf(native, this, this.keys);
    return draw(native, this.palette, this.width)?.map((line) => this.clip(line));
  }
};
var SAMPLE = "\xB7";
var latest;
function paletteOf(native, { theme }, keys) {
  const style = new Style(theme);
  const around = (styled) => {
    const [open = "", close = ""] = styled.split(SAMPLE);
    return [open, close];
  };
  const names = native.paletteColors();
  const colors = Object.fromEntries(names.map((color) => [color, around(style.fg(color, SAMPLE))]));
  const expandKey = keyText("app.tools.expand", keys);
  const styles = JSON.stringify({ colors, bold: around(style.bold(SAMPLE)), expandKey });
  if (latest?.theme !== theme || latest.styles !== styles) {
    const markdown = (text, width) => prose(text, new Pen(theme, width));
    latest = { theme, styles, palette: new native.Palette(styles, markdown) };
  }
  return latest.palette;
}
function cached(make) {
  let last;
  return (...args) => {
    const isSame = last?.args.every((value, index) => value === args[index]);
    if (!last || !isSame) last = { args, result: make(...args) };
    return last.result;
  };
}
function component(theme, layout, stamp = () => void 0, keys = {}) {
  let invalidated = 0;
  const lines = cached((width, ..._unchanged) => [...layout(new Pen(theme, width, keys))]);
  return {
    render: (width) => lines(width, stamp(), invalidated),
    invalidate() {
      invalidated += 1;
    }
  };
}

// extension/cards/cards.ts
var QUESTIONS = 3;
var INDENT = 2;
var SECOND_MS = 1e3;
var ticking = /* @__PURE__ */ new Set();
var ended = /* @__PURE__ */ new Map();
function renderers(tool, sources = {}) {
  const { asked = () => [], isUnderWay = () => true, backgroundKey = () => void 0, settled: settled2 = () => "{}" } = sources;
  return {
    /** Draws the upper part of the card: the agents and their tasks. */
    renderCall(args, theme, context) {
      const card = cardOf(tool, args, context);
      const state = context.state;
      state.isHeadEarly = context.isPartial;
      const begin = () => {
        if (!context.isPartial || !context.executionStarted || !isUnderWay(context.toolCallId)) return;
        state.ranInProcess = true;
        card?.start(Date.now());
      };
      begin();
      const waiting = () => asked(context.toolCallId).slice(0, QUESTIONS);
      const questions = (pen) => waiting().map((question) => questionLine(question, pen));
      const plain = context.isError ? `\u2717 ${tool}` : tool;
      const head = (pen) => linesOf(card, "head", extentOf(context), plain, pen);
      const draw = (pen) => [...head(pen), ...pen.indented(INDENT, questions)];
      const stamp = () => {
        begin();
        return `${card?.isRunning} ${shownSecond(context)} ${waiting().map(({ id }) => id)}`;
      };
      return component(theme, draw, stamp, context);
    },
    /** Draws the lower part of the card: the progress and the results. */
    renderResult(result, _options, theme, context) {
      const text = contentText(result);
      const card = cardOf(tool, context.args, context);
      if (card) updateCard(card, result.details, text, context);
      const { ranInProcess, isHeadEarly } = context.state;
      const lacksOutcome = !context.isPartial && !ranInProcess && isHeadEarly === true;
      const draw = (pen) => {
        if (card && !context.isPartial) settleCard(card, settled2(), context.state);
        const extent = extentOf(context, backgroundKey());
        const outcome = lacksOutcome && card ? linesOf(card, "head", extent, "", pen).slice(0, 1) : [];
        return [...outcome, ...linesOf(card, "body", extent, text, pen)];
      };
      if (card && !context.isPartial) ended.set(context.state, () => context.invalidate());
      return component(theme, draw, () => `${shownSecond(context)} ${settled2()}`, context);
    }
  };
}
function linesOf(card, part, extent, text, pen) {
  const lines = card && pen.drawn((_native, ...on2) => card[part](...on2, extent));
  return lines ?? pen.indented(INDENT, (inner) => inner.paragraph(text, "toolOutput"));
}
function cardOf(tool, args, context) {
  const state = context.state;
  const { native } = loadAddon();
  if (!state.card && native) state.card = new native.CallCard(tool);
  if (state.args !== args) state.card?.ask(asJson(args));
  state.args = args;
  return state.card;
}
function updateCard(card, details, text, context) {
  const state = context.state;
  if (context.isPartial) {
    if (details !== state.details || details === void 0) card.update(asJson(details), text, Date.now());
  } else if (!state.hasEnded) {
    card.finish(asJson(details), text, context.isError, Date.now());
    state.hasEnded = true;
    stopClock(state);
  }
  state.details = details;
}
function settleCard(card, settled2, state) {
  if (state.settled !== settled2) card.settle(settled2);
  state.settled = settled2;
}
function redrawEnded() {
  for (const redraw of [...ended.values()]) runGuarded("redrawing a card", redraw);
}
function extentOf(context, backgroundKey) {
  const { rows } = process.stdout;
  const keys = {
    stopKey: keyText("app.interrupt", context),
    ...backgroundKey && { backgroundKey: keyName(backgroundKey) }
  };
  return { isExpanded: context.expanded, nowMs: Date.now(), ...keys, ...rows !== void 0 && { rows } };
}
function shownSecond(context) {
  const state = context.state;
  const elapsed = state.card?.elapsedMs(Date.now()) ?? 0;
  if (state.card?.isRunning) {
    clearTimeout(state.tick);
    const redraw = () => {
      ticking.delete(state);
      context.invalidate();
    };
    state.tick = guardedTimeout("a card's clock", redraw, SECOND_MS - elapsed % SECOND_MS);
    ticking.add(state);
  }
  return Math.floor(elapsed / SECOND_MS);
}
function stopClock(state) {
  clearTimeout(state.tick);
  delete state.tick;
  ticking.delete(state);
}
function stopClocks() {
  for (const state of ticking) stopClock(state);
  ended.clear();
}
var LABEL = "[subagents]";
function registerAnnouncementRenderer(pi, settled2) {
  const { native } = loadAddon();
  if (!native) return;
  pi.registerMessageRenderer(native.ANNOUNCEMENT, (message, options, theme) => {
    const style = new Style(theme);
    const box = new Box(options.outputPad ?? 1, 1, (text) => style.bg("customMessageBg", text));
    box.addChild(new Text(style.fg("customMessageLabel", style.bold(LABEL)), 0, 0));
    box.addChild(new Spacer(1));
    const draw = (pen) => announcementLines(message, options.expanded, pen, settled2());
    box.addChild(component(theme, draw, settled2, options));
    return box;
  });
}
function announcementLines(message, isExpanded, pen, settled2) {
  const details = asJson(message.details);
  const lines = pen.drawn((native, ...on2) => native.drawAnnouncement(...on2, details, isExpanded, settled2));
  return lines ?? pen.paragraph(contentText(message), "customMessageText");
}

// extension/index.ts
var import_child_guard = __toESM(require_child_guard());

// extension/host/callbacks.ts
async function refreshToken(registryOf, provider, validForMs) {
  try {
    const registry = registryOf();
    const { ModelRuntime } = await library();
    const own = await ModelRuntime?.create({ refreshOnCreate: false });
    if (!own) return await registry.getProviderAuth(provider) !== void 0;
    const native = registry.getRegisteredNativeProvider(provider);
    const config = registry.getRegisteredProviderConfig(provider);
    if (native) own.registerNativeProvider(native);
    if (config) own.registerProvider(provider, config);
    return await own.getAuth(provider, { minOAuthValidityMs: validForMs }) !== void 0;
  } catch {
    return false;
  }
}
function hostCallbacks(context, questions, callId, isAwaited) {
  const refresh = async ({ provider, validForMs }) => (
    // A stale context throws when its registry is read.
    await refreshToken(() => context.modelRegistry, provider, validForMs)
  );
  const session2 = context.sessionManager.getSessionId();
  const model = async ({ model: model2 }) => await findModel(() => context.modelRegistry, model2);
  return { refresh, model, ...context.hasUI && questions.callbacks(session2, callId, isAwaited) };
}
async function findModel(registryOf, asked) {
  const { resolveCliModel } = await library();
  if (!resolveCliModel) throw new Error("this host is not pi");
  const registry = registryOf();
  const hasLogin = (provider2) => registry.hasConfiguredAuth({ provider: provider2 });
  const modelRuntime = { getModels: () => registry.getAll(), hasConfiguredAuth: hasLogin };
  const { model, error } = resolveCliModel({ cliModel: asked, modelRuntime });
  if (!model) {
    const known = registry.getAll().map(({ provider: provider2, id: id2 }) => `${provider2}/${id2}`);
    return defined({ problem: error?.trim(), known });
  }
  const { provider, id } = model;
  const isUsable = hasLogin(provider);
  const variables = isUsable ? [] : await keyVariables(registry, provider);
  return { model: `${provider}/${id}`, hasLogin: isUsable, variables };
}
async function keyVariables(registry, provider) {
  const names = [];
  try {
    const env = async (name) => {
      names.push(name);
      return void 0;
    };
    const ctx = { env, fileExists: async () => false };
    await registry.getProvider(provider)?.auth.apiKey?.resolve({ ctx, signal: AbortSignal.timeout(1e3) });
  } catch {
  }
  return [...new Set(names)];
}

// extension/host/extensions.ts
var found;
var onlyProviders = [];
var newestSearch = 0;
var hostExtensions = () => found?.extensions;
var onlyNamedExtensions = () => found?.onlyNamedExtensions;
var ownPrompts = () => found?.prompts ?? [];
var extensionOnlyProviders = () => onlyProviders;
async function findHostExtensions(context) {
  const search = ++newestSearch;
  const finding = resolve2(context).catch(() => void 0);
  const providers = findOnlyProviders(context.modelRegistry).catch(() => []);
  const answers = await Promise.all([finding, providers]);
  if (search === newestSearch) [found, onlyProviders] = answers;
}
async function findOnlyProviders(registry) {
  const registered = registry.getRegisteredProviderIds();
  if (registered.length === 0) return [];
  const { ModelRuntime } = await library();
  const own = await ModelRuntime?.create({ refreshOnCreate: false });
  return own ? registered.filter((provider) => own.getModels(provider).length === 0) : [];
}
async function refuse() {
  throw new Error("extensions are only looked up, never installed");
}
var OFFLINE = {
  installParsedSource: async () => {
  },
  refreshTemporaryGitSource: async () => {
  },
  npmHasAvailableUpdate: async () => false,
  runCommand: refuse,
  runCommandCapture: refuse
};
async function resolve2(context) {
  const { getAgentDir, parseArgs, SettingsManager, DefaultPackageManager } = await library();
  if (!getAgentDir || !parseArgs || !SettingsManager || !DefaultPackageManager) throw new Error("this host is not pi");
  const agentDir = getAgentDir();
  const settingsManager = SettingsManager.create(context.cwd, agentDir, {
    projectTrusted: context.isProjectTrusted()
  });
  const managed = (cwd) => {
    const manager = new DefaultPackageManager({ cwd, agentDir, settingsManager });
    Object.assign(manager, OFFLINE);
    return manager;
  };
  const { extensions = [], noExtensions = false, noPromptTemplates = false } = parseArgs(process.argv.slice(2));
  const named = await managed(process.cwd()).resolveExtensionSources(extensions, { temporary: true });
  const discovered = await managed(context.cwd).resolve(async () => "skip").catch((error) => {
    if (!noExtensions) throw error;
    return { extensions: [], prompts: [] };
  });
  const chosen = (kind, isAlone) => [...named[kind], ...isAlone ? [] : discovered[kind]].filter(({ enabled }) => enabled);
  const others = chosen("extensions", noExtensions).filter(
    ({ path }) => !path.startsWith("builtin:") && !isOwnFile(path)
  );
  return {
    extensions: others.map(
      ({ path, metadata }) => defined({ path, package: metadata.origin === "package" ? metadata.baseDir : void 0 })
    ),
    onlyNamedExtensions: noExtensions,
    prompts: chosen("prompts", noPromptTemplates).flatMap(({ path }) => isOwnPrompt(path) ? [path] : [])
  };
}

// extension/host/names.ts
import { basename as basename2 } from "node:path";
var COMMANDS = ["subagents", "stop"];
var taken = [];
function extensionFile({ path, source }) {
  return source === "builtin" || source === "sdk" || /^(?:builtin:|<)/.test(path) ? void 0 : path;
}
var takenNames = () => taken;
function isTaken(tool) {
  return taken.some(({ kind, name }) => kind === "tool" && name === tool);
}
function findTakenNames(pi, tools) {
  const all = pi.getAllTools();
  const commands = pi.getCommands();
  const ofTools = tools.flatMap((name) => {
    const owner = all.find((tool) => tool.name === name);
    return owner && !isOwnFile(owner.sourceInfo.path) ? [nameOf("tool", name, owner.sourceInfo)] : [];
  });
  const ofPrompts = ownPrompts().flatMap((path) => {
    const name = basename2(path, ".md");
    const owner = commands.find((command) => command.name === name);
    return owner && !isOwnPrompt(owner.sourceInfo.path) ? [nameOf("prompt", name, owner.sourceInfo)] : [];
  });
  const ofCommands = COMMANDS.flatMap((name) => {
    const same = commands.filter((command) => command.source === "extension" && command.name.split(":")[0] === name);
    const own = same.find(({ sourceInfo }) => isOwnFile(sourceInfo.path));
    if (!own || own.name === name) return [];
    const others = same.filter((command) => command !== own);
    return others.map(({ sourceInfo }) => ({ ...nameOf("command", name, sourceInfo), ownName: own.name }));
  });
  taken = [...ofTools, ...ofPrompts, ...ofCommands];
  return taken;
}
function nameOf(kind, name, info) {
  return defined({
    kind,
    name,
    path: extensionFile(info),
    package: info.origin === "package" ? info.source : void 0,
    isNamed: info.source === "cli"
  });
}

// extension/host/options.ts
var VIRTUAL_API = "pi-virtual";
function surfaceOptions(pi, { cwd, modelRegistry }) {
  const tools = pi.getAllTools().map(({ name, sourceInfo }) => ({ name, extension: extensionFile(sourceInfo) }));
  const others = tools.filter(({ extension }) => extension === void 0 || !isOwnFile(extension));
  return defined({
    cwd,
    tools: others.map(defined),
    extensions: hostExtensions(),
    onlyNamedExtensions: onlyNamedExtensions(),
    sessionKeys: sessionKeys(modelRegistry),
    takenNames: takenNames(),
    skills: skillsOf(pi)
  });
}
function skillsOf(pi) {
  const skills = pi.getCommands().filter(({ source }) => source === "skill");
  return skills.map(({ name, sourceInfo }) => ({ name: name.replace(/^skill:/, ""), path: sourceInfo.path }));
}
function placeOptions(pi, context) {
  const { model, modelRegistry, sessionManager, thinkingLevel } = context;
  return defined({
    ...surfaceOptions(pi, context),
    hostExecutable: process.execPath,
    hostScript: process.argv[1],
    parentSessionFile: sessionManager.getSessionFile(),
    sessionId: sessionManager.getSessionId(),
    model: model && `${model.provider}/${model.id}`,
    modelFromExtension: model && model.api === VIRTUAL_API,
    // pi lists the registered providers, but not their files.
    extensionProviders: [...modelRegistry.getRegisteredProviderIds()],
    extensionOnlyProviders: extensionOnlyProviders(),
    thinking: thinkingLevel ?? pi.getThinkingLevel()
  });
}
var found2 = [];
var newestSearch2 = 0;
function sessionKeys(registry) {
  return found2.filter(({ provider }) => isInMemory(registry, provider));
}
async function findSessionKeys(registry) {
  const search = ++newestSearch2;
  found2 = [];
  const providers = [...new Set(registry.getAll().map(({ provider }) => provider))];
  const held = providers.filter((provider) => isInMemory(registry, provider));
  if (held.length === 0) return;
  const { parseArgs } = await library();
  const args = parseArgs?.(process.argv.slice(2));
  const keys = held.map(async (provider) => {
    const isNamed = held.length === 1 || provider === args?.provider || args?.model?.startsWith(`${provider}/`);
    const given = isNamed ? args?.apiKey : void 0;
    const key = given ?? await registry.getApiKeyForProvider(provider).catch(() => void 0);
    return key ? [{ provider, key }] : [];
  });
  const keysOfAll = (await Promise.all(keys)).flat();
  if (search === newestSearch2) found2 = keysOfAll;
}
function isInMemory(registry, provider) {
  return registry.getProviderAuthStatus(provider).source === "runtime";
}

// extension/workflows/workflows.ts
import { spawn } from "node:child_process";
import { basename as basename3 } from "node:path";
import { pathToFileURL as pathToFileURL2 } from "node:url";
var MAX_OUTPUT = 64 * 1024;
var STOP_MS = 5e3;
var KILL_MS = 2e3;
var OUTPUT_MS = 500;
var cannotRunScripts = process.versions.bun === void 0 ? void 0 : "This pi contains no Node, and cannot run scripts";
var live = /* @__PURE__ */ new Set();
var isClosing = false;
var report = () => {
};
function onWorkflowEnd(listener) {
  report = listener;
}
function startWorkflow(script, place) {
  const { path, ...allowed } = script;
  const host = new URL("extension/workflows/host.mjs", packageFolder);
  const args = ["--import", host.href, path];
  const env = { ...process.env, NODE_OPTIONS: "" };
  const child = spawn(process.execPath, args, { cwd: place.cwd, env, stdio: "pipe", windowsHide: true });
  const since = performance.now();
  const output = newestLines();
  const errors = newestLines();
  child.stdout.setEncoding("utf8").on("data", output.add);
  child.stderr.setEncoding("utf8").on("data", errors.add);
  child.stdin.on("error", () => void 0);
  const start2 = { script: pathToFileURL2(path).href, ...allowed, place: { ...place, file: path } };
  child.stdin.write(`${JSON.stringify(start2)}
`);
  const { promise: ended2, resolve: resolve3 } = Promise.withResolvers();
  const workflow = { path, place, child, ended: ended2, wasStopped: false };
  live.add(workflow);
  const end = async (exitCode, problem = "") => {
    if (!live.delete(workflow)) return;
    const stored = exitCode === 0 || workflow.wasStopped ? [] : await recordsOf(workflow);
    const wasStopped = workflow.wasStopped || stored.some(({ state }) => state === "stopped");
    const isFailure = exitCode !== 0 && !wasStopped;
    if (isFailure && !isClosing) await stopStored(workflow, stored);
    const shown = isFailure ? `${output.text()}
${errors.text()}${problem}` : output.text();
    const durationMs = performance.now() - since;
    const described = { file: path, exitCode: exitCode ?? void 0, wasStopped, durationMs, output: shown };
    await runGuarded("reporting the end of a workflow", () => report(defined(described)));
    resolve3();
  };
  child.once("error", (error) => void end(null, error.message));
  child.once("close", (code) => void end(code));
  child.once("exit", () => {
    const closePipes = () => {
      child.stdout.destroy();
      child.stderr.destroy();
    };
    guardedTimeout("closing the output of a workflow", closePipes, OUTPUT_MS);
  });
  return ended2;
}
function newestLines(limit = MAX_OUTPUT) {
  let kept = "";
  let isInsideLine = false;
  const dropLine = () => {
    const end = kept.indexOf("\n");
    isInsideLine = end === -1;
    kept = isInsideLine ? "" : kept.slice(end + 1);
  };
  return {
    add(text) {
      kept += text;
      if (isInsideLine) dropLine();
      if (kept.length <= limit) return;
      kept = kept.slice(-limit);
      dropLine();
    },
    text: () => kept
  };
}
async function recordsOf({ child, place }) {
  const all = await loadAddon().native?.workflows(place, true).catch(() => void 0);
  return (all ?? []).filter(({ hostPid }) => hostPid === child.pid);
}
var liveScripts = () => [...live].flatMap(({ path, child: { pid } }) => pid === void 0 ? [] : [{ path, pid }]);
async function stopWorkflows(pids) {
  const isMeant = ({ child: { pid } }) => !pids || pid !== void 0 && pids.includes(pid);
  const stopped = [...live].filter(isMeant).map(async (workflow) => {
    await stop(
      workflow,
      (await recordsOf(workflow)).filter(({ state }) => state === "running")
    );
  });
  await Promise.all(stopped);
}
async function stop(workflow, running) {
  workflow.wasStopped = true;
  await stopStored(workflow, running);
  if (running.length === 0) workflow.child.kill();
  const timer = guardedTimeout("ending a workflow", () => kill(workflow), STOP_MS);
  await workflow.ended;
  clearTimeout(timer);
}
async function stopStored({ place }, records) {
  const { native } = loadAddon();
  await Promise.allSettled(records.map(({ id, project }) => native?.stopWorkflow({ ...place, cwd: project }, id)));
}
function kill({ child, ended: ended2 }) {
  child.kill();
  const timer = guardedTimeout("killing a workflow", () => child.kill("SIGKILL"), KILL_MS);
  void ended2.then(() => clearTimeout(timer));
}
async function closeWorkflows() {
  report = () => {
  };
  isClosing = true;
  const all = [...live];
  const records = await Promise.all(all.map(recordsOf));
  for (const workflow of all) kill(workflow);
  await Promise.all(all.map(({ ended: ended2 }) => ended2));
  const interrupted = all.filter((_2, at2) => records[at2]?.some(({ state }) => state === "running"));
  const names = interrupted.map(({ path }) => oneLine(basename3(path)));
  if (names.length === 0) return void 0;
  const [what, them] = names.length === 1 ? ["1 workflow", "it"] : [`${names.length} workflows`, "them"];
  return `${what} ended with pi: ${names.join(", ")}. The next pi of this project continues ${them}`;
}

// extension/panel/panel.ts
var WHOLE_SCREEN = { width: "100%", maxHeight: "100%", anchor: "top-left" };
var DRAW_EVERY_MS = 100;
var TICK_MS = 1e3;
var REST_MS = 400;
var ROWS = 24;
var WHEEL_LINES = 10;
var MAX_CHARACTERS2 = 8e3;
var PASTE = /^\u001b\[200~([\s\S]*)\u001b\[201~/;
async function openPanel(context, background, callbacks = {}, { answer: answer2, follow } = {}, opened) {
  const { session: session2 } = background;
  if (!session2) {
    context.ui.notify(
      "Background runs are not available in this session. `/subagents doctor` shows the reason",
      "warning"
    );
    return;
  }
  const closed = Promise.withResolvers();
  const setting = { background, session: session2, callbacks, answer: answer2, follow, opened, onClosed: closed.resolve };
  const shown = context.ui.custom(
    (terminal, theme, keys, done) => panel(setting, terminal, theme, keys, () => done(void 0)),
    { overlay: true, overlayOptions: WHOLE_SCREEN }
  );
  await Promise.race([shown, closed.promise]);
}
function panel({ background, session: session2, callbacks, answer: answer2, follow, opened, onClosed }, terminal, theme, keybindings, done) {
  const { native, problem } = loadAddon();
  if (!native) throw new Error(problem);
  const state = new native.Panel(answer2 !== void 0, opened);
  const keys = panelKeys(keybindings);
  let changes = 0;
  let themes = 0;
  let hasNews = true;
  let isDisposed = false;
  let typing;
  let resting;
  let isDue = false;
  const dispose = () => {
    if (isDisposed) return;
    isDisposed = true;
    unsubscribe();
    clearInterval(tick);
    onClosed();
  };
  const close = () => {
    dispose();
    done();
  };
  const perform = () => {
    for (let next = state.next(); next && !isDisposed; next = state.next()) carryOut(next);
  };
  const carryOut = ({ step, id, text, isAll, entries, tools }) => {
    if (step === "close") close();
    else if (step === "answer") answer2?.(text);
    else if (step === "type") type(text);
    else if (step === "command") {
      reply(id, async () => {
        const report2 = await session2.command(text, callbacks, void 0, liveScripts());
        follow?.(report2);
        return report2;
      });
    } else if (step === "runs") {
      const read = async () => {
        const runs = isAll ? session2.runs(true) : session2.projectRuns();
        const [listed, workflows] = await Promise.all([runs, session2.workflows(isAll)]);
        return { runs: listed, workflows };
      };
      reply(id, read);
    } else {
      const rested = () => {
        state.rested(id);
        perform();
      };
      const read = async () => await session2.transcript(text, { entries, tools });
      reply(id, read, () => guardedTimeout("the panel", rested, REST_MS));
    }
  };
  const reply = (id, ask, then = () => {
  }) => {
    const take = (json, problem2) => {
      if (isDisposed) return;
      state.answer(id, json, problem2, Date.now());
      then();
      perform();
      drawSoon();
    };
    const asked = ask().then(
      (value) => take(asJson(value)),
      (error) => take(void 0, messageOf(error))
    );
    reportFailure("the panel", asked);
  };
  const type = (label) => {
    setKeybindings(keybindings);
    const input = new Input({ prompt: "" });
    input.onEscape = () => {
      typing = void 0;
    };
    input.onSubmit = (text) => {
      typing = void 0;
      state.submit(text);
    };
    typing = { label, input };
  };
  const update = () => {
    if (!hasNews) return;
    hasNews = false;
    const unread = background.unread.map(({ key }) => `${key}`);
    state.setRuns(asJson(background.runs), unread, Date.now());
    perform();
  };
  const draw = () => {
    update();
    changes += 1;
    terminal.requestRender();
  };
  const drawSoon = () => {
    isDue = true;
    if (resting || isDisposed) return;
    const rested = () => {
      resting = void 0;
      if (isDue) drawSoon();
    };
    resting = guardedTimeout("the panel", rested, DRAW_EVERY_MS);
    isDue = false;
    draw();
  };
  const penFor = cached((columns, _themes) => new Pen(theme, columns));
  const linesFor = cached((columns, rows, themes2, _changes) => {
    const pen = penFor(columns, themes2);
    const view = { rows, theme: themes2, keys: keys.names(), nowMs: Date.now() };
    const lines = pen.drawn((_native, ...on2) => state.draw(...on2, view)) ?? [];
    perform();
    return typing && rows > 1 ? [...lines.slice(0, -1), typed(typing, pen)] : lines;
  });
  const typed = ({ label, input }, pen) => {
    const room = Math.max(1, pen.width - 2);
    const lead = clip(label, Math.floor(room / 2));
    input.focused = screen2.focused;
    const columns = room - widthOf(lead) - 1;
    const hint = `  ${keyText("tui.input.submit", keybindings)} send  escape cancel`;
    const hasHint = input.getValue() === "" && widthOf(hint) < columns;
    const field = input.render(hasHint ? 1 : columns)[0] ?? "";
    return ` ${pen.fg("accent", lead)} ${field}${hasHint ? pen.fg("muted", hint) : ""}`;
  };
  const unsubscribe = background.subscribe(() => {
    if (background.session !== session2) return close();
    hasNews = true;
    drawSoon();
  });
  const onTick = () => {
    state.tick(Date.now());
    perform();
    drawSoon();
  };
  const tick = guardedInterval("the clock of the panel", onTick, TICK_MS);
  const screen2 = {
    /** Set by pi: true if the panel has the keyboard, and not a dialog that opened later. */
    focused: false,
    render(columns) {
      if (!screen2.focused) return [];
      return linesFor(columns, terminal.terminal?.rows ?? process.stdout.rows ?? ROWS, themes, changes);
    },
    invalidate() {
      themes += 1;
    },
    handleInput(data) {
      update();
      if (!typing) state.press(keys.actionOf(data));
      else if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) typing = void 0;
      else typing.input.handleInput(data.replace(PASTE, (_2, text) => pasteOf(text)));
      perform();
      if (!isDisposed) draw();
    },
    handleMouse({ type: type2, wheelDelta = 0 }) {
      const lines = Math.max(-WHEEL_LINES, Math.min(WHEEL_LINES, Math.round(wheelDelta)));
      if (type2 === "wheel" && lines !== 0) {
        state.scroll(lines);
        changes += 1;
      }
      return { handled: true };
    },
    dispose
  };
  draw();
  return screen2;
}
function pasteOf(text) {
  return `\x1B[200~${plainText(text.slice(0, MAX_CHARACTERS2)).replace(/\s*\n\s*/g, " ")}\x1B[201~`;
}

// extension/questions/overlay.ts
var GUARD_MS = 500;
var KEYS = [
  ["tui.select.up", "up"],
  ["tui.select.down", "down"],
  ["tui.select.pageUp", "pageUp"],
  ["tui.select.pageDown", "pageDown"],
  ["tui.select.confirm", "confirm"],
  ["tui.select.cancel", "cancel"]
];
var FOR_INPUT = ["pageUp", "pageDown", "confirm", "cancel"];
function questionOverlay(options) {
  const { tui, theme, keybindings, asked, byHand, done } = options;
  const { heading, title, message = "", choices } = asked;
  const { native, problem } = loadAddon();
  if (!native) throw new Error(problem);
  const labels = choices.map(({ label }) => label);
  const screen2 = new native.QuestionScreen(heading, title, message, labels);
  let input;
  let shownAt;
  let isFocused = false;
  function keyOf(data) {
    if (!byHand && isText2(data)) return void 0;
    const bound = KEYS.find(([binding]) => keybindings.matches(data, binding))?.[1];
    return bound ?? ["home", "end"].find((key) => matchesKey(data, key));
  }
  function confirm() {
    const value = input?.getValue();
    const { answer: answer2 } = choices[screen2.chosen] ?? {};
    if (!screen2.accepts(input ? value === "" : screen2.chosen === 0)) return;
    if (value !== void 0) done(value === "" ? {} : { value });
    else if (answer2 || asked.method === "editor") done(answer2);
    else write();
  }
  function write() {
    const placeholder = plainText(asked.placeholder ?? "").replace(/\n/g, " ");
    input = new Input({ placeholder, placeholderStyle: (text) => new Pen(theme, 0).fg("dim", text) });
    input.focused = isFocused;
  }
  function keyNames() {
    const named = KEYS.map(([binding, key]) => [key, keyText(binding, keybindings)]);
    return { ...Object.fromEntries(named), end: keyName("end") };
  }
  const isNew = () => !byHand && (shownAt === void 0 || performance.now() - shownAt < GUARD_MS);
  if (asked.method === "input" && byHand) write();
  return {
    isNew,
    takes: (data) => !isNew() && (input !== void 0 || keyOf(data) !== void 0),
    get focused() {
      return isFocused;
    },
    set focused(focused) {
      isFocused = focused;
      if (input) input.focused = focused;
    },
    handleInput(data) {
      const key = keyOf(data);
      if (input && !(key && FOR_INPUT.includes(key))) input.handleInput(data);
      else if (key === "confirm") confirm();
      else if (key === "cancel") done(asked.method === "consent" ? {} : choices[0]?.answer ?? {});
      else if (key) screen2.press(key);
    },
    invalidate() {
      input?.invalidate();
    },
    render(width) {
      if (!isFocused) return [];
      shownAt ??= performance.now();
      const line = input?.render(screen2.innerWidth(width))[0];
      const pen = new Pen(theme, width, keybindings);
      return pen.drawn((_native, ...on2) => screen2.draw(...on2, tui.terminal.rows, keyNames(), line)) ?? [];
    }
  };
}
function isText2(data) {
  return /^[^\p{Cc}]/u.test(decodeKittyPrintable(data) ?? data);
}

// extension/questions/terminal.ts
var SHORTCUT = "alt+a";
var WIDGET = "subagents-questions";
var MAX_LINES = 3;
var QUIET_MS = 2e3;
var CHECK_EVERY_MS = 200;
var REPORT = /^\u001b(?:\[(?:<|M|[IO]$|\?|[\d;]+[cnRt]$)|\]|P|_)/;
function terminalQuestions(ui) {
  let waiting = [];
  let screen2;
  let shown;
  const postponed = /* @__PURE__ */ new Set();
  let lastKey = performance.now();
  function noteKey(data) {
    if (isKeyRelease(data) || REPORT.test(data)) return;
    lastKey = performance.now();
    const { overlay, asked } = shown ?? {};
    if (!overlay?.focused || !asked || overlay.takes(data)) return;
    if (!overlay.isNew()) postponed.add(asked.id);
    hide();
  }
  function openWhenQuiet() {
    const next = waiting.find((asked) => !isForConversation(asked) && !postponed.has(asked.id));
    if (!next || shown || !isEditorFree()) return;
    if (performance.now() - Math.max(lastKey, next.since) >= QUIET_MS) show2(next, false);
  }
  function isEditorFree() {
    if (ui.getEditorText() !== "" || !screen2) return false;
    const { getFocusedComponent } = screen2;
    const focused = getFocusedComponent?.call(screen2);
    return focused ? "getText" in focused && "setText" in focused : !screen2.hasOverlay();
  }
  function show2(asked, byHand) {
    const now = { asked };
    shown = now;
    const open = (tui, theme, keybindings, close) => {
      now.close = () => close(void 0);
      const done = (answer2) => answered(asked, answer2);
      now.overlay = questionOverlay({ tui, theme, keybindings, asked, byHand, done });
      return now.overlay;
    };
    const onHandle = (handle) => {
      now.handle = handle;
      if (shown !== now) removeOverlay(now);
    };
    const overlayOptions = { anchor: "center", width: "100%" };
    ui.custom(open, { overlay: true, overlayOptions, onHandle }).catch(() => {
      postponed.add(asked.id);
      if (shown === now) shown = void 0;
    });
  }
  function hide() {
    const hidden = shown;
    shown = void 0;
    if (hidden) removeOverlay(hidden);
  }
  function answered(asked, answer2) {
    hide();
    if (answer2) asked.settle(answer2);
    else reportFailure("a question", write(asked));
  }
  async function write({ id, title, prefill, settle }) {
    postponed.add(id);
    const value = await ui.editor(title, prefill).catch(() => void 0);
    settle(value === void 0 ? {} : { value });
  }
  function drawLines() {
    if (waiting.length === 0) {
      if (screen2) ui.setWidget(WIDGET, void 0);
      screen2 = void 0;
      return;
    }
    const seen = waiting.slice(0, waiting.length > MAX_LINES ? MAX_LINES - 1 : MAX_LINES);
    const more = waiting.length - seen.length;
    const lines = (pen) => seen.map((asked, index) => {
      const hint = index === 0 ? `${keyName(SHORTCUT)} answers` : "";
      return questionLine(asked, pen, hint);
    });
    ui.setWidget(WIDGET, (tui, theme) => {
      screen2 = tui;
      const others = (pen) => more > 0 ? [pen.fg("muted", ` +${more} more questions`)] : [];
      return component(theme, (pen) => [...pen.indented(1, lines), ...others(pen)]);
    });
  }
  const release = ui.onTerminalInput(noteKey);
  let clock;
  function watch() {
    if (waiting.length > 0) {
      clock ??= guardedInterval("opening a question", openWhenQuiet, CHECK_EVERY_MS);
      return;
    }
    clearInterval(clock);
    clock = void 0;
  }
  return {
    update(now) {
      waiting = now;
      watch();
      if (shown && !now.includes(shown.asked)) {
        hide();
        lastKey = performance.now();
      }
      drawLines();
    },
    open(id) {
      const asked = waiting.find((other) => other.id === id);
      if (!asked) return;
      hide();
      show2(asked, true);
    },
    close() {
      release();
      hide();
      if (waiting.length > 0) ui.setWidget(WIDGET, void 0);
      waiting = [];
      watch();
    }
  };
}
function removeOverlay({ handle, close }) {
  if (handle?.isFocused()) close?.();
  else handle?.hide();
}

// extension/commands/report.ts
import { writeSync as writeSync2 } from "node:fs";
var REPORT_ENTRY = "subagents-report";
var STAMP = { kind: REPORT_ENTRY, version: 1 };
var STDOUT = 1;
var RETRY_MS = 5;
var RETRIES = 1e3;
var exactly = /* @__PURE__ */ new WeakMap();
function messageReport(status, message) {
  const text = oneLine(message);
  const report2 = loadAddon().native?.sentenceReport(status, text);
  return report2 ?? { title: "", lines: [{ mark: "error", text }], text: `\u2717 ${text}` };
}
function reportLines(data, pen) {
  return pen.drawn((native, ...on2) => native.drawReport(...on2, JSON.stringify(data) ?? ""));
}
function registerReportRenderer(pi) {
  pi.registerEntryRenderer(REPORT_ENTRY, ({ data }, _options, theme) => {
    const report2 = isObject(data) && exactly.get(data) || data;
    const text = isObject(data) && isText(data.text) ? data.text : void 0;
    if (text === void 0) return void 0;
    const plain = (pen) => pen.indented(1, (inner) => inner.paragraph(text, "toolOutput"));
    return component(theme, (pen) => reportLines(report2, pen) ?? plain(pen));
  });
}
function deliver(pi, context, report2) {
  const { title, lines, text, exact } = report2;
  if (context.mode === "rpc") context.ui.notify(exact?.text ?? text, "info");
  else if (context.mode === "print") print(`${exact?.text ?? text}
`);
  else {
    const stored = { ...STAMP, title, lines, text };
    if (exact) exactly.set(stored, { ...stored, ...exact });
    pi.appendEntry(REPORT_ENTRY, stored);
  }
}
function print(text) {
  let rest = Buffer.from(text);
  for (let tries = 0; rest.length > 0 && tries < RETRIES; tries++) {
    try {
      rest = rest.subarray(writeSync2(STDOUT, rest));
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}

// extension/commands/commands.ts
var WITHOUT_PANEL = "list";
function registerCommands(pi, session2) {
  const { background, questions, drain } = session2;
  const answer2 = (runId) => void questions.open(`answer ${runId}`);
  registerReportRenderer(pi);
  pi.registerCommand("subagents", {
    description: "Sub-agents: list, run, workflow, background, stop, log, info, send, resume, diff, apply, discard, undo, answer, agents, doctor",
    getArgumentCompletions(prefix) {
      const items = background.session?.complete(prefix) ?? [];
      return items.length > 0 ? items : null;
    },
    async handler(args, context) {
      const line = args.trim();
      let isPanelOpen = false;
      const callbacks = hostCallbacks(context, questions, void 0, () => isPanelOpen);
      const start2 = ({ workflow }) => {
        if (!workflow) return void 0;
        if (!cannotRunScripts) return startWorkflow(workflow, placeOptions(pi, context));
        deliver(pi, context, messageReport("error", cannotRunScripts));
        return void 0;
      };
      const stop2 = ({ stops = [] }) => stopWorkflows(stops);
      const follow = (report3) => {
        reportFailure("stopping workflows", stop2(report3));
        void start2(report3);
      };
      const panel2 = async (opened2) => {
        isPanelOpen = true;
        await openPanel(context, background, callbacks, { answer: answer2, follow }, opened2).finally(() => {
          isPanelOpen = false;
        });
      };
      if (line === "" && context.mode === "tui") return panel2();
      const opened = questions.open(line);
      if (opened?.problem) deliver(pi, context, messageReport("info", opened.problem));
      if (opened) return;
      if (/^workflow\b/.test(line) && cannotRunScripts) {
        return deliver(pi, context, messageReport("error", cannotRunScripts));
      }
      const report2 = await answerOf(pi, context, session2, line || WITHOUT_PANEL);
      const isSaid = report2.isOnCard && (context.mode === "tui" || report2.stops);
      if (!isSaid) deliver(pi, context, report2);
      await stop2(report2);
      if (report2.watch && context.mode === "tui") await panel2(report2.watch);
      const ended2 = start2(report2);
      if (!context.hasUI) await ended2;
      if (!context.hasUI) await drain(context);
    }
  });
  pi.registerCommand("stop", {
    description: "Stop this turn and every sub-agent it has started",
    getArgumentCompletions: () => null,
    async handler(_args, context) {
      const isBusy = !context.isIdle();
      const report2 = background.session?.stopAll(isBusy);
      reportFailure("stopping workflows", stopWorkflows());
      if (isBusy) context.abort();
      deliver(pi, context, await report2 ?? notOpen());
    }
  });
  pi.registerShortcut(SHORTCUT, {
    description: "Answer a sub-agent's question",
    handler(context) {
      const { problem } = questions.open("answer") ?? {};
      if (problem) context.ui.notify(problem, "info");
    }
  });
}
function reportWorkflows(pi, context, background) {
  onWorkflowEnd(async (end) => {
    const report2 = await background.session?.workflowEnded(end);
    if (report2) deliver(pi, context, report2);
  });
}
async function continueWorkflows(pi, context, background) {
  if (cannotRunScripts) return;
  const found3 = await background.session?.interruptedWorkflows(liveScripts()) ?? [];
  for (const { text, script } of found3) {
    if (script) void startWorkflow(script, placeOptions(pi, context));
    deliver(pi, context, messageReport("info", text));
  }
}
function registerBackgroundKey(pi, session2, key) {
  pi.registerShortcut(key, {
    description: "Move waiting sub-agents to the background",
    handler: async (context) => deliver(pi, context, await answerOf(pi, context, session2, "background"))
  });
}
async function answerOf(pi, context, { background, questions }, line) {
  let isAwaited = true;
  const callbacks = hostCallbacks(context, questions, void 0, () => isAwaited);
  const answer2 = background.session?.command(line, callbacks, placeOptions(pi, context), liveScripts());
  const failed = (error) => messageReport("error", `/subagents ${line} failed: ${messageOf(error)}`);
  const report2 = await answer2?.catch(failed);
  isAwaited = false;
  return report2 ?? notOpen();
}
function notOpen() {
  return messageReport("error", loadAddon().problem ?? "No session is open");
}
var KEY = "alt+r";
function registerRestarts(pi, session2) {
  let offered = [];
  async function resume(keys, context) {
    const callbacks = hostCallbacks(context, session2.questions);
    const failed = (error) => messageReport("error", `Resuming interrupted runs failed: ${messageOf(error)}`);
    const report2 = await session2.background.session?.restartRuns([...keys], callbacks).catch(failed);
    if (report2) deliver(pi, context, report2);
  }
  pi.registerShortcut(KEY, {
    description: "Resume interrupted sub-agents",
    async handler(context) {
      const keys = offered;
      offered = [];
      if (keys.length > 0) await resume(keys, context);
      else context.ui.notify("No interrupted run was offered. `/subagents resume` continues an ended run", "info");
    }
  });
  return ({ mode, keys }, context) => {
    if (mode === "resume") return void resume(keys, context);
    offered = [...offered, ...keys];
    const runs = offered.length === 1 ? "1 run was" : `${offered.length} runs were`;
    if (context.hasUI)
      context.ui.notify(
        `${runs} interrupted by a restart: ${KEY} resumes ${offered.length === 1 ? "it" : "them"}`,
        "info"
      );
  };
}

// extension/host/guarded.ts
var GUARDS = {
  // A failing handler of `tool_call` blocks the call.
  on: (handler, event) => event === "tool_call" ? withGuardedContext(handler) : guardedFunction(`the handler of \`${event}\``, withGuardedContext(handler)),
  registerTool: (tool) => ({
    ...tool,
    // pi turns an error from here into a result for the model.
    execute: withGuardedContext(tool.execute),
    renderCall: renderer(`drawing \`${tool.name}\``, tool.renderCall),
    renderResult: renderer(`drawing \`${tool.name}\``, tool.renderResult)
  }),
  registerCommand: (command, name) => ({
    ...command,
    handler: withNotice(`/${name}`, withGuardedContext(command.handler)),
    getArgumentCompletions: guardedFunction(`completing \`/${name}\``, command.getArgumentCompletions, null)
  }),
  registerShortcut: (shortcut, key) => ({
    ...shortcut,
    handler: guardedFunction(`the key \`${key}\``, withGuardedContext(shortcut.handler))
  }),
  registerMessageRenderer: (draw, type) => renderer(`drawing \`${type}\``, draw, true),
  registerEntryRenderer: (draw, type) => renderer(`drawing \`${type}\``, draw, true),
  setWidget: (make) => renderer("the widget", make),
  custom: (make) => screen(make),
  onTerminalInput: (listener) => guardedFunction("a keyboard listener", listener)
};
function guarded(pi) {
  showFailuresIn(void 0, true);
  pi.on("session_start", (_event, context) => showFailuresIn(context, true));
  return guardedPart(pi);
}
function guardedPart(part) {
  const get = (_2, name) => {
    const value = Reflect.get(part, name);
    if (name === "ui") return guardedPart(value);
    if (typeof value !== "function") return value;
    return (...args) => value.apply(part, guardedArguments(GUARDS[name], args));
  };
  return new Proxy({}, { get, has: (_2, name) => Reflect.has(part, name) });
}
function guardedArguments(guard, args) {
  const index = args.findIndex((arg) => typeof arg === "function" || isObject(arg));
  return guard && index >= 0 ? args.with(index, guard(args[index], String(args[0]))) : args;
}
function withGuardedContext(callback) {
  return (...args) => {
    const index = args.findLastIndex((arg) => isObject(arg) && "sessionManager" in arg);
    if (index < 0) return callback(...args);
    const context = args[index];
    showFailuresIn(context, false);
    return callback(...args.with(index, guardedPart(context)));
  };
}
function guardedFunction(what, callback, otherwise) {
  return (...args) => runGuarded(what, () => callback(...args), otherwise);
}
function withNotice(what, command) {
  return async (...args) => {
    try {
      await command(...args);
    } catch (error) {
      runGuarded("a notice", () => showNotice(failureText(what, error), args.at(-1)));
    }
  };
}
function renderer(what, draw, mayDrawNothing = false) {
  return (...args) => {
    const drawn = attempted(() => draw(...args));
    if (drawn === void 0 && mayDrawNothing) return void 0;
    return guardedComponent(what, drawn, { text: textIn(args[0]) });
  };
}
function screen(make) {
  return (...args) => guardedComponent("the screen", make(...args), { close: args[3] });
}
function textIn(drawn) {
  try {
    const { content, data } = drawn;
    return plainText(contentText({ content: content ?? data?.text })).trim();
  } catch {
    return "";
  }
}
function attempted(make) {
  try {
    return make();
  } catch (error) {
    const render = () => {
      throw error;
    };
    return { render };
  }
}
var TEXT_LINES = 10;
function guardedComponent(what, drawn, { close, text = "" } = {}) {
  const inner = Object(drawn);
  const fit = fitting();
  let isBroken = false;
  const own = {
    render(width) {
      try {
        const lines = fit(inner.render(width), width);
        isBroken = false;
        return lines;
      } catch (error) {
        isBroken = true;
        recordFailure(what, error);
        const lines = text === "" ? [] : text.split("\n", TEXT_LINES);
        return [failureLine(what, error, width), ...lines.map((line) => clip(line, width))];
      }
    },
    handleInput(data) {
      try {
        if (isBroken && close) close();
        else inner.handleInput?.(data);
      } catch (error) {
        recordFailure(what, error);
        close?.();
      }
    },
    handleMouse(event) {
      const result = runGuarded(what, () => inner.handleMouse?.(event));
      if (!result) return void 0;
      const { handled, capture, focus, render } = result;
      return defined({ handled, capture, focus, render });
    },
    invalidate() {
      runGuarded(what, () => inner.invalidate?.());
    }
  };
  return new Proxy(inner, {
    get(_2, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const value = runGuarded(what, () => Reflect.get(inner, name));
      return typeof value === "function" ? guardedFunction(what, value.bind(inner)) : value;
    },
    set(_2, name, value) {
      runGuarded(what, () => name in inner && Object.assign(inner, { [name]: value }));
      return true;
    }
  });
}
function fitting() {
  let last = { width: -1, drawn: [], fit: [], given: [] };
  return (lines, width) => {
    if (!Array.isArray(lines)) throw new TypeError("no lines were drawn");
    const fit = lines.map((line, index) => {
      if (!isText(line)) throw new TypeError("a line is not a string");
      const isSame = width === last.width && line === last.drawn[index];
      return isSame ? last.fit[index] ?? "" : clip(line.replace(/[\r\n]+/g, " "), width);
    });
    const given = isSameLines(fit, last.fit) && isSameLines(fit, last.given) ? last.given : [...fit];
    last = { width, drawn: [...lines], fit, given };
    return given;
  };
}
function isSameLines(one, other) {
  return one.length === other.length && one.every((line, index) => line === other[index]);
}

// extension/questions/dialogs.ts
function dialogs(context) {
  let all = [];
  let shown;
  const wanted = /* @__PURE__ */ new Set();
  const close = () => {
    shown?.closing.abort();
    shown = void 0;
  };
  function update(waiting) {
    all = waiting;
    if (shown && waiting.some(({ id }) => id === shown?.id)) return;
    close();
    const next = waiting.find((asked) => !isForConversation(asked) || wanted.has(asked.id));
    if (!next) return;
    const closing = new AbortController();
    shown = { id: next.id, closing };
    show(context, next, closing.signal).then(next.settle, () => next.settle());
  }
  return {
    update,
    /**
     * Shows a question for the conversation, because the user wants to answer it. The client shows all other questions
     * anyway.
     */
    open(id) {
      wanted.add(id);
      update(all);
    },
    close
  };
}
async function show({ ui }, asked, signal) {
  const { method, heading, title, message = "", options = [], placeholder, prefill, endsAt } = asked;
  const timeout = Math.max(1, Math.round(endsAt - performance.now()));
  const text = `${heading}: ${title}`;
  if (method === "consent") {
    const confirmed = await ui.confirm(title, message, { signal });
    return signal.aborted ? {} : { confirmed };
  }
  if (method === "confirm") return { confirmed: await ui.confirm(text, message, { signal, timeout }) };
  const answers = {
    select: () => ui.select(text, options, { signal, timeout }),
    input: () => ui.input(text, placeholder, { signal, timeout }),
    editor: () => ui.editor(text, prefill)
  };
  const value = await answers[method]();
  return value === void 0 ? {} : { value };
}

// extension/tools/tools.ts
import module from "node:module";

// extension/tools/script.ts
import { readFile as readFile2 } from "node:fs/promises";

// extension/host/submission.ts
import { readFile } from "node:fs/promises";
async function submittedBy({ structured, structuredFile }) {
  if (structured !== void 0 || !structuredFile) return structured;
  return JSON.parse(await readFile(structuredFile, "utf8"));
}

// extension/tools/script.ts
var SCRIPT_TOOL = "subagent_run";
var CODES = {
  aborted: "SUBAGENT_ABORTED",
  budget: "SUBAGENT_OVER_BUDGET"
};
async function scriptOutput(result) {
  const [run] = result.details.results;
  const text = result.content.map((part) => part.text).join("\n");
  const isBackground = run?.outcome === "background";
  if (!run || run.outcome !== "completed" && !isBackground) {
    const code = (run && CODES[run.outcome]) ?? result.details.error?.code ?? "SUBAGENT_FAILED";
    return { ...result, content: [{ type: "text", text: `${code}: ${text}` }], isError: true };
  }
  const structuredContent = defined({
    status: run.outcome,
    // A moved run has a receipt in place of a report.
    report: isBackground ? text : await reportOf(run),
    data: await submittedBy(run),
    runId: run.runId ?? result.details.runId ?? "",
    // The usage of a stored result is that of the run that was paid before.
    cost: run.reused ? 0 : run.usage.cost
  });
  return { ...result, structuredContent };
}
async function reportOf({ output = "", fullOutputFile }) {
  return fullOutputFile ? await readFile2(fullOutputFile, "utf8") : output;
}

// extension/tools/tools.ts
var WAITING = { subagent: "single", subagent_parallel: "parallel", subagent_chain: "chain" };
function modeOf(name) {
  return Object.entries(WAITING).find(([tool]) => tool === name)?.[1];
}
function ownTools(pi, questions, background) {
  const failed = /* @__PURE__ */ new Set();
  const underWay = /* @__PURE__ */ new Set();
  let backgroundKey;
  function runOf(name) {
    const mode = modeOf(name);
    if (mode) return (call) => runToEnd(mode, call);
    if (name === "sessions_spawn") return (call) => spawn2(background, call);
    if (name === "agents_list") return list;
    if (name === SCRIPT_TOOL) return (call) => runForScript(background, call);
    return name.startsWith("sessions_") ? (call) => useSessionTool(name, background, call) : void 0;
  }
  return {
    /** Registers the tools that this version of the extension has. */
    register(surfaces) {
      for (const surface of surfaces) {
        const { name } = surface;
        const run = runOf(name);
        const mode = modeOf(name);
        if (!run) continue;
        const drawn = renderers(name, {
          asked: (callId) => questions.list(callId),
          isUnderWay: (callId) => underWay.has(callId),
          backgroundKey: () => backgroundKey,
          settled: () => background.settled
        });
        pi.registerTool({
          ...{ ...surface, ...drawn },
          // A script is code: its mistakes are errors there, and are not repaired.
          ...name !== SCRIPT_TOOL && { prepareArguments: (args) => prepared(name, args) },
          async execute(id, params, signal, onUpdate, context) {
            underWay.add(id);
            const { native, problem } = loadAddon();
            shareCompiledCode();
            let hasEnded = false;
            const update = ({ content, details }) => !hasEnded && onUpdate?.({ content, details });
            const answer2 = async () => {
              if (!native) return failure(problem);
              const place = placeOptions(pi, context);
              const host = hostCallbacks(context, questions, mode && id);
              return await run({ native, id, params, signal, context, place, host, update });
            };
            const output = await answer2().catch(
              (error) => failure(`the run ended unexpectedly: ${messageOf(error)}`)
            );
            hasEnded = true;
            underWay.delete(id);
            if (output.isError) failed.add(id);
            return output;
          }
        });
      }
    },
    /** Cards name this key from now on. */
    nameBackgroundKey(key) {
      backgroundKey = key;
    },
    /** Returns true if the call with this id failed, and forgets it. */
    takeFailed: (callId) => failed.delete(callId)
  };
}
async function runToEnd(mode, call) {
  const handle = started(mode, call);
  return await withAbort(call.signal, handle, settled(handle, call.context.sessionManager.getSessionId()));
}
async function withAbort(signal, call, result) {
  const abort = () => runGuarded("an abort", () => call.abort());
  if (signal?.aborted) abort();
  else signal?.addEventListener("abort", abort, { once: true });
  try {
    return await result;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}
function started(mode, { native, params, update, host, ...call }) {
  const place = { ...call.place, callId: call.id, aborted: call.signal?.aborted ?? false };
  const { tasks, steps, ...single } = params;
  if (mode === "single") {
    const { agent, task, cwd: childCwd, model: childModel, thinking: childThinking } = single;
    const options = defined({ ...place, agent, task, childCwd, childModel, childThinking });
    return native.startRun(options, update, host);
  }
  if (mode === "parallel") return native.startParallel({ ...place, tasks }, update, host);
  return native.startChain({ ...place, steps }, update, host);
}
async function runForScript({ withoutCard }, call) {
  const { native, params, id, place, update, host, signal, context } = call;
  const { agent, task, key, model: childModel, schema: outputSchema } = params;
  const aborted = signal?.aborted ?? false;
  const session2 = context.sessionManager.getSessionId();
  const workflow = key === void 0 ? void 0 : { id: native.CODEMODE_WORKFLOW + session2, key };
  const own = { agent, task, childModel, outputSchema, workflow };
  const options = defined({ ...place, ...own, callId: id, aborted });
  const handle = native.startRun(options, update, host);
  withoutCard.add(handle.runId);
  return await scriptOutput(await withAbort(signal, handle, settled(handle, session2)));
}
async function useSessionTool(name, { session: session2 }, call) {
  if (!session2) return failure("the runs of this session are not available");
  const use = session2.useTool(name, call.params, call.host, call.id);
  return await withAbort(call.signal, use, use.result());
}
async function unlessAborted(signal, result) {
  const aborted = Promise.withResolvers();
  return await withAbort(signal, { abort: () => aborted.resolve(void 0) }, Promise.race([result, aborted.promise]));
}
function prepared(tool, args) {
  const { native } = loadAddon();
  if (!native) return Object(args);
  const { arguments: known, problem } = native.prepareArguments(tool, JSON.stringify(args) ?? "null");
  if (!known) throw new Error(problem);
  return known;
}
async function spawn2({ session: session2 }, { id: callId, native, params, place, host, signal }) {
  if (signal?.aborted) return failure("stopped before anything was started");
  const { agentId: agent, model: childModel, thinking: childThinking, ...named } = params;
  const options = defined({ ...place, ...named, agent, childModel, childThinking, callId });
  const accepting = native.spawnSession(options, host);
  const receipt = await unlessAborted(signal, accepting);
  if (receipt) return answer(receipt);
  accepting.then(
    ({ childSessionKey: sessionKey }) => {
      if (sessionKey) runGuarded("an abort", () => session2?.useTool("sessions_stop", { sessionKey }, host));
    },
    () => void 0
  );
  return failure("stopped before the run was accepted; if it is accepted anyway, it is stopped, too");
}
async function list({ native, place, signal }) {
  const agents = signal?.aborted ? void 0 : await unlessAborted(signal, native.listSpawnable(place));
  return agents ? answer(agents) : failure("stopped");
}
function answer(details) {
  const { kind: _kind, version: _version, ...output } = details;
  const isError = "status" in output && output.status !== "accepted";
  return { content: [{ type: "text", text: JSON.stringify(output) }], isError, details };
}
function failure(text) {
  return { content: [{ type: "text", text }], isError: true, details: void 0 };
}
var isShared = false;
function shareCompiledCode() {
  if (!isShared) module.flushCompileCache?.();
  isShared = true;
}
var live2 = /* @__PURE__ */ new Map();
async function settled(handle, session2) {
  live2.set(handle, session2);
  try {
    return await handle.result();
  } finally {
    live2.delete(handle);
  }
}
async function closeRuns(session2) {
  const ending = [...live2].filter(([, of]) => session2 === void 0 || of === session2);
  await Promise.allSettled(ending.map(([handle]) => handle.close()));
}
var remembered = [];
function toolsFor(pi, { tools, scriptTool }) {
  const hasExposures = pi.getAllTools().some((tool) => "exposure" in tool);
  return scriptTool && hasExposures ? [...tools, scriptTool] : tools;
}
function rememberedTools() {
  return remembered;
}
async function describeTools(pi, context) {
  const { native, problem } = loadAddon();
  let surfaces;
  try {
    surfaces = native ? await native.describeTools(surfaceOptions(pi, context)) : withoutAddon(problem);
  } catch (error) {
    surfaces = withoutAddon(`the tools could not be described: ${messageOf(error)}`);
  }
  remembered = surfaces.register ? surfaces.tools : [];
  return surfaces;
}
var NAMES = ["subagent", "subagent_parallel", "subagent_chain", "sessions_spawn", "agents_list"];
function withoutAddon(problem) {
  const description = "Delegates work to sub-agents. Not usable now: the native addon is missing.";
  const promptSnippet = "Delegate work to sub-agents (not usable now)";
  const parameters = { type: "object", properties: {} };
  const same = { description, promptSnippet, promptGuidelines: [], parameters, exposure: "model-only" };
  const tools = NAMES.map((name) => ({ name, label: name, ...same }));
  return { register: true, tools, notices: [problem] };
}
function withPolicy(systemPrompt, surfaces) {
  const policy = surfaces?.delegationPolicy;
  return !policy || systemPrompt.includes(policy) ? void 0 : `${systemPrompt}

${policy}`;
}

// extension/tools/early.ts
function watchArrivingCalls(pi) {
  let calls;
  function take({ assistantMessageEvent: piece }, context) {
    if (piece.type !== "toolcall_start" && piece.type !== "toolcall_delta" && piece.type !== "toolcall_end") return;
    const { type, contentIndex, partial } = piece;
    const { native } = loadAddon();
    if (native) calls ??= new native.EarlyCalls();
    const call = partial?.content[contentIndex];
    const { name = "", id = "" } = call?.type === "toolCall" ? call : {};
    const whole = type === "toolcall_end" ? JSON.stringify(piece.toolCall?.arguments) ?? "" : "";
    const json = type === "toolcall_delta" ? piece.delta ?? "" : whole;
    const wanted = calls?.take({ type, contentIndex, name, id, json });
    if (!wanted || isTaken(wanted.tool) || !pi.getActiveTools().includes(wanted.tool)) return;
    shareCompiledCode();
    calls?.boot({ ...placeOptions(pi, context), ...wanted });
  }
  pi.on("message_update", (event, context) => {
    try {
      take(event, context);
    } catch {
    }
  });
  pi.on("message_end", ({ message }) => {
    if (message.role === "assistant") calls?.messageEnded(message.stopReason);
  });
  pi.on("tool_execution_end", ({ toolCallId }) => calls?.finished(toolCallId));
  pi.on("agent_end", () => calls?.clear());
  return async () => {
    await Promise.all([calls?.close(), loadAddon().native?.endSpares()]);
  };
}

// extension/ui/widget.ts
var WIDGET2 = "subagents";
var MAX_LINES2 = 5;
var ROWS_PER_LINE = 6;
var TICK_MS2 = 1e3;
var MARGIN = 1;
function shownOf({ runs, unread, workflows, withoutCard }) {
  const hasCard = ({ isForeground, runId, workflow }) => isForeground && workflow === void 0 && !withoutCard.has(runId);
  return {
    live: runs.filter((run) => isLive(run) && !hasCard(run) && run.pendingQuestion === void 0),
    unread,
    workflows
  };
}
function showWidget(context, background) {
  let widget;
  let changes = 0;
  const hide = () => {
    if (widget) context.ui.setWidget(WIDGET2, void 0);
    widget = void 0;
  };
  const make = (terminal, theme) => {
    const made = { terminal };
    widget = made;
    const rows = () => terminal.terminal?.rows ?? process.stdout.rows ?? Number.POSITIVE_INFINITY;
    const draw = (pen) => widgetLines(shownOf(background), rows(), Date.now(), pen);
    const tick = guardedInterval("the clock of the widget", follow, TICK_MS2);
    const dispose = () => {
      clearInterval(tick);
      if (widget === made) widget = void 0;
    };
    return { ...component(theme, draw, () => changes), dispose };
  };
  const follow = () => {
    const { live: live3, unread, workflows } = shownOf(background);
    changes += 1;
    if (live3.length + unread.length + workflows.length === 0) hide();
    else if (!widget) context.ui.setWidget(WIDGET2, make);
    widget?.terminal.requestRender();
  };
  const unsubscribe = background.subscribe(follow);
  follow();
  return () => {
    unsubscribe();
    hide();
  };
}
function widgetLines({ live: live3, unread, workflows }, rows, now, pen) {
  const limit = Math.max(1, Math.min(MAX_LINES2, Math.floor(rows / ROWS_PER_LINE)));
  const runs = [JSON.stringify(live3), JSON.stringify(unread), JSON.stringify(workflows)];
  const lines = (inner) => inner.drawn((native, ...on2) => native.drawWidget(...on2, ...runs, limit, now)) ?? [];
  return pen.indented(MARGIN, lines);
}

// extension/index.ts
function subagentNative(api) {
  if (process.env.PI_SUBAGENT_CHILD === "1") {
    (0, import_child_guard.default)(api, { isSecond: true });
    return;
  }
  runGuarded("loading the extension", () => start(guarded(api)));
}
function start(pi) {
  const background = new Background();
  const questions = new Questions();
  const notify = (channel, event) => runGuarded("notifying other extensions of runs", () => pi.events.emit(channel, event));
  const tools = ownTools(pi, questions, background);
  const notices = new Notices();
  const endArriving = watchArrivingCalls(pi);
  let surfaces;
  let deliveries;
  let hideWidget = () => {
  };
  let sessionChanges = 0;
  const remembered2 = rememberedTools();
  tools.register(remembered2);
  const settled2 = () => background.settled;
  if (remembered2.length > 0) registerAnnouncementRenderer(pi, settled2);
  let shownSettled = settled2();
  background.subscribe(() => {
    if (shownSettled !== settled2()) redrawEnded();
    shownSettled = settled2();
  });
  const drain = async (context) => await deliveries?.drain(() => context.waitForIdle());
  const session2 = { background, questions, drain };
  registerCommands(pi, session2);
  const handleInterrupted = registerRestarts(pi, session2);
  let exiting;
  const interrupted = () => {
    const end = (close) => runGuarded("stopping the running sub-agents", close);
    const ends = [end(endArriving), end(() => closeRuns()), end(() => loadAddon().native?.endBackground())];
    exiting = Promise.allSettled(ends).then(() => void process.kill(process.pid, "SIGINT"));
  };
  function handleEvent(event, context) {
    runGuarded("handling an event of background runs", () => {
      if (event.notices) notices.announce(event.notices, context);
      if (event.waiting && context.hasUI) context.ui.notify(event.waiting, "info");
      for (const { event: name, run } of event.runEvents ?? []) notify(name, run);
    });
    if (event.deliveries) deliveries?.add(event.deliveries);
  }
  function notifyTakenNames(context) {
    runGuarded("checking for taken names", () => {
      if (!surfaces?.register) return;
      const taken2 = findTakenNames(
        pi,
        toolsFor(pi, surfaces).map(({ name }) => name)
      );
      const { native } = loadAddon();
      if (native && taken2.length > 0) notices.announce(native.takenNameNotices(surfaceOptions(pi, context)), context);
    });
  }
  function openBackground(context) {
    const { native } = loadAddon();
    if (!native) return;
    try {
      const arrived = ({ deliveredEvent, questions: questions2, restart }) => {
        if (questions2.length === 0) notify("subagent:delivered", deliveredEvent);
        if (restart) runGuarded("resuming interrupted runs", () => handleInterrupted(restart, context));
      };
      deliveries = openDeliveries({ pi, context, background, native, arrived });
      const options = { ...placeOptions(pi, context), delivered: deliveries.delivered };
      background.open(native, options, (event) => handleEvent(event, context));
    } catch (error) {
      notices.announce([`background runs are not available: ${messageOf(error)}`], context);
    }
  }
  function leaveSession() {
    sessionChanges++;
    process.off("SIGINT", interrupted);
    hideWidget();
    hideWidget = () => {
    };
    deliveries?.close();
    deliveries = void 0;
    return background.leave();
  }
  pi.on("session_start", async (_event, context) => {
    const before = leaveSession();
    const thisSession = sessionChanges;
    await before?.close().catch(() => void 0);
    const isTerminal = context.mode === "tui";
    const presenter = () => isTerminal ? terminalQuestions(context.ui) : dialogs(context);
    if (context.hasUI) questions.attach(context.sessionManager.getSessionId(), presenter());
    else process.once("SIGINT", interrupted);
    const finding = Promise.all([
      findHostExtensions(context),
      findSessionKeys(context.modelRegistry).catch(() => void 0)
    ]);
    surfaces = await describeTools(pi, context);
    if (thisSession !== sessionChanges) return;
    registerAnnouncementRenderer(pi, settled2);
    if (surfaces.register) tools.register(toolsFor(pi, surfaces));
    else if (remembered2.length > 0) {
      const off = new Set(remembered2.map(({ name }) => name));
      pi.setActiveTools(pi.getActiveTools().filter((name) => !off.has(name)));
    }
    const stale = staleNotice();
    notices.announce(stale ? [...surfaces.notices, stale] : surfaces.notices, context);
    if (surfaces.backgroundKey) {
      registerBackgroundKey(pi, session2, surfaces.backgroundKey);
      tools.nameBackgroundKey(surfaces.backgroundKey);
    }
    await finding;
    if (thisSession !== sessionChanges) return;
    notifyTakenNames(context);
    openBackground(context);
    reportWorkflows(pi, context, background);
    if (context.hasUI) reportFailure("continuing workflows", continueWorkflows(pi, context, background));
    if (isTerminal) hideWidget = showWidget(context, background);
  });
  pi.on("input", () => deliveries?.prompted());
  pi.on("before_agent_start", (event, context) => {
    deliveries?.beforeStart();
    notifyTakenNames(context);
    if (!surfaces?.register || isTaken("subagent") || !pi.getActiveTools().includes("subagent")) return void 0;
    const systemPrompt = withPolicy(event.systemPrompt, surfaces);
    return systemPrompt === void 0 ? void 0 : { systemPrompt };
  });
  pi.on("agent_start", (_event, context) => deliveries?.started(context.signal));
  pi.on("message_end", ({ message }) => deliveries?.messageEnded(message));
  pi.on("agent_before_settle", async (event) => {
    const joined = await deliveries?.beforeSettle(event);
    await exiting;
    return joined;
  });
  pi.on("agent_settled", ({ aborted }) => deliveries?.settled(aborted));
  pi.on("tool_result", ({ toolCallId }) => tools.takeFailed(toolCallId) ? { isError: true } : void 0);
  pi.on("session_shutdown", async ({ reason }, context) => {
    await exiting;
    stopClocks();
    const view = leaveSession();
    questions.detach(reason === "reload");
    const isQuit = reason === "quit" || reason === void 0;
    if (reason !== "reload") {
      const interrupted2 = isQuit ? await closeWorkflows() : void 0;
      if (interrupted2 && context.mode === "tui") printAtExit(interrupted2);
      const leaves = isQuit ? loadAddon().native?.endBackground() : view?.close();
      const [, ended2] = await Promise.all([closeRuns(context.sessionManager.getSessionId()), leaves]);
      if (ended2 && context.mode === "tui") printAtExit(ended2);
    }
    await endArriving();
  });
}
export {
  subagentNative as default
};
//# sourceMappingURL=index.js.map
