import { describe, expect, it } from "vitest";
import type { PromptOptions } from "../../../src/domain/prompt.ts";
import type { CommandReply } from "../../../src/domain/session-command.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import {
  hangs,
  says,
  createScriptedProvider,
  wants,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type AgentParts,
  type SessionWorld,
} from "../../support/session/session-world.ts";

const TAKES = {
  instructions: true,
  tools: true,
  allowedTools: true,
  maxOutputTokens: true,
} as const;
const content = [{ type: "text", text: "Go" }] as const;
const work = createTool({ name: "work" }, () => "done");
const rest = createTool({ name: "rest" }, () => "rested");
const mine = { name: "mine", description: "Mine", schema: { type: "object" } };

async function worldWith(
  answers: Parameters<typeof createScriptedProvider>[0],
  parts: Partial<AgentParts> = {},
) {
  const provider = createScriptedProvider(answers, { capabilities: TAKES });
  const world = await openWorld(createAgent({ provider, tools: [work, rest], ...parts }));
  const ask = (options: PromptOptions) => world.send({ type: "prompt", content, options });
  return { provider, world, ask };
}

describe("Prompt options", () => {
  it("Options reach the provider with every invocation of their turn, and not of the next [OR-60]", async () => {
    const { provider, world, ask } = await worldWith([
      wants({ id: "c1", name: "work" }),
      says("Done."),
      says("Yes."),
    ]);
    const options = { instructions: "Be brief.", maxOutputTokens: 50, allowedTools: ["work"] };
    await ask(options);
    await world.waitForEvent("turn.finished");
    await world.prompt("And now?");
    await world.waitForEvent("turn.finished", 2);
    const { spec } = work;
    const { name, description, schema } = spec;
    const tools = [{ name, description, schema }];
    expect(provider.invocations.map((call) => call.options)).toEqual([
      { ...options, tools },
      { ...options, tools },
      {
        tools: [
          expect.objectContaining({ name: "work" }),
          expect.objectContaining({ name: "rest" }),
        ],
      },
    ]);
  });

  it("Options which the provider does not support are refused, not ignored [OR-60]", async () => {
    const world = await openWorld(
      createAgent({ provider: createScriptedProvider([says("Yes.")]) }),
    );
    const before = await world.readLog();
    for (const [name, options] of [
      ["tools", { tools: [mine] }],
      ["allowedTools", { allowedTools: [] }],
      ["maxOutputTokens", { maxOutputTokens: 5 }],
    ] as const) {
      expect(await world.send({ type: "prompt", content, options })).toMatchObject({
        failure: { code: "invalid_option", details: { path: `options.${name}` } },
      });
    }
    expect(await world.readLog()).toEqual(before);
    expect(
      await world.send({ type: "prompt", content, options: { maxToolCalls: 1, tools: [] } }),
    ).toMatchObject({ status: "accepted" });
  });

  it.each<[string, PromptOptions, string]>([
    [
      "too many tools",
      { tools: Array.from({ length: 129 }, (_, at) => ({ ...mine, name: `t${at}` })) },
      "invalid_tool",
    ],
    ["a tool with no name", { tools: [{ ...mine, name: "" }] }, "invalid_tool"],
    ["a tool with an odd name", { tools: [{ ...mine, name: "a b" }] }, "invalid_tool"],
    ["a tool with a long name", { tools: [{ ...mine, name: "a".repeat(65) }] }, "invalid_tool"],
    ["two tools of one name", { tools: [mine, mine] }, "invalid_tool"],
    [
      "a tool named like one of the agent's",
      { tools: [{ ...mine, name: "work" }] },
      "invalid_tool",
    ],
    [
      "a tool of a megabyte",
      { tools: [{ ...mine, description: "x".repeat(1_100_000) }] },
      "invalid_tool",
    ],
    ["instructions of a megabyte", { instructions: "x".repeat(1_100_000) }, "invalid_message"],
    ["a pattern among the allowed tools", { allowedTools: ["*"] }, "invalid_option"],
    [
      "too many allowed tools",
      { allowedTools: Array.from({ length: 257 }, (_, at) => `t${at}`) },
      "invalid_option",
    ],
    ["no tokens", { maxOutputTokens: 0 }, "invalid_option"],
    ["half a call", { maxToolCalls: 0.5 }, "invalid_option"],
    ["less than no call", { maxToolCalls: -1 }, "invalid_option"],
    ["no time for approvals", { approvalMs: 0 }, "invalid_option"],
  ])("A prompt is refused with %s", async (_, options, code) => {
    const { world, ask } = await worldWith([says("Yes.")]);
    const before = await world.readLog();
    expect(await ask(options)).toMatchObject({ failure: { code } });
    expect(await world.readLog()).toEqual(before);
  });

  it("A note is stored unchanged with the prompt, up to a size", async () => {
    const { world } = await worldWith([says("Yes.")]);
    const note = JSON.parse('{"__proto__": {"a": 1}, "b": [null]}');
    await world.send({ type: "prompt", content, note });
    expect(JSON.stringify(await world.waitForEvent("prompt.accepted"))).toContain(
      JSON.stringify(note),
    );
    const large = { text: "é".repeat(128 * 1024) };
    expect(await world.send({ type: "prompt", content, note: large })).toMatchObject({
      failure: { code: "invalid_message" },
    });
  });
});

