import type { TextBuilder } from "../../text/text-builder.ts";
import type { Outcome } from "../../domain/provider/provider-event.ts";
import type { ConverseState, EmitEvent } from "../converse/state.ts";
import type { DisplayNames } from "./display-names.ts";
import type { DeliveredText } from "./delivered-text.ts";

export type { EmitEvent };

/** The fields of an object of the stream, before anybody asks what it is. */
export type Fields = { readonly [name: string]: unknown };

export interface StrandsOptions {
  /**
   * Who runs the tools that the stream calls. An agent on Runtime runs its own, so a call without a result is not
   * ours to run: its result was cut off or not passed on. `caller` is for an app that hands its calls to us.
   */
  readonly toolsRunBy?: "agent" | "caller";
  /** Whole numbers that a double cannot hold, in what is kept as it came. */
  readonly bigIntegers?: "string" | "bigint";
  /** Texts by which a line that is no JSON is known as an error of the agent; looked at beside the built-in ones. */
  readonly errorTexts?: readonly string[];
  readonly displayNames?: DisplayNames;
  /** The answer had the status of success: a body of nothing but a `message` is the app's answer and no refusal. */
  readonly hasSuccessStatus?: boolean;
  /** Text, arguments and results kept of one turn, in characters. */
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
  /** Every carrier is told to this one fold as if it were Converse, so blocks and endings are made in one place. */
  readonly converse: ConverseState;
  /** The assistant message at hand, or the last one. */
  trackedMessage: TrackedMessage | null;
  /** The agent's loop passes on its own events, so its messages must be confirmed before they count as whole. */
  hasLoopEvents: boolean;
  /** A full copy confirmed a message: the app passes those on. */
  hasConfirmedMessages: boolean;
  /** One did so for a message of bare strings, so these are the agent's words and not the app's. */
  hasConfirmedStrings: boolean;
  /** A cycle was announced and nothing else has come since. */
  isCycleAnnounced: boolean;
  /** An agent inside this one was heard in Converse events, so its reprs repeat them. */
  hasNestedEvents: boolean;
  /** The agent itself said that it is done. */
  loopEnd: LoopEnd | null;
  forceStop: string | null;
  /** A known error text came; it fails the turn unless the turn goes on to its end. */
  knownError: string | null;
  /** An object that speaks of an error came, and nothing of the turn since; as the last word it fails the turn. */
  suspectedError: Fields | null;
  /** Part of the message at hand could not be read, and no fuller copy has come. */
  missingContent: string | null;
  /** Some data was a JSON structure: what begins like an event, and is no JSON, is broken rather than text. */
  hasStructures: boolean;
  /** Some data was a JSON string: what looks like JSON, and is none, is broken rather than text. */
  hasQuotedText: boolean;
  /** Text came without being JSON: this app sends its strings as they are. */
  hasRawText: boolean;
  /** JSON that is no event of an agent, and may be text: what comes next tells. */
  readonly pendingData: PendingData[];
  skippedLines: number;
  /** Ids that Strands gave the last messages; the same message comes several times. */
  readonly recentMessageIds: string[];
  readonly announcedToolCallIds: Set<string>;
}

/** The data of one server-sent event that is JSON. */
export interface PendingData {
  readonly data: string;
  readonly value: unknown;
  /** Where it lies in the stream. */
  readonly offset: number | undefined;
}

/** What the one fold has told of an assistant message, for comparing the other carriers with it. */
export interface TrackedMessage {
  readonly number: number;
  /** The carrier that delivers its content; null until one has. */
  carrier: "event" | "data" | "message" | null;
  isOpen: boolean;
  /** A full copy has come, or the next cycle has begun: what comes now is another message. */
  isSettled: boolean;
  /** A full copy has come. */
  isConfirmed: boolean;
  /** The id that its full copy had. */
  id: string | null;
  /** Merged events of the agent brought some of it, and not only strings of the app. */
  hasMergedEvents: boolean;
  reason: string | null;
  readonly blocks: Map<number, TrackedBlock>;
  toolCallCount: number;
  /** Stands in place of the text of its blocks. */
  replacementText: string | null;
  /** The text that the agent took back. No copy of it may be shown. */
  withdrawnText: string | null;
  hasUsage: boolean;
  /** A carrier before the full copy brought citations. */
  hasCitations: boolean;
  /** Which block the `data` carrier has open. */
  dataBlock: "text" | "reasoning" | null;
  /** The cycle that the `data` carrier named. */
  cycle: string | null;
  readonly deliveredText: DeliveredText;
}

/** Its text, or the id of a call. */
export interface TrackedBlock extends TextBuilder {
  readonly kind: "text" | "reasoning" | "call";
}

export interface LoopEnd {
  /** The agent's word; null when it gave none. */
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

/** True the first time. */
export function rememberAnnouncedToolCall(
  { announcedToolCallIds }: StrandsState,
  toolCallId: string,
): boolean {
  if (announcedToolCallIds.has(toolCallId)) return false;
  if (announcedToolCallIds.size >= MAX_ANNOUNCED_TOOL_CALLS) announcedToolCallIds.clear();
  if (toolCallId.length <= MAX_ID_LENGTH) announcedToolCallIds.add(toolCallId);
  return true;
}
