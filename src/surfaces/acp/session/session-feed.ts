import type { Envelope } from "../../../domain/events/envelope.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import { formatUpdateCursor, type UpdateCursor } from "../../../wire/acp/encode/update-cursor.ts";
import { createUpdateEncoder } from "../../../wire/acp/encode/update-encoder.ts";
import type { AcpOutput, UpdateOptions } from "../../../wire/acp/encode/update-state.ts";
import { checkConnected, type ClientLink } from "../connection/client-link.ts";
import type { HostRequestRunner } from "../host/host-request-runner.ts";
import type { ClientAttachment } from "./client-attachment.ts";
import type { ConnectionClientTools } from "./connection-client-tools.ts";

/** The updates of a session to a client. */
export interface SessionFeed {
  readonly isActive: boolean;
  /** The sequence number of the last event whose updates were sent. */
  readonly seq: number;
  /** Aborts with the feed. */
  readonly signal: AbortSignal;
  /** Whether the active feed has sent, or will send, every update after this cursor. */
  covers(cursor: UpdateCursor): boolean;
  /**
   * Starts at the position in the options, in place of a running feed. Resolves when the client has every update of the
   * history.
   */
  readonly start: (options: FollowOptions) => Promise<void>;
  /** Delays further updates until the returned function is called, so that a response is sent first. */
  readonly pause: () => () => void;
  stop(): void;
}

export interface FollowOptions extends Pick<UpdateOptions, "upTo" | "history"> {
  /** The last update received by the client. Default: `history` decides which history is sent. */
  readonly from?: UpdateCursor;
  /** Called after the last update of the history and before the first later update. */
  readonly onCaughtUp?: () => void;
}

/** The parts of a client's session that read the feed. */
export interface FeedClient {
  readonly hostRequests: Pick<HostRequestRunner, "handleEvent" | "start">;
  readonly clientTools: Pick<ConnectionClientTools, "handleEvent" | "handleSentEvent">;
  readonly attachment: Pick<ClientAttachment, "isOwnAttachment" | "isEndedBy">;
  deliver(output: DeliveredOutput, cursor: string | undefined): void;
  /** Called when the attachment has ended and the client was sent the event of its end. */
  onEnded(): void;
  onLost(error: unknown): void;
}

export type DeliveredOutput = Exclude<AcpOutput, { readonly type: "caught-up" }>;

/** A run of a feed, from its start until it is stopped or replaced. */
interface FeedRun {
  readonly options: FollowOptions;
  readonly controller: AbortController;
  /** Sends an output; `caught-up` resolves the start. */
  readonly deliver: DeliverOutput;
}

type DeliverOutput = (output: AcpOutput, cursor?: string) => void;

export function createSessionFeed(
  sessionId: string,
  link: ClientLink,
  client: FeedClient,
): SessionFeed {
  let current: FeedRun | undefined;
  let lastSeq = 0;
  const gate = createGate();

  function stop(): void {
    current?.controller.abort();
    current = undefined;
    // A feed waiting at the gate ends there.
    gate.wake();
  }

  function start(options: FollowOptions, deliver: DeliverOutput): Promise<void> {
    const run: FeedRun = { options, controller: new AbortController(), deliver };
    current = run;
    const context = { sessionId, link, client, gate, onSent: (seq: number) => (lastSeq = seq) };
    return runFeed(run, context).catch((error: unknown) => {
      // A replaced or stopped feed is not reported.
      if (run.controller.signal.aborted)
        throw new SpanlineError("aborted", NOT_FOLLOWING, { cause: error });
      current = undefined;
      client.onLost(error);
      throw error;
    });
  }

  return {
    get isActive() {
      return current !== undefined;
    },
    get seq() {
      return lastSeq;
    },
    get signal() {
      return current?.controller.signal ?? AbortSignal.abort();
    },
    covers: (cursor) => current !== undefined && isCovered(cursor, current.options),
    async start(options) {
      checkConnected(link);
      stop();
      return waitUntilCaughtUp(options, client, (deliver) => start(options, deliver));
    },
    pause: gate.close,
    stop,
  };
}

const NOT_FOLLOWING = "This client no longer follows the session";

