import { useCallback, useEffect, useState, type ReactNode } from "react";
import type { Services } from "../browser/browser-services.ts";
import { InboxAlerts } from "../inbox/notifications.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import { ErrorBoundary } from "./error-boundary.tsx";
import { InboxPage } from "./inbox-page.tsx";
import { KeyboardHelp } from "./keyboard-help.tsx";
import { Link, navigate, useRoute } from "./navigation.tsx";
import { ServicesProvider, useServices, useStore } from "./services.tsx";
import { DrawerButton } from "./session/session-header.tsx";
import { SessionPage } from "./session/session-page.tsx";
import { SessionsPage } from "./sessions-page.tsx";
import { SpanIllustration } from "./shell-icon.tsx";
import { Sidebar } from "./sidebar.tsx";
import { SignIn } from "./sign-in.tsx";
import { ToastList } from "./toast-list.tsx";
import type { Route } from "./route.ts";
import "./theme.css";
import "./shell.css";

export function App({ services }: { readonly services: Services }): ReactNode {
  const route = useRoute();
  return (
    <ServicesProvider services={services}>
      {route.page === "login" ? <SignIn /> : <Workbench route={route} />}
    </ServicesProvider>
  );
}

function Workbench({ route }: { readonly route: Route }): ReactNode {
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const close = useCallback(() => setDrawerOpen(false), []);
  const open = useCallback(() => setDrawerOpen(true), []);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const openHelp = useCallback(() => setHelpOpen(true), []);
  useEscape(isDrawerOpen, close);
  return (
    <div className="shell" data-drawer={isDrawerOpen}>
      <a className="shell-skip" href="#main">
        Skip to the content
      </a>
      <ConnectionBanner />
      <div className="shell-sidebar">
        <ErrorBoundary pane="list of sessions">
          <Sidebar route={route} onNavigate={close} />
        </ErrorBoundary>
      </div>
      <button
        type="button"
        className="shell-scrim"
        aria-label="Hide sessions"
        tabIndex={isDrawerOpen ? 0 : -1}
        onClick={close}
      />
      <div className="shell-content" id="main" tabIndex={-1}>
        <ErrorBoundary pane="page" resetKey={JSON.stringify(route)}>
          <Page route={route} onOpenDrawer={open} onHelp={openHelp} />
        </ErrorBoundary>
      </div>
      <ToastList />
      <KeyboardHelp isOpen={isHelpOpen} onOpen={openHelp} onClose={() => setHelpOpen(false)} />
      <Alerts />
    </div>
  );
}

/** New requests on every page: for screen readers, and as notifications of the browser. */
function Alerts(): ReactNode {
  const { items, isLoaded } = useStore(useServices().live.inbox);
  return (
    <InboxAlerts
      items={isLoaded ? items : null}
      onOpen={(key) => navigate(`/#${encodeURIComponent(key)}`)}
    />
  );
}

function Page({
  route,
  onOpenDrawer,
  onHelp,
}: {
  readonly route: Route;
  readonly onOpenDrawer: () => void;
  readonly onHelp: () => void;
}): ReactNode {
  switch (route.page) {
    case "inbox":
      return <InboxPage onOpenDrawer={onOpenDrawer} onHelp={onHelp} />;
    case "sessions":
      return <SessionsPage onOpenDrawer={onOpenDrawer} />;
    case "session":
      return (
        <SessionPage
          key={route.sessionId}
          sessionId={route.sessionId}
          onOpenDrawer={onOpenDrawer}
        />
      );
    case "login":
    case "unknown":
      return (
        <main className="shell-main">
          <header className="shell-header">
            <DrawerButton onOpen={onOpenDrawer} />
            <h1 className="shell-header-title">Not found</h1>
          </header>
          <div className="shell-empty">
            <SpanIllustration />
            <h2>This address has no page</h2>
            <Link to="/" className="shell-button">
              To the inbox
            </Link>
          </div>
        </main>
      );
    default:
      return route satisfies never;
  }
}

function useEscape(isActive: boolean, close: () => void): void {
  useEffect(() => {
    if (!isActive) return undefined;
    const press = ({ key }: KeyboardEvent): void => {
      if (key === "Escape") close();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [isActive, close]);
}
