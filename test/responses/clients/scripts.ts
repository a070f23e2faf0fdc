import type { AgentScript } from "../support/agent-script.ts";
import type { Served } from "../support/target.ts";
import { waitUntil } from "../../support/with-deadline.ts";

/** Two turns of one conversation. */
export const TALK: AgentScript = [{ says: "Hello Alice." }, { says: "You are Alice." }];
export const HEARD = [
  { session: 1, texts: ["I am Alice."] },
  { session: 1, texts: ["Who am I?"] },
];

/** Invocations for a client that sends only the transcript: a new session imports the transcript as history. */
export const RETOLD = [
  HEARD[0],
  {
    session: 2,
    texts: ["Who am I?"],
    history: [
      { role: "user", text: "I am Alice." },
      { role: "assistant", text: "Hello Alice." },
    ],
  },
];

/** The agent calls a client tool, then continues with its result. */
export const CLIENT_TOOL: AgentScript = [
  { calls: [{ id: "tooluse_1", name: "get_weather", input: { location: "Paris" } }] },
  { says: "It is 18 degrees in Paris." },
];
export const HEARD_RESULT = [
  { session: 1, texts: ["How warm is it in Paris?"] },
  { session: 1, texts: [], results: ["18 degrees"] },
];

/** The agent runs its own tool before its message. */
export const AGENT_TOOL: AgentScript = [
  {
    runs: [{ id: "tooluse_1", name: "look_up", input: { query: "shoes" }, result: "[]" }],
    says: "No shoes were found.",
  },
];

export const HANGS: AgentScript = [{ says: "Well, let me", hangs: true }];

/** Invocations of the agent, with sessions numbered in order of first use. */
export function heardBy(served: Served): object[] {
  const sessions: string[] = [];
  return served.agentCalls().map(({ sessionId, texts, results, history }) => {
    if (!sessions.includes(sessionId)) sessions.push(sessionId);
    return {
      session: sessions.indexOf(sessionId) + 1,
      texts,
      ...(results.length > 0 && { results }),
      ...(history.length > 0 && { history }),
    };
  });
}

/** Resolves when the agent has been invoked `times` times. */
export function agentCalled(served: Served, times = 1): Promise<void> {
  return waitUntil(
    () => served.agentCalls().length >= times,
    () => served.agentCalls(),
  );
}
