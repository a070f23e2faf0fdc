import { useId, useMemo, useRef, useState, useEffect, type ReactNode } from "react";
import type { JsonObject } from "../../../data/json.ts";
import { KeyHint } from "../../parts/badge.tsx";
import { Icon } from "../../parts/icons.tsx";
import { formatArguments, readEditedArguments } from "./edited-arguments.ts";

export interface DenyPanelProps {
  /** Such as `Deny`. */
  readonly label: string;
  readonly onDeny: (reason: string | undefined) => void;
  readonly onClose: () => void;
}

/** Characters. The agent reads the reason. */
const MAX_REASON = 4000;

/** A denial with an optional reason. */
export function DenyPanel({ label, onDeny, onClose }: DenyPanelProps): ReactNode {
  const [reason, setReason] = useState("");
  const field = useFocusOnMount<HTMLInputElement>();
  const id = useId();
  return (
    <form
      className="request-panel"
      onSubmit={(event) => {
        event.preventDefault();
        onDeny(reason.trim() === "" ? undefined : reason.trim());
      }}
    >
      <label className="request-label" htmlFor={id}>
        Reason for the agent <span className="request-optional">optional</span>
      </label>
      <div className="request-row">
        <input
          id={id}
          ref={field}
          className="request-input"
          value={reason}
          maxLength={MAX_REASON}
          autoComplete="off"
          placeholder="For example: use the staging database"
          onChange={(event) => setReason(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") closeOnEscape(event, onClose);
          }}
        />
        <button type="submit" className="request-button request-danger">
          {label} <KeyHint keys="↵" />
        </button>
        <button type="button" className="request-button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
}

export interface ArgumentEditorProps {
  readonly input: JsonObject | null;
  readonly onAllow: (input: JsonObject) => void;
  readonly onClose: () => void;
}

/** Edits the arguments as JSON. The policy evaluates the edited arguments again before the tool runs. */
export function ArgumentEditor({ input, onAllow, onClose }: ArgumentEditorProps): ReactNode {
  const [text, setText] = useState(() => formatArguments(input));
  const read = useMemo(() => readEditedArguments(text, input), [text, input]);
  const field = useFocusOnMount<HTMLTextAreaElement>();
  const id = useId();
  const canAllow = read.ok && read.isChanged;
  const allow = (): void => {
    if (canAllow) onAllow(read.input);
  };
  return (
    <form
      className="request-panel"
      onSubmit={(event) => {
        event.preventDefault();
        allow();
      }}
    >
      <label className="request-label" htmlFor={id}>
        Arguments as JSON
      </label>
      <textarea
        id={id}
        ref={field}
        className="request-input request-editor"
        rows={Math.min(18, Math.max(4, text.split("\n").length + 1))}
        spellCheck={false}
        value={text}
        aria-invalid={!read.ok}
        aria-describedby={`${id}-note`}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") closeOnEscape(event, onClose);
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) allow();
        }}
      />
      <output id={`${id}-note`} className={read.ok ? "request-note" : "request-problem"}>
        {!read.ok && <Icon name="warning" />}
        {describeEdit(read)}
      </output>
      <div className="request-actions">
        <button type="submit" className="request-button request-primary" aria-disabled={!canAllow}>
          Allow with these arguments
        </button>
        <button type="button" className="request-button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function describeEdit(read: ReturnType<typeof readEditedArguments>): string {
  if (!read.ok) return read.problem;
  return read.isChanged
    ? "The policy evaluates the edited arguments again before the tool runs."
    : "Nothing is changed yet.";
}

/** Escape closes this panel only. */
function closeOnEscape(event: { readonly stopPropagation: () => void }, onClose: () => void): void {
  event.stopPropagation();
  onClose();
}

function useFocusOnMount<Element extends HTMLElement>(): React.RefObject<Element | null> {
  const element = useRef<Element>(null);
  useEffect(() => element.current?.focus({ preventScroll: true }), []);
  return element;
}
