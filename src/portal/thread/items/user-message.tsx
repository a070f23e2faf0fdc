import { useEffect, useState, type ReactNode } from "react";
import { ActionButton, MessageActions } from "./message-actions.tsx";
import { Badge } from "../../parts/badge.tsx";
import { formatBytes } from "../../parts/format-amount.ts";
import { joinText, resendMessage } from "../resend-message.ts";
import { useAction, useThread, type RunningAction } from "../thread-context.tsx";
import { LongText } from "../../parts/fold.tsx";
import type { ImagePart } from "../../../domain/prompt.ts";
import type { UserItem } from "../../state/session-view.ts";

/** A prompt, or a message sent while the agent worked. */
export function UserMessage({ item }: { readonly item: UserItem }): ReactNode {
  const { actions, drafts } = useThread();
  const [isEditing, setEditing] = useState(() => drafts.has(item.key));
  const running = useAction();
  const text = joinText(item.content);
  const images = item.content.filter((part): part is ImagePart => part.type === "image");
  if (isEditing)
    return <EditForm item={item} running={running} onClose={() => setEditing(false)} />;
  return (
    <div className="thread-user">
      {item.injected !== undefined && (
        <Badge>{item.injected === "steer" ? "sent while working" : "from the queue"}</Badge>
      )}
      {text !== "" && <LongText text={text} label="Message" kind="prose" maxLines={20} />}
      {images.length > 0 && <Images images={images} />}
      <MessageActions
        text={text}
        seq={item.seq}
        forkSeq={item.forkSeq}
        forkDraft={text}
        running={running}
      >
        <ActionButton
          icon="retry"
          label="Send again"
          isDisabled={running.isRunning}
          onPress={() => running.run(() => resendMessage(actions, item.content))}
        />
        <ActionButton
          icon="edit"
          label="Edit and send"
          isDisabled={running.isRunning}
          onPress={() => setEditing(true)}
        />
      </MessageActions>
    </div>
  );
}

function Images({ images }: { readonly images: readonly ImagePart[] }): ReactNode {
  const { actions } = useThread();
  return (
    <ul className="thread-images">
      {images.map((image, index) => {
        const url = actions.blobUrl(image.blobId);
        const name = `Image ${index + 1} of the message, ${formatBytes(image.bytes)}`;
        return (
          <li key={image.blobId}>
            <a href={url} target="_blank" rel="noopener noreferrer" title={name}>
              <img src={url} alt={name} loading="lazy" decoding="async" />
            </a>
          </li>
        );
      })}
    </ul>
  );
}

function EditForm({
  item,
  running,
  onClose,
}: {
  readonly item: UserItem;
  readonly running: RunningAction;
  readonly onClose: () => void;
}): ReactNode {
  const { actions, drafts } = useThread();
  const [text, setText] = useState(() => drafts.get(item.key) ?? joinText(item.content));
  useEffect(() => {
    drafts.set(item.key, text);
  }, [drafts, item.key, text]);
  const close = (): void => {
    drafts.delete(item.key);
    onClose();
  };
  const canSend = text.trim() !== "" && !running.isRunning;
  const send = (): void => {
    if (canSend) running.run(() => resendMessage(actions, item.content, text), close);
  };
  return (
    <form
      className="thread-user thread-edit"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the reader asked for this field
        autoFocus
        value={text}
        rows={Math.min(12, text.split("\n").length + 1)}
        maxLength={MAX_LENGTH}
        aria-label="Edited message"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") close();
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
        }}
      />
      {running.error !== null && (
        <p className="thread-action-error" role="alert">
          {running.error.message}
        </p>
      )}
      <div className="thread-edit-buttons">
        <span className="part-note">Sends a new prompt at the end of the session</span>
        <button type="button" className="part-button" onClick={close}>
          Cancel
        </button>
        <button type="submit" className="part-button part-primary" disabled={!canSend}>
          Send
        </button>
      </div>
    </form>
  );
}

const MAX_LENGTH = 1_000_000;
