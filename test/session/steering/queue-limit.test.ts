import { describe, expect, it } from "vitest";
import { countItems } from "../../../src/data/chunked-list.ts";
import type { SessionCommand } from "../../../src/domain/session-command.ts";
import type { PromptPart } from "../../../src/domain/prompt.ts";
import { decide } from "../../../src/session/decide.ts";
import { evolve } from "../../../src/session/evolve.ts";
import { initialState, type SessionState } from "../../../src/session/session-state.ts";
import { createScriptedProvider, says } from "../../support/session/scripted-provider.ts";
import { createAgent } from "../../support/session/session-world.ts";

/** The pure core of a session, without a log. */
function createCore() {
  const { spec } = createAgent({ provider: createScriptedProvider([says("Done.")]) });
  let state: SessionState = initialState;
  let at = 1;
  const apply = (input: Parameters<typeof decide>[1]) => {
    const { events, reply } = decide(state, input);
    for (const draft of events) state = evolve(state, draft);
    return reply;
  };
  const agent = { digest: "digest", spec };
  apply({ type: "open-requested", agent, principal: "me", at, seed: "0".repeat(13) });
  return {
    countPending: () => countItems(state.steering.pending),
    send(command: SessionCommand<PromptPart>) {
      at += 1;
      const seed = String(at).padStart(13, "0");
      const actor = { kind: "user", principal: "me" } as const;
      const rights = ["prompt", "control"] as const;
      return apply({ type: "command-received", command, actor, rights, at, seed });
    },
  };
}

describe("The queue of a session", () => {
  it("10,000 messages and reminders can be pending, and the next is refused until one is revoked [R-068]", () => {
    const core = createCore();
    core.send({ type: "prompt", content: [{ type: "text", text: "Go" }] });
    const inject = () =>
      core.send({ type: "inject", mode: "queue", content: [{ type: "text", text: "Next" }] });
    const first = inject();
    for (let count = 1; count < 10_000; count++) inject();
    expect(core.countPending()).toBe(10_000);
    const refusal = {
      status: "refused",
      failure: { code: "conflict", details: { reason: "queue_full" } },
    };
    expect(inject()).toMatchObject(refusal);
    const reminder = {
      body: "Look again",
      tags: [],
      mode: "finish_step",
      roleHint: "system",
      authority: "contract",
      source: "bridge",
      propagate: "session",
    } as const;
    expect(core.send({ type: "remind", reminder })).toMatchObject(refusal);
    const messageId = first?.status === "accepted" ? (first.messageId ?? "") : "";
    core.send({ type: "revoke-inject", messageId });
    expect(core.send({ type: "remind", reminder })).toMatchObject({ status: "accepted" });
    expect(core.countPending()).toBe(10_000);
  });
});
