import { useEffect, useState, type ReactNode } from "react";
import { Icon } from "./icons.tsx";
import { systemClock } from "../../platform/clock.ts";
import "./parts.css";

/** Copies text, and shows the result for two seconds. */
export function CopyButton({
  text,
  label,
  hasText = false,
}: {
  /** A function is called when the button is pressed, for text which is costly to build. */
  readonly text: string | (() => string);
  /** Such as `Copy code`. */
  readonly label: string;
  /** Whether the label is visible. Default: the icon only. */
  readonly hasText?: boolean;
}): ReactNode {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  useEffect(() => {
    if (state === "idle") return undefined;
    return systemClock.schedule(2000, () => setState("idle"));
  }, [state]);
  const copy = (): void => {
    const value = typeof text === "string" ? text : text();
    copyText(value).then(
      () => setState("copied"),
      () => setState("failed"),
    );
  };
  const current = { idle: label, copied: "Copied", failed: "Could not copy" }[state];
  return (
    <button
      type="button"
      className={`part-icon-button${hasText ? " part-with-text" : ""}`}
      data-state={state}
      title={current}
      aria-label={hasText ? undefined : label}
      onClick={copy}
    >
      <Icon name={state === "copied" ? "check" : state === "failed" ? "cross" : "copy"} />
      {hasText && <span>{current}</span>}
      <span className="part-hidden" aria-live="polite">
        {state === "idle" || hasText ? "" : current}
      </span>
    </button>
  );
}

/** Browsers offer the clipboard on secure addresses and on loopback only. Rejects elsewhere. */
async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}
