import type { ConnectionState } from "../live/live-api-client.ts";

/** The banner during an outage. */
export interface ConnectionNotice {
  readonly tone: "warning" | "danger";
  readonly text: string;
  /** The button of the banner. Absent without a remedy. */
  readonly action?: "retry" | "sign-in" | "reload";
}

/** Milliseconds in which a first connection is not worth a banner. */
const CONNECTING_MS = 1500;

/** Undefined while the connection is live, and shortly after the start of the page. */
export function describeConnection(
  { status, lastFrameAt, error }: Pick<ConnectionState, "status" | "lastFrameAt" | "error">,
  { now, startedAt }: { readonly now: number; readonly startedAt: number },
): ConnectionNotice | undefined {
  switch (status) {
    case "live":
      return undefined;
    case "connecting": {
      if (now - startedAt < CONNECTING_MS) return undefined;
      return { tone: "warning", text: "Connecting to the bridge …", action: "retry" };
    }
    case "reconnecting": {
      const age = lastFrameAt === null ? "" : `, last event ${formatAge(now - lastFrameAt)} ago`;
      return { tone: "warning", text: `Reconnecting${age}`, action: "retry" };
    }
    case "refused": {
      const text = error?.message ?? "The bridge requires a sign-in";
      return { tone: "danger", text, action: "sign-in" };
    }
    case "outdated":
      return {
        tone: "warning",
        text: "The bridge has another version than this page",
        action: "reload",
      };
    default:
      return status satisfies never;
  }
}

function formatAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}
