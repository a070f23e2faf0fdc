import { UntrustedText } from "../parts/untrusted-text.tsx";
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { isObject } from "../../data/json.ts";
import { systemClock } from "../../platform/clock.ts";
import type { SessionSummary } from "../../wire/live/live-frames.ts";
import { ClockTime } from "../parts/time.tsx";
import { filterSessions, isFiltering, nameSession, NO_FILTER } from "./filter-sessions.ts";
import { Link } from "./navigation.tsx";
import { formatSessionPath } from "./route.ts";
import { useServices, useStore } from "./services.tsx";
import { DrawerButton } from "./session/session-header.tsx";
import { FilterFields } from "./sidebar.tsx";
import { StateDot } from "./state-dot.tsx";
import { usePageTitle } from "./use-page-title.tsx";

/** All sessions. Sessions older than the live list are read page by page. */
export function SessionsPage({ onOpenDrawer }: { readonly onOpenDrawer: () => void }): ReactNode {
  const list = useStore(useServices().live.sessions);
  const [filter, setFilter] = useState(NO_FILTER);
  const older = useOlderSessions(list.isComplete, filter.search);
  const sessions = useMemo(() => {
    const known = new Set(list.sessions.map(({ sessionId }) => sessionId));
    return [...list.sessions, ...older.sessions.filter(({ sessionId }) => !known.has(sessionId))];
  }, [list.sessions, older.sessions]);
  const visible = filterSessions(sessions, filter);
  usePageTitle("Sessions");
  return (
    <main className="shell-main">
      <header className="shell-header">
        <DrawerButton onOpen={onOpenDrawer} />
        <h1 className="shell-header-title">Sessions</h1>
      </header>
      <div className="shell-page">
        <FilterFields sessions={sessions} filter={filter} onFilter={setFilter} />
        <ul className="shell-table">
          {visible.map((session) => (
            <li key={session.sessionId}>
              <SessionRow session={session} />
            </li>
          ))}
        </ul>
        {visible.length === 0 && list.isLoaded && (
          <p className="shell-hint">
            {isFiltering(filter) ? "No session matches." : "No sessions yet."}
          </p>
        )}
        {older.nextPage !== null && (
          <button
            type="button"
            className="shell-button"
            disabled={older.isLoading}
            onClick={older.loadMore}
          >
            {older.isLoading ? "Loading …" : "Show older sessions"}
          </button>
        )}
      </div>
    </main>
  );
}

function SessionRow({ session }: { readonly session: SessionSummary }): ReactNode {
  const { title, agent, state, updatedAt, workingDirectory } = session;
  return (
    <Link to={formatSessionPath(session.sessionId)} className="shell-row">
      <StateDot state={state} />
      <span className="shell-session-title">
        <UntrustedText text={nameSession({ title })} />
      </span>
      <span className="shell-row-agent">
        <UntrustedText text={agent} />
      </span>
      <span className="shell-row-folder">
        <UntrustedText text={workingDirectory ?? ""} />
      </span>
      <ClockTime at={updatedAt} />
    </Link>
  );
}

interface OlderSessions {
  readonly sessions: readonly SessionSummary[];
  /** Null if there are no further pages. */
  readonly nextPage: string | null;
  readonly isLoading: boolean;
  readonly loadMore: () => void;
}

/** Milliseconds without typing before the bridge is asked. */
const SEARCH_MS = 250;

function useOlderSessions(isComplete: boolean, search: string): OlderSessions {
  const { api, toasts } = useServices();
  const [loaded, setLoaded] = useState<readonly SessionSummary[]>([]);
  const [nextPage, setNextPage] = useState<string | null>("");
  const [isLoading, setLoading] = useState(false);
  const load = async (page: string, before: readonly SessionSummary[]): Promise<void> => {
    setLoading(true);
    const query = new URLSearchParams({ limit: "100", page, search });
    const request = api.request({ method: "GET", path: `/api/sessions?${query.toString()}` });
    const result = await toasts.watch("sessions", "Older sessions were not loaded", request);
    setLoading(false);
    if (!result.ok || !isObject(result.value)) return;
    const { sessions, nextPage: next } = result.value;
    setLoaded([...before, ...(Array.isArray(sessions) ? sessions.flatMap(readSummary) : [])]);
    setNextPage(typeof next === "string" ? next : null);
  };
  useEffect(() => {
    setLoaded([]);
    setNextPage(isComplete ? null : "");
    if (isComplete || search.trim() === "") return undefined;
    return systemClock.schedule(SEARCH_MS, () => void load("", []));
    // A new search replaces the earlier results.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [isComplete, search]);
  const loadMore = (): void => void load(nextPage ?? "", loaded);
  return { sessions: loaded, nextPage: isComplete ? null : nextPage, isLoading, loadMore };
}

/** Reads a session of `GET /api/sessions`. Invalid entries are skipped. */
function readSummary(value: unknown): readonly SessionSummary[] {
  if (!isObject(value)) return [];
  const { sessionId, agent, principal, title, workingDirectory, createdAt, updatedAt } = value;
  if (typeof sessionId !== "string" || typeof agent !== "string") return [];
  const state = value["state"];
  return [
    {
      sessionId,
      agent,
      principal: typeof principal === "string" ? principal : "",
      title: typeof title === "string" ? title : null,
      workingDirectory: typeof workingDirectory === "string" ? workingDirectory : null,
      state: state === "running" || state === "waiting" ? state : "idle",
      createdAt: typeof createdAt === "number" ? createdAt : 0,
      updatedAt: typeof updatedAt === "number" ? updatedAt : 0,
      cursor: "",
    },
  ];
}
