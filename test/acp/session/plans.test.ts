import { describe, expect, it, onTestFinished } from "vitest";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { createUpdatePlanTool } from "../../../src/tools/runtime/plan-tools.ts";
import { connectAcpClient, type AcpClient } from "../../support/acp/acp-client.ts";
import { says, createScriptedProvider, wants } from "../../support/session/scripted-provider.ts";
import { createAgent, openSessions } from "../../support/session/session-world.ts";

const plan = (id: string, ...statuses: readonly string[]) => {
  const entries = statuses.map((status, at) => ({ content: `Step ${at}`, status }));
  return wants({ id, name: "update_plan", input: { entries } });
};

/** The plan and completion updates of the turn, plans by their statuses. */
function told(client: AcpClient): unknown[] {
  return client.listUpdates().flatMap(({ sessionUpdate, entries, status }): unknown[] => {
    if (sessionUpdate === "plan") {
      return [Array.isArray(entries) ? entries.map((one) => Object(one).status) : undefined];
    }
    return sessionUpdate === "tool_call_update" && status === "completed" ? ["completed"] : [];
  });
}

describe("Plan of an agent", () => {
  it("Each plan is sent, no entry stays in progress after the turn, and a load replays the plans in place [ACP-54] [ACP-93]", async () => {
    const provider = createScriptedProvider([
      plan("c1", "in_progress", "pending"),
      plan("c2", "completed", "in_progress"),
      says("Enough."),
    ]);
    const sessions = openSessions(
      createMemoryStore(),
      createAgent({ provider, tools: [createUpdatePlanTool()] }),
    );
    onTestFinished(() => sessions.close());
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    await client.requestResult("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Go." }],
    });
    const whole = [
      "completed",
      ["in_progress", "pending"],
      "completed",
      ["completed", "in_progress"],
      ["completed", "pending"],
    ];
    expect(told(client)).toEqual(whole);

    const other = await connectAcpClient(sessions);
    await other.request("initialize");
    await other.requestResult("session/load", { cwd: "/work", mcpServers: [], sessionId });
    expect(told(other)).toEqual(whole);
  });
});
