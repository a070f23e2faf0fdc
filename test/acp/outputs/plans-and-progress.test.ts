import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/data/json.ts";
import { createToolOutput } from "../../../src/domain/tools/tool-output.ts";
import { createRuntimeTools } from "../../../src/tools/runtime/runtime-tools.ts";
import { findHarnUpdates, promptOnce } from "../../support/acp/harn-updates.ts";
import { ACP_TRANSPORTS } from "../../support/acp/transports.ts";
import { createClientToolSessions } from "../../support/session/client-tool-sessions.ts";
import { says, wants } from "../../support/session/scripted-provider.ts";
import { createTool } from "../../support/session/session-world.ts";
import { formatSortedJson } from "../../support/sorted-json.ts";

const logs = createTool({ name: "logs" }, () =>
  createToolOutput({
    text: "ok",
    emissions: [
      { type: "log", log: { level: "info", message: "Cache warmed", fields: { files: 3 } } },
    ],
  }),
);

function createSessions(...calls: readonly (readonly [string, JsonObject])[]) {
  const script = calls.map(([name, input], at) => wants({ id: `c${at}`, name, input }));
  const tools = [...createRuntimeTools(["emit_plan", "update_plan", "agent_progress"]), logs];
  return createClientToolSessions([...script, says("Done.")], { tools });
}

describe.each(ACP_TRANSPORTS)("Plans and progress over %s", (_, connect) => {
  it("A plan is sent as entries of ACP, and the normalized plan is under _meta.harn.plan", async () => {
    const { sessions } = createSessions([
      "emit_plan",
      {
        summary: "Ship plan events.",
        steps: [
          { content: "Emit plan event.", status: "done" },
          { content: "Verify fixtures.", status: "todo" },
        ],
        verification_commands: ["cargo test -p harn-serve acp"],
      },
    ]);
    const client = await connect(sessions);
    await promptOnce(client);
    const plan = {
      _type: "plan_artifact",
      approval: { state: "unrequested" },
      assumptions: [],
      id: "plan_835c9eaf0b1e",
      open_questions: [],
      schema_version: "harn.plan.v1",
      steps: [
        { content: "Emit plan event.", id: "step-1", priority: null, status: "completed" },
        { content: "Verify fixtures.", id: "step-2", priority: null, status: "pending" },
      ],
      summary: "Ship plan events.",
      title: "Plan",
      tool: "emit_plan",
      verification_commands: ["cargo test -p harn-serve acp"],
    };
    expect(findHarnUpdates(client, "plan").map((update) => formatSortedJson(update))).toEqual([
      formatSortedJson({
        sessionUpdate: "plan",
        entries: [
          { content: "Emit plan event.", priority: "medium", status: "completed" },
          { content: "Verify fixtures.", priority: "medium", status: "pending" },
        ],
        _meta: { harn: { plan } },
      }),
    ]);
  });

  it("Narration of the agent is a progress update with its numbers, and entries replace the plan [B-035]", async () => {
    const { sessions } = createSessions(
      ["agent_progress", { message: "Reading", progress: 3, total: 10, data: { unit: "files" } }],
      ["agent_progress", { entries: [{ content: "Read", status: "completed" }] }],
      ["agent_progress", { message: "Halfway" }],
    );
    const client = await connect(sessions);
    await promptOnce(client);
    const narration = (harn: object) =>
      formatSortedJson({ sessionUpdate: "progress", _meta: { harn } });
    const told = findHarnUpdates(client, "progress").map((update) => formatSortedJson(update));
    expect(told).toEqual([
      narration({
        phase: "narration",
        message: "Reading",
        progress: 3,
        total: 10,
        data: { unit: "files" },
      }),
      narration({
        phase: "narration",
        message: "Halfway",
        progress: null,
        total: null,
        data: null,
      }),
    ]);
    expect(findHarnUpdates(client, "plan")).toEqual([
      {
        sessionUpdate: "plan",
        entries: [{ content: "Read", priority: "medium", status: "completed" }],
      },
    ]);
  });

  it("A log entry of a tool is sent with its level and fields [B-036]", async () => {
    const { sessions } = createSessions(["logs", {}]);
    const client = await connect(sessions);
    await promptOnce(client);
    expect(findHarnUpdates(client, "log").map((update) => formatSortedJson(update))).toEqual([
      formatSortedJson({
        sessionUpdate: "log",
        _meta: { harn: { level: "info", message: "Cache warmed", fields: { files: 3 } } },
      }),
    ]);
  });

  it("Progress without a message or entries is refused with the reason", async () => {
    const { sessions, listResults } = createSessions(["agent_progress", { progress: 3 }]);
    const client = await connect(sessions);
    const sessionId = await promptOnce(client);
    expect((await listResults(sessionId)).join()).toContain("expected message or entries");
    expect(findHarnUpdates(client, "progress")).toEqual([]);
  });
});
