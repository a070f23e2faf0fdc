import { describe, expect, it, onTestFinished } from "vitest";
import type { Agent } from "../../../src/session/runtime/agent/agent.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { createScriptedProvider, wants } from "../../support/session/scripted-provider.ts";
import { ME, readUntil, openSessions } from "../../support/session/session-world.ts";
import { WRITE_CALL, createWritingAgent } from "../../support/session/writing-agent.ts";

describe("resumeInterruptedSessions", () => {
  it("Interrupted sessions are resumed in parallel, at most eight at a time", async () => {
    const store = createMemoryStore();
    const provider = createScriptedProvider(Array.from({ length: 20 }, () => wants(WRITE_CALL)));
    const { agent } = createWritingAgent("ask", { provider });
    const before = openSessions(store, agent());
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
        // The first ones wait for each other: sequential resumption would hang.
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (total >= 8) for (const go of waiting.splice(0)) go();
        });
        opening -= 1;
        return { agent: agent(), close: async () => undefined };
      },
    };
    const after = openSessions(store, slow);
    onTestFinished(() => after.close());
    await after.resumeInterrupted();
    expect([total, most]).toEqual([20, 8]);
  });
});
