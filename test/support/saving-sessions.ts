import { onTestFinished } from "vitest";
import type { RunningSessions } from "../../src/session/create-sessions.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { scriptedProvider, type Answer } from "./scripted-provider.ts";
import { agentOf, sessionsOn, tool } from "./session-world.ts";

/** Sessions of an agent with one tool, `save`, about which somebody is asked. */
export function savingSessions(...answers: readonly Answer[]): RunningSessions {
  const provider = scriptedProvider(answers);
  const save = tool({ name: "save" }, () => "saved");
  const approvals = { deny: [], ask: ["save"], allow: [], otherwise: "deny" } as const;
  const sessions = sessionsOn(memoryStore(), agentOf({ provider, tools: [save], approvals }));
  onTestFinished(() => sessions.close());
  return sessions;
}
