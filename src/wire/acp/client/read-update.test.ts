import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../data/json.ts";
import { encodeAgentEventLine } from "../encode/line-cache.ts";
import { BRIDGE_UPDATES } from "../encode/harn-extensions.ts";
import type { VendorUpdate } from "../encode/vendor-updates.ts";
import { readObject } from "../json-fields.ts";
import { readAgentEvent, readUpdate } from "./read-update.ts";
import { runs } from "../../../../test/support/test-depth.ts";

/** The vendor updates as a bridge sends them. */
const EXAMPLES: readonly (VendorUpdate & { readonly _meta: { readonly harn: JsonObject } })[] =
  JSON.parse(
    readFileSync(
      join(import.meta.dirname, "../../../../test/fixtures/acp/session-update-extensions.json"),
      "utf8",
    ),
  );

function seen(update: JsonValue, extensions: readonly string[] = []): unknown {
  const reading = readUpdate({ sessionId: "ses_1", update }, extensions);
  return reading.ok ? reading.value.update : undefined;
}

function event(params: JsonValue, extensions: readonly string[] = []): unknown {
  const reading = readAgentEvent(params, extensions);
  return reading.ok ? reading.value.update : undefined;
}

function turnEnded(ended: JsonObject): JsonObject {
  const harn = { turn: { turnId: "turn_1", promptId: "p", ...ended } };
  return { sessionUpdate: "session_info_update", _meta: { harn } };
}

