import { useEffect, useState, type ReactNode } from "react";
import { ActionError, useAction, useThread } from "../thread-context.tsx";

/** The next task for a worker which waits. A row of a virtual list loses its state, so the thread keeps the text. */
export function TriggerForm({
  itemKey,
  workerId,
  name,
  children,
}: {
  readonly itemKey: string;
  readonly workerId: string;
  readonly name: string;
  /** Further buttons. */
  readonly children: ReactNode;
}): ReactNode {
  const { actions, drafts } = useThread();
  const [text, setText] = useState(() => drafts.get(itemKey) ?? "");
  const running = useAction();
  useEffect(() => {
    if (text === "") drafts.delete(itemKey);
    else drafts.set(itemKey, text);
  }, [drafts, itemKey, text]);
  const canSend = text.trim() !== "" && !running.isRunning;
  const send = (): void => {
    if (!canSend) return;
    running.run(
      () => actions.triggerWorker(workerId, text),
      () => setText(""),
    );
  };
  return (
    <form
      className="thread-edit"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        value={text}
        rows={2}
        maxLength={MAX_LENGTH}
        aria-label={`Next task of the worker ${name.slice(0, 100)}`}
        placeholder="The next task of this worker"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
        }}
      />
      <div className="thread-edit-buttons">
        <button type="submit" className="part-button part-primary" disabled={!canSend}>
          Trigger
        </button>
        {children}
      </div>
      <ActionError error={running.error} />
    </form>
  );
}

const MAX_LENGTH = 1_000_000;
