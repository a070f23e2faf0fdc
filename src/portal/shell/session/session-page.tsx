import { useDeferredValue, useEffect, useMemo, useState, type ReactNode } from "react";
import type { SessionSnapshot } from "../../live/snapshot-feed.ts";
import { Conversation } from "./conversation.tsx";
import { nameSession } from "../filter-sessions.ts";
import { Link } from "../navigation.tsx";
import { useServices, useStore } from "../services.tsx";
import { DrawerButton, SessionHeader } from "./session-header.tsx";
import { SessionRail } from "./session-rail.tsx";
import { SpanIllustration } from "../shell-icon.tsx";
import { usePageTitle } from "../use-page-title.tsx";

/** The page of a session: header, conversation, composer and details. */
export function SessionPage({
  sessionId,
  onOpenDrawer,
}: {
  readonly sessionId: string;
  readonly onOpenDrawer: () => void;
}): ReactNode {
  const snapshot = useFirstViewInSlices(useSession(sessionId));
  const [isRailOpen, setRailOpen] = useState(hasRoomForRail);
  const { view, error } = snapshot;
  usePageTitle(view.seq === 0 ? null : nameSession(view));
  if (error !== null) return <MissingSession error={error.message} onOpenDrawer={onOpenDrawer} />;
  return (
    <main className="shell-main" data-rail={isRailOpen}>
      <SessionHeader
        snapshot={snapshot}
        isRailOpen={isRailOpen}
        onToggleRail={() => setRailOpen(!isRailOpen)}
        onOpenDrawer={onOpenDrawer}
      />
      <div className="shell-conversation">
        {snapshot.gap !== null && <output className="shell-gap">{snapshot.gap.message}</output>}
        {isFirstLoad(snapshot) ? <LoadingThread /> : <Conversation snapshot={snapshot} />}
      </div>
      {isRailOpen && <SessionRail view={view} />}
    </main>
  );
}

/** Follows a session while its page is shown, and shows this page to the other clients of the session. */
function useSession(sessionId: string): SessionSnapshot {
  const { live, clientName } = useServices();
  const store = useMemo(() => live.follow(sessionId), [live, sessionId]);
  useEffect(() => {
    live.follow(sessionId);
    void live.attach(sessionId, { name: clientName, mode: "observer" });
    return () => live.detach(sessionId);
  }, [live, sessionId, clientName]);
  return useStore(store);
}

/**
 * Renders the first view of a session in slices between frames, because a long task would delay input. Later views are
 * rendered at once.
 */
function useFirstViewInSlices(latest: SessionSnapshot): SessionSnapshot {
  const deferred = useDeferredValue(latest);
  return isFirstLoad(deferred) ? deferred : latest;
}

function isFirstLoad({ isLoading, view }: SessionSnapshot): boolean {
  return isLoading && view.seq === 0;
}

/** The details cover the conversation on a narrow screen, so the details are closed at first. */
function hasRoomForRail(): boolean {
  return window.matchMedia("(width >= 72rem)").matches;
}

function LoadingThread(): ReactNode {
  return (
    <output className="shell-loading">
      <span className="shell-unseen">Loading the session</span>
      <span className="shell-skeleton" />
      <span className="shell-skeleton" />
      <span className="shell-skeleton" />
    </output>
  );
}

function MissingSession({
  error,
  onOpenDrawer,
}: {
  readonly error: string;
  readonly onOpenDrawer: () => void;
}): ReactNode {
  return (
    <main className="shell-main">
      <header className="shell-header">
        <DrawerButton onOpen={onOpenDrawer} />
        <h1 className="shell-header-title">Session</h1>
      </header>
      <div className="shell-empty">
        <SpanIllustration />
        <h2>This session cannot be shown</h2>
        <p>{error}</p>
        <Link to="/" className="shell-button">
          To the inbox
        </Link>
      </div>
    </main>
  );
}
