import type { Envelope } from "../../domain/envelope.ts";
import type { UpdateCursor } from "../../wire/acp/update-cursor.ts";
import type { AcpOutput, UpdateOptions } from "../../wire/acp/update-state.ts";
import { checkPresent } from "./check-present.ts";
import type { ClientLink } from "./client-link.ts";
import { followSession } from "./follow-session.ts";
import type { HostCalls } from "./host-calls.ts";
import { lateQuestions } from "./late-questions.ts";
import type { Deliver } from "./told-places.ts";

/** What one client is told of one session. */
export interface SessionFeed {
  readonly isOn: boolean;
  /** How far the client has been told. */
  readonly seq: number;
  /** Aborts with the feed. */
  readonly signal: AbortSignal;
  /** Tells the client everything; resolves when it has what was there before. Called again, it begins again. */
  readonly begin: (options: FollowOptions) => Promise<void>;
  readonly end: () => void;
}

export interface FollowOptions extends Pick<UpdateOptions, "upTo" | "history"> {
  /** What the client has been told, in place of all or nothing of what was there before. */
  readonly from?: UpdateCursor;
  /** Called between the last word of before and the first live one. */
  readonly caughtUp?: () => void;
}

interface FeedParts {
  readonly calls: HostCalls;
  readonly isOwnStay: (attachmentId: string) => boolean;
  readonly tell: (output: Told, cursor: string | undefined) => void;
  /** Whether an event ends it: when the client has been told of it, nothing follows. */
  readonly isEndedBy: (envelope: Envelope) => boolean;
  readonly ended: () => void;
  readonly lost: (error: unknown) => void;
}

export type Told = Exclude<AcpOutput, { readonly type: "caught-up" }>;

export function sessionFeed(sessionId: string, link: ClientLink, parts: FeedParts): SessionFeed {
  const { calls } = parts;
  let feed: AbortController | undefined;
  let told = 0;

  function end(): void {
    feed?.abort();
    feed = undefined;
  }

  function run(
    { upTo, history, from }: FollowOptions,
    deliver: Deliver,
    signal: AbortSignal,
  ): Promise<void> {
    const { clientId } = link.sender;
    const late = from === undefined ? undefined : lateQuestions(deliver);
    return followSession({
      link,
      encoding: {
        sessionId,
        clientId,
        isOwnStay: parts.isOwnStay,
        profile: () => link.profile(),
        ...span(upTo, history, from),
      },
      signal,
      ...(from !== undefined && { from }),
      before(envelope) {
        calls.take(envelope);
        if (envelope.seq > upTo) late?.caughtUp();
      },
      after(envelope) {
        const { seq } = envelope;
        told = seq;
        if (seq >= upTo) {
          late?.caughtUp();
          calls.caughtUp(seq);
        }
        if (parts.isEndedBy(envelope)) parts.ended();
      },
      deliver: late?.deliver ?? deliver,
    });
  }

  return {
    get isOn() {
      return feed !== undefined;
    },
    get seq() {
      return told;
    },
    get signal() {
      return feed?.signal ?? AbortSignal.abort();
    },
    async begin(options) {
      checkPresent(link);
      end();
      const own = new AbortController();
      feed = own;
      return new Promise((resolve, reject) => {
        const deliver: Deliver = (output, cursor) => {
          if (output.type !== "caught-up") return parts.tell(output, cursor);
          options.caughtUp?.();
          resolve();
        };
        run(options, deliver, own.signal)
          .catch((error: unknown) => {
            // What becomes of one that was replaced is nobody's concern.
            if (own.signal.aborted) return;
            feed = undefined;
            parts.lost(error);
          })
          // Of no effect when the client has caught up.
          .finally(() => reject(new Error("The client no longer follows the session")));
      });
    },
    end,
  };
}

/** What is behind a cursor is live to whoever goes on from there, however long ago it was. */
function span(
  upTo: number,
  history: FollowOptions["history"],
  from: UpdateCursor | undefined,
): Pick<UpdateOptions, "upTo" | "history"> {
  if (from === undefined) return { upTo, history };
  return { upTo: from.seq === 0 ? upTo : from.seq, history: "shown" };
}
