/** Everything that a test needs to drive real pi. */

export * from "./background.ts";
export * from "./delegation.ts";
export { EventLog, type PiEvent, type ToolEnd, type ToolUpdate } from "./event-log.ts";
export { eventually } from "./eventually.ts";
export { type JsonOptions, type JsonResult, type JsonSession, runJson, runPrint, startJson } from "./headless.ts";
export { ModelServer, type Rule, type Script } from "./model-server.ts";
export { type Finished, PiProcess, type Place, type StartOptions } from "./process.ts";
export type { ModelRequest, ToolAnswer } from "./requests.ts";
export { RpcSession, startRpc, type UiAnswer, type UiRequest } from "./rpc.ts";
export * from "./steps.ts";
export { assertNothingLeft, endAll, survivors } from "./survivors.ts";
export { startTui, type Tui, usualSizes } from "./tui.ts";
export { newestPi, oldestPi, packageDir, piCommand, piVersions } from "./versions.ts";
export { model, provider, World, type WorldOptions } from "./world.ts";
