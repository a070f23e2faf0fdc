import { useCallback, useMemo, useState, type ReactNode } from "react";
import { Composer } from "../../composer/composer.tsx";
import { getDraftStorage, saveDraft } from "../../composer/drafts.ts";
import { ApprovalForm } from "../../inbox/request/approval-form.tsx";
import type { SessionSnapshot } from "../../live/snapshot-feed.ts";
import type { ApprovalView } from "../../state/session-view.ts";
import { Thread } from "../../thread/thread.tsx";
import { EmptySession } from "./empty-session.tsx";
import { ErrorBoundary } from "../error-boundary.tsx";
import { navigate } from "../navigation.tsx";
import { formatSessionPath } from "../route.ts";
import { useServices } from "../services.tsx";
import { useDecider } from "../use-decider.tsx";

/** The turns of a session, and the composer below. */
export function Conversation({ snapshot }: { readonly snapshot: SessionSnapshot }): ReactNode {
  const { view, client } = snapshot;
  const { sessionId } = view;
  const actions = useServices().actionsFor(sessionId);
  const decider = useDecider();
  const renderApproval = useCallback(
    (approval: ApprovalView) => (
      <ApprovalForm approval={approval} actions={actions} decider={decider} />
    ),
    [actions, decider],
  );
  const participant = useMemo(
    () => ({
      principal: decider.principal,
      rights: decider.rights,
      isConnected: decider.isConnected,
      clientId: client?.clientId ?? null,
    }),
    [decider, client],
  );
  const [seed, setSeed] = useState<{ readonly id: string; readonly text: string }>();
  const propose = (text: string): void =>
    setSeed((before) => ({ id: `${before?.id ?? ""}+`, text }));
  return (
    <>
      <ErrorBoundary pane="conversation" resetKey={sessionId}>
        <Thread
          view={view}
          actions={actions}
          renderApproval={renderApproval}
          onOpenSession={openSession}
          empty={<EmptySession onTry={propose} />}
        />
      </ErrorBoundary>
      <ErrorBoundary pane="composer" resetKey={sessionId}>
        <div className="shell-composer">
          <Composer
            key={sessionId}
            view={view}
            actions={actions}
            participant={participant}
            {...(seed !== undefined && { seed })}
          />
        </div>
      </ErrorBoundary>
    </>
  );
}

function openSession(sessionId: string, draft?: string): void {
  if (draft !== undefined) saveDraft(getDraftStorage(), sessionId, { text: draft, mode: null });
  navigate(formatSessionPath(sessionId));
}
