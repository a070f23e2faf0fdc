import type { PromptOptions } from "../../../domain/prompt.ts";
import type { JsonObject } from "../../../data/json.ts";
import type { ModelMessage } from "../../../domain/model/model-request.ts";
import type { SubmittedPart, SubmittedResult } from "../../../domain/session-command.ts";
import type { Caller } from "../../../http/access/caller.ts";
import type { SessionStatus } from "../../../session/sessions.ts";

/** What a request wants of a session, in the words of no protocol. */
export interface PromptRequest {
  readonly caller: Caller;
  /** By its name; null for the session's, or for the first that there is. */
  readonly agent: string | null;
  readonly session: SessionReference | null;
  readonly retry: RetryIdentity;
  readonly submittedResults: SubmittedResults;
  /** What is said to a session that is still to be opened. Throws where it cannot be said. */
  buildStart(): ConversationStart;
  /** What is said to a session that knows all that was said before. */
  buildContinuation(sessionId: string, outlook: SessionStatus): ConversationContinuation;
  /** What the request wants of its turn. */
  buildOptions(instructions: string | null, agentTools: readonly string[]): PromptOptions;
  /** The field of the request that a part of its command was made of, for whoever has to mend it. */
  resolveField?(path: string): string | undefined;
  /** What is kept beside the prompt. */
  buildNote(facts: NoteDetails): JsonObject;
}

export interface SessionReference {
  readonly sessionId: string;
  /** The field or header that names it. */
  readonly param: string;
  /** Where the response begins that has to be the last one. */
  readonly after?: number;
  /** It was only read out of ids that the caller echoed, which may be somebody else's. */
  readonly isImplied: boolean;
  /** The response at `after` may be gone on from though nobody keeps it: the caller's connection remembers it. */
  readonly isConnectionLocal?: boolean;
}

/** Calls that a request brings results of. */
export interface SubmittedResults {
  /** As their caller knows them. */
  readonly callIds: readonly string[];
  /** It ends with them: nothing is said behind. */
  readonly isAll: boolean;
}

export interface ConversationStart {
  readonly content: readonly SubmittedPart[];
  /** How many parts each message of `content` has. Absent: all parts are one message. */
  readonly messages?: readonly number[];
  readonly history: readonly ModelMessage[];
  readonly instructions: string | null;
}

export interface ConversationContinuation {
  readonly content: readonly SubmittedPart[];
  /** How many parts each message of `content` has. Absent: all parts are one message. */
  readonly messages?: readonly number[];
  /** Of all calls that the turn is paused for; empty for a prompt. */
  readonly results: readonly SubmittedResult[];
  readonly instructions: string | null;
}

export interface NoteDetails {
  readonly agent: string;
  /** Tools of the caller's from the request that the turn began with. */
  readonly clientTools: readonly string[];
  /** The session is opened with earlier messages of the request. Default: false. */
  readonly hasHistory?: boolean;
}

/** How a request is known that was sent before. */
export interface RetryIdentity {
  /** The caller's own name for it. */
  readonly key?: string;
  /** Of who sends what. */
  readonly fingerprint: string;
  /** The caller says that it was sent before. */
  readonly isRepeated: boolean;
}

/** Where the log has what was asked. */
export interface SubmittedPrompt {
  readonly sessionId: string;
  readonly incarnation: string;
  /** Of the event that begins the answer. */
  readonly seq: number;
  readonly promptId: string;
  readonly agent: string;
  /** A turn before it runs. */
  readonly isWaiting?: boolean;
  /** What became of a conversation that was held elsewhere. */
  readonly history?: "replayed" | "ignored";
  /** It had been asked before. */
  readonly isRepeated: boolean;
  /** What was kept beside the prompt: of a repeated one, what was kept then. */
  readonly note: JsonObject;
}
