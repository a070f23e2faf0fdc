import type { ReactNode } from "react";
import { splitVisibleText, type TextKind } from "./split-visible-text.ts";
import "./parts.css";

/** Untrusted text with its invisible characters shown. The text cannot change the direction of the text around it. */
export function UntrustedText({
  text,
  kind = "name",
}: {
  readonly text: string;
  readonly kind?: TextKind;
}): ReactNode {
  const segments = splitVisibleText(text, kind);
  const [only] = segments;
  const content =
    segments.length <= 1 && only?.isEscape !== true
      ? (only?.text ?? "")
      : segments.slice(0, MAX_SEGMENTS).map((segment, index) =>
          segment.isEscape ? (
            <span key={index} className="part-escape" title="Invisible character">
              {segment.text}
            </span>
          ) : (
            segment.text
          ),
        );
  return kind === "name" ? <bdi>{content}</bdi> : content;
}

/** A text with more escapes is not meant for people. */
const MAX_SEGMENTS = 2000;
