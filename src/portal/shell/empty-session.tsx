import type { ReactNode } from "react";
import { SpanIllustration } from "./shell-icon.tsx";

const EXAMPLES = [
  "Please save a note: buy milk",
  "What did I note so far?",
  "Which files are in this folder?",
  "Tell me what you can do",
];

/** A session without turns: its purpose, and prompts to try. */
export function EmptySession({
  onTry,
}: {
  /** Puts a prompt into the composer. */
  readonly onTry: (prompt: string) => void;
}): ReactNode {
  return (
    <div className="shell-empty">
      <SpanIllustration />
      <h2>Start the conversation</h2>
      <p>
        The session is shared: an editor, a terminal and this page see the same turns, and you
        decide about risky steps from any of them.
      </p>
      <ul className="shell-examples" aria-label="Example prompts">
        {EXAMPLES.map((text) => (
          <li key={text}>
            <button type="button" className="shell-example" onClick={() => onTry(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
