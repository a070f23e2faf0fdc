import { describe, expect, it } from "vitest";
import type { Reminder } from "../../../src/domain/reminder.ts";
import type { CommandReply, SessionCommand } from "../../../src/domain/session-command.ts";
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
import { createBoss } from "../../support/session/worker-world.ts";

const TEXT = [{ type: "text", text: "Go" }] as const;
const REMINDER: Reminder = {
  body: "Run the tests",
  tags: [],
  mode: "finish_step",
  roleHint: "system",
  authority: "contract",
  source: "bridge",
  propagate: "session",
};
const ID = expect.stringMatching(/^[a-z_]+_\w+$/);

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

/** Commands whose replies name an object which the command created or found. */
const COMMANDS: readonly (readonly [fields: string, command: SessionCommand, reply: object])[] = [
  ["promptId, turnId", { type: "prompt", content: TEXT }, { promptId: ID, turnId: ID }],
  [
    "messageId, deliveredAs",
    { type: "inject", mode: "queue", content: TEXT },
    { messageId: ID, deliveredAs: "turn" },
  ],
  ["reminderId", { type: "remind", reminder: REMINDER }, { reminderId: ID }],
  ["compactionId", { type: "compact" }, { compactionId: ID }],
  ["subscriptionId", { type: "watch-files", paths: ["."], globs: [] }, { subscriptionId: ID }],
  [
    "workerId, workerStatus",
    { type: "delegate", task: "Wait", isRetriggerable: false },
    { workerId: ID, workerStatus: "running" },
  ],
];

describe("Replies to repeated commands", () => {
  it.each(COMMANDS)(
    "A repeated command returns %s again, also after a restart",
    async (_, command, reply) => {
      const helper = createAgent({ name: "helper", provider: createScriptedProvider([hangs()]) });
      const world = await openWorld(createBoss([hangs()]), { others: [helper] });
      const commandId = "again";
      const first = await world.send(command, { commandId });
      expect(first).toMatchObject({ status: "accepted", ...reply });
      expect(await world.send(command, { commandId })).toEqual(first);
      const restarted = await world.restart();
      expect(await restarted.send(command, { commandId })).toEqual(first);
    },
  );
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
