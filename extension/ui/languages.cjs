/**
 * highlight.js with the languages that answers are written in. CommonJS, and a file of its own beside the module that pi
 * loads: it is read with the first block of code, and costs nothing before.
 */

/** @type {typeof import("highlight.js")} */
const core = require("highlight.js/lib/core");
/** @type {(name: string, grammar: any) => void} */
const add = (name, grammar) => core.registerLanguage(name, grammar);
add("bash", require("highlight.js/lib/languages/bash"));
add("c", require("highlight.js/lib/languages/c"));
add("cpp", require("highlight.js/lib/languages/cpp"));
add("csharp", require("highlight.js/lib/languages/csharp"));
add("css", require("highlight.js/lib/languages/css"));
add("diff", require("highlight.js/lib/languages/diff"));
add("go", require("highlight.js/lib/languages/go"));
add("ini", require("highlight.js/lib/languages/ini"));
add("java", require("highlight.js/lib/languages/java"));
add("javascript", require("highlight.js/lib/languages/javascript"));
add("json", require("highlight.js/lib/languages/json"));
add("kotlin", require("highlight.js/lib/languages/kotlin"));
add("lua", require("highlight.js/lib/languages/lua"));
add("php", require("highlight.js/lib/languages/php"));
add("python", require("highlight.js/lib/languages/python"));
add("ruby", require("highlight.js/lib/languages/ruby"));
add("rust", require("highlight.js/lib/languages/rust"));
add("sql", require("highlight.js/lib/languages/sql"));
add("swift", require("highlight.js/lib/languages/swift"));
add("typescript", require("highlight.js/lib/languages/typescript"));
add("xml", require("highlight.js/lib/languages/xml"));
add("yaml", require("highlight.js/lib/languages/yaml"));

module.exports = core;
