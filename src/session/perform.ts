import { pause } from "../async/pause.ts";
import type { ModelMessage } from "../domain/model-request.ts";
import type { SteadyClock } from "../platform/clock.ts";
import type { Store } from "../store/store.ts";
import type { ToolContext } from "../tools/tool.ts";
import type { Agent } from "./agent.ts";
import { evolveConversation, historyOf, initialConversation } from "./conversation.ts";
import type { Effect } from "./due.ts";
import type { HostAnswers } from "./host-answers.ts";
import type { Happening } from "./input.ts";
import { newId } from "./new-id.ts";
import { performCall } from "./perform-call.ts";
import { performTool } from "./perform-tool.ts";
import { stopConversation } from "./stop-conversation.ts";

export interface PerformWork {
  readonly sessionId: string;
  readonly store: Store;
  readonly agent: Agent;
  readonly clock: SteadyClock;
  readonly workingDirectory?: string;
  readonly coalesceMs: number;
  readonly signal: AbortSignal;
  readonly answers: HostAnswers;
  /** Something went wrong that the log says only the half of. */
  readonly report: (error: unknown) => void;
  readonly send: (happening: Happening) => Promise<unknown>;
}

/** Does one thing that is due, and reports to the session what came of it. */
export function perform(effect: Effect, work: PerformWork): Promise<void> {
  switch (effect.type) {
    case "call":
      return performCall(effect, { ...work, history: () => history(work, effect) });
    case "tool": {
      const tool = work.agent.tools.get(effect.name);
      const { store, sessionId } = work;
      return performTool(effect, {
        ...work,
        tool,
        host: hostOf(work),
        putBlob: (blobId, bytes) => store.putBlob(sessionId, blobId, bytes),
      });
    }
    case "settle":
      return settle(effect, work);
    default:
      return effect satisfies never;
  }
}

/** What the log had before this call. */
async function history(
  { store, sessionId }: PerformWork,
  { callId, outgoing }: Extract<Effect, { type: "call" }>,
): Promise<readonly ModelMessage[]> {
  const answers = outgoing.answers !== null;
  let conversation = initialConversation;
  for (let after = 0; ;) {
    const events = await store.read(sessionId, after, PAGE);
    for (const envelope of events) {
      const { event, seq } = envelope;
      if (event.type === "call.started" && event.callId === callId) {
        return historyOf(conversation, answers);
      }
      conversation = evolveConversation(conversation, envelope);
      after = seq;
    }
    if (events.length < PAGE) return historyOf(conversation, answers);
  }
}

const PAGE = 1000;

/** Brings the other side to rest. What it cannot be told, it is given time for. */
async function settle(
  { upstreamId, by, round }: Extract<Effect, { type: "settle" }>,
  { agent, clock, signal, send }: PerformWork,
): Promise<void> {
  if (by === "stop") {
    const { provider } = agent;
    await stopConversation(upstreamId, { provider, clock, signal, milliseconds: STOP_MS });
    if (signal.aborted) return;
  }
  if (by === "wait" || round > 0) {
    await pause(clock, Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** round), signal);
  }
  await send({ type: "settled", upstreamId, by });
}

/** Ending a machine takes a service some seconds. */
const STOP_MS = 30_000;
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 30_000;

function hostOf({ send, clock, answers, signal }: PerformWork): ToolContext["host"] {
  return async (clientId, kind, payload) => {
    signal.throwIfAborted();
    const at = clock.now();
    const requestId = newId("host", at);
    const answer = answers.wait(requestId);
    // The request may be refused before anybody waits for its answer.
    answer.catch(() => undefined);
    await send({ type: "host-wanted", requestId, clientId, kind, payload, deadline: at + HOST_MS });
    return answer;
  };
}

const HOST_MS = 300_000;
