import { describe, expect, it } from "vitest";
import { createEmitHandoffTool } from "../../../src/tools/runtime/emit-handoff-tool.ts";
import { findHarnUpdates, promptOnce } from "../../support/acp/harn-updates.ts";
import { ACP_TRANSPORTS } from "../../support/acp/transports.ts";
import { createClientToolSessions } from "../../support/session/client-tool-sessions.ts";
import { says, wants } from "../../support/session/scripted-provider.ts";
import { formatSortedJson } from "../../support/sorted-json.ts";

const REQUEST = {
  source_persona: "merge_captain",
  target_persona_or_human: { kind: "persona", id: "review_captain", label: "review_captain" },
  task: "Review the patch",
  reason: "Merge queue requires review",
};

describe.each(ACP_TRANSPORTS)("Handoffs over %s", (_, connect) => {
  it("A handoff of the agent is sent with exactly the documented fields [B-041]", async () => {
    const script = [wants({ id: "c1", name: "emit_handoff", input: REQUEST }), says("Done.")];
    const { sessions, readLog } = createClientToolSessions(script, {
      tools: [createEmitHandoffTool()],
    });
    const client = await connect(sessions);
    const sessionId = await promptOnce(client);
    const [update, ...more] = findHarnUpdates(client, "handoff");
    expect(more).toEqual([]);
    const log = await readLog(sessionId);
    const emitted = log.flatMap(({ event }) => (event.type === "handoff.emitted" ? [event] : []));
    const { handoffId, artifactId, handoff } = emitted[0] ?? {};
    expect(formatSortedJson(update)).toBe(
      formatSortedJson({
        sessionUpdate: "handoff",
        _meta: {
          harn: {
            artifactId,
            handoffId,
            handoff: {
              _type: "handoff_artifact",
              allowed_side_effects: [],
              blocked_on: [],
              budget_remaining: null,
              confidence: null,
              created_at: handoff?.created_at,
              deadline_checkback: null,
              evidence_refs: [],
              files_or_entities_touched: [],
              id: handoffId,
              kind: "handoff",
              metadata: {},
              open_questions: [],
              parent_run_id: handoff?.parent_run_id,
              reason: "Merge queue requires review",
              receipt_links: [],
              requested_capabilities: [],
              route_decision: null,
              source_persona: "merge_captain",
              target_persona_or_human: {
                id: "review_captain",
                kind: "persona",
                label: "review_captain",
                uri: null,
              },
              task: "Review the patch",
            },
          },
        },
      }),
    );
    expect(handoff?.parent_run_id).toMatch(/^turn_/);
    expect(handoff?.created_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(emitted).toHaveLength(1);
  });
});
