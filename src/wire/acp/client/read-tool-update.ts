import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import type { FileLocation } from "../../../domain/tools/tool-output.ts";
import type { Executor } from "../../../domain/tools/tool-traits.ts";
import {
  readObject,
  readBoolean,
  readHarnMeta,
  readNumber,
  readObjects,
  readString,
} from "../json-fields.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import {
  TOOL_STATUSES,
  type BridgeFields,
  type ToolUpdate,
  type ToolUpdateContent,
} from "./session-update.ts";

/** Returns undefined if the update has no tool call id. */
export function readToolUpdate(update: JsonObject, isNew: boolean): ToolUpdate | undefined {
  const toolCallId = readString(update["toolCallId"]);
  if (toolCallId === undefined) return undefined;
  const { status, content, locations } = update;
  return {
    type: "tool",
    toolCallId,
    isNew,
    ...omitUndefined({
      title: readString(update["title"]),
      kind: readString(update["kind"]),
      status: TOOL_STATUSES.find((item) => item === status),
      content: Array.isArray(content) ? readToolContent(content) : undefined,
      locations: Array.isArray(locations) ? readLocations(locations) : undefined,
      input: update["rawInput"],
      output: update["rawOutput"],
    }),
    bridge: readBridgeFields(readHarnMeta(update)),
  };
}

export function readToolContent(content: JsonValue | undefined): readonly ToolUpdateContent[] {
  return readObjects(content).map((item): ToolUpdateContent => {
    switch (item["type"]) {
      case "content":
        return readContentBlock(readObject(item["content"]));
      case "diff":
        return readDiffContent(item);
      case "terminal":
        return { type: "terminal", terminalId: readString(item["terminalId"]) ?? "" };
      default:
        return { type: "other", content: item };
    }
  });
}

function readContentBlock(block: JsonObject): ToolUpdateContent {
  const text = block["type"] === "text" ? readString(block["text"]) : undefined;
  return text === undefined ? { type: "other", content: block } : { type: "text", text };
}

function readDiffContent(diff: JsonObject): ToolUpdateContent {
  const { path, newText } = diff;
  if (typeof path !== "string" || typeof newText !== "string") {
    return { type: "other", content: diff };
  }
  return { type: "diff", path, oldText: readString(diff["oldText"]) ?? null, newText };
}

function readLocations(locations: JsonValue): readonly FileLocation[] {
  return readObjects(locations).flatMap(({ path, line }) =>
    typeof path === "string" ? [{ path, ...(typeof line === "number" && { line }) }] : [],
  );
}

function readBridgeFields(fields: JsonObject): BridgeFields {
  const { audit, error } = fields;
  return omitUndefined({
    audit: isObject(audit) ? audit : undefined,
    executor: readExecutor(fields["executor"]),
    durationMs: readNumber(fields["durationMs"]),
    executionDurationMs: readNumber(fields["executionDurationMs"]),
    error: error ?? undefined,
    errorCategory: readString(fields["errorCategory"]),
    parsing: readBoolean(fields["parsing"]),
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
      const { kind, serverName } = readObject(executor);
      const isServer = kind === "mcp_server" && typeof serverName === "string";
      return isServer ? { type: "mcp", server: serverName } : undefined;
    }
  }
}
