import { useSyncExternalStore, type ReactNode } from "react";
import { createClockStore } from "./clock-store.ts";
import { formatClockTime, formatFullTime, formatRelativeTime } from "./format-time.ts";
import { formatDuration } from "../../text/format-duration.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";
import { systemClock } from "../../platform/clock.ts";
import "./parts.css";

const clockStore = createClockStore(systemClock);

/** Returns the current time, to the second. The component renders again only when the time moves by `stepMs`. */
export function useNow(stepMs = 1000): number {
  const readStep = (): number => Math.floor(clockStore.now() / stepMs) * stepMs;
  return useSyncExternalStore(clockStore.subscribe, readStep);
}

/** The time of day, with the date for other days. The full time is its tooltip. */
export function ClockTime({ at }: { readonly at: number }): ReactNode {
  const now = useNow(60_000);
  return (
    <time className="part-time" dateTime={formatIsoTime(at)} title={formatFullTime(at)}>
      {formatClockTime(at, now)}
    </time>
  );
}

/** A time such as `3 min ago` or `in 2 h`. */
export function RelativeTime({ at }: { readonly at: number }): ReactNode {
  const now = useNow();
  return (
    <time className="part-time" dateTime={formatIsoTime(at)} title={formatFullTime(at)}>
      {formatRelativeTime(at, now)}
    </time>
  );
}

/** The time since `from`, for running work. */
export function ElapsedTime({ from }: { readonly from: number }): ReactNode {
  const elapsed = Math.max(0, useNow() - from);
  return <span className="part-time">{formatElapsed(elapsed)}</span>;
}

/** Whole seconds: tenths would jump. */
function formatElapsed(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1000);
}
