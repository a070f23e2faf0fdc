import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import type { SessionActions } from "../state/session-actions.ts";
import type { SessionView } from "../state/session-view.ts";
import { listWorkerAgents } from "../state/worker-agents.ts";
import { AttachmentList } from "./attachment-list.tsx";
import { findImageRefusal } from "./attachments.ts";
import { AttachButton, CancelButton, SendButton, type CancelControl } from "./composer-buttons.tsx";
import { ErrorNote, RefusalNote, ReplyNote } from "./composer-notes.tsx";
import { listCommands, type CommandOption } from "./composer-commands.ts";
import { MessageField } from "./message-field.tsx";
import { PendingQueue } from "./pending-queue.tsx";
import { ReminderFields, SendModeChoice } from "./send-mode-choice.tsx";
import {
  findRightRefusal,
  findRunningTurn,
  findSendRefusal,
  listSendModes,
  SEND_MODE_TEXTS,
  type Participant,
  type Refusal,
} from "./send-modes.ts";
import { SessionControls } from "./session/session-controls.tsx";
import { useCommands, type Commands } from "./use-commands.ts";
import { useMessage, type Message } from "./use-message.tsx";
import "./composer.css";

export interface ComposerProps {
  /** The parent sets the session's id as the React key, because the draft belongs to the session. */
  readonly view: SessionView;
  readonly actions: SessionActions;
  readonly participant: Participant;
  /** A text to put into the field, for example an example prompt. A new `id` puts the text again. */
  readonly seed?: { readonly id: string; readonly text: string };
}

/** The field for messages to the agent, the waiting messages and the controls of the session. */
export function Composer({ view, actions, participant, seed }: ComposerProps): ReactNode {
  const commands = useCommands(participant.isConnected);
  const message = useMessage(view, actions, commands);
  const cancel = useCancel(view, actions, participant, commands);
  const refusal = findSendRefusal(view, participant);
  useSeed(seed, message);
  return (
    <section className="composer" aria-label="Composer">
      {refusal !== undefined && (
        <RefusalNote
          refusal={refusal}
          view={view}
          participant={participant}
          isPending={commands.isPending("control")}
          onTakeControl={() => void commands.run("control", () => actions.takeControl())}
        />
      )}
      {message.reply !== undefined && (
        <ReplyNote reply={message.reply} onClose={message.closeReply} />
      )}
      <PendingQueue
        queue={view.queue}
        actions={actions}
        commands={commands}
        ownPrincipal={participant.principal}
        disabledReason={refusal?.text}
      />
      <MessageBox
        view={view}
        message={message}
        refusal={refusal}
        cancel={cancel}
        focusKey={seed?.id ?? ""}
      />
      {commands.error !== null && <ErrorNote commands={commands} />}
      <SessionControls
        view={view}
        actions={actions}
        participant={participant}
        commands={commands}
      />
    </section>
  );
}

function useSeed(seed: ComposerProps["seed"], message: Message): void {
  const used = useRef<string>(undefined);
  useEffect(() => {
    if (seed === undefined || used.current === seed.id) return;
    used.current = seed.id;
    message.setText(seed.text);
  }, [seed, message]);
}

/** Cancels the running turn, also with Escape outside of fields and dialogs. */
function useCancel(
  view: SessionView,
  actions: SessionActions,
  participant: Participant,
  commands: Commands,
): CancelControl {
  const turnId = findRunningTurn(view)?.turnId;
  const [cancelledTurn, setCancelledTurn] = useState<string>();
  const disabledReason = findRightRefusal("control", participant);
  const isCancelling = turnId !== undefined && cancelledTurn === turnId;
  const cancel = async (): Promise<void> => {
    if (turnId === undefined || isCancelling || disabledReason !== undefined) return;
    setCancelledTurn(turnId);
    if (!(await commands.run("cancel", () => actions.cancel(turnId)))) setCancelledTurn(undefined);
  };
  const latest = useRef(cancel);
  useEffect(() => {
    latest.current = cancel;
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
      const { target } = event;
      const isElsewhere =
        target instanceof Element && target.closest("input, textarea, select, dialog") !== null;
      if (!isElsewhere) void latest.current();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
  return {
    isRunning: turnId !== undefined,
    isCancelling,
    disabledReason,
    cancel: () => void cancel(),
  };
}

interface MessageBoxProps {
  readonly view: SessionView;
  readonly message: Message;
  readonly refusal: Refusal | undefined;
  readonly cancel: CancelControl;
  readonly focusKey: string;
}

function MessageBox({ view, message, refusal, cancel, focusKey }: MessageBoxProps): ReactNode {
  const { attachments, mode } = message;
  const [isDropTarget, setDropTarget] = useState(false);
  const id = useId();
  const imageRefusal = findImageRefusal(view.agentSpec);
  const send = (): void => {
    if (refusal === undefined) message.send();
  };
  const addFiles = (files: readonly File[]): void => {
    if (imageRefusal === undefined) attachments.add(files);
  };
  const box = useDropTarget(setDropTarget, addFiles);
  return (
    <div className="composer-box" data-drop={isDropTarget} ref={box}>
      <AttachmentList attachments={attachments} />
      <MessageField
        text={message.text}
        placeholder={SEND_MODE_TEXTS[mode].placeholder}
        commands={mode === "remind" ? [] : listSessionCommands(view)}
        isRunning={cancel.isRunning}
        isReadOnly={message.isSending}
        describedBy={id}
        focusKey={focusKey}
        onChange={message.setText}
        onSend={send}
        onCancelTurn={cancel.cancel}
        onFiles={addFiles}
      />
      {mode === "remind" && (
        <ReminderFields form={message.reminder} onChange={message.setReminder} />
      )}
      {message.problem !== undefined && (
        <p className="composer-problem" role="alert">
          <UntrustedText text={message.problem} kind="prose" />
        </p>
      )}
      <div className="composer-bar">
        <AttachButton refusal={imageRefusal} onFiles={addFiles} />
        <SendModeChoice
          modes={listSendModes(cancel.isRunning)}
          mode={mode}
          onChange={message.setMode}
        />
        <span className="composer-hint" id={id}>
          {SEND_MODE_TEXTS[mode].description}
        </span>
        {cancel.isRunning && <CancelButton control={cancel} />}
        <SendButton message={message} refusal={refusal} onSend={send} />
      </div>
      {isDropTarget && <div className="composer-drop">Drop images to attach them</div>}
    </div>
  );
}

function listSessionCommands(view: SessionView): readonly CommandOption[] {
  return listCommands(view.agentSpec?.commands ?? [], listWorkerAgents(view).length > 0);
}

/** Accepts files which are dragged over an element. */
function useDropTarget(
  onTarget: (isTarget: boolean) => void,
  onFiles: (files: readonly File[]) => void,
): React.RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  const latest = useRef({ onTarget, onFiles });
  useEffect(() => {
    latest.current = { onTarget, onFiles };
  });
  useEffect(() => {
    const element = box.current;
    const listen = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      latest.current.onTarget(event.type === "dragover");
      if (event.type === "drop") latest.current.onFiles([...event.dataTransfer.files]);
    };
    const names = ["dragover", "dragleave", "drop"] as const;
    for (const name of names) element?.addEventListener(name, listen);
    return () => {
      for (const name of names) element?.removeEventListener(name, listen);
    };
  }, []);
  return box;
}
