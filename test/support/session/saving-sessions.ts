import { onTestFinished } from "vitest";
import type { RunningSessions } from "../../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { createScriptedProvider, type ProviderScript } from "./scripted-provider.ts";
import { createAgent, openSessions, createTool } from "./session-world.ts";

/** Sessions of an agent with a single tool, `save`, which needs approval. */
export function createSavingSessions(...answers: readonly ProviderScript[]): RunningSessions {
  const provider = createScriptedProvider(answers);
  const save = createTool({ name: "save" }, () => "saved");
  const approvals = { deny: [], ask: ["save"], allow: [], default: "deny" } as const;
  const sessions = openSessions(
    createMemoryStore(),
    createAgent({ provider, tools: [save], approvals }),
  );
  onTestFinished(() => sessions.close());
  return sessions;
}
