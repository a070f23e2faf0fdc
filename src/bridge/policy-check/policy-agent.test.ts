import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { digestValue } from "../../platform/digest.ts";
import type { Agent } from "../../session/runtime/agent/agent.ts";
import { checkToolCall } from "./check-tool-call.ts";
import { loadConfiguredAgent } from "./policy-agent.ts";

interface LoadedAgent {
  readonly agent: Agent;
  readonly notices: readonly string[];
}

async function loadAgent(settings: object, tool: string): Promise<LoadedAgent> {
  const root = mkdtempSync(join(tmpdir(), "spanline-policy-agent-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const file = join(root, "spanline.config.json");
  const provider = { type: "local", model: "ollama:none" };
  writeFileSync(file, JSON.stringify({ agents: { coder: { provider, ...settings } } }));
  const notices: string[] = [];
  const agent = await loadConfiguredAgent(file, {
    root,
    protectedFolders: [],
    notice: (line) => notices.push(line),
    tool,
    configContext: {
      directory: root,
      clock: systemClock,
      environment: {},
      version: "1",
      isTrusted: async () => false,
    },
  });
  return { agent, notices };
}

it("The digest of an agent for policy checks includes its own approval lists", async () => {
  const approvals = { allow: ["notes__*"], default: "deny" };
  const { agent, notices } = await loadAgent({ approvals }, "notes__add");
  expect(notices).toEqual([]);
  expect(agent.spec.approvals).toEqual({ deny: [], ask: [], ...approvals });
  expect(agent.digest).toBe(digestValue(agent.spec));
});

it("An agent for policy checks has the tools of its settings", async () => {
  const auto_approve = ["delegate", "emit_artifact", "watch_files", "ask_user"];
  const tools = { workers: true, runtimeTools: true, askUser: true };
  const { agent, notices } = await loadAgent({ ...tools, policy: { auto_approve } }, "delegate");
  expect(notices).toEqual([]);
  const call = { name: "delegate", input: { task: "x" } };
  expect(await checkToolCall(agent, call)).toMatchObject({
    isKnown: true,
    decision: { action: "allow" },
  });
  const { notices: unknown } = await loadAgent({ policy: { auto_approve } }, "delegate");
  expect(unknown).toHaveLength(auto_approve.length);
});

it("An agent for policy checks allows runtime tools, also with its own approval lists", async () => {
  const settings = { runtimeTools: ["emit_plan"], approvals: { default: "deny" } };
  const { agent } = await loadAgent(settings, "emit_plan");
  const { decision } = await checkToolCall(agent, { name: "emit_plan", input: { summary: "x" } });
  expect(decision.action).toBe("allow");
});