describe("Tools allowed by a prompt", () => {
  it("Only allowed tools are offered, and a call of another returns an error [OR-57]", async () => {
    const { provider, world, ask } = await worldWith([
      wants({ id: "c1", name: "work" }, { id: "c2", name: "mine" }, { id: "c3", name: "rest" }),
      says("Oh."),
    ]);
    await ask({ tools: [mine], allowedTools: ["rest"] });
    await world.waitForEvent("turn.finished");
    expect(provider.invocations[0]?.options?.tools?.map(({ name }) => name)).toEqual(["rest"]);
    expect(await world.listEvents("tool.finished")).toMatchObject([
      { ending: "refused", result: { toolCallId: "c1", isError: true } },
      { ending: "refused", result: { toolCallId: "c2", isError: true } },
      { ending: "succeeded", result: { toolCallId: "c3" } },
    ]);
    expect(await world.listEvents("turn.paused")).toEqual([]);
    expect(await world.listEvents("tool.started")).toHaveLength(1);
  });

  it("An empty list allows no tools [OR-57]", async () => {
    const { provider, world, ask } = await worldWith([
      wants({ id: "c1", name: "work" }),
      says("Oh."),
    ]);
    await ask({ allowedTools: [] });
    await world.waitForEvent("turn.finished");
    expect(provider.invocations[0]?.options).toEqual({ allowedTools: [] });
    expect(await world.waitForEvent("tool.finished")).toMatchObject({ ending: "refused" });
    expect(await world.listEvents("tool.started")).toEqual([]);
  });

  it("The agent is not reprompted for a terminal tool which is not allowed", async () => {
    const terminalTool = { name: "work", maxReprompts: 1 };
    const { world, ask } = await worldWith([says("Done.")], { terminalTool });
    await ask({ allowedTools: ["rest"] });
    expect(await world.waitForEvent("turn.finished")).toMatchObject({
      outcome: "completed",
      steps: 1,
    });
  });
});

describe("The tool call limit of a prompt", () => {
  it("The turn ends at the limit of its prompt, which never raises the agent's", async () => {
    const both = wants({ id: "c1", name: "work" }, { id: "c2", name: "rest" });
    const { world, ask } = await worldWith([both], { caps: { toolCalls: 3 } });
    await ask({ maxToolCalls: 1 });
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ reason: "max_tool_calls" });
    expect(await world.listEvents("tool.started")).toHaveLength(1);
    await ask({ maxToolCalls: 100 });
    expect(await world.waitForEvent("turn.finished", 2)).toMatchObject({
      reason: "max_tool_calls",
    });
    expect(await world.listEvents("tool.started")).toHaveLength(4);
  });

  it("The limit also ends a turn with a handed-out call", async () => {
    const both = wants({ id: "c1", name: "work" }, { id: "c2", name: "mine" });
    const { world, ask } = await worldWith([both]);
    await ask({ maxToolCalls: 0, tools: [mine] });
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ reason: "max_tool_calls" });
  });
});

