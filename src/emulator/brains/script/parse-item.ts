import { isObject, toJsonText } from "../../../data/json.ts";
import type { ResultPart } from "../session-message.ts";
import { parseFailure } from "./parse-faults.ts";
import type { ScenarioNode } from "./scenario-node.ts";
import type { ScriptItem, Pace, ScriptCall, ScriptUsage, ServerTool } from "./scenario.ts";

/** Parses an item of a response. The first known name decides the kind; a plain string is short for `text`. */
export function parseItem(node: ScenarioNode): ScriptItem {
  if (typeof node.value === "string") return { type: "text", text: node.value, pace: {} };
  if (!isObject(node.value)) node.refuse(`a string, or an object with one of ${KINDS}`);
  const read = Object.entries(READERS).find(([name]) => node.member(name).value !== undefined)?.[1];
  return read === undefined ? node.refuse(`an item with one of ${KINDS}`) : read(node);
}

const READERS: { readonly [kind: string]: (node: ScenarioNode) => ScriptItem } = {
  text(node) {
    node.readObject(["text", "chunk", "delay"]);
    return { type: "text", text: node.member("text").readText(), pace: parsePaceOverride(node) };
  },
  reasoning(node) {
    node.readObject(["reasoning", "signature", "chunk", "delay"]);
    return {
      type: "reasoning",
      text: node.member("reasoning").readText(),
      signature: node.member("signature").readOptionalText() ?? null,
      pace: parsePaceOverride(node),
    };
  },
  redacted(node) {
    node.readObject(["redacted"]);
    return { type: "redacted", base64: parseBase64(node.member("redacted")).toString("base64") };
  },
  call(node) {
    node.readObject(["call", ...CALL_NAMES]);
    return { type: "call", call: parseCall(node, "call", "tool_use") };
  },
  server: (node) => ({ type: "servers", tools: [parseServerTool(node)] }),
  servers(node) {
    node.readObject(["servers"]);
    return { type: "servers", tools: node.member("servers").readList().map(parseServerTool) };
  },
  hook(node) {
    node.readObject(["hook", "name", "decision", "reason"]);
    return {
      type: "hook",
      point: node.member("hook").readText(),
      name: node.member("name").readText(),
      decision: node.member("decision").readOptionalText() ?? null,
      reason: node.member("reason").readOptionalText() ?? null,
    };
  },
  pause(node) {
    node.readObject(["pause"]);
    return { type: "pause", milliseconds: node.member("pause").readAmount() };
  },
  usage(node) {
    node.readObject(["usage"]);
    const usage = node.member("usage");
    if (usage.value === "none") return { type: "no-usage" };
    return { type: "usage", usage: parseUsage(usage) };
  },
  start(node) {
    node.readObject(["start"]);
    return { type: "start", role: node.member("start").readChoice(["assistant", "user"]) };
  },
  close(node) {
    node.readObject(["close"]);
    return { type: "close" };
  },
  stop(node) {
    node.readObject(["stop"]);
    return { type: "stop", reason: node.member("stop").readText() };
  },
  event(node) {
    node.readObject(["event"]);
    const event = node.member("event");
    const [entry, ...rest] = Object.entries(event.readMembers());
    if (entry === undefined || rest.length > 0) {
      return event.refuse("an object whose only key is the name of the event");
    }
    return { type: "event", name: entry[0], payload: entry[1] };
  },
  bytes(node) {
    node.readObject(["bytes"]);
    return { type: "bytes", bytes: new Uint8Array(parseBase64(node.member("bytes"))) };
  },
  raw(node) {
    node.readObject(["raw"]);
    return { type: "bytes", bytes: new TextEncoder().encode(node.member("raw").readText()) };
  },
  fail(node) {
    node.readObject(["fail"]);
    return { type: "fail", failure: parseFailure(node.member("fail")) };
  },
};

const KINDS = Object.keys(READERS).join(", ");
const CALL_NAMES = ["id", "input", "inputText", "type", "serverName"];

function parsePaceOverride(node: ScenarioNode): Partial<Pace> {
  const chunk = node.member("chunk");
  const delay = node.member("delay");
  return {
    ...(chunk.isPresent && { chunk: chunk.readAmount() }),
    ...(delay.isPresent && { delay: delay.readAmount() }),
  };
}

function parseCall(
  node: ScenarioNode,
  nameKey: string,
  kind: "tool_use" | "server_tool_use",
): ScriptCall {
  const type = node.member("type");
  const input = node.member("input");
  return {
    name: node.member(nameKey).readText(),
    id: node.member("id").readOptionalText() ?? null,
    input:
      node.member("inputText").readOptionalText() ?? toJsonText(input.isPresent ? input.value : {}),
    kind: type.isPresent ? parseCallKind(type) : kind,
    serverName: node.member("serverName").readOptionalText() ?? null,
  };
}

function parseCallKind(node: ScenarioNode): ScriptCall["kind"] {
  const kind = node.readChoice(["none", "tool_use", "server_tool_use", "mcp_tool_use"]);
  return kind === "none" ? null : kind;
}

function parseServerTool(node: ScenarioNode): ServerTool {
  node.readObject(["server", ...CALL_NAMES, "result", "status", "metadata"]);
  const status = node.member("status");
  const metadata = node.member("metadata");
  return {
    call: parseCall(node, "server", "server_tool_use"),
    status: status.isPresent ? status.readChoice(["success", "error"]) : "success",
    parts: parseParts(node.member("result")),
    metadata: metadata.isPresent ? toJsonText(metadata.value) : null,
  };
}

/** A string, a single part or a list of parts. */
function parseParts(node: ScenarioNode): ResultPart[] {
  if (!node.isPresent) return [];
  if (typeof node.value === "string") return [{ text: node.value }];
  const parts = Array.isArray(node.value) ? node.readList() : [node];
  return parts.map((part) => {
    part.readObject(["text", "json"]);
    const json = part.member("json");
    return json.value === undefined
      ? { text: part.member("text").readText() }
      : { json: json.readJson() };
  });
}

function parseUsage(node: ScenarioNode): ScriptUsage {
  node.readObject(["input", "output", "cacheRead", "cacheWrite", "latency"]);
  const optional = (name: string): number | null =>
    node.member(name).isPresent ? node.member(name).readWholeNumber() : null;
  return {
    input: node.member("input").readWholeNumber(),
    output: node.member("output").readWholeNumber(),
    cacheRead: optional("cacheRead"),
    cacheWrite: optional("cacheWrite"),
    latency: optional("latency") ?? 0,
  };
}

function parseBase64(node: ScenarioNode): Buffer {
  const text = node.readText();
  const bytes = Buffer.from(text, "base64");
  const isBase64 = bytes.toString("base64").replaceAll("=", "") === text.replaceAll("=", "");
  return isBase64 ? bytes : node.refuse("base64");
}
