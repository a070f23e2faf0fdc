import { pause } from "../async/pause.ts";
import type { JsonObject } from "../domain/json.ts";
import type { SteadyClock } from "../platform/clock.ts";
import type { Store } from "../store/store.ts";
import type { ClientEditor, ToolContext } from "../tools/tool.ts";
import type { Agent } from "./agent.ts";
import type { Effect } from "./due.ts";
import type { HostAnswers } from "./host-answers.ts";
import type { Happening } from "./input.ts";
import type { LogConversation } from "./log-conversation.ts";
import type { LogStall } from "./log-stall.ts";
import { newId } from "./new-id.ts";
import { performCall, type HistoryCaches } from "./perform-call.ts";
import { performExamine } from "./perform-examine.ts";
import { performTool } from "./perform-tool.ts";
import { stopConversation } from "./stop-conversation.ts";

export interface PerformWork {
  readonly sessionId: string;
  readonly store: Store;
  readonly agent: Agent;
  readonly clock: SteadyClock;
  readonly workingDirectory?: string;
  readonly folders: readonly string[];
  readonly editor?: ClientEditor;
  readonly coalesceMs: number;
  readonly signal: AbortSignal;
  readonly answers: HostAnswers;
  readonly conversation: LogConversation;
  readonly caches: HistoryCaches;
  /** Something went wrong that the log says only the half of. */
  readonly report: (error: unknown) => void;
  readonly send: (happening: Happening) => Promise<unknown>;
  /** Repeats a write while the store cannot be written. */
  readonly retry: LogStall["retry"];
}

/** Does one thing that is due, and reports to the session what came of it. */
export function perform(effect: Effect, work: PerformWork): Promise<void> {
  switch (effect.type) {
    case "call": {
      const { store, sessionId } = work;
      return performCall(effect, { ...work, readBlob: (blobId) => store.blob(sessionId, blobId) });
    }
    case "examine":
      return performExamine(effect, { ...work, host: hostOf(work) });
    case "tool": {
      const tool = work.agent.tools.get(effect.name);
      const { store, sessionId } = work;
      return performTool(effect, {
        ...work,
        tool,
        host: hostOf(work),
        putBlob: (blobId, bytes) => work.retry(() => store.putBlob(sessionId, blobId, bytes)),
      });
    }
    case "settle":
      return settle(effect, work);
    default:
      return effect satisfies never;
  }
}

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
  return async (clientId, kind, payload, milliseconds = HOST_MS) => {
    signal.throwIfAborted();
    // As the log will have it: what has no JSON is the tool's fault, and must not be the session's.
    const plain: JsonObject = JSON.parse(JSON.stringify(payload));
    const at = clock.now();
    const requestId = newId("host", at);
    const answer = answers.wait(requestId);
    // The request may be refused before anybody waits for its answer.
    answer.catch(() => undefined);
    const deadline = at + milliseconds;
    await send({ type: "host-wanted", requestId, clientId, kind, payload: plain, deadline });
    return answer;
  };
}

const HOST_MS = 300_000;