describe("The approval time of a prompt", () => {
  const approvals = { deny: [], ask: ["*"], allow: [], default: "ask" } as const;
  const asking = [wants({ id: "c1", name: "work" }), says("Oh.")];

  async function waiting(attached: readonly string[], clientId?: string): Promise<SessionWorld> {
    const clock = createFakeClock();
    const provider = createScriptedProvider(asking, { capabilities: TAKES });
    const world = await openWorld(createAgent({ provider, tools: [work], approvals }), { clock });
    for (const one of attached) {
      const may = { mayPrompt: true, mayApprove: true };
      const attach = {
        type: "attach",
        clientId: one,
        mode: "observer",
        name: one,
        ...may,
      } as const;
      await world.send(attach, { clientId: one });
    }
    const from = clientId === undefined ? {} : { clientId };
    await world.send({ type: "prompt", content, options: { approvalMs: 60_000 } }, from);
    const { deadline } = await world.waitForEvent("approval.requested");
    const remainingMs = deadline - clock.now();
    expect(remainingMs).toBe(attached.some((one) => one !== clientId) ? 600_000 : 60_000);
    clock.advance(60_000);
    return world;
  }

  it("The approval time applies while only the sender is attached, and then the call is denied", async () => {
    for (const world of [await waiting([]), await waiting(["me"], "me")]) {
      expect(await world.waitForEvent("approval.resolved")).toMatchObject({
        decision: "deny",
        resolvedBy: "deadline",
      });
      expect(await world.waitForEvent("tool.finished")).toMatchObject({ ending: "denied" });
      expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
    }
  });

  it("The approval time does not apply while another client can decide", async () => {
    const world = await waiting(["editor"], "me");
    expect(await world.listEvents("approval.resolved")).toEqual([]);
  });

  it("The approval time applies while others only observe", async () => {
    const provider = createScriptedProvider(asking, { capabilities: TAKES });
    const clock = createFakeClock();
    const world = await openWorld(createAgent({ provider, tools: [work], approvals }), { clock });
    const attach = { type: "attach", clientId: "page", mode: "observer", name: "page" } as const;
    await world.send(attach, { clientId: "page" });
    await world.send({ type: "prompt", content, options: { approvalMs: 60_000 } });
    const { deadline } = await world.waitForEvent("approval.requested");
    expect(deadline - clock.now()).toBe(60_000);
  });
});

function promptIdOf(reply: CommandReply): string {
  return reply.status === "accepted" ? (reply.promptId ?? "") : "";
}

describe("Hidden prompts", () => {
  const guest = { id: "guest", rights: ["prompt"] } as const;

  it("Hiding a prompt is logged, and hiding an unknown prompt is refused", async () => {
    const { world } = await worldWith([says("Yes.")]);
    const promptId = promptIdOf(await world.prompt("Hi"));
    expect(await world.send({ type: "hide-prompt", promptId })).toEqual({
      status: "accepted",
    });
    expect(await world.waitForEvent("prompt.hidden")).toEqual({ type: "prompt.hidden", promptId });
    expect(await world.send({ type: "hide-prompt", promptId: "prompt_none" })).toMatchObject({
      failure: { code: "not_found" },
    });
  });

  it("Only the sender, or a principal with the right to control, can hide a prompt", async () => {
    const { world } = await worldWith([hangs()]);
    const promptId = promptIdOf(await world.prompt("Hi"));
    const forget = { type: "hide-prompt", promptId } as const;
    expect(await world.send(forget, { principal: guest })).toMatchObject({
      failure: { code: "access_denied" },
    });
    const own = await world.send({ type: "prompt", content }, { principal: guest });
    for (const principal of [guest, undefined]) {
      const from = principal === undefined ? {} : { principal };
      expect(
        await world.send({ type: "hide-prompt", promptId: promptIdOf(own) }, from),
      ).toMatchObject({
        status: "accepted",
      });
    }
  });
});
