import type { AgentSpec } from "../../domain/agent-spec.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { CommandReply } from "../../domain/session-command.ts";
import { digestValue } from "../../platform/digest.ts";
import { endProcessGroup } from "../../platform/process/gated-process.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import type { Lease } from "../../store/log-store.ts";
import type { Store } from "../../store/store.ts";
import type { Agent } from "./agent/agent.ts";
import type { OpenClientTools } from "./agent/session-client-tools.ts";
import type { BudgetLedger } from "./effects/budget-ledger.ts";
import type { ChildSessions } from "./effects/child-sessions.ts";
import { startDriver, type Driver, type DriverOptions } from "./driver.ts";
import type { DriverStart } from "./driver-pool.ts";
import type { FirstInput } from "./first-input.ts";
import type { ConfiguredAgent, SessionInput } from "../session-input.ts";
import { openLiveAgent } from "./agent/live-agent.ts";
import { loadFromSnapshot, type LoadedState } from "./log/load-state.ts";
import type { Seed } from "../../domain/id.ts";
import { createReceiptVerifier, type VerifySignature } from "./log/receipt-verifier.ts";
import { countMissingReceipts, type ReceiptHeads } from "./log/receipt-head.ts";
import type { SignContent } from "./log/append-decision.ts";
import { initialState, type SessionState } from "../session-state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

export interface DriverEnvironment {
  readonly store: Store;
  readonly clock: SteadyClock;
  readonly ledger: BudgetLedger;
  readonly children: ChildSessions;
  /** Identifies this process among possible owners of a session. */
  readonly owner: string;
  readonly coalesceMs: number;
  readonly seed: Seed;
  readonly sign?: SignContent;
  readonly verify?: VerifySignature;
  readonly heads?: ReceiptHeads;
  readonly report: (error: unknown) => void;
  readonly openClientTools?: OpenClientTools;
}

export interface DriverRequest extends DriverStart {
  readonly sessionId: string;
}

type OpenInput = Omit<
  Extract<SessionInput, { readonly type: "open-requested" }>,
  "agent" | "firstCommand"
>;

export interface SessionOpening {
  readonly agent: Agent;
  readonly openInput: OpenInput;
  /** Creates the first command according to the agent's capabilities. */
  readonly createFirstInput?: (facts: AgentSpec) => FirstInput | undefined;
}

export interface OpenedDriver {
  readonly driver: Driver;
  readonly incarnation: string;
  /** Reply to the first command. Undefined if there was none. */
  readonly reply: CommandReply | undefined;
}

/** Starts the driver of a new session. */
export async function openDriver(
  { sessionId, signal, ...hooks }: DriverRequest,
  { agent, openInput, createFirstInput }: SessionOpening,
  environment: DriverEnvironment,
): Promise<OpenedDriver> {
  const { lease, head } = await acquireLease(sessionId, environment);
  const { incarnation } = head;
  const { workingDirectory } = openInput;
  const location = workingDirectory === undefined ? {} : { workingDirectory };
  return releaseOnFailure(lease, environment, async () => {
    const live = await openLiveAgent(agent, { sessionId, ...location }, { ...environment, signal });
    const { digest, spec } = live.current;
    const { commandInput, commandId } = createFirstInput?.(spec) ?? {};
    const input = {
      ...openInput,
      agent: { digest, spec },
      ...omitUndefined({ firstCommand: commandInput }),
    };
    const options = { ...environment, lease, incarnation, agent: live, ...hooks, ...location };
    const started = await startWithInput({ input, commandId }, EMPTY_STATE, options);
    return { ...started, incarnation };
  });
}

