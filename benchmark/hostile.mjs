/** Texts that take quadratic time in a backtracking expression, or in one that is tried again at each position. */

/** The repeated strings, one per line, with JSON escapes. */
const units = String.raw`
eyJ
eyJhb.
sk-
ghp_
AKIA
xoxb-
a://
a=
&a=1
token=
TOKEN=x
?token=
token:
key:\u0020
api_key\u0020
--password\u0020
\"token\",\u0020
\"password\": \"
password='x\u0020
<token>
Bearer\u0020
Authorization:\u0020
authorization=
Cookie: a=b;\u0020
\u0020-u a:
-----BEGIN PRIVATE KEY-----\n
-----END\u0020
/home/user/
C:\\Users\\
\u0020   at f (/home/user/a.js:1:1)\n
\u0020 File \"a.py\", line 1, in f\n
12: a::b\n
\u001b]
\u001b[1;
\u009d
\r
\\
\\\"
1.
x
数
\u0020
\n
\u0020\n
=
:
\"
`
	.trim()
	.split("\n");

/**
 * @param {number} length
 *
 * @returns {Record<string, string>} the texts by a description of their content
 */
export function hostile(length) {
	const fill = (/** @type {string} */ unit) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
	const repeated = units.map((unit) => [`repeated \`${unit}\``, fill(JSON.parse(`"${unit}"`))]);
	return {
		...Object.fromEntries(repeated),
		"blanks after `password`": `password${fill(" ")}`,
		"letters before `://`": `${fill("a")}://`,
		"user and password without an end": `https://${fill("a:b:")}`,
		"backslashes after a quote": `{"token":"${fill("\\")}`,
		"long value without an end": `token="${fill("word and ")}`,
		"unterminated PEM": `-----BEGIN RSA PRIVATE KEY-----\n${fill("MIIEow\n")}`,
		"unterminated OSC": `\u001b]8;;${fill("x")}`,
		"parameters of CSI without an end": `\u001b[${fill("1;")}`,
	};
}
