import { readWorkerUpdate } from "./worker-messages.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import { formatValue } from "../../../text/format-value.ts";
import { readError } from "../../jsonrpc/rpc-line.ts";
import { acceptValue, rejectValue, type ReadResult } from "../host/read-result.ts";
import { readObject, readHarnMeta, readNumber, readObjects, readString } from "../json-fields.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { toAgentError } from "./agent-error.ts";
import { readPromptResult } from "./agent-results.ts";
import { readToolUpdate } from "./read-tool-update.ts";
import { readConfigOptions } from "./session-settings.ts";
import type { TextUpdate, SessionUpdate, TurnEndInfo } from "./session-update.ts";

/** An update with its session. */
export interface ReceivedUpdate {
  readonly sessionId: string;
  readonly update: SessionUpdate;
  /**
   * The position in the session's log, for resuming. Its format belongs to the agent. Absent if the agent does not send
   * cursors.
   */
  readonly cursor?: string;
}

type UpdateReader = (update: JsonObject) => SessionUpdate | undefined;

// A map, not an object: `constructor` must not resolve to an update.
const STANDARD_UPDATES: ReadonlyMap<string, UpdateReader> = new Map<string, UpdateReader>([
  ["user_message_chunk", (update) => readTextChunk("user-text", update)],
  ["user_message", (update) => readTextMessage("user-text", update)],
  ["agent_message_chunk", (update) => readTextChunk("agent-text", update)],
  ["agent_thought_chunk", (update) => readTextChunk("agent-thought", update)],
  ["tool_call", (update) => readToolUpdate(update, true)],
  ["tool_call_update", (update) => readToolUpdate(update, false)],
  ["plan", readPlan],
  ["available_commands_update", readCommands],
  ["current_mode_update", readMode],
  ["config_option_update", readSettings],
  ["session_info_update", readSessionInfo],
  ["usage_update", readUsage],
]);

/**
 * Reads the params of `session/update`. `extensions` are the vendor updates that the agent advertised; any other vendor
 * update is rejected, even if its name is known here.
 */
export function readUpdate(
  params: JsonValue | undefined,
  extensions: readonly string[],
): ReadResult<ReceivedUpdate> {
  const { sessionId, update } = readObject(params);
  if (typeof sessionId !== "string" || !isObject(update)) return rejectValue(NOT_AN_UPDATE);
  const name = update["sessionUpdate"];
  if (typeof name !== "string") return rejectValue(NOT_AN_UPDATE);
  const standard = STANDARD_UPDATES.get(name);
  const isExtension = standard === undefined && extensions.includes(name);
  const parsed = isExtension
    ? createExtensionUpdate(name, readHarnMeta(update))
    : standard?.(update);
  if (parsed === undefined) return rejectValue(`the update ${formatValue(name)} is unknown`);
  return acceptValue({ sessionId, update: parsed, ...readCursor(params) });
}

/** Reads the params of `_harn/agentEvent`, which carries vendor updates for clients whose SDK supports only ACP. */
export function readAgentEvent(
  params: JsonValue | undefined,
  extensions: readonly string[],
): ReadResult<ReceivedUpdate> {
  const { sessionId, kind, _meta: _, ...fields } = readObject(params);
  if (typeof sessionId !== "string" || typeof kind !== "string") return rejectValue(NOT_AN_UPDATE);
  if (!extensions.includes(kind) && !COMPOSITION_EVENTS.has(kind)) {
    return rejectValue(`the event ${formatValue(kind)} is unknown`);
  }
  // The encoder renamed a field `kind`, because `kind` is the name of the event. Restores the field.
  const [family] = kind.split("_");
  const { [`${family}Kind`]: eventKind, ...rest } = fields;
  const parsed = createExtensionUpdate(
    kind,
    eventKind === undefined ? fields : { ...rest, kind: eventKind },
  );
  return acceptValue({ sessionId, update: parsed, ...readCursor(params) });
}

/** Events of code that calls tools. They exist only as agent events, so agents do not advertise them as updates. */
const COMPOSITION_EVENTS: ReadonlySet<string> = new Set([
  "composition_start",
  "composition_child_call",
  "composition_child_result",
  "composition_finish",
  "composition_error",
]);

const NOT_AN_UPDATE = "it is not a session update";

