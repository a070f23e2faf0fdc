import type { Principal } from "../../domain/actor.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { PromptAccepted, ToolResultsSubmitted } from "../../domain/events/turn-events.ts";
import { isInjectionChange } from "../../domain/pending-injection.ts";
import type { PromptPart, TextPart } from "../../domain/prompt.ts";
import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import type { BlobStore } from "../../store/blob-store.ts";
import type { LogStore } from "../../store/log-store.ts";
import { refuse } from "../refuse-command.ts";
import type { Sender } from "../sessions.ts";
import { readChangedId, replyToLateChange } from "../steering/steering-commands.ts";
import { readInjectionOutcome } from "../steering/steering-state.ts";
import { resolveImageHandling } from "../turn-options.ts";
import type { Driver } from "./driver.ts";
import type { SessionReaders } from "./session-readers.ts";
import { storeImages } from "./store-images.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

export interface CommandContext {
  readonly sessionId: string;
  readonly store: LogStore & BlobStore;
  readonly driver: Driver;
  readonly readers: SessionReaders;
}

/**
 * Sends a command to its session, with the facts needed for its decision which the state lacks: stored images, reader
 * counts.
 */
export async function sendCommand(
  command: SessionCommand,
  sender: Sender,
  { sessionId, store, driver, readers }: CommandContext,
): Promise<CommandReply> {
  const { principal } = sender;
  const location = { store, sessionId };
  const refusal =
    command.type === "hide-prompt" && (await checkHidePrompt(command, principal, location));
  if (refusal) return refusal;
  const stored = isTextOnly(command)
    ? { command }
    : await storeImages(command, {
        isEnabled: () => takesImages(driver) && principal.rights.includes("prompt"),
        putBlob: (blobId, bytes) => store.putBlob(sessionId, blobId, bytes),
      });
  if ("reply" in stored) return stored.reply;
  const readerField =
    command.type === "cancel" ? { readerCount: readers.countReaders(sessionId) } : {};
  const commandInput = {
    ...createCommandInput(stored.command, sender),
    ...readerField,
  };
  const reply = await driver.send(commandInput, createCommandKey(sender));
  if (reply === undefined) throw new Error(`The command ${command.type} got no reply`);
  if (reply.status === "accepted") return reply;
  return (await findLateReply(stored.command, reply, location)) ?? reply;
}

/** Whether a command has no images to store. */
function isTextOnly(command: SessionCommand): command is SessionCommand<TextPart> {
  return !("content" in command) || !command.content?.some(({ type }) => type === "image");
}

type RefusedReply = Extract<CommandReply, { readonly status: "refused" }>;
type LogLocation = Pick<CommandContext, "store" | "sessionId">;

/** Replies from the log to a command about an injection or a worker which the state no longer has. */
async function findLateReply(
  command: SessionCommand<PromptPart>,
  { failure }: RefusedReply,
  { store, sessionId }: LogLocation,
): Promise<CommandReply | undefined> {
  if (command.type === "close-worker" && failure.code === "not_found")
    return findClosedWorker(command.workerId, { store, sessionId });
  if (failure.details["reason"] !== "unknown_message_id") return undefined;
  if (!isInjectionChange(command)) return undefined;
  const id = readChangedId(command);
  // Ids of another form are not searched for: such a search reads the whole log.
  if (!INJECTION_ID.test(id)) return undefined;
  const isOutcome = ({ event }: Envelope): boolean => readInjectionOutcome(event)?.id === id;
  const found = await findInLog(store, sessionId, isOutcome);
  const outcome = found === undefined ? undefined : readInjectionOutcome(found.event)?.outcome;
  return outcome === undefined ? undefined : replyToLateChange(command, outcome);
}

/** Closing a worker which has ended has no effect. The reply has the status of the worker. */
async function findClosedWorker(
  workerId: string,
  { store, sessionId }: LogLocation,
): Promise<CommandReply | undefined> {
  if (!workerId.startsWith("worker_")) return undefined;
  const isEnd = ({ event }: Envelope): boolean => isWorkerEnd(event) && event.workerId === workerId;
  const found = await findInLog(store, sessionId, isEnd);
  if (found === undefined || !isWorkerEnd(found.event)) return undefined;
  return { status: "accepted", workerId, workerStatus: END_STATUSES[found.event.type] };
}

const END_STATUSES = {
  "worker.completed": "completed",
  "worker.failed": "failed",
  "worker.stopped": "stopped",
  "worker.cancelled": "cancelled",
} as const;

type WorkerEnd = Extract<SessionEvent, { readonly type: keyof typeof END_STATUSES }>;

function isWorkerEnd(event: SessionEvent): event is WorkerEnd {
  return Object.hasOwn(END_STATUSES, event.type);
}

const INJECTION_ID = /^(?:msg_inj|rem)_/;

function takesImages({ state }: Driver): boolean {
  const spec = state.agent?.spec;
  return spec !== undefined && resolveImageHandling(spec) !== "reject";
}

/** Checks a hide request. Hiding another principal's prompt requires the right to control. */
async function checkHidePrompt(
  { promptId }: { readonly promptId: string },
  { id, rights }: Principal,
  { store, sessionId }: LogLocation,
): Promise<CommandReply | undefined> {
  const submission = await findPrompt(store, sessionId, promptId);
  if (submission === undefined) {
    const where = "in this session";
    return refuse("not_found", formatUnknownName("Prompt", promptId, { where }));
  }
  if (submission.actor?.principal === id || rights.includes("control")) return undefined;
  return refuse(
    "access_denied",
    "This prompt belongs to another principal: hiding it needs the right to control",
  );
}

export function createCommandInput(
  command: SessionCommand<PromptPart>,
  { principal, clientId, attachmentId, commandId }: Sender,
) {
  const { id, rights } = principal;
  const client = clientId === undefined ? {} : { clientId };
  const actor = { kind: "user", principal: id, ...client } as const;
  const attachmentField = attachmentId === undefined ? {} : { attachmentId };
  const commandIdField = commandId === undefined ? {} : { commandId };
  return {
    type: "command-received",
    command,
    actor,
    rights,
    ...attachmentField,
    ...commandIdField,
  } as const;
}

/** Scopes command ids to their principal, so senders cannot collide. */
export function createCommandKey({ principal, commandId }: Sender): string | undefined {
  return commandId === undefined ? undefined : `${principal.id}/${commandId}`;
}

/** Finds the event which accepted a prompt or submitted results. */
function findPrompt(
  store: Pick<LogStore, "readPage">,
  sessionId: string,
  promptId: string,
): Promise<Envelope | undefined> {
  const isPrompt = ({ event }: Envelope): boolean =>
    isSubmission(event) && event.promptId === promptId;
  return findInLog(store, sessionId, isPrompt);
}

/** Finds the first matching event. Reads the whole log, which is acceptable because it is rare. */
async function findInLog(
  store: Pick<LogStore, "readPage">,
  sessionId: string,
  matches: (envelope: Envelope) => boolean,
): Promise<Envelope | undefined> {
  let after = 0;
  for (;;) {
    const events = await store.readPage(sessionId, after);
    const found = events.find(matches);
    const last = events.at(-1);
    if (found !== undefined || last === undefined) return found;
    after = last.seq;
  }
}

function isSubmission(event: SessionEvent): event is PromptAccepted | ToolResultsSubmitted {
  return event.type === "prompt.accepted" || event.type === "tool_results.submitted";
}