/** Starts the driver of an existing session. */
export async function resumeDriver(
  { sessionId, signal, ...hooks }: DriverRequest,
  findAgent: (name: string) => Agent,
  environment: DriverEnvironment & { readonly isHere: boolean },
): Promise<Driver> {
  const { store, isHere: isSameProcess, report, verify, heads } = environment;
  const record = await store.findSession(sessionId);
  if (record === undefined) throw createUnknownSessionError(sessionId);
  const agent = findAgent(record.agent);
  const { lease, head } = await acquireLease(sessionId, environment);
  const { incarnation } = head;
  const { workingDirectory } = record;
  const location = workingDirectory === null ? {} : { workingDirectory };
  return releaseOnFailure(lease, environment, async () => {
    const checked =
      verify === undefined ? {} : { verify, receiptVerifier: createReceiptVerifier(verify) };
    const loaded = await loadFromSnapshot(store, sessionId, {
      ...head,
      report,
      signal,
      ...checked,
    });
    const { state, doubt: invalidReceiptSeq } = checkEnd(
      loaded.state,
      checked.receiptVerifier?.invalidSeq,
      { heads, incarnation },
    );
    await endLeftoverProcesses(state);
    const live = await openLiveAgent(agent, { sessionId, ...location }, { ...environment, signal });
    const { digest, spec: facts } = live.current;
    const changedAgent = isConfigured(state, live.current)
      ? {}
      : { agent: { digest, spec: facts } };
    const invalidReceipt = invalidReceiptSeq === undefined ? {} : { invalidReceiptSeq };
    const first = {
      type: "recovery-started",
      epoch: lease.epoch,
      isSameProcess,
      ...changedAgent,
      ...invalidReceipt,
    } as const;
    const options = { ...environment, lease, incarnation, agent: live, ...hooks, ...location };
    return (await startWithInput({ input: first }, { ...loaded, state }, options)).driver;
  });
}

interface RecordedEnd {
  readonly heads: ReceiptHeads | undefined;
  readonly incarnation: string;
}

interface CheckedEnd {
  readonly state: SessionState;
  /** Position of the first receipt which does not verify; the end of the log if the receipts after it are missing. */
  readonly doubt: number | undefined;
}

/**
 * Compares the end of a log with its recorded head. If receipts are missing, the next one is numbered after them: the
 * log then shows the gap, and no older copy of it reaches the number of the head.
 */
function checkEnd(
  state: SessionState,
  doubt: number | undefined,
  { heads, incarnation }: RecordedEnd,
): CheckedEnd {
  const { lastReceipt, seq } = state;
  const head = heads?.read({ incarnation, firstMac: lastReceipt.first });
  const missing = countMissingReceipts(lastReceipt, head);
  if (missing > 0) {
    const number = Math.max(lastReceipt.number, head?.number ?? 0);
    return { state: { ...state, lastReceipt: { ...lastReceipt, number } }, doubt: doubt ?? seq };
  }
  // The previous process may have been killed before it saved the head.
  const isBehind = lastReceipt.number > (head?.number ?? 0);
  if (isBehind && doubt === undefined) heads?.save(incarnation, lastReceipt);
  return { state, doubt };
}

/** Compares the definitions too: a log from elsewhere may have our digest with another definition. */
function isConfigured({ agent }: SessionState, { digest, spec: facts }: ConfiguredAgent): boolean {
  return agent?.digest === digest && digestValue(agent.spec) === digestValue(facts);
}

/** Releases the lease if the start fails, so the next owner need not wait for its expiry. */
async function releaseOnFailure<Started>(
  lease: Lease,
  { store }: DriverEnvironment,
  start: () => Promise<Started>,
): Promise<Started> {
  try {
    return await start();
  } catch (error) {
    await store.release(lease).catch(() => undefined);
    throw error;
  }
}

const EMPTY_STATE: LoadedState = { state: initialState, snapshotSeq: 0 };

/** Starts a driver and logs its first input. Closes the driver if the input fails. */
async function startWithInput(
  { input, commandId }: { readonly input: SessionInput; readonly commandId?: string | undefined },
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

/** Takes over the lease in any case: one process owns the data directory, so another holder is dead. */
function acquireLease(sessionId: string, { store, clock, owner }: DriverEnvironment) {
  return store.acquire(sessionId, {
    owner,
    now: clock.now(),
    durationMs: LEASE_MS,
    takeOver: true,
  });
}

const LEASE_MS = 600_000;

/** Terminates processes left by a dead bridge, before anything runs again. */
async function endLeftoverProcesses({ tools }: SessionState): Promise<void> {
  await Promise.all(tools.processes.map(({ group }) => endProcessGroup(group)));
}

export function createUnknownSessionError(sessionId: string): SpanlineError {
  return new SpanlineError("not_found", formatUnknownName("Session", sessionId));
}
