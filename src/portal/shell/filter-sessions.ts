import type { SessionSummary } from "../../wire/live/live-frames.ts";

export interface SessionFilter {
  /** Words which the title, the agent, the folder or the id must contain. */
  readonly search: string;
  /** Null: every state. */
  readonly state: SessionSummary["state"] | null;
  /** Null: every agent. */
  readonly agent: string | null;
}

export const NO_FILTER: SessionFilter = { search: "", state: null, agent: null };

export function isFiltering({ search, state, agent }: SessionFilter): boolean {
  return search.trim() !== "" || state !== null || agent !== null;
}

export function filterSessions(
  sessions: readonly SessionSummary[],
  { search, state, agent }: SessionFilter,
): readonly SessionSummary[] {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return sessions.filter((session) => {
    if (state !== null && session.state !== state) return false;
    if (agent !== null && session.agent !== agent) return false;
    const text = listTexts(session).join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function listTexts(session: SessionSummary): readonly string[] {
  const { title, agent, workingDirectory, sessionId } = session;
  return [title ?? "", agent, workingDirectory ?? "", sessionId];
}

export interface SessionGroup {
  readonly label: string;
  readonly sessions: readonly SessionSummary[];
}

const DAY_MS = 86_400_000;

/** Groups sessions by the age of their last event. Sessions waiting for a person come first. */
export function groupSessions(
  sessions: readonly SessionSummary[],
  now: number,
): readonly SessionGroup[] {
  const groups = new Map<string, SessionSummary[]>();
  for (const label of ["Waiting for you", "Today", "Last 7 days", "Older"]) groups.set(label, []);
  for (const session of sessions) groups.get(findLabel(session, now))?.push(session);
  return [...groups]
    .map(([label, members]) => ({ label, sessions: members }))
    .filter((group) => group.sessions.length > 0);
}

function findLabel({ state, updatedAt }: SessionSummary, now: number): string {
  if (state === "waiting") return "Waiting for you";
  if (now - updatedAt < DAY_MS) return "Today";
  return now - updatedAt < 7 * DAY_MS ? "Last 7 days" : "Older";
}

/** The title of a session for people. */
export function nameSession({ title }: { readonly title: string | null }): string {
  return title === null || title.trim() === "" ? "New session" : title;
}

export const STATE_NAMES: { readonly [State in SessionSummary["state"]]: string } = {
  waiting: "Waiting for a person",
  running: "Running",
  idle: "Idle",
};
