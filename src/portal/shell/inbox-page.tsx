import type { ReactNode } from "react";
import { Inbox } from "../inbox/inbox.tsx";
import { ErrorBoundary } from "./error-boundary.tsx";
import { navigate, useHash } from "./navigation.tsx";
import { useOpenSession } from "./new-session.tsx";
import { formatSessionPath } from "./route.ts";
import { useServices, useStore } from "./services.tsx";
import { DrawerButton } from "./session/session-header.tsx";
import { useDecider } from "./use-decider.tsx";
import { usePageTitle } from "./use-page-title.tsx";

/** The home page: all open requests to people. */
export function InboxPage({
  onOpenDrawer,
  onHelp,
}: {
  readonly onOpenDrawer: () => void;
  readonly onHelp: () => void;
}): ReactNode {
  const { live, actionsFor } = useServices();
  const { items, isComplete, isLoaded } = useStore(live.inbox);
  const decider = useDecider();
  const open = useOpenSession();
  const initialKey = parseInitialKey(useHash());
  usePageTitle("Inbox");
  return (
    <main className="shell-main">
      <div className="shell-header shell-phone-header">
        <DrawerButton onOpen={onOpenDrawer} />
      </div>
      <div className="shell-page">
        <ErrorBoundary pane="inbox">
          <Inbox
            items={isLoaded ? items : null}
            isComplete={isComplete}
            decider={decider}
            actionsFor={actionsFor}
            sessionHref={formatSessionPath}
            onOpenSession={(sessionId) => navigate(formatSessionPath(sessionId))}
            onHelp={onHelp}
            onTry={(prompt) => void open(undefined, prompt)}
            {...(initialKey !== undefined && { initialKey })}
          />
        </ErrorBoundary>
      </div>
    </main>
  );
}

/** The request named by the address: `/#ses_1/appr_2`. */
function parseInitialKey(hash: string): string | undefined {
  return hash.length <= 1 ? undefined : decodePercent(hash.slice(1));
}

function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
