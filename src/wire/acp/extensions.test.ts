import { describe, expect, it } from "vitest";
import { initializeAnswer } from "./agent-answers.ts";

const { harn } = JSON.parse(JSON.stringify(initializeAnswer("1.2.3"))).agentCapabilities["_meta"];

describe("what initialize says of the bridge", () => {
  it("names the schema of ACP and the contract of the extensions [B-017] [B-018]", () => {
    expect(harn.schemaCompatibility).toBe(
      "agentclientprotocol/agent-client-protocol schema v0.12.2",
    );
    expect(harn.extensionContract).toBe("Harn ACP/MCP extensions v1");
  });

  it("names the updates: 18, and that of live clients [B-020] [B-021] [B-282] [ACP-27]", () => {
    expect(harn.sessionUpdateExtensions).toEqual([
      "artifact",
      "available_commands_update",
      "fs_watch",
      "handoff",
      "hitl_request",
      "hitl_resolved",
      "live_session_client",
      "log",
      "progress",
      "reminder_emitted",
      "skill_activated",
      "skill_deactivated",
      "skill_narrow",
      "skill_scope_tools",
      "tool_search_query",
      "tool_search_result",
      "transcript_compacted",
      "transcript_projected",
      "worker_update",
    ]);
  });

  it("names the fields of calls and of content [B-026] [B-055] [ACP-28] [ACP-29]", () => {
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
