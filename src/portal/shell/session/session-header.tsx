import { useState, type ReactNode } from "react";
import { MODE_DESCRIPTIONS } from "../../../domain/session-mode.ts";
import type { SessionSnapshot } from "../../live/snapshot-feed.ts";
import type { SessionView } from "../../state/session-view.ts";
import { Icon } from "../../parts/icons.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { nameSession } from "../filter-sessions.ts";
import { useServices, useStore } from "../services.tsx";
import { SessionMenu } from "./session-menu.tsx";
import { ShellIcon } from "../shell-icon.tsx";
import { OfflineDot, StateDot } from "../state-dot.tsx";

/** The sticky line above a conversation. */
export function SessionHeader({
  snapshot,
  isRailOpen,
  onToggleRail,
  onOpenDrawer,
}: {
  readonly snapshot: SessionSnapshot;
  readonly isRailOpen: boolean;
  readonly onToggleRail: () => void;
  readonly onOpenDrawer: () => void;
}): ReactNode {
  const { view } = snapshot;
  return (
    <header className="shell-header">
      <DrawerButton onOpen={onOpenDrawer} />
      <div className="shell-header-title">
        <TitleField key={view.sessionId} view={view} />
        <p className="shell-header-facts">
          <HeaderState view={view} />
          <UntrustedText text={view.agent} />
          {view.mode !== "default" && (
            <span className="shell-tag">{MODE_DESCRIPTIONS[view.mode].name} mode</span>
          )}
          {view.workingDirectory !== null && (
            <span className="shell-folder" title={view.workingDirectory}>
              <UntrustedText text={view.workingDirectory} />
            </span>
          )}
        </p>
      </div>
      <Presence snapshot={snapshot} />
      <button
        type="button"
        className="shell-icon-button shell-rail-button"
        aria-label="Details"
        aria-pressed={isRailOpen}
        onClick={onToggleRail}
      >
        <ShellIcon name="panel" />
      </button>
      <SessionMenu view={view} />
    </header>
  );
}

/** The state of the session. Without a connection, the state may be old, so the header shows the connection. */
function HeaderState({ view }: { readonly view: SessionView }): ReactNode {
  const { status } = useStore(useServices().live.connection);
  const state = findState(view);
  if (status === "live") return <StateDot state={state} isLabelled />;
  return <OfflineDot lastState={state} />;
}

/** The clients of the session in short. The composer has the whole list. */
function Presence({
  snapshot: { view, client },
}: {
  readonly snapshot: SessionSnapshot;
}): ReactNode {
  if (view.clients.length === 0) return null;
  const names = view.clients.map(({ name }) => name).join(", ");
  return (
    <span className="shell-presence" title={names}>
      <Icon name="person" />
      {describePresence(view, client?.clientId)}
    </span>
  );
}

function describePresence({ clients, controller }: SessionView, ownId: string | undefined): string {
  const here = `${clients.length} here`;
  if (controller === null) return here;
  return controller === ownId ? `You control · ${here}` : `Controlled · ${here}`;
}

function findState({ turns, openApprovals }: SessionView): "waiting" | "running" | "idle" {
  if (openApprovals.length > 0) return "waiting";
  return turns.at(-1)?.end === null ? "running" : "idle";
}

export function DrawerButton({ onOpen }: { readonly onOpen: () => void }): ReactNode {
  return (
    <button
      type="button"
      className="shell-icon-button shell-drawer-button"
      aria-label="Show sessions"
      onClick={onOpen}
    >
      <ShellIcon name="menu" />
    </button>
  );
}

/** Characters. The limit of the bridge. */
const MAX_TITLE_LENGTH = 200;

/** The title, which becomes a field when pressed. Enter saves and Escape restores. */
function TitleField({ view }: { readonly view: SessionView }): ReactNode {
  const { actionsFor, toasts } = useServices();
  const [draft, setDraft] = useState<string | null>(null);
  const title = nameSession(view);
  const save = (): void => {
    const text = draft?.trim() ?? "";
    setDraft(null);
    if (text === "" || text === view.title) return;
    const action = actionsFor(view.sessionId).rename(text);
    void toasts.watch("rename", "The session was not renamed", action);
  };
  if (draft === null) {
    return (
      <h1>
        <button
          type="button"
          className="shell-title"
          title="Rename"
          onClick={() => setDraft(view.title ?? "")}
        >
          <UntrustedText text={title} />
          <ShellIcon name="edit" />
        </button>
      </h1>
    );
  }
  return (
    <h1>
      <input
        className="shell-title-field"
        aria-label="Title of the session"
        value={draft}
        maxLength={MAX_TITLE_LENGTH}
        // The person has just pressed the title.
        ref={(field) => field?.focus()}
        onChange={({ target }) => setDraft(target.value)}
        onBlur={save}
        onKeyDown={(event) => {
          if (event.key === "Enter") save();
          else if (event.key === "Escape") setDraft(null);
          event.stopPropagation();
        }}
      />
    </h1>
  );
}
