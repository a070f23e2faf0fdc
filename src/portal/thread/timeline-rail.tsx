import { useMemo, useState, type ReactNode } from "react";
import { createTimeline, type TimelineCall, type TimelineTurn } from "./timeline-rows.ts";
import { useNow } from "../parts/time.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import { formatDuration } from "../../text/format-duration.ts";
import { pluralize } from "../../text/pluralize.ts";
import type { SessionView } from "../state/session-view.ts";
import "./timeline.css";

/** The turns and tool calls of a session with their durations. A row links to its item in the thread. */
export function TimelineRail({ view }: { readonly view: SessionView }): ReactNode {
  const isRunning = view.turns.at(-1)?.end === null;
  const now = useNow(isRunning ? 1000 : 3_600_000);
  const turns = useMemo(() => createTimeline(view, Math.max(now, view.updatedAt)), [view, now]);
  const [limit, setLimit] = useState(TURNS_PER_PAGE);
  if (turns.length === 0) return <p className="part-note">No turns yet</p>;
  return (
    <>
      <MoreButton
        count={turns.length - limit}
        onPress={() => setLimit(limit + 4 * TURNS_PER_PAGE)}
      />
      <ol className="timeline" aria-label="Timeline">
        {turns.slice(-limit).map((turn) => (
          <li key={turn.turnId}>
            <TurnRow turn={turn} />
          </li>
        ))}
      </ol>
    </>
  );
}

const TURNS_PER_PAGE = 25;

/** Shows earlier turns. Absent if all turns are visible. */
export function MoreButton({
  count,
  onPress,
}: {
  readonly count: number;
  readonly onPress: () => void;
}): ReactNode {
  if (count <= 0) return null;
  return (
    <button type="button" className="part-text-button" onClick={onPress}>
      Show {pluralize(count, "earlier turn")}
    </button>
  );
}

function TurnRow({ turn }: { readonly turn: TimelineTurn }): ReactNode {
  const { seq, title, durationMs, isRunning, calls, omittedCalls } = turn;
  return (
    <>
      <TimelineLink seq={seq} className="timeline-turn">
        <span className="timeline-title">
          <UntrustedText text={title === "" ? "Turn without a prompt" : title} />
        </span>
        <span className="timeline-time">{isRunning ? "running" : formatDuration(durationMs)}</span>
      </TimelineLink>
      {omittedCalls > 0 && (
        <p className="part-note">{pluralize(omittedCalls, "earlier call")} not shown</p>
      )}
      {calls.length > 0 && (
        <ol>
          {calls.map((call) => (
            <li key={call.key}>
              <CallRow call={call} />
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

function CallRow({ call }: { readonly call: TimelineCall }): ReactNode {
  const { seq, name, about, status, durationMs, offset, length } = call;
  return (
    <TimelineLink seq={seq} className="timeline-call" title={about}>
      <span className="timeline-title">
        <UntrustedText text={name} />
      </span>
      <span className="timeline-time">
        {durationMs === null || status.tone !== "good" ? status.label : formatDuration(durationMs)}
      </span>
      <svg
        className={`timeline-bar part-tone-${status.tone}`}
        viewBox="0 0 100 4"
        aria-hidden="true"
        preserveAspectRatio="none"
      >
        <rect className="timeline-track" width="100" height="4" rx="1" />
        <rect x={100 * offset} width={Math.max(1.5, 100 * length)} height="4" rx="1" />
      </svg>
    </TimelineLink>
  );
}

/** A second click on the same link does not change the address, so the thread is notified here. */
export function TimelineLink({
  seq,
  className,
  title,
  children,
}: {
  readonly seq: number;
  readonly className: string;
  readonly title?: string;
  readonly children: ReactNode;
}): ReactNode {
  const hash = `#${seq}`;
  return (
    <a
      className={className}
      href={hash}
      title={title}
      onClick={() => {
        if (window.location.hash === hash) window.dispatchEvent(new Event("hashchange"));
      }}
    >
      {children}
    </a>
  );
}
