import type { TextBuilder } from "../../text/text-builder.ts";
import type { Outcome } from "../../domain/provider/provider-event.ts";
import type { ConverseState, EmitEvent } from "../converse/state.ts";
import type { DisplayNames } from "./display-names.ts";
import type { DeliveredText } from "./delivered-text.ts";

export type { EmitEvent };

/** The fields of an object in the stream, before its kind is known. */
export type Fields = { readonly [name: string]: unknown };

export interface StrandsOptions {
  /**
   * The side which runs the tools. An agent on Runtime runs its own tools, so a tool call without a result is not open:
   * the result was lost or not forwarded. `caller` is for an app which leaves its tool calls to the client. Default:
   * `agent`.
   */
  readonly toolsRunBy?: "agent" | "caller";
  /** The type of integers which a double cannot represent, in raw values. Default: `string`. */
  readonly bigIntegers?: "string" | "bigint";
  /** Substrings which mark a line without JSON as an error of the agent, in addition to the built-in texts. */
  readonly errorTexts?: readonly string[];
  readonly displayNames?: DisplayNames;
  /**
   * The HTTP status was a success. A body with only a `message` or `detail` is then a result instead of a refusal.
   * Default: false.
   */
  readonly hasSuccessStatus?: boolean;
  /** Characters of text, arguments and results kept per turn. Default: 100,000,000. */
  readonly maxCharacters?: number;
}

export interface Settings {
  readonly toolsRunBy: "agent" | "caller";
  readonly bigIntegers: "string" | "bigint";
  readonly errorTexts: readonly string[];
  readonly displayNames: DisplayNames;
  readonly hasSuccessStatus: boolean;
}

export interface StrandsState {
  readonly settings: Settings;
  /** All carriers are converted to Converse events for this fold, so blocks and ends are built in one place. */
  readonly converse: ConverseState;
  /** The current or last assistant message. Null before the first. */
  trackedMessage: TrackedMessage | null;
  /** The stream has events of the agent loop, so a message is complete only with its full copy. */
  hasLoopEvents: boolean;
  /** A full copy confirmed a message, so the app forwards full messages. */
  hasConfirmedMessages: boolean;
  /** A full copy confirmed a message of bare strings, so bare strings are text of the agent and not of the app. */
  hasConfirmedStrings: boolean;
  /** A cycle was announced, and no other event arrived since. */
  isCycleAnnounced: boolean;
  /** Converse events of a nested agent were received, so its reprs are repetitions. */
  hasNestedEvents: boolean;
  /** The end of the loop as reported by the agent. Null while the loop runs. */
  loopEnd: LoopEnd | null;
  forceStop: string | null;
  /** A printed error text. Fails the turn unless the turn reaches its end. */
  knownError: string | null;
  /** An unknown object with an error, followed by no content. Fails the turn at the end of the stream. */
  suspectedError: Fields | null;
  /** Reason why a part of the current message is missing. Null after a complete copy arrived. */
  missingContent: string | null;
  /** Some data was a JSON structure. Invalid JSON which starts like an event is then broken, not text. */
  hasStructures: boolean;
  /** Some data was a JSON string. Invalid JSON which starts like JSON is then broken, not text. */
  hasQuotedText: boolean;
  /** Some data was text without quotes, so the app sends raw strings. */
  hasRawText: boolean;
  /** JSON which is not an event of an agent and may be text. The following data decides. */
  readonly pendingData: PendingData[];
  skippedLines: number;
  /** Ids of the last 32 messages. Strands sends the same message several times. */
  readonly recentMessageIds: string[];
  readonly announcedToolCallIds: Set<string>;
}

/** The data of one server-sent event with JSON. */
export interface PendingData {
  readonly data: string;
  readonly value: unknown;
  /** Position in the stream. */
  readonly offset: number | undefined;
}

/** The emitted content of an assistant message, for comparison with the other carriers. */
export interface TrackedMessage {
  readonly number: number;
  /** The selected carrier of the content. Null before the first content. */
  carrier: "event" | "data" | "message" | null;
  isOpen: boolean;
  /** A full copy arrived or the next cycle began, so new content belongs to the next message. */
  isSettled: boolean;
  /** A full copy arrived. */
  isConfirmed: boolean;
  /** The id of the full copy. Null if absent. */
  id: string | null;
  /** Merged events of the agent delivered content, not only bare strings of the app. */
  hasMergedEvents: boolean;
  reason: string | null;
  readonly blocks: Map<number, TrackedBlock>;
  toolCallCount: number;
  /** Replaces the text of the blocks. Null if not replaced. */
  replacementText: string | null;
  /** The text before a redaction. Copies of this text must not be emitted. */
  withdrawnText: string | null;
  hasUsage: boolean;
  /** A carrier before the full copy delivered citations. */
  hasCitations: boolean;
  /** The open block of the `data` carrier. Null if none is open. */
  dataBlock: "text" | "reasoning" | null;
  /** The cycle id in the events of the `data` carrier. */
  cycle: string | null;
  readonly deliveredText: DeliveredText;
}

/** The text of a block, or the id of a tool call. */
export interface TrackedBlock extends TextBuilder {
  readonly kind: "text" | "reasoning" | "call";
}

export interface LoopEnd {
  /** The stop reason given by the agent. Null if absent. */
  readonly reason: string | null;
  readonly outcome?: Outcome;
}

const MAX_RECENT_MESSAGES = 32;
const MAX_ID_LENGTH = 256;

export function rememberMessage(state: StrandsState, id: string): void {
  if (id.length > MAX_ID_LENGTH) return;
  state.recentMessageIds.push(id);
  if (state.recentMessageIds.length > MAX_RECENT_MESSAGES) state.recentMessageIds.shift();
}

const MAX_ANNOUNCED_TOOL_CALLS = 1024;

/** Returns true the first time. At most 1,024 ids are remembered. */
export function rememberAnnouncedToolCall(
  { announcedToolCallIds }: StrandsState,
  toolCallId: string,
): boolean {
  if (announcedToolCallIds.has(toolCallId)) return false;
  if (announcedToolCallIds.size >= MAX_ANNOUNCED_TOOL_CALLS) announcedToolCallIds.clear();
  if (toolCallId.length <= MAX_ID_LENGTH) announcedToolCallIds.add(toolCallId);
  return true;
}
