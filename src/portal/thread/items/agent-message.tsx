import { useState, type ReactNode } from "react";
import { MessageActions } from "./message-actions.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Fold } from "../../parts/fold.tsx";
import { Icon } from "../../parts/icons.tsx";
import { Markdown } from "../../parts/markdown/markdown.tsx";
import { useAction, useOpenCard } from "../thread-context.tsx";
import { formatDuration } from "../../../text/format-duration.ts";
import type { TextItem, ThoughtItem } from "../../state/session-view.ts";

/** Text of the agent. */
export function AgentMessage({ item }: { readonly item: TextItem }): ReactNode {
  const running = useAction();
  const [isWhole, setWhole] = useState(false);
  const isCut = !item.isStreaming && !isWhole && item.text.length > MAX_LENGTH;
  const text = isCut ? item.text.slice(0, MAX_LENGTH) : item.text;
  return (
    <div className="thread-text">
      <Markdown text={text} isStreaming={item.isStreaming} />
      {isCut && (
        <button type="button" className="part-text-button" onClick={() => setWhole(true)}>
          Show the whole message
        </button>
      )}
      {item.interrupted && <Badge tone="warning">interrupted</Badge>}
      {!item.isStreaming && (
        <MessageActions text={item.text} seq={item.seq} forkSeq={item.forkSeq} running={running} />
      )}
    </div>
  );
}

/** Characters. A row of a virtual list is rendered as a whole. */
const MAX_LENGTH = 60_000;

/** Milliseconds. A shorter time says nothing. */
const SHORT_MS = 100;

/** A thought of the agent, folded. */
export function Thought({ item }: { readonly item: ThoughtItem }): ReactNode {
  const [isOpen, setOpen] = useOpenCard(item.key, false);
  const { isStreaming, durationMs } = item;
  const title = isStreaming
    ? "Thinking"
    : durationMs === null || durationMs < SHORT_MS
      ? "Thought"
      : `Thought for ${formatDuration(durationMs)}`;
  return (
    <Fold
      className="thread-thought"
      isOpen={isOpen}
      onToggle={setOpen}
      summary={
        <>
          <span className="thread-status" data-busy={isStreaming}>
            <Icon name="thought" />
          </span>
          <span>{title}</span>
        </>
      }
    >
      {item.text === "" ? (
        <p className="part-note">The provider does not show this thought</p>
      ) : (
        <Markdown text={item.text} isStreaming={isStreaming} />
      )}
    </Fold>
  );
}