function createExtensionUpdate(name: string, fields: JsonObject): SessionUpdate {
  const worker = name === "worker_update" ? readWorkerUpdate(fields) : undefined;
  return worker ?? { type: "extension", name, fields };
}

function readCursor(params: JsonValue | undefined): Pick<ReceivedUpdate, "cursor"> {
  return omitUndefined({ cursor: readString(readHarnMeta(params)["cursor"]) });
}

function readTextChunk(
  type: TextUpdate["type"],
  { content, ...rest }: JsonObject,
): TextUpdate | undefined {
  return isObject(content) ? readTextMessage(type, { ...rest, content: [content] }) : undefined;
}

function readTextMessage(type: TextUpdate["type"], update: JsonObject): TextUpdate | undefined {
  const content = readObjects(update["content"]);
  const { visible_delta: delta, visible_text: text } = readHarnMeta(content[0]);
  return {
    type,
    messageId: readString(update["messageId"]) ?? null,
    text: content
      .map((block) => (block["type"] === "text" ? readString(block["text"]) : ""))
      .join(""),
    content,
    ...omitUndefined({ visibleDelta: readString(delta), visibleText: readString(text) }),
  };
}

function readPlan(update: JsonObject): SessionUpdate | undefined {
  const { entries } = update;
  const { plan } = readHarnMeta(update);
  if (!Array.isArray(entries)) return undefined;
  return {
    ...(isJsonObject(plan) && { plan }),
    type: "plan",
    entries: readObjects(entries).map(({ content, priority, status }) => ({
      content: readString(content) ?? "",
      priority: readString(priority) ?? "medium",
      status: readString(status) ?? "pending",
    })),
  };
}

function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return isObject(value);
}

function readCommands({ availableCommands }: JsonObject): SessionUpdate | undefined {
  if (!Array.isArray(availableCommands)) return undefined;
  return {
    type: "commands",
    commands: readObjects(availableCommands).flatMap(({ name, description, input }) =>
      typeof name === "string"
        ? [
            {
              name,
              description: readString(description) ?? "",
              ...omitUndefined({ hint: readString(readObject(input)["hint"]) }),
            },
          ]
        : [],
    ),
  };
}

/** Reads a mode update. ACP's schema names the field `currentModeId`, its documentation `modeId`. */
function readMode({ currentModeId, modeId }: JsonObject): SessionUpdate | undefined {
  const mode = readString(currentModeId) ?? readString(modeId);
  return mode === undefined ? undefined : { type: "mode", modeId: mode };
}

function readSettings({ configOptions }: JsonObject): SessionUpdate | undefined {
  if (!Array.isArray(configOptions)) return undefined;
  return { type: "options", options: readConfigOptions(configOptions) };
}

function readSessionInfo(update: JsonObject): SessionUpdate {
  const { title, updatedAt } = update;
  return {
    type: "info",
    ...omitUndefined({
      title: readStringOrNull(title),
      updatedAt: readStringOrNull(updatedAt),
      turn: readTurnEnd(update),
    }),
  };
}

function readStringOrNull(value: JsonValue | undefined): string | null | undefined {
  return value === null ? null : readString(value);
}

function readUsage({ used, size, cost }: JsonObject): SessionUpdate | undefined {
  if (typeof used !== "number" || typeof size !== "number") return undefined;
  const { amount, currency } = readObject(cost);
  const isCost = readNumber(amount) !== undefined && readString(currency) !== undefined;
  return {
    type: "usage",
    used,
    size,
    ...(isCost && {
      cost: { amount: readNumber(amount) ?? 0, currency: readString(currency) ?? "" },
    }),
  };
}

/**
 * Reads the end of a turn, which bridges add to `session_info_update`: the response to a prompt reaches only a single
 * client.
 */
function readTurnEnd(update: JsonObject): TurnEndInfo | undefined {
  const { turnId, clientId, result = null, error } = readObject(readHarnMeta(update)["turn"]);
  if (typeof turnId !== "string") return undefined;
  const turn = { turnId, clientId: readString(clientId) ?? null };
  if (error !== undefined) {
    const failure = toAgentError("session/prompt", readError(error)).toFailure();
    return { ...turn, end: { type: "failed", failure } };
  }
  const done = readPromptResult(result);
  return done.ok ? { ...turn, end: { type: "done", result: done.value } } : undefined;
}
