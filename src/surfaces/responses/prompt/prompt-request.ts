import type { PromptOptions } from "../../../domain/prompt.ts";
import type { JsonObject } from "../../../data/json.ts";
import type { ModelMessage } from "../../../domain/model/model-request.ts";
import type { SubmittedPart, SubmittedResult } from "../../../domain/session-command.ts";
import type { Caller } from "../../../http/access/caller.ts";
import type { SessionStatus } from "../../../session/sessions.ts";

/** A request to submit a prompt or tool results, independent of the wire protocol. */
export interface PromptRequest {
  readonly caller: Caller;
  /** The agent's name. Null: the session's agent, or the first agent the caller may use. */
  readonly agent: string | null;
  readonly session: SessionReference | null;
  readonly retry: RetryIdentity;
  readonly submittedResults: SubmittedResults;
  /** Builds the first prompt of a new session. Throws if the request is not valid as a start. */
  buildStart(): ConversationStart;
  /**
   * Builds the next prompt, or the tool results, for an existing session, without the messages the session already has.
   */
  buildContinuation(sessionId: string, outlook: SessionStatus): ConversationContinuation;
  /** Builds the options of the turn, such as tools and limits. */
  buildOptions(instructions: string | null, agentTools: readonly string[]): PromptOptions;
  /** Maps a path of the session command to the request field it was built from, for error messages. */
  resolveField?(path: string): string | undefined;
  /** Builds the note stored with the prompt in the log. */
  buildNote(facts: NoteDetails): JsonObject;
}

export interface SessionReference {
  readonly sessionId: string;
  /** The field or header with the session id. */
  readonly param: string;
  /**
   * The sequence number of the response from which the request continues. The request is refused if the session has a
   * later prompt.
   */
  readonly after?: number;
  /**
   * Whether the session id was inferred from item ids echoed by the caller. Such ids may belong to another caller's
   * session.
   */
  readonly isImplied: boolean;
  /**
   * Whether the caller's connection remembers the response at `after`. The request may then continue from a response
   * created with `store: false`. Default: false.
   */
  readonly isConnectionLocal?: boolean;
}

/** The tool calls whose results are part of a request. */
export interface SubmittedResults {
  /** Call ids in the caller's format. */
  readonly callIds: readonly string[];
  /** Whether the results are the last input of the request, without a later message. */
  readonly isAll: boolean;
}

export interface ConversationStart {
  readonly content: readonly SubmittedPart[];
  /** Number of parts in each message of `content`. Default: all parts form one message. */
  readonly messages?: readonly number[];
  readonly history: readonly ModelMessage[];
  readonly instructions: string | null;
}

export interface ConversationContinuation {
  readonly content: readonly SubmittedPart[];
  /** Number of parts in each message of `content`. Default: all parts form one message. */
  readonly messages?: readonly number[];
  /** Results of all tool calls the turn is paused for. Empty for a prompt. */
  readonly results: readonly SubmittedResult[];
  readonly instructions: string | null;
}

export interface NoteDetails {
  readonly agent: string;
  /** Names of the caller's tools, from the request that started the turn. */
  readonly clientTools: readonly string[];
  /** Whether the session is opened with earlier messages of the request. Default: false. */
  readonly hasHistory?: boolean;
}

/** Identifies retries of the same request. */
export interface RetryIdentity {
  /** The Idempotency-Key, if the caller sent it. */
  readonly key?: string;
  /** Digest of the caller's id and the request body. */
  readonly fingerprint: string;
  /** Whether the caller declared the request as a retry. */
  readonly isRepeated: boolean;
}

/** The position of a submitted prompt in the log. */
export interface SubmittedPrompt {
  readonly sessionId: string;
  readonly incarnation: string;
  /** Sequence number of the first event of the response. */
  readonly seq: number;
  readonly promptId: string;
  readonly agent: string;
  /** Whether the prompt is queued behind a running turn. Default: false. */
  readonly isWaiting?: boolean;
  /** What happened to a history from outside this bridge. Absent if there was none. */
  readonly history?: "replayed" | "ignored";
  /** Whether the same request was submitted before. */
  readonly isRepeated: boolean;
  /** The note stored with the prompt. For a repeated request: the note of the first request. */
  readonly note: JsonObject;
}
