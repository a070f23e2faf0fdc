import { UntrustedText } from "../parts/untrusted-text.tsx";
import { useState, type ReactNode } from "react";
import { openSession } from "../live/session-api.ts";
import { Dialog } from "./dialog.tsx";
import { navigate } from "./navigation.tsx";
import { formatSessionPath } from "./route.ts";
import { useServices, useStore } from "./services.tsx";
import { ShellIcon } from "./shell-icon.tsx";

/** Opens a session at once, or asks for its agent if there are several. */
export function NewSessionButton({ onOpened }: { readonly onOpened: () => void }): ReactNode {
  const agents = useStore(useServices().live.connection).ready?.agents ?? [];
  const [isChoosing, setChoosing] = useState(false);
  const open = useOpenSession();
  const start = async (agent?: string): Promise<void> => {
    setChoosing(false);
    if (await open(agent)) onOpened();
  };
  return (
    <>
      <button
        type="button"
        className="shell-button shell-button-main shell-new"
        onClick={() => (agents.length > 1 ? setChoosing(true) : void start())}
      >
        <ShellIcon name="plus" />
        New<span className="shell-unseen"> session</span>
      </button>
      {isChoosing && (
        <Dialog label="New session" onClose={() => setChoosing(false)}>
          <h2>Choose an agent</h2>
          <ul className="shell-choices">
            {agents.map((agent, position) => (
              <li key={agent}>
                <button type="button" className="shell-choice" onClick={() => void start(agent)}>
                  <UntrustedText text={agent} />
                  {position === 0 && <span className="shell-tag">Default</span>}
                </button>
              </li>
            ))}
          </ul>
          <div className="shell-dialog-buttons">
            <button type="button" className="shell-button" onClick={() => setChoosing(false)}>
              Cancel
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/** Opens a session, submits the first prompt, if any, and shows the session. Resolves with false after an error. */
export function useOpenSession(): (agent?: string, prompt?: string) => Promise<boolean> {
  const { api, actionsFor, toasts } = useServices();
  return async (agent, prompt) => {
    const opening = openSession(api, agent === undefined ? {} : { agent });
    const opened = await toasts.watch("open", "The session was not opened", opening);
    if (!opened.ok) return false;
    navigate(formatSessionPath(opened.value));
    if (prompt !== undefined) {
      const sending = actionsFor(opened.value).prompt({ text: prompt });
      await toasts.watch("prompt", "The prompt was not sent", sending);
    }
    return true;
  };
}
