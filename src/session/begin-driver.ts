import type { AgentFacts } from "../domain/agent-event.ts";
import { SpanlineError } from "../domain/errors.ts";
import type { CommandReply } from "../domain/session-command.ts";
import { digestOf } from "../platform/digest.ts";
import { endGroup } from "../platform/held-process.ts";
import type { SteadyClock } from "../platform/clock.ts";
import type { Lease, Store } from "../store/store.ts";
import type { Agent } from "./agent.ts";
import type { OpenEquipment } from "./client-equipment.ts";
import { startDriver, type Driver, type DriverOptions } from "./driver.ts";
import type { DriverStart } from "./driver-pool.ts";
import type { FirstInput } from "./first-input.ts";
import type { BoundAgent, Happening } from "./input.ts";
import { liveAgent } from "./live-agent.ts";
import { loadFromSnapshot, type LoadedState } from "./load-state.ts";
import type { Seed } from "./new-id.ts";
import { receiptDoubts, type Verify } from "./receipt-doubts.ts";
import { missingAtEnd, type ReceiptHeads } from "./receipt-heads.ts";
import type { Sign } from "./sign-receipts.ts";
import { initialState, type SessionState } from "./state.ts";

export interface Surroundings {
  readonly store: Store;
  readonly clock: SteadyClock;
  /** Names this process among those that could own a session. */
  readonly owner: string;
  readonly coalesceMs: number;
  readonly seed: Seed;
  readonly sign?: Sign;
  readonly verify?: Verify;
  readonly heads?: ReceiptHeads;
  readonly report: (error: unknown) => void;
  readonly openEquipment?: OpenEquipment;
}

export interface Wanted extends DriverStart {
  readonly sessionId: string;
}

type Opened = Omit<Extract<Happening, { readonly type: "opened" }>, "agent" | "first">;

export interface Opening {
  readonly agent: Agent;
  readonly opened: Opened;
  /** What it is opened for, by what its agent can do. */
  readonly first?: (facts: AgentFacts) => FirstInput | undefined;
}

export interface OpenedDriver {
  readonly driver: Driver;
  readonly incarnation: string;
  /** To what it was opened for. */
  readonly reply: CommandReply | undefined;
}

/** The driver of a new session. */
export async function openDriver(
  { sessionId, signal, ...hooks }: Wanted,
  { agent, opened, first }: Opening,
  around: Surroundings,
): Promise<OpenedDriver> {
  const { lease, head } = await acquire(sessionId, around);
  const { incarnation } = head;
  const { workingDirectory } = opened;
  const place = workingDirectory === undefined ? {} : { workingDirectory };
  return orReleased(lease, around, async () => {
    const live = await liveAgent(agent, { sessionId, ...place }, { ...around, signal });
    const { digest, facts } = live.current;
    const { commanded, commandId } = first?.(facts) ?? {};
    const input = {
      ...opened,
      agent: { digest, facts },
      ...(commanded !== undefined && { first: commanded }),
    };
    const options = { ...around, lease, incarnation, agent: live, ...hooks, ...place };
    const begun = await begin({ input, commandId }, NOTHING_LOADED, options);
    return { ...begun, incarnation };
  });
}

