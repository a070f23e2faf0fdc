import { onTestFinished } from "vitest";
import type { Principal } from "../../../src/domain/actor.ts";
import type { AgentSpec, ProviderSpec, ToolSpec } from "../../../src/domain/agent-spec.ts";
import type {
  EventOf,
  SessionEvent,
  SessionEventType,
} from "../../../src/domain/events/session-event.ts";
import type { ApprovalDecision } from "../../../src/domain/policy/approval-decision.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import { SpanlineError } from "../../../src/domain/errors.ts";
import type { JsonObject } from "../../../src/data/json.ts";
import type { CommandReply, SessionCommand } from "../../../src/domain/session-command.ts";
import type { SigningKeys } from "../../../src/bridge/audit/signing-keys.ts";
import { digestValue } from "../../../src/platform/digest.ts";
import { systemClock, type SteadyClock } from "../../../src/platform/clock.ts";
import type { Provider } from "../../../src/providers/provider.ts";
import type { Agent } from "../../../src/session/runtime/agent/agent.ts";
import {
  createSessions,
  type RunningSessions,
} from "../../../src/session/runtime/create-sessions.ts";
import type { VerifySignature } from "../../../src/session/runtime/log/receipt-verifier.ts";
import type { ReceiptHeads } from "../../../src/session/runtime/log/receipt-head.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Tool, ToolContext } from "../../../src/tools/tool.ts";
import { formatTail, withDeadline } from "../with-deadline.ts";

export const ME = { id: "me", rights: ["prompt", "approve", "control"] } as const;

export function createTool(
  facts: Partial<ToolSpec> & { readonly name: string },
  run: (input: JsonObject, context: ToolContext) => unknown,
): Tool {
  return {
    spec: {
      description: `Does ${facts.name}`,
      schema: { type: "object" },
      idempotent: false,
      timeoutMs: 60_000,
      ...facts,
    },
    check: () => undefined,
    run,
  };
}

export interface AgentParts extends Partial<Omit<AgentSpec, "provider" | "tools" | "caps">> {
  readonly provider: Provider;
  readonly providerFacts?: Partial<ProviderSpec>;
  readonly tools?: readonly Tool[];
  readonly caps?: Partial<AgentSpec["caps"]>;
  readonly examine?: NonNullable<Agent["resolvePaths"]>;
}

export function createAgent(parts: AgentParts): Agent {
  const { provider, tools = [], caps, providerFacts, examine: resolvePaths, ...rest } = parts;
  const spec: AgentSpec = {
    name: "demo",
    provider: {
      name: provider.name,
      injectionPoints: provider.injectionPoints,
      effectFree: provider.effectFree,
      canStop: true,
      ...(provider.keepsHistory === false && { keepsHistory: false }),
      ...(provider.capabilities !== undefined && { capabilities: provider.capabilities }),
      ...providerFacts,
    },
    tools: tools.map((one) => one.spec),
    approvals: { deny: [], ask: [], allow: ["*"], default: "ask" },
    caps: { steps: 20, seconds: 600, tokens: null, toolCalls: 50, parallelTools: 4, ...caps },
    onLost: "ask",
    settle: "stop",
    approvalMs: 600_000,
    ...rest,
  };
  return {
    spec,
    digest: digestValue(spec),
    provider,
    tools: new Map(tools.map((one) => [one.spec.name, one])),
    ...(resolvePaths !== undefined && { resolvePaths }),
  };
}

export function openSessions(
  store: Store,
  agent: Agent,
  clock: SteadyClock = systemClock,
): RunningSessions {
  return createSessions({ store, agents: [agent], clock, owner: "test" });
}

/**
 * How long the log of a session in this process may stop growing before a test fails. After the first failure the other
 * tests of the file wait for less: a change that breaks many of them is reported within 15 s.
 */
let silenceMs = 6000;
const NEXT_SILENCE_MS = 1000;

/**
 * Reads a session's log until `isLast` matches, and returns all events. Fails if the log stops growing before the
 * match.
 */
export async function readUntil(
  sessions: RunningSessions,
  sessionId: string,
  isLast: (envelope: Envelope) => boolean,
): Promise<Envelope[]> {
  const { signal } = new AbortController();
  const seen: Envelope[] = [];
  const batches = sessions.subscribe(sessionId, undefined, signal)[Symbol.asyncIterator]();
  const logEnd = (): string => {
    silenceMs = NEXT_SILENCE_MS;
    const lines = seen.map(({ seq, event }) => `${seq} ${JSON.stringify(event)}`);
    return `the log of ${sessionId} ends with\n  ${formatTail(lines)}`;
  };
  try {
    for (;;) {
      const { value, done } = await withDeadline(batches.next(), logEnd, silenceMs);
      if (done === true) return seen;
      for (const envelope of value.events) {
        seen.push(envelope);
        if (isLast(envelope)) return seen;
      }
    }
  } finally {
    await batches.return?.();
  }
}