/** Resolves when the run has delivered `caught-up`. Rejects if the run ends or fails earlier. */
function waitUntilCaughtUp(
  { onCaughtUp }: FollowOptions,
  client: FeedClient,
  startRun: (deliver: DeliverOutput) => Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const deliver: DeliverOutput = (output, cursor) => {
      if (output.type !== "caught-up") return client.deliver(output, cursor);
      onCaughtUp?.();
      resolve();
    };
    // Rejecting has no effect once the client has caught up.
    startRun(deliver).then(() => reject(new SpanlineError("aborted", NOT_FOLLOWING)), reject);
  });
}

/** Whether a feed started with these options sends every update after this cursor. */
function isCovered(cursor: UpdateCursor, { from, upTo, history }: FollowOptions): boolean {
  if (from === undefined) return history === "shown" || cursor.seq >= upTo;
  if (from.seq === 0 && from.updateOffset === 0) return true;
  // Positions in the history and positions behind it cannot be compared.
  if ((from.seq === 0) !== (cursor.seq === 0)) return false;
  return (
    cursor.seq > from.seq || (cursor.seq === from.seq && cursor.updateOffset >= from.updateOffset)
  );
}

interface FeedContext {
  readonly sessionId: string;
  readonly link: ClientLink;
  readonly client: FeedClient;
  readonly gate: Gate;
  readonly onSent: (seq: number) => void;
}

/**
 * Encodes the session from its first event, since updates depend on earlier events. Rejects if the subscription ends early.
 * Events for which a slow client has no capacity stay in the log; other clients do not wait.
 */
async function runFeed(run: FeedRun, context: FeedContext): Promise<void> {
  const { sessionId, link, client, gate } = context;
  const { signal } = run.controller;
  const { upTo } = run.options;
  const encode = createStampedEncoder(run, context);
  for await (const batch of link.sessions.subscribe(sessionId, undefined, signal)) {
    for (const envelope of batch.events) {
      // Several sessions may wait for the same capacity, so each checks again.
      while (!signal.aborted && !(gate.isOpen && link.hasCapacity()))
        await (gate.isOpen ? link.waitForCapacity() : gate.waitUntilOpen());
      if (signal.aborted) return;
      client.hostRequests.handleEvent(envelope);
      client.clientTools.handleEvent(envelope);
      encode(envelope, batch.incarnation);
      context.onSent(envelope.seq);
      if (envelope.seq >= upTo) {
        client.hostRequests.start(envelope.seq);
        client.clientTools.handleSentEvent();
      }
      if (client.attachment.isEndedBy(envelope)) client.onEnded();
    }
  }
  if (!signal.aborted) throw new SpanlineError("aborted", "The event stream of the session ended");
}

type EncodeEvent = (envelope: Envelope, incarnation: string) => void;

/** Encodes events and delivers their outputs, each update with its cursor if the client can use one. */
function createStampedEncoder(
  { options: { upTo, history, from }, deliver }: FeedRun,
  { sessionId, link, client }: FeedContext,
): EncodeEvent {
  const span = resolveSpan(upTo, history, from);
  const encoder = createUpdateEncoder({
    sessionId,
    clientId: link.sender.clientId,
    isOwnAttachment: (attachmentId) => client.attachment.isOwnAttachment(attachmentId),
    getProfile: () => link.getProfile(),
    ...span,
  });
  const state = encoder.initial();
  if (from === undefined && !link.hasCursors)
    return (envelope) => encoder.step(state, envelope, (output) => deliver(output));
  const replay = from === undefined ? undefined : createReplay(deliver);
  const stamp = createCursorStamper(span.upTo, from, replay?.deliver ?? deliver);
  return (envelope, incarnation) => {
    const outputs: AcpOutput[] = [];
    if (envelope.seq > upTo) replay?.finish();
    encoder.step(state, envelope, (output) => outputs.push(output));
    stamp(outputs, { incarnation, seq: envelope.seq });
    if (envelope.seq >= upTo) replay?.finish();
  };
}

/** For a client that resumes from a cursor, every event behind the cursor is live, however old. */
function resolveSpan(
  upTo: number,
  history: FollowOptions["history"],
  from: UpdateCursor | undefined,
): Pick<UpdateOptions, "upTo" | "history"> {
  if (from === undefined) return { upTo, history };
  return { upTo: from.seq === 0 ? upTo : from.seq, history: "shown" };
}

