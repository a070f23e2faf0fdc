import type { JsonObject, JsonValue } from "../../data/json.ts";
import type { InjectMode } from "../../domain/events/steering-events.ts";
import type { ApprovalDecision } from "../../domain/policy/approval-decision.ts";
import type { ReminderMode } from "../../domain/reminder.ts";
import type { SessionMode } from "../../domain/session-mode.ts";
import type { ToolRule } from "../../domain/tools/tool-rule.ts";
import type { LiveError } from "../../wire/live/live-frames.ts";

/**
 * The commands that the views send for one session, each one request to `/api`. A command does not change the view:
 * its effect arrives as events. Every command has an idempotency key, so a repetition after a lost response is safe.
 */
export interface SessionActions {
  prompt(message: OutgoingMessage): Promise<ActionResult>;
  inject(mode: InjectMode, message: OutgoingMessage): Promise<ActionResult>;
  replaceMessage(messageId: string, message: OutgoingMessage): Promise<ActionResult>;
  revokeMessage(messageId: string): Promise<ActionResult>;
  withdrawPrompt(promptId: string): Promise<ActionResult>;
  /** A waiting reminder of the same principal with the same key is replaced. */
  remind(reminder: OutgoingReminder): Promise<ActionResult>;
  revokeReminder(reminderId: string): Promise<ActionResult>;
  decide(approvalId: string, choice: ApprovalChoice): Promise<ActionResult>;
  cancel(turnId: string): Promise<ActionResult>;
  /** Stops one tool call. The turn continues. */
  cancelToolCall(toolCallId: string): Promise<ActionResult>;
  /** Replaces the older part of the conversation in requests to the model. */
  compact(options?: { readonly instructions?: string }): Promise<ActionResult>;
  /** How the rules and the session mode treat each tool. */
  listTools(): Promise<ActionResult<readonly ToolRule[]>>;
  /** Starts a worker in the background. `agent`: default: the first agent for workers. */
  delegate(task: string, agent?: string): Promise<ActionResult>;
  /** Ends a worker, also during its work. */
  closeWorker(workerId: string): Promise<ActionResult>;
  /** Starts the next cycle of a worker which waits. */
  triggerWorker(workerId: string, task: string): Promise<ActionResult>;
  setMode(mode: SessionMode): Promise<ActionResult>;
  revokeGrant(grantId: string): Promise<ActionResult>;
  rename(title: string): Promise<ActionResult>;
  takeControl(): Promise<ActionResult>;
  releaseControl(): Promise<ActionResult>;
  /** Opens a session with a copy of the history up to this event. Resolves with the new session's id. */
  fork(through: number): Promise<ActionResult<string>>;
  remove(): Promise<ActionResult>;
  /** Address of the whole log as JSON lines. */
  readonly exportUrl: string;
  /** Address of the download of an artifact or a handoff. */
  artifactUrl(artifactId: string): string;
  /** Address of a stored image or of a whole tool output. */
  blobUrl(blobId: string): string;
}

export interface OutgoingMessage {
  readonly text: string;
  readonly images?: readonly OutgoingImage[];
}

export interface OutgoingImage {
  readonly name: string;
  /** Such as `image/png`. */
  readonly mediaType: string;
  /** The bytes in base64. */
  readonly data: string;
}

export interface OutgoingReminder {
  readonly body: string;
  readonly mode: ReminderMode;
  readonly tags?: readonly string[];
  readonly dedupeKey: string;
}

/** A decision, or the answer to a question of the agent. */
export interface ApprovalChoice {
  readonly decision?: ApprovalDecision;
  readonly answer?: JsonValue;
  /** The arguments in place of the agent's. */
  readonly input?: JsonObject;
  readonly reason?: string;
}

export type ActionResult<Value = void> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: LiveError };
