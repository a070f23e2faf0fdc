import { useEffect, useState } from "react";
import type { ActionResult, SessionActions } from "../state/session-actions.ts";
import type { SessionView } from "../state/session-view.ts";
import { listWorkerAgents } from "../state/worker-agents.ts";
import { findMessageProblem } from "./attachments.ts";
import { getDraftStorage, loadDraft, saveDraft, type Draft } from "./drafts.ts";
import {
  createReminderKey,
  INITIAL_REMINDER,
  readReminder,
  type ReminderForm,
} from "./reminder-form.ts";
import { findRunningTurn, resolveSendMode, type SendMode } from "./send-modes.ts";
import {
  readBridgeCommand,
  withoutReply,
  type BridgeCommandRun,
  type CommandReply,
} from "./bridge-commands.ts";
import { expandCommandText } from "./composer-commands.ts";
import { readImages, useAttachments, type Attachments } from "./use-attachments.tsx";
import type { Commands } from "./use-commands.ts";

/** The message which a person is writing. */
export interface Message {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly mode: SendMode;
  readonly setMode: (mode: SendMode) => void;
  readonly reminder: ReminderForm;
  readonly setReminder: (form: ReminderForm) => void;
  readonly attachments: Attachments;
  /** Why the message was not sent. Leaves with the next change. */
  readonly problem: string | undefined;
  /** The result of the last command of the bridge. Leaves with the next message. */
  readonly reply: CommandReply | undefined;
  readonly closeReply: () => void;
  readonly isSending: boolean;
  readonly isEmpty: boolean;
  readonly send: () => void;
}

export function useMessage(
  view: SessionView,
  actions: SessionActions,
  commands: Commands,
): Message {
  const [draft, setDraft] = useState<Draft>(() => loadDraft(getDraftStorage(), view.sessionId));
  const [reminder, setReminder] = useState(INITIAL_REMINDER);
  const [problem, setProblem] = useState<string>();
  const [reply, setReply] = useState<CommandReply>();
  const attachments = useAttachments();
  const isRunning = findRunningTurn(view) !== undefined;
  const mode = resolveSendMode(draft.mode, isRunning);
  const isSending = commands.isPending("send");
  useEffect(() => saveDraft(getDraftStorage(), view.sessionId, draft), [view.sessionId, draft]);

  const send = async (): Promise<void> => {
    const text = draft.text.trimEnd();
    const { list } = attachments;
    const prepared = prepareMessage({ text, mode, reminder, view, attachments });
    if (isSending || (text.trim() === "" && list.length === 0)) return;
    if (!prepared.ok) return setProblem(prepared.problem);
    setProblem(undefined);
    setReply(undefined);
    const submit = async (): Promise<ActionResult> => {
      const result = await prepared.submit(actions);
      if (!result.ok) return result;
      setReply(result.value);
      return { ok: true, value: undefined };
    };
    if (!(await commands.run("send", submit))) return;
    // The chosen mode applies to a single message. A change during the request belongs to the next message.
    setDraft((now) => ({
      text: now.text === draft.text ? "" : now.text,
      mode: now.mode === draft.mode ? null : now.mode,
    }));
    attachments.clear();
  };
  return {
    text: draft.text,
    setText(text) {
      setDraft((now) => ({ ...now, text }));
      setProblem(undefined);
      commands.clearError();
    },
    mode,
    setMode: (chosen) => setDraft((now) => ({ ...now, mode: chosen })),
    reminder,
    setReminder,
    attachments,
    problem,
    reply,
    closeReply: () => setReply(undefined),
    isSending,
    isEmpty: draft.text.trim() === "" && attachments.list.length === 0,
    send: () => void send(),
  };
}

function prepareCommand(command: BridgeCommandRun, hasImages: boolean): Prepared {
  if (hasImages) return { ok: false, problem: "A command cannot have images" };
  switch (command.type) {
    case "problem":
      return { ok: false, problem: command.problem };
    case "reply":
      return { ok: true, submit: () => Promise.resolve({ ok: true, value: command.reply }) };
    case "act":
      return { ok: true, submit: command.act };
    default:
      return command satisfies never;
  }
}

interface PreparedInput {
  readonly text: string;
  readonly mode: SendMode;
  readonly reminder: ReminderForm;
  readonly view: SessionView;
  readonly attachments: Attachments;
}

type Prepared =
  | {
      readonly ok: true;
      readonly submit: (actions: SessionActions) => Promise<ActionResult<CommandReply | undefined>>;
    }
  | { readonly ok: false; readonly problem: string };

function prepareMessage({ text, mode, reminder, view, attachments }: PreparedInput): Prepared {
  const { list } = attachments;
  const problem = findMessageProblem(text, list);
  if (problem !== undefined) return { ok: false, problem };
  if (mode === "remind") {
    if (list.length > 0) return { ok: false, problem: "A reminder cannot have images" };
    const read = readReminder(text, reminder);
    if (!read.ok) return read;
    const keyed = { ...read.reminder, dedupeKey: createReminderKey() };
    return { ok: true, submit: (actions) => withoutReply(actions.remind(keyed)) };
  }
  const command = readBridgeCommand(text, view);
  if (command !== undefined) return prepareCommand(command, list.length > 0);
  const expanded = expandCommandText(
    text,
    view.agentSpec?.commands ?? [],
    listWorkerAgents(view).length > 0,
  );
  if (!expanded.ok) return expanded;
  return {
    ok: true,
    async submit(actions) {
      const images = await readImages(list);
      const message = { text: expanded.text, ...(images.length > 0 && { images }) };
      return withoutReply(
        mode === "send" ? actions.prompt(message) : actions.inject(mode, message),
      );
    },
  };
}