/**
 * The replay from a cursor. Permission requests wait until its end, so that requests decided in the meantime are not
 * sent.
 */
interface Replay {
  readonly deliver: DeliverOutput;
  finish(): void;
}

function createReplay(deliver: DeliverOutput): Replay {
  const permissions = new Map<string, AcpOutput>();
  let isReplaying = true;
  return {
    deliver(output, cursor) {
      if (isReplaying && output.type === "ask") permissions.set(output.approval.approvalId, output);
      // The encoder has reached the cursor, not the end of the replay.
      else if (isReplaying && output.type === "caught-up") return;
      else {
        if (output.type === "decided") permissions.delete(output.approvalId);
        deliver(output, cursor);
      }
    },
    finish() {
      if (!isReplaying) return;
      isReplaying = false;
      deliver({ type: "caught-up" });
      for (const output of permissions.values()) deliver(output);
      permissions.clear();
    },
  };
}

type StampOutputs = (outputs: readonly AcpOutput[], at: EventPosition) => void;

interface EventPosition {
  readonly incarnation: string;
  readonly seq: number;
}

/** Adds to each update the cursor for resuming after it, and omits updates the client already has. */
function createCursorStamper(
  upTo: number,
  from: UpdateCursor | undefined,
  deliver: DeliverOutput,
): StampOutputs {
  const isHistoryCursor = from?.seq === 0;
  let isLive = false;
  let historyCount = 0;
  /** Number of updates of the first event after the cursor that the client already has. */
  let knownCount = isHistoryCursor ? 0 : (from?.updateOffset ?? 0);

  function deliverHistory(outputs: readonly AcpOutput[], incarnation: string): void {
    const last = isLive ? outputs.findLastIndex(isUpdate) : -1;
    for (const [index, output] of outputs.entries()) {
      if (!isUpdate(output)) {
        deliver(output);
        continue;
      }
      historyCount += 1;
      // A cursor behind the history covers all of it.
      if (from !== undefined && (!isHistoryCursor || historyCount <= from.updateOffset)) continue;
      const isLast = index === last;
      const position = isLast
        ? { seq: upTo, updateOffset: 0 }
        : { seq: 0, updateOffset: historyCount };
      deliver(output, formatUpdateCursor({ incarnation, ...position }));
    }
  }

  function deliverLive(outputs: readonly AcpOutput[], { incarnation, seq }: EventPosition): void {
    const count = outputs.filter(isUpdate).length;
    let index = 0;
    for (const output of outputs) {
      if (!isUpdate(output)) deliver(output);
      else {
        index += 1;
        const position =
          index === count ? { seq, updateOffset: 0 } : { seq: seq - 1, updateOffset: index };
        if (index > knownCount) deliver(output, formatUpdateCursor({ incarnation, ...position }));
      }
    }
    if (count > 0) knownCount = 0;
  }

  return (outputs, at) => {
    if (isLive) return deliverLive(outputs, at);
    const end = outputs.findIndex(({ type }) => type === "caught-up");
    isLive = end !== -1;
    deliverHistory(isLive ? outputs.slice(0, end) : outputs, at.incarnation);
    if (isLive) deliverLive(outputs.slice(end), at);
  };
}

function isUpdate({ type }: AcpOutput): boolean {
  return type === "update" || type === "event";
}

/** Open unless closed by a caller; each close returns its own function to reopen. */
interface Gate {
  readonly isOpen: boolean;
  readonly close: () => () => void;
  /** Resolves when the gate opens, or at `wake`. */
  waitUntilOpen(): Promise<void>;
  wake(): void;
}

function createGate(): Gate {
  const closings = new Set<object>();
  const waiting: (() => void)[] = [];
  const wake = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  return {
    get isOpen() {
      return closings.size === 0;
    },
    close() {
      const closing = {};
      closings.add(closing);
      return () => {
        closings.delete(closing);
        if (closings.size === 0) wake();
      };
    },
    waitUntilOpen: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
      }),
    wake,
  };
}