/** The driver of a session that is in the log. */
export async function takeUpDriver(
  { sessionId, signal, ...hooks }: Wanted,
  agentNamed: (name: string) => Agent,
  around: Surroundings & { readonly isHere: boolean },
): Promise<Driver> {
  const { store, isHere, report, verify, heads } = around;
  const record = await store.session(sessionId);
  if (record === undefined) throw unknownSession(sessionId);
  const agent = agentNamed(record.agent);
  const { lease, head } = await acquire(sessionId, around);
  const { incarnation } = head;
  const { workingDirectory } = record;
  const place = workingDirectory === null ? {} : { workingDirectory };
  return orReleased(lease, around, async () => {
    const checked = verify === undefined ? {} : { verify, doubts: receiptDoubts(verify) };
    const loaded = await loadFromSnapshot(store, sessionId, {
      ...head,
      report,
      signal,
      ...checked,
    });
    const { state, doubt } = checkEnd(loaded.state, checked.doubts?.seq, { heads, incarnation });
    await endLeftovers(state);
    const live = await liveAgent(agent, { sessionId, ...place }, { ...around, signal });
    const { digest, facts } = live.current;
    const bound = isBound(state, live.current) ? {} : { agent: { digest, facts } };
    const doubted = doubt === undefined ? {} : { doubt };
    const first = { type: "recovered", epoch: lease.epoch, isHere, ...bound, ...doubted } as const;
    const options = { ...around, lease, incarnation, agent: live, ...hooks, ...place };
    return (await begin({ input: first }, { ...loaded, state }, options)).driver;
  });
}

interface RecordedEnd {
  readonly heads: ReceiptHeads | undefined;
  readonly incarnation: string;
}

interface CheckedEnd {
  readonly state: SessionState;
  /** Where the first doubtful receipt stands; the end of the log if the receipts after it are missing. */
  readonly doubt: number | undefined;
}

/**
 * Compares the end of a log with its recorded head. If receipts are missing there, the next receipt is numbered after
 * them: the log shows from then on how many are missing, and no older copy of it reaches the number of the head.
 */
function checkEnd(
  state: SessionState,
  doubt: number | undefined,
  { heads, incarnation }: RecordedEnd,
): CheckedEnd {
  const { receipts, seq } = state;
  const head = heads?.read({ incarnation, first: receipts.first });
  const missing = missingAtEnd(receipts, head);
  if (missing > 0) {
    const number = Math.max(receipts.number, head?.number ?? 0);
    return { state: { ...state, receipts: { ...receipts, number } }, doubt: doubt ?? seq };
  }
  // The process before may have been killed before it saved the head.
  const isBehind = receipts.number > (head?.number ?? 0);
  if (isBehind && doubt === undefined) heads?.save(incarnation, receipts);
  return { state, doubt };
}

/** A log that was made elsewhere may name our definition, and have another one there. */
function isBound({ agent }: SessionState, { digest, facts }: BoundAgent): boolean {
  return agent?.digest === digest && digestOf(agent.facts) === digestOf(facts);
}

/** Whoever comes next need not wait for a lease of which nothing came. */
async function orReleased<Started>(
  lease: Lease,
  { store }: Surroundings,
  start: () => Promise<Started>,
): Promise<Started> {
  try {
    return await start();
  } catch (error) {
    await store.release(lease).catch(() => undefined);
    throw error;
  }
}

const NOTHING_LOADED: LoadedState = { state: initialState, snapshotSeq: 0 };

/** A driver whose first input is in the log. One that cannot take it leaves nothing behind. */
async function begin(
  { input, commandId }: { readonly input: Happening; readonly commandId?: string | undefined },
  { state, snapshotSeq }: LoadedState,
  options: Omit<DriverOptions, "leaseMs" | "snapshotSeq">,
): Promise<Pick<OpenedDriver, "driver" | "reply">> {
  const driver = startDriver(state, { ...options, snapshotSeq, leaseMs: LEASE_MS });
  try {
    return { reply: await driver.send(input, commandId), driver };
  } catch (error) {
    await driver.close();
    throw error;
  }
}

/** One process owns the directory that the store is in: a lease of another one is a dead one's. */
function acquire(sessionId: string, { store, clock, owner }: Surroundings) {
  return store.acquire(sessionId, { owner, now: clock.now(), forMs: LEASE_MS, takeOver: true });
}

const LEASE_MS = 600_000;

/** Before anything is run again, what a dead process left running is ended. */
async function endLeftovers({ tools }: SessionState): Promise<void> {
  await Promise.all(tools.programs.map(({ group }) => endGroup(group)));
}

export function unknownSession(sessionId: string): SpanlineError {
  return new SpanlineError("not_found", `There is no session ${sessionId}`);
}
