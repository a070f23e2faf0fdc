import type { Envelope } from "../../../domain/events/envelope.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import type { UpdateCursor } from "../../../wire/acp/encode/update-cursor.ts";
import type { AcpOutput, UpdateOptions } from "../../../wire/acp/encode/update-state.ts";
import { checkConnected, type ClientLink } from "../connection/client-link.ts";
import { followSession } from "./follow-session.ts";
import type { HostRequestRunner } from "../host/host-request-runner.ts";
import { createDeferredPermissions } from "./deferred-permissions.ts";
import type { DeliverOutput } from "./stamp-cursors.ts";

/** What one client is told of one session. */
export interface SessionFeed {
  readonly isActive: boolean;
  /** How far the client has been told. */
  readonly seq: number;
  /** Aborts with the feed. */
  readonly signal: AbortSignal;
  /** Tells the client everything; resolves when it has what was there before. Called again, it begins again. */
  readonly start: (options: FollowOptions) => Promise<void>;
  readonly stop: () => void;
}

export interface FollowOptions extends Pick<UpdateOptions, "upTo" | "history"> {
  /** What the client has been told, in place of all or nothing of what was there before. */
  readonly from?: UpdateCursor;
  /** Called between the last word of before and the first live one. */
  readonly onCaughtUp?: () => void;
}

interface FeedOptions {
  readonly hostRequests: HostRequestRunner;
  readonly isOwnAttachment: (attachmentId: string) => boolean;
  readonly deliver: (output: DeliveredOutput, cursor: string | undefined) => void;
  /** Whether an event ends it: when the client has been told of it, nothing follows. */
  readonly isEndedBy: (envelope: Envelope) => boolean;
  readonly onEnded: () => void;
  readonly onLost: (error: unknown) => void;
}

export type DeliveredOutput = Exclude<AcpOutput, { readonly type: "caught-up" }>;

export function createSessionFeed(
  sessionId: string,
  link: ClientLink,
  feedOptions: FeedOptions,
): SessionFeed {
  const { hostRequests } = feedOptions;
  let feed: AbortController | undefined;
  let lastSeq = 0;

  function stop(): void {
    feed?.abort();
    feed = undefined;
  }

  function run(
    { upTo, history, from }: FollowOptions,
    deliver: DeliverOutput,
    signal: AbortSignal,
  ): Promise<void> {
    const { clientId } = link.sender;
    const deferred = from === undefined ? undefined : createDeferredPermissions(deliver);
    return followSession({
      link,
      encoding: {
        sessionId,
        clientId,
        isOwnAttachment: feedOptions.isOwnAttachment,
        getProfile: () => link.getProfile(),
        ...resolveSpan(upTo, history, from),
      },
      signal,
      ...(from !== undefined && { from }),
      beforeEvent(envelope) {
        hostRequests.handleEvent(envelope);
        if (envelope.seq > upTo) deferred?.release();
      },
      afterEvent(envelope) {
        const { seq } = envelope;
        lastSeq = seq;
        if (seq >= upTo) {
          deferred?.release();
          hostRequests.start(seq);
        }
        if (feedOptions.isEndedBy(envelope)) feedOptions.onEnded();
      },
      deliver: deferred?.deliver ?? deliver,
    });
  }

  return {
    get isActive() {
      return feed !== undefined;
    },
    get seq() {
      return lastSeq;
    },
    get signal() {
      return feed?.signal ?? AbortSignal.abort();
    },
    async start(options) {
      checkConnected(link);
      stop();
      const controller = new AbortController();
      feed = controller;
      return new Promise((resolve, reject) => {
        const deliver: DeliverOutput = (output, cursor) => {
          if (output.type !== "caught-up") return feedOptions.deliver(output, cursor);
          options.onCaughtUp?.();
          resolve();
        };
        // Rejecting has no effect once the client has caught up.
        run(options, deliver, controller.signal).then(
          () => reject(new SpanlineError("aborted", NOT_FOLLOWING)),
          (error: unknown) => {
            // A feed that was replaced or stopped is not reported.
            if (controller.signal.aborted)
              return reject(new SpanlineError("aborted", NOT_FOLLOWING, { cause: error }));
            feed = undefined;
            feedOptions.onLost(error);
            reject(error);
          },
        );
      });
    },
    stop,
  };
}

const NOT_FOLLOWING = "This client no longer follows the session";

/** What is behind a cursor is live to whoever goes on from there, however long ago it was. */
function resolveSpan(
  upTo: number,
  history: FollowOptions["history"],
  from: UpdateCursor | undefined,
): Pick<UpdateOptions, "upTo" | "history"> {
  if (from === undefined) return { upTo, history };
  return { upTo: from.seq === 0 ? upTo : from.seq, history: "shown" };
}
