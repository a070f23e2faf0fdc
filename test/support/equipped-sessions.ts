import { onTestFinished } from "vitest";
import { openEquipment } from "../../src/bridge/equipment/open-equipment.ts";
import type { AgentFacts } from "../../src/domain/agent-event.ts";
import type { Envelope } from "../../src/domain/envelope.ts";
import { systemClock, type SteadyClock } from "../../src/platform/clock.ts";
import { createSessions, type RunningSessions } from "../../src/session/create-sessions.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import type { Store } from "../../src/store/store.ts";
import { scriptedProvider, type Answer } from "./scripted-provider.ts";
import { agentOf, type AgentParts } from "./session-world.ts";

export interface EquippedSessions {
  readonly sessions: RunningSessions;
  readonly store: Store;
  readonly reports: readonly unknown[];
  readonly log: (sessionId: string) => Promise<readonly Envelope[]>;
  /** The tools of the agent as it was last bound. */
  readonly tools: (sessionId: string) => Promise<readonly string[]>;
  /** What the tools gave, as text. */
  readonly results: (sessionId: string) => Promise<readonly string[]>;
}

interface EquippedOptions extends Partial<AgentParts> {
  readonly clock?: SteadyClock;
  /** Of another that has it no longer. */
  readonly store?: Store;
}

/** Sessions to which clients can bring something, as a bridge runs them. */
export function equippedSessions(
  answers: readonly Answer[],
  { clock = systemClock, store = memoryStore(), ...parts }: EquippedOptions = {},
): EquippedSessions {
  const reports: unknown[] = [];
  const report = (error: unknown): void => void reports.push(error);
  const environment = { PATH: process.env["PATH"] };
  const sessions = createSessions({
    store,
    agents: [agentOf({ provider: scriptedProvider(answers), ...parts })],
    clock,
    owner: "test",
    report,
    openEquipment: (equipment, place) =>
      openEquipment(equipment, place, { version: "1", clock, environment, report }),
  });
  onTestFinished(() => sessions.close());
  const log = (sessionId: string): Promise<readonly Envelope[]> => store.read(sessionId, 0, 10_000);
  return {
    sessions,
    store,
    reports,
    log,
    async tools(sessionId) {
      let bound: AgentFacts | undefined;
      for (const { event } of await log(sessionId)) {
        if (event.type === "agent.bound") bound = event.definition;
      }
      return (bound?.tools ?? []).map(({ name }) => name);
    },
    async results(sessionId) {
      return (await log(sessionId)).flatMap(({ event }) =>
        event.type === "tool.finished"
          ? event.result.parts.map((part) =>
              part.type === "text" ? part.text : JSON.stringify(part),
            )
          : [],
      );
    },
  };
}
