import { pause } from "../../../async/pause.ts";
import type { JsonObject } from "../../../data/json.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { createId } from "../../../domain/id.ts";
import type { SteadyClock } from "../../../platform/clock.ts";
import { randomSeed } from "../../../platform/random.ts";
import type { BlobStore } from "../../../store/blob-store.ts";
import type { ClientEditor, ToolContext } from "../../../tools/tool.ts";
import type { Effect } from "../../due-effects.ts";
import type { SessionInput } from "../../session-input.ts";
import type { SessionState } from "../../session-state.ts";
import type { EmissionRoom } from "../../tools/emission-limits.ts";
import { findRun } from "../../tools/tools-state.ts";
import type { Agent } from "../agent/agent.ts";
import type { LiveAgent } from "../agent/live-agent.ts";
import type { ReadConversation } from "../history/conversation-reader.ts";
import type { WriteRetry } from "../log/write-retry.ts";
import type { BudgetLedger } from "./budget-ledger.ts";
import type { HostReplies } from "./host-replies.ts";
import { performCompaction } from "./perform-compaction.ts";
import { performReservation, performSettlement } from "./perform-budget.ts";
import { performInvocation, type HistoryCaches } from "./perform-invocation.ts";
import { performPathResolution } from "./perform-path-resolution.ts";
import { performWatch } from "./perform-watch.ts";
import { performTool } from "./perform-tool.ts";
import type { ChildSessions } from "./child-sessions.ts";
import { closeWorkerSession, runWorker, watchWaitingWorker } from "./perform-worker.ts";
import { stopConversation } from "./stop-conversation.ts";

export interface EffectContext {
  readonly sessionId: string;
  readonly store: BlobStore;
  readonly agent: Agent;
  readonly clock: SteadyClock;
  readonly workingDirectory?: string;
  readonly folders: readonly string[];
  /** Returns the editor for a tool: the prompter's, else the controller's. */
  readonly findEditor: () => ClientEditor | undefined;
  readonly coalesceMs: number;
  readonly signal: AbortSignal;
  readonly hostReplies: HostReplies;
  readonly readConversation: ReadConversation;
  readonly caches: HistoryCaches;
  readonly ledger: BudgetLedger;
  /** The sessions of workers. */
  readonly children: ChildSessions;
  /** Called with errors of which the log has only a part. */
  readonly report: (error: unknown) => void;
  readonly send: (input: SessionInput) => Promise<unknown>;
  readonly readEmissionRoom: () => EmissionRoom;
  /** Repeats a write while the store cannot be written. */
  readonly retry: WriteRetry["retry"];
}

/** Performs a due effect and sends its result to the session. */
export function performEffect(effect: Effect, context: EffectContext): Promise<void> {
  switch (effect.type) {
    case "invoke": {
      const { store, sessionId } = context;
      return performInvocation(effect, {
        ...context,
        readBlob: (blobId) => store.readBlob(sessionId, blobId),
      });
    }
    case "resolve-paths":
      return performPathResolution(effect, { ...context, ...createToolHost(context) });
    case "run-tool": {
      const tool = context.agent.tools.get(effect.name);
      const { store, sessionId } = context;
      return performTool(effect, {
        ...context,
        tool,
        ...createToolHost(context),
        putBlob: (blobId, bytes) => context.retry(() => store.putBlob(sessionId, blobId, bytes)),
      });
    }
    case "settle-upstream":
      return settleUpstream(effect, context);
    case "reserve-budget":
      return performReservation(effect, context);
    case "watch-files":
      return performWatch(effect, context);
    case "settle-budget":
      return performSettlement(effect, context);
    case "compact":
      return performCompaction(effect, context);
    case "run-worker":
      return runWorker(effect, context);
    case "follow-worker":
      return watchWaitingWorker(effect, context);
    case "close-worker":
      return closeWorkerSession(effect, context);
    default:
      return effect satisfies never;
  }
}

/** Brings the upstream session to rest: stops it if possible, or waits with backoff. */
async function settleUpstream(
  { upstreamId, policy, round }: Extract<Effect, { type: "settle-upstream" }>,
  { agent, clock, signal, send }: EffectContext,
): Promise<void> {
  if (policy === "stop") {
    const { provider } = agent;
    await stopConversation(upstreamId, { provider, clock, signal, timeoutMs: STOP_TIMEOUT_MS });
    if (signal.aborted) return;
  }
  if (policy === "wait" || round > 0) {
    await pause(clock, Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** round), signal);
  }
  await send({ type: "upstream-settled", upstreamId, policy });
}

/** Milliseconds. Stopping a runtime session takes AgentCore some seconds. */
const STOP_TIMEOUT_MS = 30_000;
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 30_000;

function createToolHost(context: EffectContext): Pick<ToolContext, "host" | "editor"> {
  return { host: createHostCaller(context), ...omitUndefined({ editor: context.findEditor() }) };
}

function createHostCaller({
  send,
  clock,
  hostReplies,
  signal,
}: EffectContext): ToolContext["host"] {
  return async (clientId, kind, payload, milliseconds = HOST_TIMEOUT_MS) => {
    signal.throwIfAborted();
    // Converted to JSON as logged: a value without a JSON form is an error of the tool, not of the session.
    const jsonPayload: JsonObject = JSON.parse(JSON.stringify(payload));
    const at = clock.now();
    const requestId = createId("host", at, randomSeed());
    const reply = hostReplies.waitForReply(requestId);
    // Prevents an unhandled rejection: the request may be refused before the reply is awaited.
    reply.catch(() => undefined);
    const deadline = at + milliseconds;
    await send({
      type: "host-requested",
      requestId,
      clientId,
      kind,
      payload: jsonPayload,
      deadline,
    });
    return reply;
  };
}

const HOST_TIMEOUT_MS = 300_000;

interface RecheckContext {
  readonly liveAgent: LiveAgent;
  readonly readState: () => SessionState;
  readonly signal: AbortSignal;
  readonly send: (input: SessionInput) => Promise<unknown>;
}

/**
 * Returns the agent for an effect. If its tool or the session mode has changed since the evaluation, the change is
 * logged first and the session decides again. Returns undefined if the effect must not run.
 */
export async function recheckBeforeEffect(
  effect: Effect,
  context: RecheckContext,
): Promise<Agent | undefined> {
  const { liveAgent, readState, signal, send } = context;
  if (effect.type !== "run-tool" && effect.type !== "resolve-paths") return liveAgent.current;
  const { toolCallId } = effect;
  const starting =
    effect.type === "run-tool" ? { startingTool: { toolCallId, attempt: effect.attempt } } : {};
  while (!signal.aborted) {
    const agent = liveAgent.current;
    const { digest, spec } = agent;
    const { tools, mode } = readState();
    const evaluated =
      effect.type === "run-tool" ? findRun(tools, toolCallId)?.evaluation : { ...effect, mode };
    if (digest === evaluated?.agent && mode === evaluated.mode) return agent;
    await send({ type: "agent-changed", agent: { digest, spec }, ...starting });
  }
  return undefined;
}
