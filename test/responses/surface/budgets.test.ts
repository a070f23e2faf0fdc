import { describe, expect, it } from "vitest";
import { defineTool } from "../../../src/tools/define-tool.ts";
import { says, wants } from "../../support/session/scripted-provider.ts";
import { readUntil } from "../../support/session/session-world.ts";
import { send } from "../support/serve-answers.ts";
import { ask, called, worldOf, type World } from "./responses-world.ts";

const APPROVER = { id: "approver", rights: ["prompt", "approve", "control"] } as const;

/** An agent that calls a tool twice, without its own budget. */
function openLooking(): Promise<World> {
  const look = defineTool({
    name: "look",
    description: "Looks",
    input: { type: "object" },
    run: () => "seen",
  });
  const answers = [
    wants({ id: "c1", name: "look" }),
    wants({ id: "c2", name: "look" }),
    says("Done."),
  ];
  return worldOf(answers, { agent: { tools: [look] } });
}

async function decide(world: World, decision: "continue" | "stop"): Promise<string> {
  const { sessions: found } = await world.sessions.list({ limit: 1 });
  const { sessionId = "" } = found[0] ?? {};
  const log = await readUntil(
    world.sessions,
    sessionId,
    ({ event }) => event.type === "approval.requested",
  );
  const event = log.at(-1)?.event;
  if (event?.type !== "approval.requested") throw new Error("Nobody was asked");
  const command = { type: "decide-approval", approvalId: event.approvalId, decision } as const;
  await world.sessions.command(sessionId, command, { principal: APPROVER });
  return event.action;
}

describe("The budget of a response", () => {
  it.each([
    ["continue", { status: "completed" }],
    ["stop", { status: "incomplete", incomplete_details: { reason: "budget_tool_calls" } }],
  ] as const)(
    "A response that reaches its budget asks, and ends as decided (%s)",
    async (decision, end) => {
      const world = await openLooking();
      const body = { input: "Go", budget: { tool_calls: 1 } };
      const answer = ask(world, body);
      await called(world, 2);
      expect(await decide(world, decision)).toBe(
        "This turn has used 1 of 1 tool call; continue with 1 more tool call?",
      );
      expect((await answer).body).toMatchObject(end);
    },
  );

  it.each(["/chat/completions", "/inference"])(
    "A request to %s has the same budget, and its turn ends as decided",
    async (path) => {
      const world = await openLooking();
      const messages = [{ role: "user", content: "Go" }];
      const body = { messages, budget: { tool_calls: 1 } };
      const answer = send(world, ["POST", path], { body });
      await called(world, 2);
      expect(await decide(world, "stop")).toContain("This turn has used 1 of 1 tool call");
      const { status, headers } = await answer;
      expect([status, headers.get("x-spanline-ignored")]).toEqual([200, null]);
      expect(world.provider.invocations).toHaveLength(2);
      const wrong = { messages, budget: { toolCalls: 1 } };
      const refused = await send(world, ["POST", path], { body: wrong });
      expect(refused.status).toBe(400);
      expect(refused.json.error).toMatchObject({ param: "budget.toolCalls" });
    },
  );

  it("A budget that is not valid is refused, and no turn starts", async () => {
    const world = await openLooking();
    for (const budget of [{ tokens: 0 }, { tokens: "many" }, { toolCalls: 1 }, []]) {
      const answer = await ask(world, { input: "Go", budget });
      expect(answer.status, JSON.stringify(budget)).toBe(400);
    }
    expect((await world.sessions.list({ limit: 1 })).sessions).toEqual([]);
  });
});
