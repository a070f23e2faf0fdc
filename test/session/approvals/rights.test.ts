import { describe, expect, it } from "vitest";
import type { Right } from "../../../src/domain/actor.ts";
import {
  hangs,
  says,
  createScriptedProvider,
  wants,
} from "../../support/session/scripted-provider.ts";
import type { SessionCommand } from "../../../src/domain/session-command.ts";
import type { Sender } from "../../../src/session/sessions.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type SessionWorld,
} from "../../support/session/session-world.ts";

const denied = { status: "refused", failure: { code: "access_denied" } };

function person(id: string, ...rights: Right[]) {
  return { principal: { id, rights } };
}

function send({ sessions, sessionId }: SessionWorld, command: SessionCommand, from: Sender) {
  return sessions.command(sessionId, command, from);
}

describe("Rights", () => {
  it("Prompting, approving and controlling are three separate rights", async () => {
    const sending = createTool({ name: "send" }, () => "sent");
    const approvals = { deny: [], ask: ["send"], allow: [], default: "deny" } as const;
    const provider = createScriptedProvider([wants({ id: "c1", name: "send" }), says("Sent.")]);
    const world = await openWorld(createAgent({ provider, tools: [sending], approvals }));
    const prompt = { type: "prompt", content: [{ type: "text", text: "Send it" }] } as const;
    expect(await send(world, prompt, person("reader", "approve", "control"))).toMatchObject(denied);
    expect(await send(world, prompt, person("writer", "prompt"))).toMatchObject({
      status: "accepted",
    });
    const { approvalId } = await world.waitForEvent("approval.requested");
    const allow = { type: "decide-approval", approvalId, decision: "allow" } as const;
    expect(await send(world, allow, person("writer", "prompt", "control"))).toMatchObject(denied);
    expect(await send(world, { type: "cancel" }, person("other", "prompt"))).toMatchObject(denied);
    expect(await send(world, allow, person("boss", "approve"))).toEqual({ status: "accepted" });
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
  });

  it("Every principal can cancel the turn it started", async () => {
    const world = await openWorld(createAgent({ provider: createScriptedProvider([hangs()]) }));
    const writer = person("writer", "prompt");
    await send(world, { type: "prompt", content: [{ type: "text", text: "Go" }] }, writer);
    expect(await send(world, { type: "cancel" }, writer)).toMatchObject({ status: "accepted" });
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "cancelled" });
  });

  it("An observer can cancel its own prompt, and no other [ACP-121]", async () => {
    const world = await openWorld(createAgent({ provider: createScriptedProvider([hangs()]) }));
    const all = person("user", "prompt", "approve", "control");
    const one = { ...all, clientId: "one" };
    const other = { ...all, clientId: "other" };
    const attach = { type: "attach", mode: "controller", name: "" } as const;
    const prompt = { type: "prompt", content: [{ type: "text", text: "Go" }] } as const;
    await send(world, { ...attach, clientId: "one" }, one);
    await send(world, prompt, one);
    await send(world, { ...attach, mode: "observer", clientId: "other" }, other);
    expect(await send(world, { type: "cancel" }, other)).toMatchObject(denied);
    await send(world, { ...attach, clientId: "other", takeOver: true }, other);
    expect(await send(world, { type: "cancel" }, one)).toMatchObject({ status: "accepted" });
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "cancelled" });
  });

  it("Attaching under another client's id is refused, so a guest cannot take control", async () => {
    const world = await openWorld(createAgent({ provider: createScriptedProvider([says("Hi.")]) }));
    const attach = { type: "attach", clientId: "boss", name: "one" } as const;
    await world.send({ ...attach, mode: "controller" }, { clientId: "boss" });
    const guest = { ...person("guest", "prompt", "approve"), clientId: "guest" };
    expect(await send(world, { ...attach, mode: "observer" }, guest)).toMatchObject(denied);
    expect(await world.listEvents("controller.changed")).toMatchObject([{ to: "boss" }]);
  });

  it("Withdrawing another principal's prompt requires the right to control", async () => {
    const world = await openWorld(createAgent({ provider: createScriptedProvider([hangs()]) }));
    await world.prompt("One");
    const waiting = async () => {
      const prompt = { type: "prompt", content: [{ type: "text", text: "Two" }] } as const;
      const reply = await send(world, prompt, person("writer", "prompt"));
      const promptId = reply.status === "accepted" ? (reply.promptId ?? "") : "";
      return { type: "withdraw-prompt", promptId } as const;
    };
    const withdraw = await waiting();
    expect(await send(world, withdraw, person("guest", "prompt"))).toMatchObject(denied);
    expect(await send(world, withdraw, person("writer", "prompt"))).toMatchObject({
      status: "accepted",
    });
    expect(await send(world, await waiting(), person("boss", "control"))).toMatchObject({
      status: "accepted",
    });
  });

  it("Becoming controller and detaching another client require the right to control", async () => {
    const world = await openWorld(createAgent({ provider: createScriptedProvider([says("Hi.")]) }));
    const attach = { type: "attach", clientId: "client_1", name: "one" } as const;
    const guest = { ...person("guest", "prompt"), clientId: "client_1" };
    expect(await send(world, { ...attach, mode: "controller" }, guest)).toMatchObject(denied);
    expect(await send(world, { ...attach, mode: "observer" }, guest)).toMatchObject({
      status: "accepted",
    });
    const detach = { type: "detach", clientId: "client_1", reason: "away" } as const;
    const other = { ...person("other", "prompt"), clientId: "client_2" };
    expect(await send(world, detach, other)).toMatchObject(denied);
    expect(await send(world, detach, guest)).toMatchObject({ status: "accepted" });
  });
});
