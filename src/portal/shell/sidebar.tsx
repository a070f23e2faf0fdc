import { UntrustedText } from "../parts/untrusted-text.tsx";
import { useMemo, useState, type ReactNode } from "react";
import type { SessionSummary } from "../../wire/live/live-frames.ts";
import { systemClock } from "../../platform/clock.ts";
import {
  filterSessions,
  groupSessions,
  isFiltering,
  nameSession,
  NO_FILTER,
  STATE_NAMES,
  type SessionFilter,
} from "./filter-sessions.ts";
import { Account } from "./account.tsx";
import { Link } from "./navigation.tsx";
import { NewSessionButton } from "./new-session.tsx";
import { formatSessionPath, type Route } from "./route.ts";
import { useServices, useStore } from "./services.tsx";
import { BridgeMark, ShellIcon } from "./shell-icon.tsx";
import { StateDot } from "./state-dot.tsx";

export interface SidebarProps {
  readonly route: Route;
  /** Called when a person follows a link, to close the drawer of a phone. */
  readonly onNavigate: () => void;
}

/** The list of sessions, with search and filters. */
export function Sidebar({ route, onNavigate }: SidebarProps): ReactNode {
  const { live } = useServices();
  const { sessions, isComplete, isLoaded } = useStore(live.sessions);
  const [filter, setFilter] = useState(NO_FILTER);
  const groups = useMemo(
    () => groupSessions(filterSessions(sessions, filter), systemClock.now()),
    [sessions, filter],
  );
  return (
    <>
      <SidebarHead route={route} onNavigate={onNavigate} />
      <FilterFields sessions={sessions} filter={filter} onFilter={setFilter} />
      <nav className="shell-sessions" aria-label="Sessions">
        {groups.map(({ label, sessions: members }) => (
          <section key={label} aria-label={label}>
            <h2>{label}</h2>
            <ul>
              {members.map((session) => (
                <li key={session.sessionId}>
                  <SessionLink
                    session={session}
                    isCurrent={route.page === "session" && route.sessionId === session.sessionId}
                    onFollow={onNavigate}
                  />
                </li>
              ))}
            </ul>
          </section>
        ))}
        {isLoaded && groups.length === 0 && (
          <p className="shell-hint">
            {isFiltering(filter) ? "No session matches." : "No sessions yet."}
          </p>
        )}
        {!isComplete && (
          <p className="shell-hint">
            <Link to="/sessions" onFollow={onNavigate}>
              Older sessions …
            </Link>
          </p>
        )}
      </nav>
      <Account />
    </>
  );
}

/** The name of the portal, the button for a new session, and the pages. */
function SidebarHead({ route, onNavigate }: SidebarProps): ReactNode {
  const requests = useStore(useServices().live.inbox).items.length;
  return (
    <>
      <header className="shell-brand">
        <Link to="/" className="shell-brand-link" onFollow={onNavigate}>
          <BridgeMark />
          <span>Spanline</span>
        </Link>
        <NewSessionButton onOpened={onNavigate} />
      </header>
      <nav className="shell-nav" aria-label="Portal">
        <Link to="/" isCurrent={route.page === "inbox"} onFollow={onNavigate}>
          <ShellIcon name="inbox" />
          <span>Inbox</span>
          {requests > 0 && (
            <span className="shell-count">
              {requests}
              <span className="shell-unseen"> open requests</span>
            </span>
          )}
        </Link>
        <Link to="/sessions" isCurrent={route.page === "sessions"} onFollow={onNavigate}>
          <ShellIcon name="sessions" />
          <span>All sessions</span>
        </Link>
      </nav>
    </>
  );
}

function SessionLink({
  session,
  isCurrent,
  onFollow,
}: {
  readonly session: SessionSummary;
  readonly isCurrent: boolean;
  readonly onFollow: () => void;
}): ReactNode {
  return (
    <Link
      to={formatSessionPath(session.sessionId)}
      className="shell-session"
      isCurrent={isCurrent}
      onFollow={onFollow}
    >
      <StateDot state={session.state} />
      <span className="shell-session-title">
        <UntrustedText text={nameSession(session)} />
      </span>
      <span className="shell-session-agent">
        <UntrustedText text={session.agent} />
      </span>
    </Link>
  );
}

export function FilterFields({
  sessions,
  filter,
  onFilter,
}: {
  readonly sessions: readonly SessionSummary[];
  readonly filter: SessionFilter;
  readonly onFilter: (filter: SessionFilter) => void;
}): ReactNode {
  const agents = useMemo(() => [...new Set(sessions.map(({ agent }) => agent))].sort(), [sessions]);
  return (
    <search className="shell-filter">
      <label className="shell-search">
        <ShellIcon name="search" />
        <span className="shell-unseen">Search sessions</span>
        <input
          type="search"
          placeholder="Search"
          value={filter.search}
          onChange={({ target }) => onFilter({ ...filter, search: target.value })}
        />
      </label>
      <div className="shell-selects">
        <select
          aria-label="State"
          value={filter.state ?? ""}
          onChange={({ target }) => onFilter({ ...filter, state: readState(target.value) })}
        >
          <option value="">Every state</option>
          {STATES.map((state) => (
            <option key={state} value={state}>
              {STATE_NAMES[state]}
            </option>
          ))}
        </select>
        {agents.length > 1 && (
          <select
            aria-label="Agent"
            value={filter.agent ?? ""}
            onChange={({ target }) => onFilter({ ...filter, agent: target.value || null })}
          >
            <option value="">Every agent</option>
            {agents.map((agent) => (
              <option key={agent}>{agent}</option>
            ))}
          </select>
        )}
      </div>
    </search>
  );
}

const STATES = ["waiting", "running", "idle"] as const;

function readState(value: string): SessionSummary["state"] | null {
  return STATES.find((state) => state === value) ?? null;
}
