import type { Codec } from "../../domain/codec.ts";
import type { Failure } from "../../domain/errors.ts";
import { isObject } from "../../data/json.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { createConverseFold } from "../converse/fold.ts";
import { isStrandsEvent } from "./strands-event.ts";
import { foldData, skipLine } from "./data.ts";
import { endStream } from "./ending.ts";
import { foldError, isError, isRefusal, isSuspectedError } from "./stream-errors.ts";
import { stepConverseMessage } from "./message-tracker.ts";
import { foldValue } from "./values.ts";
import type { EmitEvent, StrandsOptions, StrandsState } from "./state.ts";

export type StrandsInput =
  | {
      readonly type: "event";
      readonly event: string;
      readonly data: string;
      /** Position in the stream, for diagnostics emitted after a delay. */
      readonly offset?: number;
    }
  /** One parsed event, as stored in captures. */
  | { readonly type: "value"; readonly value: unknown }
  /** A complete response which is not a stream. */
  | { readonly type: "body"; readonly value: unknown }
  /** A line skipped by the framing because `isNoise` returned true. */
  | { readonly type: "skipped" }
  | { readonly type: "failure"; readonly failure: Failure };

/**
 * Creates a fold for streams of agents on AgentCore Runtime: Strands for Python and TypeScript, apps which forward part
 * of the Strands events, and apps with their own events.
 *
 * The same text arrives in up to six carriers. One carrier is selected per message, by priority: Converse events,
 * merged events and bare strings, the full message, the result. The other carriers only confirm the text, complete the
 * text, or replace it after a redaction.
 */
export function createStrandsFold(
  options: StrandsOptions = {},
): Codec<StrandsState, StrandsInput, ProviderEvent> {
  return {
    initial: () => createInitialState(options),
    step(state, input, emit) {
      switch (input.type) {
        case "event":
          return foldData(state, input, emit);
        case "value":
          state.hasStructures = true;
          return foldValue(state, input.value, emit);
        case "body":
          return foldBody(state, input.value, emit);
        case "skipped":
          return skipLine(state, emit);
        case "failure":
          return stepConverseMessage(state, input, emit);
        default:
          input satisfies never;
      }
    },
    finish: endStream,
  };
}

function createInitialState(options: StrandsOptions): StrandsState {
  const { toolsRunBy = "agent", bigIntegers = "string", errorTexts = [] } = options;
  const { displayNames = [], hasSuccessStatus = false, maxCharacters } = options;
  return {
    settings: { toolsRunBy, bigIntegers, errorTexts, displayNames, hasSuccessStatus },
    converse: createConverseFold(maxCharacters === undefined ? {} : { maxCharacters }).initial(),
    trackedMessage: null,
    hasLoopEvents: false,
    hasConfirmedMessages: false,
    hasConfirmedStrings: false,
    isCycleAnnounced: false,
    hasNestedEvents: false,
    loopEnd: null,
    forceStop: null,
    knownError: null,
    suspectedError: null,
    missingContent: null,
    hasStructures: false,
    hasQuotedText: false,
    hasRawText: false,
    pendingData: [],
    skippedLines: 0,
    recentMessageIds: [],
    announcedToolCallIds: new Set(),
  };
}

/** A body in one piece is the result of the app, in any structure. */
function foldBody(state: StrandsState, value: unknown, emit: EmitEvent): void {
  if (isReadableBody(value)) foldValue(state, value, emit);
  else if (isObject(value) && (isSuspectedError(value) || isRefusal(state, value)))
    foldError(state, value, emit);
  else emit({ type: "activity", kind: "structured-result", raw: value });
  state.loopEnd ??= { reason: null };
}

function isReadableBody(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(isStrandsEvent);
  if (!isObject(value)) return typeof value === "string";
  return isStrandsEvent(value) || isError(value) || "result" in value;
}
