/**
 * Executes SQL on a store, and other SQL once its input ends. It is a process of its own, because two copies of SQLite in one process
 * do not see each other's locks.
 */

import { DatabaseSync } from "node:sqlite";

const [path = "", first = "", last = "", timeout = "0"] = process.argv.slice(2);
const store = new DatabaseSync(path, { timeout: Number(timeout) });
store.exec(first);
process.stdout.write("done\n");
for await (const _ of process.stdin);
store.exec(last);
store.close();
