import type { ReactNode } from "react";
import { Icon } from "../parts/icons.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import type { SessionView } from "../state/session-view.ts";
import type { CommandReply } from "./bridge-commands.ts";
import type { Participant, Refusal } from "./send-modes.ts";
import { resolveControl } from "./session/presence-rows.ts";
import { ControlButton } from "./session/session-controls.tsx";
import type { Commands } from "./use-commands.ts";

/** The reason why sending is disabled, with a button that helps. */
export function RefusalNote({
  refusal,
  view,
  participant,
  isPending,
  onTakeControl,
}: {
  readonly refusal: Refusal;
  readonly view: SessionView;
  readonly participant: Participant;
  readonly isPending: boolean;
  readonly onTakeControl: () => void;
}): ReactNode {
  return (
    <div className="composer-refusal">
      <Icon name="info" />
      <output>
        <UntrustedText text={refusal.text} />
      </output>
      {refusal.needsControl && (
        <ControlButton
          change="take"
          disabledReason={resolveControl(view, participant).disabledReason}
          isPending={isPending}
          onPress={onTakeControl}
        />
      )}
    </div>
  );
}

/** The error of the last command. */
export function ErrorNote({ commands }: { readonly commands: Commands }): ReactNode {
  const { error, clearError } = commands;
  if (error === null) return null;
  return (
    <div className="composer-error" role="alert">
      <Icon name="warning" />
      <span>
        <UntrustedText text={error.message} kind="prose" />
        {error.hint !== undefined && (
          <span className="composer-error-hint">
            <UntrustedText text={error.hint} kind="prose" />
          </span>
        )}
      </span>
      <button
        type="button"
        className="composer-icon-button"
        aria-label="Close the error"
        onClick={clearError}
      >
        <Icon name="cross" />
      </button>
    </div>
  );
}

/** The result of a command of the bridge. */
export function ReplyNote({
  reply: { command, text, rows },
  onClose,
}: {
  readonly reply: CommandReply;
  readonly onClose: () => void;
}): ReactNode {
  return (
    <section className="composer-reply" aria-label={`Result of /${command}`}>
      <div className="composer-reply-head">
        <code>/{command}</code>
        <button
          type="button"
          className="composer-icon-button"
          aria-label="Close the result"
          onClick={onClose}
        >
          <Icon name="cross" />
        </button>
      </div>
      <output>
        {text !== undefined && <p className="composer-note">{text}</p>}
        {rows.length > 0 && (
          <dl>
            {rows.map(({ name, text: value }) => (
              <div key={name}>
                <dt>
                  <UntrustedText text={name} />
                </dt>
                <dd>
                  <UntrustedText text={value} />
                </dd>
              </div>
            ))}
          </dl>
        )}
      </output>
    </section>
  );
}
