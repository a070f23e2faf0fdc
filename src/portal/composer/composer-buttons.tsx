import { useRef, type ReactNode } from "react";
import { KeyHint, Spinner } from "../parts/badge.tsx";
import { SEND_MODE_TEXTS, type Refusal } from "./send-modes.ts";
import type { Message } from "./use-message.tsx";

export interface CancelControl {
  readonly isRunning: boolean;
  /** The cancel command was sent, and the turn has not ended. */
  readonly isCancelling: boolean;
  readonly disabledReason: string | undefined;
  readonly cancel: () => void;
}

/** Chooses images. */
export function AttachButton({
  refusal,
  onFiles,
}: {
  readonly refusal: string | undefined;
  readonly onFiles: (files: readonly File[]) => void;
}): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        className="composer-icon-button"
        aria-label="Attach images"
        title={refusal ?? "Attach images: also by paste and drop"}
        aria-disabled={refusal !== undefined}
        onClick={() => {
          if (refusal === undefined) input.current?.click();
        }}
      >
        <svg className="part-icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
          <path d="M13 7.5l-5 5a3 3 0 0 1-4.3-4.3l5.4-5.4a2 2 0 0 1 2.9 2.9l-5.3 5.2a1 1 0 0 1-1.4-1.4L10 4.8" />
        </svg>
      </button>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        aria-label="Images"
        accept="image/png,image/jpeg,image/gif,image/webp"
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          // The same file can be chosen again after its removal.
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}

/** Cancels the running turn. */
export function CancelButton({ control }: { readonly control: CancelControl }): ReactNode {
  const { isCancelling, disabledReason } = control;
  return (
    <button
      type="button"
      className="composer-button composer-cancel"
      aria-disabled={isCancelling || disabledReason !== undefined}
      title={disabledReason}
      onClick={control.cancel}
    >
      {isCancelling ? (
        <>
          <Spinner /> Cancelling…
        </>
      ) : (
        <>
          Cancel <KeyHint keys="Esc" />
        </>
      )}
    </button>
  );
}

/** Sends the message in its mode. */
export function SendButton({
  message,
  refusal,
  onSend,
}: {
  readonly message: Message;
  readonly refusal: Refusal | undefined;
  readonly onSend: () => void;
}): ReactNode {
  const { name } = SEND_MODE_TEXTS[message.mode];
  const isDisabled = message.isSending || message.isEmpty || refusal !== undefined;
  return (
    <button
      type="button"
      className="composer-button composer-send"
      aria-disabled={isDisabled}
      title={refusal?.text}
      onClick={() => {
        if (!isDisabled) onSend();
      }}
    >
      {message.isSending && <Spinner />}
      {message.isSending ? "Sending…" : name}
    </button>
  );
}
