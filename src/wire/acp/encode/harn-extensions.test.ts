import { describe, expect, it } from "vitest";
import { encodeInitializeResult } from "./encode-results.ts";

const { harn } = JSON.parse(JSON.stringify(encodeInitializeResult("1.2.3"))).agentCapabilities[
  "_meta"
];

describe("Bridge capabilities in initialize", () => {
  it("The capabilities name the ACP schema and the extension contract [B-017] [B-018]", () => {
    expect(harn.schemaCompatibility).toBe(
      "agentclientprotocol/agent-client-protocol schema v0.12.2",
    );
    expect(harn.extensionContract).toBe("Harn ACP/MCP extensions v1");
  });

  it("The advertised updates are the updates that this version emits [B-020] [B-022] [B-282] [ACP-27]", () => {
    expect(harn.sessionUpdateExtensions).toEqual([
      "artifact",
      "available_commands_update",
      "fs_watch",
      "handoff",
      "hitl_request",
      "hitl_resolved",
      "live_session_client",
      "live_session_permission_route",
      "log",
      "progress",
      "reminder_emitted",
      "transcript_compacted",
      "transcript_projected",
      "worker_update",
    ]);
  });

  it("The capabilities name the extension fields of tool calls and content [B-026] [B-055] [ACP-28] [ACP-29]", () => {
    expect(harn.toolLifecycleExtensionFields).toEqual([
      "audit",
      "durationMs",
      "error",
      "errorCategory",
      "executionDurationMs",
      "executor",
      "parsing",
      "rawInputPartial",
    ]);
    expect(harn.contentExtensionFields).toEqual(["visible_delta", "visible_text"]);
  });
});
