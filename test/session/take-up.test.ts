import { describe, expect, it, onTestFinished } from "vitest";
import type { Agent } from "../../src/session/agent.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { scriptedProvider, wants } from "../support/scripted-provider.ts";
import { ME, readUntil, sessionsOn } from "../support/session-world.ts";
import { CALL, writing } from "../support/writing-agent.ts";

describe("sessions that were left in the middle of something", () => {
  it("are taken up several at a time, and never more than eight", async () => {
    const store = memoryStore();
    const provider = scriptedProvider(Array.from({ length: 20 }, () => wants(CALL)));
    const { agent } = writing("ask", { provider });
    const before = sessionsOn(store, agent());
    for (let count = 0; count < 20; count++) {
      const { sessionId } = await before.open({ principal: ME });
      const content = [{ type: "text", text: "Write." }] as const;
      await before.command(sessionId, { type: "prompt", content }, { principal: ME });
      await readUntil(before, sessionId, ({ event }) => event.type === "approval.requested");
    }
    await before.close();

    let opening = 0;
    let most = 0;
    let total = 0;
    const waiting: (() => void)[] = [];
    const slow: Agent = {
      ...agent(),
      open: async () => {
        total += 1;
        opening += 1;
        most = Math.max(most, opening);
        // The first ones wait for each other: one after the other they would wait for ever.
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (total >= 8) for (const go of waiting.splice(0)) go();
        });
        opening -= 1;
        return { agent: agent(), close: async () => undefined };
      },
    };
    const after = sessionsOn(store, slow);
    onTestFinished(() => after.close());
    await after.recover();
    expect([total, most]).toEqual([20, 8]);
  });
});
