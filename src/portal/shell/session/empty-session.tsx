import type { ReactNode } from "react";
import { EXAMPLE_PROMPTS } from "../../parts/example-prompts.ts";
import { SpanIllustration } from "../shell-icon.tsx";

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
        {EXAMPLE_PROMPTS.map((text) => (
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
