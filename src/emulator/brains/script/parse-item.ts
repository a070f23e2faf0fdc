import { isObject, jsonText } from "../../../domain/json.ts";
import type { ResultPart } from "../message.ts";
import { parseFailure } from "./parse-faults.ts";
import type { Spot } from "./reader.ts";
import type { Item, Pace, ScriptCall, ScriptUsage, ServerTool } from "./scenario.ts";

/** Reads one item of an answer. Which it is, its first name says; text alone is the short form of `text`. */
export function parseItem(spot: Spot): Item {
  if (typeof spot.value === "string") return { type: "text", text: spot.value, pace: {} };
  if (!isObject(spot.value)) spot.refuse(`text, or an object with one of ${KINDS}`);
  const read = Object.entries(READERS).find(([name]) => spot.at(name).value !== undefined)?.[1];
  return read === undefined ? spot.refuse(`an item with one of ${KINDS}`) : read(spot);
}

const READERS: { readonly [kind: string]: (spot: Spot) => Item } = {
  text(spot) {
    spot.object(["text", "chunk", "delay"]);
    return { type: "text", text: spot.at("text").text(), pace: parseOwnPace(spot) };
  },
  reasoning(spot) {
    spot.object(["reasoning", "signature", "chunk", "delay"]);
    return {
      type: "reasoning",
      text: spot.at("reasoning").text(),
      signature: spot.at("signature").optionalText() ?? null,
      pace: parseOwnPace(spot),
    };
  },
  redacted(spot) {
    spot.object(["redacted"]);
    return { type: "redacted", base64: base64At(spot.at("redacted")).toString("base64") };
  },
  call(spot) {
    spot.object(["call", ...CALL_NAMES]);
    return { type: "call", call: parseCall(spot, "call", "tool_use") };
  },
  server: (spot) => ({ type: "servers", tools: [parseServerTool(spot)] }),
  servers(spot) {
    spot.object(["servers"]);
    return { type: "servers", tools: spot.at("servers").list().map(parseServerTool) };
  },
  hook(spot) {
    spot.object(["hook", "name", "decision", "reason"]);
    return {
      type: "hook",
      point: spot.at("hook").text(),
      name: spot.at("name").text(),
      decision: spot.at("decision").optionalText() ?? null,
      reason: spot.at("reason").optionalText() ?? null,
    };
  },
  pause(spot) {
    spot.object(["pause"]);
    return { type: "pause", milliseconds: spot.at("pause").amount() };
  },
  usage(spot) {
    spot.object(["usage"]);
    const usage = spot.at("usage");
    if (usage.value === "none") return { type: "no-usage" };
    return { type: "usage", usage: parseUsage(usage) };
  },
  start(spot) {
    spot.object(["start"]);
    return { type: "start", role: spot.at("start").oneOf(["assistant", "user"]) };
  },
  close(spot) {
    spot.object(["close"]);
    return { type: "close" };
  },
  stop(spot) {
    spot.object(["stop"]);
    return { type: "stop", reason: spot.at("stop").text() };
  },
  event(spot) {
    spot.object(["event"]);
    const event = spot.at("event");
    const [entry, ...rest] = Object.entries(event.members());
    if (entry === undefined || rest.length > 0) {
      return event.refuse("an object with the event's name as its one key");
    }
    return { type: "event", name: entry[0], payload: entry[1] };
  },
  bytes(spot) {
    spot.object(["bytes"]);
    return { type: "bytes", bytes: new Uint8Array(base64At(spot.at("bytes"))) };
  },
  raw(spot) {
    spot.object(["raw"]);
    return { type: "bytes", bytes: new TextEncoder().encode(spot.at("raw").text()) };
  },
  fail(spot) {
    spot.object(["fail"]);
    return { type: "fail", failure: parseFailure(spot.at("fail")) };
  },
};

const KINDS = Object.keys(READERS).join(", ");
const CALL_NAMES = ["id", "input", "inputText", "type", "serverName"];

function parseOwnPace(spot: Spot): Partial<Pace> {
  const chunk = spot.at("chunk");
  const delay = spot.at("delay");
  return {
    ...(chunk.isGiven && { chunk: chunk.amount() }),
    ...(delay.isGiven && { delay: delay.amount() }),
  };
}

function parseCall(spot: Spot, nameAt: string, kind: "tool_use" | "server_tool_use"): ScriptCall {
  const type = spot.at("type");
  const input = spot.at("input");
  return {
    name: spot.at(nameAt).text(),
    id: spot.at("id").optionalText() ?? null,
    input: spot.at("inputText").optionalText() ?? jsonText(input.isGiven ? input.value : {}),
    kind: type.isGiven ? kindAt(type) : kind,
    serverName: spot.at("serverName").optionalText() ?? null,
  };
}

function kindAt(spot: Spot): ScriptCall["kind"] {
  const kind = spot.oneOf(["none", "tool_use", "server_tool_use", "mcp_tool_use"]);
  return kind === "none" ? null : kind;
}

function parseServerTool(spot: Spot): ServerTool {
  spot.object(["server", ...CALL_NAMES, "result", "status", "metadata"]);
  const status = spot.at("status");
  const metadata = spot.at("metadata");
  return {
    call: parseCall(spot, "server", "server_tool_use"),
    status: status.isGiven ? status.oneOf(["success", "error"]) : "success",
    parts: parseParts(spot.at("result")),
    metadata: metadata.isGiven ? jsonText(metadata.value) : null,
  };
}

/** Text, one part, or a list of parts. */
function parseParts(spot: Spot): ResultPart[] {
  if (!spot.isGiven) return [];
  if (typeof spot.value === "string") return [{ text: spot.value }];
  const parts = Array.isArray(spot.value) ? spot.list() : [spot];
  return parts.map((part) => {
    part.object(["text", "json"]);
    const json = part.at("json");
    return json.value === undefined ? { text: part.at("text").text() } : { json: json.json() };
  });
}

function parseUsage(spot: Spot): ScriptUsage {
  spot.object(["input", "output", "cacheRead", "cacheWrite", "latency"]);
  const optional = (name: string): number | null =>
    spot.at(name).isGiven ? spot.at(name).wholeNumber() : null;
  return {
    input: spot.at("input").wholeNumber(),
    output: spot.at("output").wholeNumber(),
    cacheRead: optional("cacheRead"),
    cacheWrite: optional("cacheWrite"),
    latency: optional("latency") ?? 0,
  };
}

function base64At(spot: Spot): Buffer {
  const text = spot.text();
  const bytes = Buffer.from(text, "base64");
  const isBase64 = bytes.toString("base64").replaceAll("=", "") === text.replaceAll("=", "");
  return isBase64 ? bytes : spot.refuse("base64");
}