describe("readUpdate", () => {
  it.each<[string, JsonValue, unknown]>([
    [
      "text",
      {
        sessionUpdate: "agent_message_chunk",
        messageId: "msg_1",
        content: {
          type: "text",
          text: "Hi",
          _meta: { harn: { visible_delta: "i", visible_text: "Hi" } },
        },
      },
      { type: "agent-text", messageId: "msg_1", text: "Hi", visibleDelta: "i", visibleText: "Hi" },
    ],
    [
      "an image, which has no text",
      { sessionUpdate: "user_message_chunk", content: { type: "image", data: "x" } },
      { type: "user-text", messageId: null, text: "", content: [{ type: "image", data: "x" }] },
    ],
    [
      "a whole message",
      {
        sessionUpdate: "user_message",
        messageId: "m",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      { type: "user-text", messageId: "m", text: "ab" },
    ],
    [
      "a thought",
      { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "Hm" } },
      { type: "agent-thought", text: "Hm" },
    ],
    [
      "a plan",
      {
        sessionUpdate: "plan",
        entries: [{ content: "Look", priority: "high", status: "pending" }],
      },
      { type: "plan", entries: [{ content: "Look", priority: "high", status: "pending" }] },
    ],
    [
      "commands",
      {
        sessionUpdate: "available_commands_update",
        availableCommands: [{ name: "web", description: "Search", input: { hint: "query" } }],
      },
      { type: "commands", commands: [{ name: "web", description: "Search", hint: "query" }] },
    ],
    ["a mode", { sessionUpdate: "current_mode_update", currentModeId: "ask" }, { modeId: "ask" }],
    [
      "options",
      { sessionUpdate: "config_option_update", configOptions: [{ id: "model" }] },
      { type: "options", options: [expect.objectContaining({ id: "model", type: "other" })] },
    ],
    [
      "a removed title",
      { sessionUpdate: "session_info_update", title: null },
      { type: "info", title: null },
    ],
    [
      "the end of a turn with the client that sent the prompt",
      turnEnded({ clientId: "c", result: { stopReason: "cancelled" } }),
      {
        type: "info",
        turn: {
          turnId: "turn_1",
          clientId: "c",
          end: { type: "done", result: { reason: "cancelled", usage: null } },
        },
      },
    ],
    [
      "a failed turn",
      turnEnded({ clientId: null, error: { code: -32603, message: "No" } }),
      { turn: { clientId: null, end: { type: "failed", failure: { message: "No" } } } },
    ],
    [
      "usage",
      { sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount: 3, currency: "USD" } },
      { type: "usage", used: 1, size: 2, cost: { amount: 3, currency: "USD" } },
    ],
  ])("The update is read: %s", (_, update, expected) => {
    expect(seen(update)).toMatchObject(expected as object);
  });

  it("Bridge fields of a tool call are read only from _meta.harn [B-030] [B-051]", () => {
    const fields = { durationMs: 1, error: "root", executor: "harn_builtin", parsing: true };
    const update = {
      sessionUpdate: "tool_call_update",
      toolCallId: "tool_1",
      status: "completed",
      content: [
        { type: "content", content: { type: "text", text: "out" } },
        { type: "diff", path: "/a", oldText: null, newText: "b" },
        { type: "terminal", terminalId: "t" },
        { type: "hologram" },
      ],
      locations: [{ path: "/a", line: 2 }, { line: 1 }],
      rawInput: { a: 1 },
      rawOutput: "out",
      ...fields,
      audit: { session_id: "root" },
      _meta: {
        harn: {
          audit: { session_id: "ses_1" },
          executor: { kind: "mcp_server", serverName: "git" },
          executionDurationMs: 7,
          errorCategory: "timeout",
          rawInputPartial: '{"a"',
        },
      },
    };
    expect(seen(update)).toEqual({
      type: "tool",
      toolCallId: "tool_1",
      isNew: false,
      status: "completed",
      content: [
        { type: "text", text: "out" },
        { type: "diff", path: "/a", oldText: null, newText: "b" },
        { type: "terminal", terminalId: "t" },
        { type: "other", content: { type: "hologram" } },
      ],
      locations: [{ path: "/a", line: 2 }],
      input: { a: 1 },
      output: "out",
      bridge: {
        audit: { session_id: "ses_1" },
        executor: { type: "mcp", server: "git" },
        executionDurationMs: 7,
        errorCategory: "timeout",
        partialInput: '{"a"',
      },
    });
    expect(seen({ sessionUpdate: "tool_call", toolCallId: "t", ...fields })).toEqual({
      type: "tool",
      toolCallId: "t",
      isNew: true,
      bridge: {},
    });
  });

  it("A vendor update is read only if the agent advertised it [B-025] [B-051]", () => {
    const progress = {
      sessionUpdate: "progress",
      message: "root",
      _meta: { harn: { phase: "tool", message: "1 of 2" } },
    };
    expect(seen(progress, ["progress"])).toEqual({
      type: "extension",
      name: "progress",
      fields: { phase: "tool", message: "1 of 2" },
    });
    expect(seen(progress, ["log"])).toBeUndefined();
    const later = { sessionUpdate: "of_tomorrow", _meta: { harn: { a: 1 } } };
    expect(seen(later, ["of_tomorrow"])).toMatchObject({ name: "of_tomorrow", fields: { a: 1 } });
  });

  it("The fields of worker_update are read as a worker, as an update and as an event [B-051] [B-060]", () => {
    const update = EXAMPLES.find(({ sessionUpdate }) => sessionUpdate === "worker_update");
    if (update === undefined) throw new Error("No example of worker_update");
    const { metadata, audit } = readObject(update["_meta"].harn);
    const expected = {
      type: "worker",
      workerId: "worker_abc",
      name: "review_captain",
      task: "Review PR #42",
      mode: "delegated_stage",
      event: "WorkerWaitingForInput",
      status: "awaiting_input",
      isTerminal: false,
      sessionId: "run_xyz",
      metadata,
      audit,
    };
    expect(seen({ ...update }, BRIDGE_UPDATES)).toEqual(expected);
    const { params } = JSON.parse(encodeAgentEventLine("ses_1", update));
    expect(event(params, BRIDGE_UPDATES)).toEqual(expected);
  });

  const others = EXAMPLES.filter(({ sessionUpdate }) => sessionUpdate !== "worker_update");
  it.each(others.map((update) => [update.sessionUpdate, update] as const))(
    "The vendor update %s is read with all its fields, as an update and as an event [B-051] [B-060]",
    (name, update) => {
      const fields = update["_meta"].harn;
      const expected = { type: "extension", name, fields };
      expect(seen({ ...update }, BRIDGE_UPDATES)).toEqual(expected);
      const { params } = JSON.parse(encodeAgentEventLine("ses_1", update));
      expect(event(params, BRIDGE_UPDATES)).toEqual(expected);
    },
  );

  it("An unknown update is ignored [B-024]", () => {
    for (const update of [
      { sessionUpdate: "of_tomorrow" },
      { sessionUpdate: "constructor" },
      { sessionUpdate: "__proto__" },
      { sessionUpdate: 7 },
      {},
      null,
    ]) {
      expect(seen(update)).toBeUndefined();
    }
  });

  it("The cursor of an update is read if the agent sends it", () => {
    const update = { sessionUpdate: "current_mode_update", modeId: "a" };
    const params = { sessionId: "s", update, _meta: { harn: { cursor: "7" } } };
    expect(readUpdate(params, [])).toMatchObject({ value: { cursor: "7" } });
  });

  it("Any JSON value is read without an exception [B-024]", () => {
    const name = fc.constantFrom(
      "agent_message_chunk",
      "tool_call",
      "tool_call_update",
      "plan",
      "available_commands_update",
      "config_option_update",
      "session_info_update",
      "usage_update",
      "progress",
    );
    const keys = fc.constantFrom(
      "content",
      "toolCallId",
      "entries",
      "availableCommands",
      "configOptions",
      "locations",
      "_meta",
      "used",
      "__proto__",
    );
    const fields = fc.dictionary(keys, fc.jsonValue());
    fc.assert(
      fc.property(name, fields, fc.jsonValue(), (sessionUpdate, more, other) => {
        const update = JSON.parse(JSON.stringify({ ...more, sessionUpdate }));
        readUpdate({ sessionId: "s", update }, ["progress"]);
        readUpdate(other as JsonValue, []);
        readAgentEvent({ sessionId: "s", kind: "progress", ...more }, ["progress"]);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe("readAgentEvent", () => {
  it("An event is read like the update of the same name if the agent advertised it [B-060]", () => {
    const artifact = { sessionId: "s", kind: "artifact", artifactId: "a", artifactKind: "table" };
    expect(event(artifact, ["artifact"])).toEqual({
      type: "extension",
      name: "artifact",
      fields: { artifactId: "a", kind: "table" },
    });
    expect(event(artifact, [])).toBeUndefined();
  });

  it("Composition events are read and unknown kinds are ignored [B-060]", () => {
    expect(event({ sessionId: "s", kind: "composition_start", runId: "r" })).toMatchObject({
      name: "composition_start",
      fields: { runId: "r" },
    });
    expect(event({ sessionId: "s", kind: "of_tomorrow" })).toBeUndefined();
    expect(event({ kind: "artifact" }, ["artifact"])).toBeUndefined();
  });
});
