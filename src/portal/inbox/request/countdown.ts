import { pluralize } from "../../../text/pluralize.ts";
import type { RequestDetails } from "./open-request.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The last representable time: the deadline of requests which wait until a person decides. */
const NEVER = 8_640_000_000_000_000;

export interface Countdown {
  /** The outcome and the time until then, such as `Denied in 4 min`. */
  readonly text: string;
  readonly urgency: "none" | "calm" | "soon" | "now" | "over";
  /** Milliseconds until the text changes. Undefined for a constant text. */
  readonly nextChangeMs?: number;
}

/** Formats the outcome of an undecided request with the remaining time. No outcome approves a request. */
export function formatCountdown(request: RequestDetails, now: number): Countdown {
  const { deadline } = request;
  if (deadline >= NEVER)
    return { text: "Waits until someone accepts, without a deadline", urgency: "none" };
  const remainingMs = deadline - now;
  const outcome = describeExpiry(request);
  if (remainingMs <= 0)
    return { text: `Deadline passed: ${outcome.toLowerCase()}`, urgency: "over" };
  const { text, nextChangeMs } = formatRemaining(remainingMs);
  return { text: `${outcome} in ${text}`, urgency: resolveUrgency(remainingMs), nextChangeMs };
}

function resolveUrgency(remainingMs: number): Countdown["urgency"] {
  if (remainingMs <= MINUTE) return "now";
  return remainingMs <= 5 * MINUTE ? "soon" : "calm";
}

function describeExpiry({ question, form }: RequestDetails): string {
  switch (question) {
    case "run":
      return "Denied";
    case "outcome":
      return "Outcome stays unknown";
    case "lost-invocation":
    case "budget":
      return "Turn stops";
    case "question":
      if (form !== undefined && form.kind !== "question") return "Not approved";
      return form?.default === undefined ? "Closed without an answer" : "Default answer used";
  }
}

/** Formats the remaining time, rounded down. */
export function formatRemaining(remainingMs: number): {
  readonly text: string;
  readonly nextChangeMs: number;
} {
  if (remainingMs < MINUTE)
    return {
      text: `${Math.floor(remainingMs / SECOND)} s`,
      nextChangeMs: (remainingMs % SECOND) + 1,
    };
  if (remainingMs < HOUR)
    return {
      text: `${Math.floor(remainingMs / MINUTE)} min`,
      nextChangeMs: untilNext(remainingMs, MINUTE),
    };
  if (remainingMs < 2 * DAY) {
    const minutes = Math.floor((remainingMs % HOUR) / MINUTE);
    const hours = `${Math.floor(remainingMs / HOUR)} h`;
    const text = minutes === 0 ? hours : `${hours} ${minutes} min`;
    return { text, nextChangeMs: untilNext(remainingMs, MINUTE) };
  }
  return {
    text: pluralize(Math.floor(remainingMs / DAY), "day"),
    nextChangeMs: untilNext(remainingMs, HOUR),
  };
}

function untilNext(remainingMs: number, unit: number): number {
  return (remainingMs % unit) + 1;
}

/** Formats the age of a request, such as `3 min ago`. */
export function formatAge(at: number, now: number): string {
  const age = Math.max(0, now - at);
  if (age < 10 * SECOND) return "just now";
  if (age < MINUTE) return `${Math.floor(age / SECOND)} s ago`;
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min ago`;
  if (age < 2 * DAY) return `${Math.floor(age / HOUR)} h ago`;
  return `${Math.floor(age / DAY)} days ago`;
}
