import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { formatSortedJson } from "../../../../test/support/sorted-json.ts";
import { encodeAgentEventLine } from "./line-cache.ts";
import { BRIDGE_UPDATES } from "./harn-extensions.ts";
import { encodeUpdateLine } from "./acp-session-update.ts";
import * as encoders from "./vendor-updates.ts";
import type { VendorUpdate } from "./vendor-updates.ts";

/**
 * An example of each vendor update. The examples of `reminder_emitted` and `worker_update` come from the bridge
 * documentation.
 */
const FIXTURES: readonly { sessionUpdate: string; _meta: { harn: Record<string, unknown> } }[] =
  JSON.parse(
    readFileSync(
      join(import.meta.dirname, "../../../../test/fixtures/acp/session-update-extensions.json"),
      "utf8",
    ),
  );

/** Calls the encoder of an update: `worker_update` is encoded by `encodeWorkerUpdate`. */
function encode(sessionUpdate: string, fields: Record<string, unknown>): VendorUpdate {
  const name = `encode_${sessionUpdate}`.replace(/_(.)/g, (_, letter: string) =>
    letter.toUpperCase(),
  );
  const encoder = Object.entries(encoders).find(([exported]) => exported === name)?.[1];
  const sentFields = sessionUpdate === "reminder_emitted" ? fields["reminder"] : fields;
  return (encoder as (fields: unknown) => VendorUpdate)(sentFields);
}

describe("Vendor updates", () => {
  it("Every vendor update has an encoder and an example [B-022] [B-023] [B-050]", () => {
    const names = FIXTURES.map(({ sessionUpdate }) => sessionUpdate);
    expect([...names, "available_commands_update"].sort()).toEqual([...BRIDGE_UPDATES]);
    expect(Object.keys(encoders)).toHaveLength(names.length);
  });

  it.each(FIXTURES.map((fixture) => [fixture.sessionUpdate, fixture] as const))(
    "The encoder of %s writes the example byte for byte with all fields under _meta.harn [B-031] [B-032] [B-033] [ACP-127]",
    (sessionUpdate, fixture) => {
      const update = encode(sessionUpdate, fixture["_meta"].harn);
      expect(formatSortedJson(update)).toBe(formatSortedJson(fixture));
      expect(Object.keys(update).sort()).toEqual(["_meta", "sessionUpdate"]);
      expect(JSON.stringify(update["_meta"])).not.toContain('"sessionUpdate"');
    },
  );

  it.each<readonly [id: string, name: string, fields: string]>([
    [
      "[B-034]",
      "artifact",
      "artifactId kind title mimeType spec fallback sizeBytes provenance metadata",
    ],
    ["[B-035]", "progress", "phase message progress total data"],
    ["[B-036]", "log", "level message fields"],
    ["[B-037]", "fs_watch", "subscriptionId events"],
    [
      "[B-038]",
      "worker_update",
      "workerId workerName workerTask workerMode event status terminal metadata audit",
    ],
    [
      "[B-039]",
      "transcript_compacted",
      "mode reason strategy archivedMessages estimatedTokensBefore estimatedTokensAfter snapshotAssetId instructionMode instructionSource compactionPolicy",
    ],
    [
      "[B-040]",
      "transcript_projected",
      "policy reason prefixHash keptCount droppedCount providerSafetyBlocked redactedCount reclaimedTokens rootsConsulted redactionPointers",
    ],
    ["[B-041]", "handoff", "handoffId artifactId handoff"],
    ["[B-042]", "skill_activated", "skillName iteration reason"],
    ["[B-043]", "skill_deactivated", "skillName iteration"],
    ["[B-044]", "skill_scope_tools", "skillName allowedTools"],
    ["[B-045]", "tool_search_query", "toolUseId name query strategy mode"],
    ["[B-046]", "tool_search_result", "toolUseId promoted strategy mode"],
    ["[B-047]", "hitl_request", "requestId kind payload"],
    ["[B-048]", "hitl_resolved", "requestId kind outcome"],
    ["[B-049]", "reminder_emitted", "reminder"],
    [
      "[B-280]",
      "skill_narrow",
      "reason removedTools remainingTools policy removedToolDetails keptToolDetails",
    ],
    ["[B-214]", "live_session_client", "action clientId state"],
    ["[B-212]", "live_session_permission_route", "requestId toolCallId client metadata"],
  ])("%s The update %s has exactly its documented fields [W-30]", (_, name, list) => {
    const fields =
      FIXTURES.find(({ sessionUpdate }) => sessionUpdate === name)?.["_meta"].harn ?? {};
    const { harn } = encode(name, { ...fields, more: 1 })["_meta"];
    expect(Object.keys(harn).sort()).toEqual(list.split(" ").sort());
  });

  it("A reminder has exactly seven fields [B-054]", () => {
    const { _meta } = FIXTURES.find((one) => one.sessionUpdate === "reminder_emitted") ?? {};
    const reminder = { ...Object(_meta?.harn["reminder"]), more: 1 };
    const update = encoders.encodeReminderEmitted(reminder);
    const sent = JSON.parse(encodeUpdateLine("s", update)).params.update["_meta"].harn.reminder;
    expect(Object.keys(sent).sort()).toEqual(
      "body reminderId renderedRole roleHint source tags ttlTurns".split(" "),
    );
  });

  it("A vendor update is sent as a session/update notification [B-022] [B-031]", () => {
    const update = FIXTURES.find((one) => one.sessionUpdate === "worker_update");
    const line = encodeUpdateLine(
      "session_123",
      encode("worker_update", update?.["_meta"].harn ?? {}),
    );
    const params = { sessionId: "session_123", update };
    expect(formatSortedJson(JSON.parse(line))).toBe(
      formatSortedJson({ jsonrpc: "2.0", method: "session/update", params }),
    );
  });

  it("The audit record of a worker is absent without a mutation scope [B-079] [B-080]", () => {
    const fields =
      FIXTURES.find((one) => one.sessionUpdate === "worker_update")?.["_meta"].harn ?? {};
    const { audit, ...rest } = fields;
    expect(encode("worker_update", fields)["_meta"].harn).toHaveProperty("audit", audit);
    expect(encode("worker_update", rest)["_meta"].harn).not.toHaveProperty("audit");
  });
});

describe("Agent events", () => {
  it("An agent event is a notification with its fields and its kind at the root [W-24]", () => {
    const update = encoders.encodeLog({ level: "warn", message: "m", fields: { code: "c" } });
    expect(JSON.parse(encodeAgentEventLine("s", update))).toEqual({
      jsonrpc: "2.0",
      method: "_harn/agentEvent",
      params: { sessionId: "s", kind: "log", level: "warn", message: "m", fields: { code: "c" } },
    });
  });

  it("A field named kind does not replace the kind of the event [W-24]", () => {
    const kinds = FIXTURES.map(({ sessionUpdate, _meta }) => {
      const { params } = JSON.parse(encodeAgentEventLine("s", encode(sessionUpdate, _meta.harn)));
      expect(params.kind).toBe(sessionUpdate);
      return [params.artifactKind, params.hitlKind];
    });
    expect(kinds.flat().filter(Boolean)).toEqual(["table", "question", "question"]);
  });
});
