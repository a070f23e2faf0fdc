import { useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { useServices } from "../shell/services.tsx";
import { useDecider } from "../shell/use-decider.tsx";
import type { SessionView } from "../state/session-view.ts";
import { listWorkerAgents } from "../state/worker-agents.ts";
import { ActionError, useAction } from "./thread-context.tsx";

/** A button with the form for a new worker. Absent if the agent cannot delegate, or the reader may not prompt. */
export function StartWorker({ view }: { readonly view: SessionView }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [isStarted, setStarted] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const { rights } = useDecider();
  const agents = listWorkerAgents(view);
  if (agents.length === 0 || !rights.includes("prompt")) return null;
  const toggle = (): void => {
    setStarted(false);
    setOpen(!isOpen);
  };
  const close = (hasStarted: boolean): void => {
    setStarted(hasStarted);
    setOpen(false);
    button.current?.focus();
  };
  return (
    <div className="workers-start">
      <button
        ref={button}
        type="button"
        className="part-button"
        aria-expanded={isOpen}
        onClick={toggle}
      >
        Start a worker
      </button>
      <output className="part-note">{isStarted && "The worker has started"}</output>
      {isOpen && (
        <StartForm
          sessionId={view.sessionId}
          agents={agents}
          onStarted={() => close(true)}
          onCancel={() => close(false)}
        />
      )}
    </div>
  );
}

interface StartFormProps {
  readonly sessionId: string;
  /** The default first. */
  readonly agents: readonly string[];
  readonly onStarted: () => void;
  readonly onCancel: () => void;
}

function StartForm({ sessionId, agents, onStarted, onCancel }: StartFormProps): ReactNode {
  const { actionsFor } = useServices();
  const [task, setTask] = useState("");
  const [agent = "", setAgent] = useState(agents[0]);
  const starting = useAction();
  const id = useId();
  const start = (): void =>
    starting.run(() => actionsFor(sessionId).delegate(task.trim(), agent), onStarted);
  const closeByKey = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    // Escape elsewhere on the page cancels the turn.
    event.preventDefault();
    onCancel();
  };
  return (
    <form
      className="thread-edit"
      aria-label="New worker"
      onSubmit={(event) => {
        event.preventDefault();
        start();
      }}
    >
      <label htmlFor={id}>Task</label>
      <textarea
        id={id}
        ref={focusField}
        value={task}
        rows={4}
        required
        aria-describedby={`${id}-note`}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey))
            event.currentTarget.form?.requestSubmit();
          closeByKey(event);
        }}
        onChange={(event) => setTask(event.currentTarget.value)}
      />
      <p id={`${id}-note`} className="part-note">
        The worker sees nothing of this conversation, and works in the background.
      </p>
      <AgentField agents={agents} agent={agent} onChange={setAgent} />
      <div className="thread-edit-buttons">
        <button type="submit" className="part-button part-primary" onKeyDown={closeByKey}>
          {starting.isRunning ? "Starting …" : "Start"}
        </button>
        <button type="button" className="part-button" onClick={onCancel} onKeyDown={closeByKey}>
          Cancel
        </button>
      </div>
      <ActionError error={starting.error} />
    </form>
  );
}

function AgentField({
  agents,
  agent,
  onChange,
}: {
  readonly agents: readonly string[];
  readonly agent: string;
  readonly onChange: (agent: string) => void;
}): ReactNode {
  const id = useId();
  return (
    <>
      <label htmlFor={id}>Agent</label>
      <select id={id} value={agent} onChange={(event) => onChange(event.currentTarget.value)}>
        {agents.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </>
  );
}

function focusField(field: HTMLElement | null): void {
  field?.focus();
}
