import { describe, expect, it } from "vitest";
import { defineAgent } from "../../../src/bridge/agent/define-agent.ts";
import type { McpServerSettings } from "../../../src/tools/mcp/mcp-server-settings.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { resolveExampleProgram } from "../../support/mcp-example.ts";
import { says, createScriptedProvider, wants } from "../../support/session/scripted-provider.ts";
import { openWorld } from "../../support/session/session-world.ts";

function agentWith(servers: readonly McpServerSettings[], name: string) {
  const reports: unknown[] = [];
  const report = (error: unknown): void => void reports.push(error);
  const environment = { PATH: process.env["PATH"] };
  const provider = createScriptedProvider([
    wants({ id: "c1", name, input: { city: "Bergen", country: "NO" } }),
    says("Windy."),
  ]);
  const agent = defineAgent({
    name: "weather",
    provider,
    approvals: { allow: ["*"] },
    mcp: { servers, version: "1", clock: systemClock, environment, report },
  });
  return { agent, provider, reports };
}

describe("A session with MCP servers", () => {
  it("MCP tools run like the agent's own and name their server [B-084] [B-085]", async () => {
    const servers = [{ ...resolveExampleProgram("mcpServerOutputSchema"), name: "weather" }];
    const { agent } = agentWith(servers, "weather__get_weather");
    const world = await openWorld(agent);
    await world.prompt("How is it there?");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
    const bound = (await world.listEvents("agent.configured")).at(-1);
    expect(bound?.spec.tools).toMatchObject([
      {
        name: "weather__get_weather",
        traits: { executor: { type: "mcp", server: "weather" }, sideEffect: "network" },
      },
    ]);
    expect(await world.listEvents("tool.finished")).toMatchObject([{ ending: "succeeded" }]);
    await world.sessions.close();
  });

  it("A session continues without an MCP server that cannot start", async () => {
    const servers = [{ type: "stdio", name: "none", command: "no-such-program" } as const];
    const { agent, provider, reports } = agentWith(servers, "none__anything");
    const world = await openWorld(agent);
    await world.prompt("How is it there?");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
    expect(await world.listEvents("tool.finished")).toMatchObject([{ ending: "refused" }]);
    expect(provider.invocations).toHaveLength(2);
    expect(String(reports[0])).toContain("no-such-program");
    await world.sessions.close();
  });
});
