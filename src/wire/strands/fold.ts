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
      /** Where it lies in the stream, for what can be said about it only later. */
      readonly offset?: number;
    }
  /** One event, already parsed, as captures keep it. */
  | { readonly type: "value"; readonly value: unknown }
  /** A whole answer that is no stream: it is complete. */
  | { readonly type: "body"; readonly value: unknown }
  /** A line that was passed over because `isNoise` said so. */
  | { readonly type: "skipped" }
  | { readonly type: "failure"; readonly failure: Failure };

/**
 * Folds what agents on AgentCore Runtime send: Strands in Python and TypeScript, apps that pass on part of it, and apps
 * with events of their own.
 *
 * The same text comes in up to six carriers. One carrier is elected for each message: its Converse events if they are
 * there, else merged events and bare strings, else the full message, else the result. The others only confirm it,
 * complete it or, where the agent took something back, replace it.
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

/** What an app returns in one piece is its result, in whatever shape. */
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
