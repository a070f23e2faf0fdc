import { createHash } from "node:crypto";
import { onTestFinished } from "vitest";
import type { Principal } from "../../src/domain/actor.ts";
import type {
  AgentEvent,
  AgentEventType,
  AgentFacts,
  Decision,
  ProviderFacts,
  ToolFacts,
} from "../../src/domain/agent-event.ts";
import type { Envelope } from "../../src/domain/envelope.ts";
import { SpanlineError } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { CommandReply, SessionCommand } from "../../src/domain/session-command.ts";
import type { SigningKeys } from "../../src/bridge/signing-keys.ts";
import { systemClock, type SteadyClock } from "../../src/platform/clock.ts";
import type { Provider } from "../../src/providers/provider.ts";
import type { Agent } from "../../src/session/agent.ts";
import { createSessions, type RunningSessions } from "../../src/session/create-sessions.ts";
import type { Verify } from "../../src/session/receipt-doubts.ts";
import type { ReceiptHeads } from "../../src/session/receipt-heads.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import type { Store } from "../../src/store/store.ts";
import type { Tool, ToolContext } from "../../src/tools/tool.ts";
import { lastOf, within } from "./within.ts";

export const ME = { id: "me", rights: ["prompt", "approve", "control"] } as const;

export function tool(
  facts: Partial<ToolFacts> & { readonly name: string },
  run: (input: JsonObject, context: ToolContext) => unknown,
): Tool {
  return {
    facts: {
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

export interface AgentParts extends Partial<Omit<AgentFacts, "provider" | "tools" | "caps">> {
  readonly provider: Provider;
  readonly providerFacts?: Partial<ProviderFacts>;
  readonly tools?: readonly Tool[];
  readonly caps?: Partial<AgentFacts["caps"]>;
  readonly examine?: NonNullable<Agent["examine"]>;
}

export function agentOf(parts: AgentParts): Agent {
  const { provider, tools = [], caps, providerFacts, examine, ...rest } = parts;
  const facts: AgentFacts = {
    name: "demo",
    provider: {
      name: provider.name,
      seams: provider.seams,
      effectFree: provider.effectFree,
      canStop: true,
      ...(provider.keepsHistory === false && { keepsHistory: false }),
      ...(provider.takes !== undefined && { takes: provider.takes }),
      ...providerFacts,
    },
    tools: tools.map((one) => one.facts),
    approvals: { deny: [], ask: [], allow: ["*"], otherwise: "ask" },
    caps: { steps: 20, seconds: 600, tokens: null, toolCalls: 50, parallelTools: 4, ...caps },
    onLost: "ask",
    settle: "stop",
    approvalMs: 600_000,
    ...rest,
  };
  const digest = createHash("sha256").update(JSON.stringify(facts)).digest("hex");
  return {
    facts,
    digest,
    provider,
    tools: new Map(tools.map((one) => [one.facts.name, one])),
    ...(examine !== undefined && { examine }),
  };
}

export function sessionsOn(
  store: Store,
  agent: Agent,
  clock: SteadyClock = systemClock,
): RunningSessions {
  return createSessions({ store, agents: [agent], clock, owner: "test" });
}

/** Reads a session's log until an event is there, and returns all that came. Fails if the log stops growing before it. */
export async function readUntil(
  sessions: RunningSessions,
  sessionId: string,
  isLast: (envelope: Envelope) => boolean,
): Promise<Envelope[]> {
  const { signal } = new AbortController();
  const seen: Envelope[] = [];
  const batches = sessions.subscribe(sessionId, undefined, signal)[Symbol.asyncIterator]();
  const logEnd = (): string => {
    const lines = seen.map(({ seq, event }) => `${seq} ${JSON.stringify(event)}`);
    return `the log of ${sessionId} ends with\n  ${lastOf(lines)}`;
  };
  try {
    for (;;) {
      const { value, done } = await within(batches.next(), logEnd);
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

type Of<Type extends AgentEventType> = Extract<AgentEvent, { readonly type: Type }>;

/** One session of one agent, with somebody who has every right. */
export interface World {
  readonly sessions: RunningSessions;
  readonly store: Store;
  readonly sessionId: string;
  /** What went wrong that only a log outside the session hears of. */
  readonly reports: readonly unknown[];
  send(command: SessionCommand, from?: Sent): Promise<CommandReply>;
  prompt(text: string): Promise<CommandReply>;
  answer(approvalId: string, decision: Decision): Promise<CommandReply>;
  cancel(): Promise<CommandReply>;
  /** The nth event of a type, counted from 1, once it is there. */
  event<Type extends AgentEventType>(type: Type, nth?: number): Promise<Of<Type>>;
  /** All events of a type that are there. */
  events<Type extends AgentEventType>(type: Type): Promise<Of<Type>[]>;
  log(): Promise<readonly Envelope[]>;
  /** What a killed process leaves: its log, its lease, and nothing that it still does comes through. Then another one. */
  restart(agent?: Agent, changed?: Pick<WorldOptions, "store" | "keys" | "heads">): Promise<World>;
}

interface Sent {
  readonly principal?: Principal;
  readonly clientId?: string;
  readonly commandId?: string;
}

export interface WorldOptions {
  readonly store?: Store;
  readonly clock?: SteadyClock;
  /** Receipts are signed with them, and checked; neither without them. */
  readonly keys?: Pick<SigningKeys, "sign" | "check">;
  /** Where the last receipt is recorded; nowhere without it. */
  readonly heads?: ReceiptHeads;
}

export async function worldOf(agent: Agent, options: WorldOptions = {}): Promise<World> {
  const { store = memoryStore(), clock = systemClock, keys, heads } = options;
  const around = { store, clock, keys, heads };
  const process = running(agent, around);
  const { sessionId } = await process.sessions.open({ principal: ME });
  return worldAround({ ...process, ...around, sessionId, agent });
}

/** A store as a process has it: once that is killed, nothing it does comes through, and nothing comes back to it. */
function mortal(store: Store): { readonly store: Store; readonly die: () => void } {
  let isDead = false;
  const check = (): void => {
    if (isDead) throw new SpanlineError("store_closed", "The process was killed");
  };
  const guarded = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function" || name === "subscribe") return value;
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

interface Around extends Required<Pick<WorldOptions, "store" | "clock">> {
  readonly keys: WorldOptions["keys"];
  readonly heads: WorldOptions["heads"];
}

function running(agent: Agent, { store, clock, keys, heads }: Around) {
  const reports: unknown[] = [];
  const report = (error: unknown): void => void reports.push(error);
  const { store: own, die } = mortal(store);
  const options = { store: own, agents: [agent], clock, owner: "test", report };
  const signing = keys === undefined ? {} : { sign: keys.sign, verify: verifyWith(keys) };
  const recording = heads === undefined ? {} : { heads };
  const sessions = createSessions({ ...options, ...signing, ...recording });
  onTestFinished(() => sessions.close());
  return { sessions, reports, kill: die };
}

function verifyWith({ check }: Pick<SigningKeys, "check">): Verify {
  return (content, signature) => check(content, signature) === "valid";
}

interface WorldParts extends Around, Pick<World, "sessions" | "sessionId" | "reports"> {
  readonly agent: Agent;
  readonly kill: () => void;
}

function worldAround(parts: WorldParts): World {
  const { sessions, store, sessionId, reports, clock, keys, heads } = parts;
  const send: World["send"] = (command, from = {}) =>
    sessions.command(sessionId, command, { principal: ME, ...from });
  const log = (): Promise<readonly Envelope[]> => store.read(sessionId, 0, 10_000);
  return {
    sessions,
    store,
    sessionId,
    reports,
    send,
    prompt: (text) => send({ type: "prompt", content: [{ type: "text", text }] }),
    answer: (approvalId, decision) => send({ type: "answer", approvalId, decision }),
    cancel: () => send({ type: "cancel" }),
    async event(type, nth = 1) {
      let count = 0;
      const isIt = (event: AgentEvent): event is Of<typeof type> => event.type === type;
      const seen = await readUntil(sessions, sessionId, ({ event }) => {
        if (isIt(event)) count += 1;
        return count === nth;
      });
      const last = seen.at(-1)?.event;
      if (last === undefined || !isIt(last)) throw new Error(`There is no ${type}`);
      return last;
    },
    async events(type) {
      const isIt = (event: AgentEvent): event is Of<typeof type> => event.type === type;
      return (await log()).map(({ event }) => event).filter(isIt);
    },
    log,
    async restart(agent = parts.agent, changed = {}) {
      parts.kill();
      const around = { store, clock, keys, heads, ...changed };
      const next = running(agent, around);
      await next.sessions.recover();
      return worldAround({ ...next, ...around, sessionId, agent });
    },
  };
}
