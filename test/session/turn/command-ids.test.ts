import { describe, expect, it } from "vitest";
import type { CommandReply } from "../../../src/domain/session-command.ts";
import {
  createCommandRecord,
  decodeReply,
} from "../../../src/session/runtime/log/command-record.ts";
import {
  hangs,
  says,
  createScriptedProvider,
  wants,
} from "../../support/session/scripted-provider.ts";
import { createAgent, createTool, openWorld } from "../../support/session/session-world.ts";

type AcceptedReply = Extract<CommandReply, { readonly status: "accepted" }>;

describe("Command ids", () => {
  it("A repeated command id returns the first reply, and is refused for another command", async () => {
    const provider = createScriptedProvider([says("One."), says("Two.")]);
    const world = await openWorld(createAgent({ provider }));
    const prompt = (text: string) =>
      world.send({ type: "prompt", content: [{ type: "text", text }] }, { commandId: "k" });
    const first = await prompt("First");
    await world.waitForEvent("turn.finished");
    expect(await prompt("First")).toEqual(first);
    expect(await prompt("Something else")).toMatchObject({
      status: "refused",
      failure: { code: "conflict" },
    });
    expect(provider.invocations).toHaveLength(1);
  });

  it("Every field of a stored reply is part of the repeated reply, except the status of the client", () => {
    const command = { type: "cancel" } as const;
    const actor = { kind: "user", principal: "me" } as const;
    const input = { type: "command-received", command, actor, rights: [] } as const;
    const reply: Omit<Required<AcceptedReply>, "clientStatus"> = {
      status: "accepted",
      promptId: "prompt_1",
      turnId: "turn_1",
      seq: 7,
      messageId: "msg_inj_1",
      deliveredAs: "steer",
      reminderId: "rem_1",
      compactionId: "compaction_1",
      subscriptionId: "watch_1",
      injectionStatus: "replaced",
      toolCallStatus: "cancelled",
      toolName: "look",
      workerId: "worker_1",
      workerStatus: "running",
    };
    const record = createCommandRecord(input, "k", reply);
    expect(decodeReply(record?.reply ?? null, input)).toEqual(reply);
  });

  it("Two principals with the same command id send two commands", async () => {
    const provider = createScriptedProvider([says("One."), says("Two.")]);
    const world = await openWorld(createAgent({ provider }));
    const guest = { id: "guest", rights: ["prompt"] } as const;
    const prompt = (text: string, from: object) =>
      world.send(
        { type: "prompt", content: [{ type: "text", text }] },
        { commandId: "k", ...from },
      );
    const first = await prompt("Go", {});
    const second = await prompt("Go", { principal: guest });
    expect([first.status, second.status]).toEqual(["accepted", "accepted"]);
    expect(second).not.toEqual(first);
    await world.waitForEvent("turn.finished", 2);
    expect(provider.invocations).toHaveLength(2);
  });
});

describe("Rules changed while a tool was running", () => {
  it.each([
    ["ask", { deny: [], ask: ["read"], allow: [], default: "allow" }],
    ["deny", { deny: ["read"], ask: [], allow: [], default: "allow" }],
  ] as const)("The changed rules apply to the next attempt: %s", async (_, approvals) => {
    let runs = 0;
    const read = createTool({ name: "read", idempotent: true }, async () => {
      runs += 1;
      await new Promise(() => {});
    });
    const provider = createScriptedProvider([wants({ id: "c1", name: "read" }), hangs()]);
    const first = await openWorld(createAgent({ provider, tools: [read] }));
    await first.prompt("Read it");
    await first.waitForEvent("tool.started");
    const second = await first.restart(createAgent({ provider, tools: [read], approvals }));
    expect(await second.waitForEvent("approval.requested")).toMatchObject({ question: "outcome" });
    expect(runs).toBe(1);
  });
});
