import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Ajv2020 } from "ajv/dist/2020.js";
import { isObject } from "../../../src/data/json.ts";
import { isBridgeMethod, STEERING_METHOD } from "../../../src/wire/acp/decode/decode-request.ts";
import { SESSION_UPDATE_EXTENSIONS } from "../../../src/wire/acp/encode/harn-extensions.ts";

interface Schema {
  readonly name: string;
  readonly ajv: Ajv2020;
}

/** The schema of ACP v0.12.2, from the SDK of its time, and the newest schema of version 1. */
const SCHEMAS: readonly Schema[] = [
  loadSchema("v0.12.2", "@agentclientprotocol/sdk/schema/schema.json"),
  loadSchema("newest", "acp-sdk-2/schema/v1/schema.json"),
];

function loadSchema(name: string, path: string): Schema {
  const file = createRequire(import.meta.url).resolve(path);
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(JSON.parse(readFileSync(file, "utf8")), "acp");
  return { name, ajv };
}

/** Updates that v0.12.2 does not have, sent only to clients which declare support. */
const LATER_UPDATES = new Set(["notice", "compaction_update", "compaction_summary_chunk"]);
const PARAMS = new Map([
  ["session/update", "SessionNotification"],
  ["session/request_permission", "RequestPermissionRequest"],
  ["$/cancel_request", "CancelRequestNotification"],
  ["elicitation/create", "CreateElicitationRequest"],
  ["fs/read_text_file", "ReadTextFileRequest"],
  ["fs/write_text_file", "WriteTextFileRequest"],
  ["terminal/create", "CreateTerminalRequest"],
  ["terminal/output", "TerminalOutputRequest"],
  ["terminal/wait_for_exit", "WaitForTerminalExitRequest"],
  ["terminal/kill", "KillTerminalRequest"],
  ["terminal/release", "ReleaseTerminalRequest"],
]);
/** Requests and notifications that only bridge hosts receive. */
const HOST_METHODS = new Set([
  "host/tools/list",
  "builtin_call",
  "host/call",
  "skills/list",
  "skills/fetch",
  "harn.hitl.requested",
  "agent/idle",
]);
const RESULTS = new Map([
  ["initialize", "InitializeResponse"],
  ["session/new", "NewSessionResponse"],
  ["session/load", "LoadSessionResponse"],
  ["session/prompt", "PromptResponse"],
  ["authenticate", "AuthenticateResponse"],
  ["session/list", "ListSessionsResponse"],
  ["session/resume", "ResumeSessionResponse"],
  ["session/fork", "ForkSessionResponse"],
  ["session/close", "CloseSessionResponse"],
  ["session/delete", "DeleteSessionResponse"],
  ["session/set_mode", "SetSessionModeResponse"],
  ["session/set_config_option", "SetSessionConfigOptionResponse"],
]);

/**
 * The problems of a message from the agent. `requestMethod` is the method of the request if the message is a response.
 */
export function findAcpProblems(message: unknown, requestMethod?: string): readonly string[] {
  if (!isObject(message) || message["jsonrpc"] !== "2.0") return ["not a JSON-RPC message"];
  const { method, params, result, error } = message;
  if (HOST_METHODS.has(String(method))) return [];
  // Clients ignore unknown methods with an underscore.
  if (typeof method === "string" && method.startsWith("_")) return [];
  const vendor = method === "session/update" ? findVendorProblems(params) : undefined;
  if (vendor !== undefined) return vendor;
  if (typeof method === "string") return findProblems(PARAMS.get(method), params, method);
  if (error !== undefined) return findProblems("Error", error, "an error");
  // ACP has `session/cancel` only as a notification.
  if (requestMethod === undefined || requestMethod === "session/cancel") return [];
  if (isBridgeMethod(requestMethod) || requestMethod === STEERING_METHOD) return [];
  return findProblems(RESULTS.get(requestMethod), result, `the answer to ${requestMethod}`);
}

/** The problems of a vendor update: all fields must be in `_meta.harn`. Undefined for other updates. */
function findVendorProblems(params: unknown): readonly string[] | undefined {
  const update = isObject(params) ? params["update"] : undefined;
  // From the draft of version 2, supported by bridge hosts.
  if (isObject(update) && update["sessionUpdate"] === "user_message") {
    return Array.isArray(update["content"]) ? [] : ["user_message has no content"];
  }
  if (!isObject(update) || !VENDOR_UPDATES.has(String(update["sessionUpdate"]))) return undefined;
  const { sessionUpdate, _meta, ...rest } = update;
  const isPlaced = isObject(_meta) && isObject(_meta["harn"]) && Object.keys(rest).length === 0;
  return isPlaced ? [] : [`${String(sessionUpdate)} has fields outside of _meta.harn`];
}

const VENDOR_UPDATES: ReadonlySet<string> = new Set(
  SESSION_UPDATE_EXTENSIONS.filter((name) => name !== "available_commands_update"),
);

/** Validates against every schema with this definition. A definition missing in both is a problem. */
function findProblems(name: string | undefined, value: unknown, label: string): readonly string[] {
  const later = isLaterUpdate(value);
  const checks = SCHEMAS.flatMap((schema) => {
    const validate = schema.ajv.getSchema(`acp#/$defs/${name}`);
    return validate === undefined || (later && schema.name === "v0.12.2")
      ? []
      : [{ ...schema, validate }];
  });
  if (checks.length === 0) return [`${label} is not in the schema`];
  return checks.flatMap((schema) =>
    schema.validate(value)
      ? []
      : (schema.validate.errors ?? []).map(
          ({ instancePath, message }) => `${schema.name}: ${label}${instancePath} ${message}`,
        ),
  );
}

function isLaterUpdate(params: unknown): boolean {
  if (!isObject(params) || !isObject(params["update"])) return false;
  const { sessionUpdate } = params["update"];
  return typeof sessionUpdate === "string" && LATER_UPDATES.has(sessionUpdate);
}