/** A session of an agent, with a principal who has every right. */
export interface SessionWorld {
  readonly sessions: RunningSessions;
  readonly store: Store;
  readonly sessionId: string;
  /** Errors reported outside of the session's log. */
  readonly reports: readonly unknown[];
  send(command: SessionCommand, from?: SenderOptions): Promise<CommandReply>;
  prompt(text: string): Promise<CommandReply>;
  decideApproval(approvalId: string, decision: ApprovalDecision): Promise<CommandReply>;
  cancel(): Promise<CommandReply>;
  /** Waits for the nth event of a type, counted from 1. */
  waitForEvent<Type extends SessionEventType>(type: Type, nth?: number): Promise<EventOf<Type>>;
  /** All events of a type so far. */
  listEvents<Type extends SessionEventType>(type: Type): Promise<EventOf<Type>[]>;
  readLog(): Promise<readonly Envelope[]>;
  /**
   * Kills the process and starts another: the log and the lease remain, and late writes of the killed process are
   * refused.
   */
  restart(
    agent?: Agent,
    changed?: Pick<WorldOptions, "store" | "keys" | "heads">,
  ): Promise<SessionWorld>;
}

interface SenderOptions {
  readonly principal?: Principal;
  readonly clientId?: string;
  readonly commandId?: string;
}

export interface WorldOptions {
  readonly store?: Store;
  readonly clock?: SteadyClock;
  /** Signs and checks receipts. Absent: receipts are neither signed nor checked. */
  readonly keys?: Pick<SigningKeys, "sign" | "check">;
  /** Records the last receipt. Absent: not recorded. */
  readonly heads?: ReceiptHeads;
  /** Further agents, such as agents of workers. */
  readonly others?: readonly Agent[];
}

export async function openWorld(agent: Agent, options: WorldOptions = {}): Promise<SessionWorld> {
  const { store = createMemoryStore(), clock = systemClock, keys, heads, others = [] } = options;
  const around = { store, clock, keys, heads, others };
  const process = startSessions(agent, around);
  const { sessionId } = await process.sessions.open({ principal: ME });
  return createWorld({ ...process, ...around, sessionId, agent });
}

/** The store as seen by a process. After `die`, every call of the process fails and no result reaches it. */
function createMortalStore(store: Store): { readonly store: Store; readonly die: () => void } {
  let isDead = false;
  const check = (): void => {
    if (isDead) throw new SpanlineError("store_closed", "The process was killed");
  };
  const guarded = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function" || STREAMS.has(name)) return value;
      return async (...given: readonly unknown[]): Promise<unknown> => {
        check();
        const done: unknown = await Reflect.apply(value, target, given);
        check();
        return done;
      };
    },
  });
  return { store: guarded, die: () => void (isDead = true) };
}

/** Methods which return their stream at once. */
const STREAMS: ReadonlySet<string | symbol> = new Set(["subscribe", "watchSessions"]);

interface WorldSetup extends Required<Pick<WorldOptions, "store" | "clock">> {
  readonly keys: WorldOptions["keys"];
  readonly heads: WorldOptions["heads"];
  readonly others: readonly Agent[];
}

function startSessions(agent: Agent, { store, clock, keys, heads, others }: WorldSetup) {
  const reports: unknown[] = [];
  const report = (error: unknown): void => void reports.push(error);
  const { store: own, die } = createMortalStore(store);
  const options = { store: own, agents: [agent, ...others], clock, owner: "test", report };
  const signing = keys === undefined ? {} : { sign: keys.sign, verify: createVerify(keys) };
  const recording = heads === undefined ? {} : { heads };
  const sessions = createSessions({ ...options, ...signing, ...recording });
  onTestFinished(() => sessions.close());
  return { sessions, reports, kill: die };
}

function createVerify({ check }: Pick<SigningKeys, "check">): VerifySignature {
  return (content, signature) => check(content, signature) === "valid";
}

interface WorldParts extends WorldSetup, Pick<SessionWorld, "sessions" | "sessionId" | "reports"> {
  readonly agent: Agent;
  readonly kill: () => void;
}

function createWorld(parts: WorldParts): SessionWorld {
  const { sessions, store, sessionId, reports, clock, keys, heads, others } = parts;
  const send: SessionWorld["send"] = (command, from = {}) =>
    sessions.command(sessionId, command, { principal: ME, ...from });
  const readLog = (): Promise<readonly Envelope[]> => store.read(sessionId, 0, 10_000);
  return {
    sessions,
    store,
    sessionId,
    reports,
    send,
    prompt: (text) => send({ type: "prompt", content: [{ type: "text", text }] }),
    decideApproval: (approvalId, decision) =>
      send({ type: "decide-approval", approvalId, decision }),
    cancel: () => send({ type: "cancel" }),
    async waitForEvent(type, nth = 1) {
      let count = 0;
      const isIt = (event: SessionEvent): event is EventOf<typeof type> => event.type === type;
      const seen = await readUntil(sessions, sessionId, ({ event }) => {
        if (isIt(event)) count += 1;
        return count === nth;
      });
      const last = seen.at(-1)?.event;
      if (last === undefined || !isIt(last)) throw new Error(`The log ended without ${type}`);
      return last;
    },
    async listEvents(type) {
      const isIt = (event: SessionEvent): event is EventOf<typeof type> => event.type === type;
      return (await readLog()).map(({ event }) => event).filter(isIt);
    },
    readLog,
    async restart(agent = parts.agent, changed = {}) {
      parts.kill();
      const around = { store, clock, keys, heads, others, ...changed };
      const next = startSessions(agent, around);
      await next.sessions.resumeInterrupted();
      return createWorld({ ...next, ...around, sessionId, agent });
    },
  };
}
