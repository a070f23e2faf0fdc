import { describe, expect, it } from "vitest";
import type { AgentSpec } from "../../../src/domain/agent-spec.ts";
import type { Usage } from "../../../src/domain/usage.ts";
import {
  createScriptedProvider,
  createTurnEnd,
  generateMessage,
  says,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type SessionWorld,
} from "../../support/session/session-world.ts";

/** An answer after which the provider reports the size of the conversation. */
function saysWith(inputTokens: number): ProviderScript {
  const usage: Usage = {
    inputTokens,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    totalTokens: inputTokens,
  };
  return async function* () {
    yield* generateMessage([{ type: "text.end", message: 0, block: 0, text: "Yes." }], "end_turn");
    yield { type: "usage", usage };
    yield createTurnEnd({ outcome: "completed", reason: "end_turn", usage });
  };
}

async function runTurns(world: SessionWorld, count: number): Promise<void> {
  for (let turn = 1; turn <= count; turn++) {
    await world.prompt(`Turn ${turn}`);
    await world.waitForEvent("turn.finished", turn);
  }
}

/** The percentage in the reminder of each request to the model, or null. */
async function measurePressure(
  sizes: readonly number[],
  parts: Pick<AgentSpec, "contextTokens" | "reminders">,
): Promise<(number | null)[]> {
  const provider = createScriptedProvider([...sizes.map(saysWith), says("Done.")]);
  const world = await openWorld(createAgent({ provider, ...parts }));
  await runTurns(world, sizes.length + 1);
  return provider.invocations.slice(1).map(({ input }) => {
    const level = /fills (\d+) %/.exec(JSON.stringify(input))?.[1];
    return level === undefined ? null : Number(level);
  });
}

describe("Reminders about the size of the conversation", () => {
  it("Each of 70, 85 and 95 percent of the context is announced once, before the next request [B-052]", async () => {
    const sizes = [699, 700, 720, 850, 1000, 1000];
    expect(await measurePressure(sizes, { contextTokens: 1000 })).toEqual([
      null,
      70,
      null,
      85,
      95,
      null,
    ]);
  });

  it("A level is announced again after the conversation has become shorter", async () => {
    const sizes = [900, 100, 900];
    expect(await measurePressure(sizes, { contextTokens: 1000 })).toEqual([85, null, 85]);
  });

  it("Nothing is announced without a context size, or if the agent opts out", async () => {
    expect(await measurePressure([900, 900], {})).toEqual([null, null]);
    const reminders = { tokenPressure: false };
    expect(await measurePressure([900], { contextTokens: 1000, reminders })).toEqual([null]);
  });

  it("The reminder has the fields of the documented example, and survives a restart unrepeated [B-054]", async () => {
    const provider = createScriptedProvider([saysWith(900)]);
    const world = await openWorld(createAgent({ provider, contextTokens: 1000 }));
    await runTurns(world, 2);
    const restarted = await world.restart();
    await restarted.prompt("Turn 3");
    await restarted.waitForEvent("turn.finished", 3);
    expect(await restarted.listEvents("reminder.emitted")).toEqual([
      {
        type: "reminder.emitted",
        reminderId: expect.any(String),
        renderedRole: "user",
        turnsLeft: 2,
        reminder: {
          body: expect.stringContaining("900 of 1000 tokens"),
          tags: ["token_pressure"],
          dedupeKey: "token-pressure",
          mode: "finish_step",
          roleHint: "developer",
          authority: "advisory",
          source: "stdlib_provider",
          propagate: "none",
          ttlTurns: 2,
        },
      },
    ]);
  });
});

describe("Reminders about a denied tool call", () => {
  async function deny(reminders: AgentSpec["reminders"], reason: string) {
    const provider = createScriptedProvider([wants({ id: "c1", name: "rm" }), says("Well.")]);
    const tools = [createTool({ name: "rm" }, () => "gone")];
    const approvals = { deny: [], ask: ["rm"], allow: [], default: "deny" } as const;
    const settings = reminders === undefined ? {} : { reminders };
    const world = await openWorld(createAgent({ provider, tools, approvals, ...settings }));
    await world.prompt("Go");
    const { approvalId } = await world.waitForEvent("approval.requested");
    await world.send({ type: "decide-approval", approvalId, decision: "deny", reason });
    await world.waitForEvent("turn.finished");
    return Object(provider.invocations[1]?.input).texts ?? [];
  }

  it("An agent with deniedApproval is reminded of a denied tool call and the reason", async () => {
    expect(await deny({ deniedApproval: true }, "It is in use")).toEqual([
      expect.stringMatching(
        /^<system-reminder>\n\[denied_approval\] An approver denied rm\. .*It is in use/,
      ),
    ]);
  });

  it("The shortened reason of a denial splits no surrogate pair", async () => {
    const [text] = await deny({ deniedApproval: true }, `${"x".repeat(1999)}😀`);
    expect(text).toMatch(/The reason given: x{1999} Do not reach/);
  });

  it("By default only the tool result has the reason of a denial", async () => {
    expect(await deny(undefined, "It is in use")).toEqual([]);
  });
});
