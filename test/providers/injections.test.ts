import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Reminder } from "../../src/domain/reminder.ts";
import type { Brain, BrainRequest } from "../../src/emulator/brains/brain.ts";
import type { Step } from "../../src/emulator/brains/step.ts";
import { emulate } from "../../src/emulator/emulate-agentcore.ts";
import { TEST_CREDENTIALS as credentials } from "../../src/emulator/emulator-options.ts";
import type { Emulator } from "../../src/emulator/start-emulator.ts";
import { harnessProvider } from "../../src/providers/agentcore/harness-provider.ts";
import { runtimeProvider } from "../../src/providers/agentcore/runtime-provider.ts";
import { localProvider } from "../../src/providers/local/local-provider.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { respondsAfter, says, startModelServer, wants } from "../support/server/model-server.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type AgentParts,
  type SessionWorld,
} from "../support/session/session-world.ts";

const REMINDER: Reminder = {
  body: "Mark every answer as a draft.",
  tags: ["style"],
  mode: "finish_step",
  roleHint: "system",
  authority: "contract",
  source: "bridge",
  propagate: "session",
};
const BLOCK = "<system-reminder>\n[style] Mark every answer as a draft.\n</system-reminder>";
const STEER = [{ type: "text", text: "Use metric units." }] as const;
const LOOK_UP = "How far is it? Look it up.";
const ANSWER_NOW = "How far is it?";

/**
 * An agent which reacts to the messages since its last answer: a message changes the unit, a reminder adds the word
 * "Draft", and the text "Look it up" leads to a call of `look`.
 */
class AttentiveAgent {
  /** The texts which the model received with each request. */
  readonly received: string[] = [];
  /** Closed: the next answer waits. */
  gate: Gate | undefined;

  decide(text: string, hasResults: boolean): "look" | { readonly answer: string } {
    this.received.push(text);
    if (text.includes("Look it up") && !hasResults) return "look";
    const mark = text.includes(BLOCK) ? "Draft: " : "";
    return { answer: `${mark}${text.includes("metric") ? "8 km" : "5 miles"}` };
  }

  /** Resolves when the test lets the agent answer. */
  async waitForGate(): Promise<void> {
    const { gate } = this;
    this.gate = undefined;
    await gate?.pass();
  }
}

interface Subject {
  readonly provider: Provider;
  readonly agent: AttentiveAgent;
}

let current = new AttentiveAgent();
let emulator: Emulator;

/** The model in the emulator. The model receives the messages of the real request. */
const attentiveBrain: Brain = {
  async respond({ messages }: BrainRequest) {
    await current.waitForGate();
    const start = messages.findLastIndex(({ role }) => role === "assistant") + 1;
    const content = messages.slice(start).flatMap((message) => message.content);
    const text = content.flatMap((block) => ("text" in block ? [block.text] : [])).join("\n");
    const hasResults = content.some((block) => "toolResult" in block);
    return { type: "steps", steps: toSteps(current.decide(text, hasResults)) };
  },
};

function toSteps(decided: "look" | { readonly answer: string }): Step[] {
  const start = { type: "start", role: "assistant" } as const;
  if (decided !== "look")
    return [start, { type: "text", text: decided.answer }, { type: "stop", reason: "end_turn" }];
  return [
    start,
    { type: "call", id: "c1", name: "look", kind: "tool_use" },
    { type: "input", fragment: "{}" },
    { type: "stop", reason: "tool_use" },
  ];
}

beforeAll(async () => {
  const brains = { attentive: attentiveBrain };
  const runtimes = [{ name: "strands", style: "python" }] as const;
  emulator = await emulate({ brain: "attentive", brains, runtimes });
});
afterAll(() => emulator.close());

async function startHarness(): Promise<Subject> {
  current = new AttentiveAgent();
  const { demoArn: harnessArn, url: endpoint } = emulator;
  return { agent: current, provider: harnessProvider({ harnessArn, endpoint, credentials }) };
}

async function startRuntime(): Promise<Subject> {
  current = new AttentiveAgent();
  const runtimeArn = emulator.demoArn.replace(/harness\/.*/, "runtime/strands");
  const provider = runtimeProvider({ runtimeArn, endpoint: emulator.url, credentials });
  return { agent: current, provider };
}

async function startLocal(): Promise<Subject> {
  const agent = new AttentiveAgent();
  const server = await startModelServer("chat", ({ messages }) => {
    const start = messages.findLastIndex(({ role }) => role === "assistant") + 1;
    const recent = messages.slice(start);
    const hasResults = recent.some(({ role }) => role === "tool");
    const text = recent.map(({ content }) => readContent(content)).join("\n");
    const decided = agent.decide(text, hasResults);
    const response =
      decided === "look" ? wants({ id: "c1", name: "look", input: {} }) : says(decided.answer);
    return respondsAfter(agent.waitForGate(), response);
  });
  return { agent, provider: localProvider({ model: server.createModel() }) };
}

function readContent(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part) => String(Object(part).text)).join("\n") : "";
}

