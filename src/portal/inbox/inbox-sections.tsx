import type { ReactNode } from "react";
import { CopyButton } from "../parts/copy-button.tsx";
import { APPROVAL_PROMPTS } from "../parts/example-prompts.ts";
import { Icon } from "../parts/icons.tsx";
import { ClockTime } from "../parts/time.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import type { DecisionRecord } from "./request/decision-log.ts";

/** The inbox without requests. */
export function EmptyInbox({
  onTry,
}: {
  /** Starts a session with a prompt. Absent: the prompts can be copied only. */
  readonly onTry: ((prompt: string) => void) | undefined;
}): ReactNode {
  return (
    <div className="inbox-empty">
      <svg className="inbox-empty-art" viewBox="0 0 64 48" aria-hidden="true" focusable="false">
        <path d="M6 28l9-18h34l9 18v12H6z" />
        <path d="M6 28h15l4 6h14l4-6h15" />
        <path className="inbox-empty-check" d="M25 17l5 5 9-10" />
      </svg>
      <h2>Nothing waits for you</h2>
      <p>When an agent needs a decision or has a question, it appears here, and the agent waits.</p>
      <div className="inbox-examples">
        <h3>Try one of these prompts</h3>
        <ul>
          {APPROVAL_PROMPTS.map((prompt) => (
            <li key={prompt}>
              {onTry === undefined ? (
                <>
                  <span>{prompt}</span>
                  <CopyButton text={prompt} label="Copy the prompt" />
                </>
              ) : (
                <button type="button" className="inbox-example" onClick={() => onTry(prompt)}>
                  <span>{prompt}</span>
                  <Icon name="chevron" />
                </button>
              )}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

/** The inbox before the first list has arrived. */
export function LoadingInbox(): ReactNode {
  return (
    <div className="inbox-loading">
      <output className="inbox-hidden">Loading the inbox</output>
      <div className="inbox-skeleton" />
      <div className="inbox-skeleton" />
    </div>
  );
}

/** The decisions of this page, newest first. */
export function DecisionHistory({
  history,
  sessionHref,
}: {
  readonly history: readonly DecisionRecord[];
  readonly sessionHref: (sessionId: string) => string;
}): ReactNode {
  if (history.length === 0) return null;
  return (
    <section className="inbox-history" aria-labelledby="inbox-history">
      <h2 id="inbox-history">Decided on this page</h2>
      <ol>
        {history.map((record) => (
          <li key={`${record.key} ${record.at}`} data-approval={record.isApproval}>
            <Icon name={record.isApproval ? "check" : "blocked"} />
            <span className="inbox-history-label">
              <UntrustedText text={record.label} />
            </span>
            <a href={sessionHref(record.sessionId)} className="inbox-history-sentence">
              <UntrustedText text={record.sentence} />
            </a>
            <ClockTime at={record.at} />
          </li>
        ))}
      </ol>
    </section>
  );
}
