import { isObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import { shown } from "../../../domain/shown.ts";
import { read, unreadable, type Reading } from "../host/reading.ts";
import { fieldsOf, harnFields, numberOf, objectsOf, present, textOf } from "../fields.ts";
import { readToolUpdate } from "./read-tool-update.ts";
import { readTurnEnd } from "./read-turn-end.ts";
import type { SeenText, SeenUpdate } from "./seen-update.ts";
import { readOptions } from "./session-settings.ts";

/** An update, and of which session. */
export interface ToldUpdate {
  readonly sessionId: string;
  readonly update: SeenUpdate;
  /** Where in the session's log it stands, for whoever takes the session up again; its form is the agent's own. */
  readonly cursor?: string;
}

type ReadUpdate = (update: JsonObject) => SeenUpdate | undefined;

// A map and not an object: "constructor" is not an update.
const STANDARD: ReadonlyMap<string, ReadUpdate> = new Map<string, ReadUpdate>([
  ["user_message_chunk", (update) => readChunk("user-text", update)],
  ["user_message", (update) => readMessage("user-text", update)],
  ["agent_message_chunk", (update) => readChunk("agent-text", update)],
  ["agent_thought_chunk", (update) => readChunk("agent-thought", update)],
  ["tool_call", (update) => readToolUpdate(update, true)],
  ["tool_call_update", (update) => readToolUpdate(update, false)],
  ["plan", readPlan],
  ["available_commands_update", readCommands],
  ["current_mode_update", readMode],
  ["config_option_update", readSettings],
  ["session_info_update", readInfo],
  ["usage_update", readUsage],
]);

/**
 * Reads the params of `session/update`. `extensions` are the names that the agent said it sends beside ACP's own: one that
 * is not among them is passed over, whether or not it is known here.
 */
export function readUpdate(
  params: JsonValue | undefined,
  extensions: readonly string[],
): Reading<ToldUpdate> {
  const { sessionId, update } = fieldsOf(params);
  if (typeof sessionId !== "string" || !isObject(update)) return unreadable(NOT_ONE);
  const name = update["sessionUpdate"];
  if (typeof name !== "string") return unreadable(NOT_ONE);
  const standard = STANDARD.get(name);
  const isExtension = standard === undefined && extensions.includes(name);
  const seen = isExtension ? extension(name, harnFields(update)) : standard?.(update);
  if (seen === undefined) return unreadable(`the update ${shown(name)} is not one that is known`);
  return read({ sessionId, update: seen, ...cursorOf(params) });
}

/** Reads the params of `_harn/agentEvent`, by which clients are told who know ACP alone. */
export function readAgentEvent(
  params: JsonValue | undefined,
  extensions: readonly string[],
): Reading<ToldUpdate> {
  const { sessionId, kind, _meta: _, ...fields } = fieldsOf(params);
  if (typeof sessionId !== "string" || typeof kind !== "string") return unreadable(NOT_ONE);
  if (!extensions.includes(kind) && !COMPOSITION.has(kind)) {
    return unreadable(`the event ${shown(kind)} is not one that is known`);
  }
  // The event's own kind took the place of a field of that name.
  const [family] = kind.split("_");
  const { [`${family}Kind`]: own, ...rest } = fields;
  const seen = extension(kind, own === undefined ? fields : { ...rest, kind: own });
  return read({ sessionId, update: seen, ...cursorOf(params) });
}

/** Runs of code that calls tools. They come as events alone, and so are in no list of updates. */
const COMPOSITION: ReadonlySet<string> = new Set([
  "composition_start",
  "composition_child_call",
  "composition_child_result",
  "composition_finish",
  "composition_error",
]);

const NOT_ONE = "it is no update of a session";

function extension(name: string, fields: JsonObject): SeenUpdate {
  return { type: "extension", name, fields };
}

function cursorOf(params: JsonValue | undefined): Pick<ToldUpdate, "cursor"> {
  return present({ cursor: textOf(harnFields(params)["cursor"]) });
}

function readChunk(type: SeenText["type"], { content, ...rest }: JsonObject): SeenText | undefined {
  return isObject(content) ? readMessage(type, { ...rest, content: [content] }) : undefined;
}

function readMessage(type: SeenText["type"], update: JsonObject): SeenText | undefined {
  const content = objectsOf(update["content"]);
  const { visible_delta: delta, visible_text: text } = harnFields(content[0]);
  return {
    type,
    messageId: textOf(update["messageId"]) ?? null,
    text: content.map((block) => (block["type"] === "text" ? textOf(block["text"]) : "")).join(""),
    content,
    ...present({ visibleDelta: textOf(delta), visibleText: textOf(text) }),
  };
}

function readPlan({ entries }: JsonObject): SeenUpdate | undefined {
  if (!Array.isArray(entries)) return undefined;
  return {
    type: "plan",
    entries: objectsOf(entries).map(({ content, priority, status }) => ({
      content: textOf(content) ?? "",
      priority: textOf(priority) ?? "medium",
      status: textOf(status) ?? "pending",
    })),
  };
}

function readCommands({ availableCommands }: JsonObject): SeenUpdate | undefined {
  if (!Array.isArray(availableCommands)) return undefined;
  return {
    type: "commands",
    commands: objectsOf(availableCommands).flatMap(({ name, description, input }) =>
      typeof name === "string"
        ? [
            {
              name,
              description: textOf(description) ?? "",
              ...present({ hint: textOf(fieldsOf(input)["hint"]) }),
            },
          ]
        : [],
    ),
  };
}

/** The prose of ACP calls it `modeId`. */
function readMode({ currentModeId, modeId }: JsonObject): SeenUpdate | undefined {
  const mode = textOf(currentModeId) ?? textOf(modeId);
  return mode === undefined ? undefined : { type: "mode", modeId: mode };
}

function readSettings({ configOptions }: JsonObject): SeenUpdate | undefined {
  if (!Array.isArray(configOptions)) return undefined;
  return { type: "options", options: readOptions(configOptions) };
}

function readInfo(update: JsonObject): SeenUpdate {
  const { title, updatedAt } = update;
  return {
    type: "info",
    ...present({
      title: textOrNull(title),
      updatedAt: textOrNull(updatedAt),
      turn: readTurnEnd(update),
    }),
  };
}

function textOrNull(value: JsonValue | undefined): string | null | undefined {
  return value === null ? null : textOf(value);
}

function readUsage({ used, size, cost }: JsonObject): SeenUpdate | undefined {
  if (typeof used !== "number" || typeof size !== "number") return undefined;
  const { amount, currency } = fieldsOf(cost);
  const isCost = numberOf(amount) !== undefined && textOf(currency) !== undefined;
  return {
    type: "usage",
    used,
    size,
    ...(isCost && { cost: { amount: numberOf(amount) ?? 0, currency: textOf(currency) ?? "" } }),
  };
}