const SUBJECTS = [
  ["a managed Harness", startHarness],
  ["a Runtime agent", startRuntime],
  ["the local provider", startLocal],
] as const;

interface OpenSubject extends Subject {
  readonly world: SessionWorld;
  /** Lets the tool `look` finish. */
  readonly tool: Gate;
}

async function open(
  start: () => Promise<Subject>,
  parts: Partial<AgentParts> = {},
): Promise<OpenSubject> {
  const subject = await start();
  const tool = createGate();
  const look = createTool({ name: "look" }, async () => {
    await tool.pass();
    return "It is 5 miles.";
  });
  const { provider } = subject;
  // A Runtime agent runs its own tools, so the session has none.
  const tools = provider.injectionPoints.includes("tool-results") ? [look] : [];
  const world = await openWorld(createAgent({ provider, ...parts, tools }));
  return { ...subject, world, tool };
}

function steer(world: SessionWorld) {
  return world.send({ type: "inject", mode: "steer", content: STEER });
}

function remind(world: SessionWorld, mode: Reminder["mode"] = "finish_step") {
  return world.send({ type: "remind", reminder: { ...REMINDER, mode } });
}

async function listAnswers(world: SessionWorld): Promise<string[]> {
  return (await world.listEvents("text.finished")).map(({ text }) => text);
}

describe.each(SUBJECTS)("Injections on %s", (_, start) => {
  it("A reminder at the start of a turn reaches the model and changes its answer [B-052]", async () => {
    const { world, agent } = await open(start);
    await world.prompt(ANSWER_NOW);
    await world.waitForEvent("turn.finished");
    await remind(world);
    await world.prompt(ANSWER_NOW);
    await world.waitForEvent("turn.finished", 2);
    expect(await listAnswers(world)).toEqual(["5 miles", "Draft: 5 miles"]);
    expect(agent.received[0]).not.toContain(BLOCK);
    expect(agent.received[1]).toContain(BLOCK);
  });

  it("A message and a reminder during the last answer extend the turn and change the answer [ACP-114] [ACP-119]", async () => {
    const { world, agent } = await open(start);
    const gate = createGate();
    agent.gate = gate;
    await world.prompt(ANSWER_NOW);
    await gate.entry;
    expect(await steer(world)).toMatchObject({ deliveredAs: "steer" });
    await remind(world, "interrupt_immediate");
    gate.open();
    await world.waitForEvent("turn.finished");
    expect(await listAnswers(world)).toEqual(["5 miles", "Draft: 8 km"]);
    expect(await world.listEvents("turn.started")).toHaveLength(1);
  });

  it("A message for a turn without a step left is answered by the next turn, and the reply says so [ACP-119]", async () => {
    const { world, agent } = await open(start, { caps: { steps: 1 } });
    const gate = createGate();
    agent.gate = gate;
    await world.prompt(ANSWER_NOW);
    await gate.entry;
    expect(await steer(world)).toMatchObject({ deliveredAs: "queue" });
    gate.open();
    await world.waitForEvent("turn.finished", 2);
    expect(await listAnswers(world)).toEqual(["5 miles", "8 km"]);
  });

  it("A reminder for the record never reaches the model [B-183]", async () => {
    const { world, agent } = await open(start);
    await remind(world, "audit_only");
    await world.prompt(ANSWER_NOW);
    await world.waitForEvent("reminder.recorded");
    await world.prompt(ANSWER_NOW);
    await world.waitForEvent("turn.finished", 2);
    expect(await listAnswers(world)).toEqual(["5 miles", "5 miles"]);
    expect(agent.received.join()).not.toContain("draft");
  });
});

describe.each(SUBJECTS.filter(([name]) => name !== "a Runtime agent"))(
  "Injections with tool results on %s",
  (_, start) => {
    it("A message and a reminder follow the tool results and change the answer [ACP-114] [B-185]", async () => {
      const { world, agent, tool } = await open(start);
      await world.prompt(LOOK_UP);
      await world.waitForEvent("tool.started");
      expect(await steer(world)).toMatchObject({ deliveredAs: "steer" });
      await remind(world);
      tool.open();
      await world.waitForEvent("turn.finished");
      expect((await listAnswers(world)).at(-1)).toBe("Draft: 8 km");
      expect(agent.received).toHaveLength(2);
      expect(agent.received[1]).toMatch(/Use metric units\.\s+<system-reminder>/);
    });

    it("A reminder that interrupts replaces the tool batch, and the model reacts to it [B-184]", async () => {
      const { world, agent } = await open(start, {
        approvals: { deny: [], ask: ["look"], allow: [], default: "deny" },
      });
      await world.prompt(LOOK_UP);
      await world.waitForEvent("approval.requested");
      await remind(world, "interrupt_immediate");
      await world.waitForEvent("turn.finished");
      expect(await world.listEvents("tool.started")).toEqual([]);
      expect((await listAnswers(world)).at(-1)).toBe("Draft: 5 miles");
      expect(agent.received[1]).toContain(BLOCK);
    });
  },
);
