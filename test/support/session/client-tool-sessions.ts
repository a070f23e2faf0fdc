import { onTestFinished } from "vitest";
import { openClientTools } from "../../../src/bridge/client-tools/open-client-tools.ts";
import type { AgentSpec } from "../../../src/domain/agent-spec.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import { systemClock, type SteadyClock } from "../../../src/platform/clock.ts";
import {
  createSessions,
  type RunningSessions,
} from "../../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { createScriptedProvider, type ProviderScript } from "./scripted-provider.ts";
import { createAgent, type AgentParts } from "./session-world.ts";

export interface ClientToolSessions {
  readonly sessions: RunningSessions;
  readonly store: Store;
  readonly reports: readonly unknown[];
  readonly readLog: (sessionId: string) => Promise<readonly Envelope[]>;
  /** The tools of the agent in its last configuration. */
  readonly listTools: (sessionId: string) => Promise<readonly string[]>;
  /** The results of tools, as strings. */
  readonly listResults: (sessionId: string) => Promise<readonly string[]>;
}

interface ClientToolSessionsOptions extends Partial<AgentParts> {
  readonly clock?: SteadyClock;
  /** The store of an earlier process that no longer uses it. */
  readonly store?: Store;
}

/** Sessions with client tools, configured like in a bridge. */
export function createClientToolSessions(
  answers: readonly ProviderScript[],
  { clock = systemClock, store = createMemoryStore(), ...parts }: ClientToolSessionsOptions = {},
): ClientToolSessions {
  const reports: unknown[] = [];
  const report = (error: unknown): void => void reports.push(error);
  const environment = { PATH: process.env["PATH"] };
  const sessions = createSessions({
    store,
    agents: [createAgent({ provider: createScriptedProvider(answers), ...parts })],
    clock,
    owner: "test",
    report,
    openClientTools: (equipment, place) =>
      openClientTools(equipment, place, { version: "1", clock, environment, report }),
  });
  onTestFinished(() => sessions.close());
  const readLog = (sessionId: string): Promise<readonly Envelope[]> =>
    store.read(sessionId, 0, 10_000);
  return {
    sessions,
    store,
    reports,
    readLog,
    async listTools(sessionId) {
      let bound: AgentSpec | undefined;
      for (const { event } of await readLog(sessionId)) {
        if (event.type === "agent.configured") bound = event.spec;
      }
      return (bound?.tools ?? []).map(({ name }) => name);
    },
    async listResults(sessionId) {
      return (await readLog(sessionId)).flatMap(({ event }) =>
        event.type === "tool.finished"
          ? event.result.parts.map((part) =>
              part.type === "text" ? part.text : JSON.stringify(part),
            )
          : [],
      );
    },
  };
}
