import { isObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import type { FileLocation } from "../../../domain/tool-output.ts";
import type { Executor } from "../../../domain/tool-traits.ts";
import { fieldsOf, flagOf, harnFields, numberOf, objectsOf, present, textOf } from "../fields.ts";
import {
  TOOL_STATUSES,
  type BridgeFields,
  type SeenTool,
  type SeenToolContent,
} from "./seen-update.ts";

/** Undefined where it does not say of which call it speaks. */
export function readToolUpdate(update: JsonObject, isNew: boolean): SeenTool | undefined {
  const toolCallId = textOf(update["toolCallId"]);
  if (toolCallId === undefined) return undefined;
  const { status, content, locations } = update;
  return {
    type: "tool",
    toolCallId,
    isNew,
    ...present({
      title: textOf(update["title"]),
      kind: textOf(update["kind"]),
      status: TOOL_STATUSES.find((one) => one === status),
      content: Array.isArray(content) ? readToolContent(content) : undefined,
      locations: Array.isArray(locations) ? readLocations(locations) : undefined,
      input: update["rawInput"],
      output: update["rawOutput"],
    }),
    bridge: readBridgeFields(harnFields(update)),
  };
}

export function readToolContent(content: JsonValue | undefined): readonly SeenToolContent[] {
  return objectsOf(content).map((one): SeenToolContent => {
    switch (one["type"]) {
      case "content":
        return readBlock(fieldsOf(one["content"]));
      case "diff":
        return readDiff(one);
      case "terminal":
        return { type: "terminal", terminalId: textOf(one["terminalId"]) ?? "" };
      default:
        return { type: "other", content: one };
    }
  });
}

function readBlock(block: JsonObject): SeenToolContent {
  const text = block["type"] === "text" ? textOf(block["text"]) : undefined;
  return text === undefined ? { type: "other", content: block } : { type: "text", text };
}

function readDiff(diff: JsonObject): SeenToolContent {
  const { path, newText } = diff;
  if (typeof path !== "string" || typeof newText !== "string") {
    return { type: "other", content: diff };
  }
  return { type: "diff", path, oldText: textOf(diff["oldText"]) ?? null, newText };
}

function readLocations(locations: JsonValue): readonly FileLocation[] {
  return objectsOf(locations).flatMap(({ path, line }) =>
    typeof path === "string" ? [{ path, ...(typeof line === "number" && { line }) }] : [],
  );
}

function readBridgeFields(fields: JsonObject): BridgeFields {
  const { audit, error } = fields;
  return present({
    audit: isObject(audit) ? audit : undefined,
    executor: readExecutor(fields["executor"]),
    durationMs: numberOf(fields["durationMs"]),
    executionDurationMs: numberOf(fields["executionDurationMs"]),
    error: error ?? undefined,
    errorCategory: textOf(fields["errorCategory"]),
    parsing: flagOf(fields["parsing"]),
    partialInput: fields["rawInputPartial"],
  });
}

function readExecutor(executor: JsonValue | undefined): Executor | undefined {
  switch (executor) {
    case "harn_builtin":
      return { type: "builtin" };
    case "host_bridge":
      return { type: "host" };
    case "provider_native":
      return { type: "provider" };
    default: {
      const { kind, serverName } = fieldsOf(executor);
      const isServer = kind === "mcp_server" && typeof serverName === "string";
      return isServer ? { type: "mcp", server: serverName } : undefined;
    }
  }
}
