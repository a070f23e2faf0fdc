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

/** An update, and of which session. */
export interface ReceivedUpdate {
  readonly sessionId: string;
  readonly update: SessionUpdate;
  /** Where in the session's log it stands, for whoever takes the session up again; its form is the agent's own. */
  readonly cursor?: string;
}

type UpdateReader = (update: JsonObject) => SessionUpdate | undefined;

// A map and not an object: "constructor" is not an update.
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
 * Reads the params of `session/update`. `extensions` are the names that the agent said it sends beside ACP's own: one that
 * is not among them is passed over, whether or not it is known here.
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
  if (parsed === undefined)
    return rejectValue(`the update ${formatValue(name)} is not one that is known`);
  return acceptValue({ sessionId, update: parsed, ...readCursor(params) });
}

/** Reads the params of `_harn/agentEvent`, by which clients are told who know ACP alone. */
export function readAgentEvent(
  params: JsonValue | undefined,
  extensions: readonly string[],
): ReadResult<ReceivedUpdate> {
  const { sessionId, kind, _meta: _, ...fields } = readObject(params);
  if (typeof sessionId !== "string" || typeof kind !== "string") return rejectValue(NOT_AN_UPDATE);
  if (!extensions.includes(kind) && !COMPOSITION_EVENTS.has(kind)) {
    return rejectValue(`the event ${formatValue(kind)} is not one that is known`);
  }
  // The event's own kind took the place of a field of that name.
  const [family] = kind.split("_");
  const { [`${family}Kind`]: eventKind, ...rest } = fields;
  const parsed = createExtensionUpdate(
    kind,
    eventKind === undefined ? fields : { ...rest, kind: eventKind },
  );
  return acceptValue({ sessionId, update: parsed, ...readCursor(params) });
}

/** Runs of code that calls tools. They come as events alone, and so are in no list of updates. */
const COMPOSITION_EVENTS: ReadonlySet<string> = new Set([
  "composition_start",
  "composition_child_call",
  "composition_child_result",
  "composition_finish",
  "composition_error",
]);

const NOT_AN_UPDATE = "it is no update of a session";

function createExtensionUpdate(name: string, fields: JsonObject): SessionUpdate {
  return { type: "extension", name, fields };
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

function readPlan({ entries }: JsonObject): SessionUpdate | undefined {
  if (!Array.isArray(entries)) return undefined;
  return {
    type: "plan",
    entries: readObjects(entries).map(({ content, priority, status }) => ({
      content: readString(content) ?? "",
      priority: readString(priority) ?? "medium",
      status: readString(status) ?? "pending",
    })),
  };
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

/** The prose of ACP calls it `modeId`. */
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

/** Bridges say it beside what ACP tells of a session: the answer to its prompt goes to one client alone. */
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
