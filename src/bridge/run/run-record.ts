import type { ToolEnding } from "../../domain/events/tool-events.ts";
import type { TurnFinished } from "../../domain/events/turn-events.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { addToTurn, createTurnBuilder } from "../../domain/provider/turn-builder.ts";
import { createTurnStream } from "../../domain/provider/turn-stream.ts";
import { snapshotTurn, type ServerToolCall, type TurnMessage } from "../../domain/provider/turn.ts";
import type { TurnUsage } from "./guarded-provider.ts";
import type { RunToolCall, RunResult } from "./run-result.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** Collects the events of a run for its result. */
export interface RunRecord {
  /** Id of the upstream session. */
  readonly upstreamId: string | undefined;
  add(envelope: Envelope): void;
  result(turnUsage: TurnUsage): RunResult;
}

export function createRunRecord(sessionId: string): RunRecord {
  const stream = createTurnStream();
  const state = stream.initial();
  const turn = createTurnBuilder();
  const endings = new Map<string, ToolEnding>();
  let upstreamId: string | undefined;
  let end: Pick<TurnFinished, "outcome" | "reason" | "usage" | "failure"> = NOT_STARTED;
  return {
    get upstreamId() {
      return upstreamId;
    },
    add({ event }) {
      stream.step(state, event, (provided) => addToTurn(turn, provided));
      if (event.type === "upstream.opened") upstreamId = event.upstreamId;
      if (event.type === "tool.finished") endings.set(event.toolCallId, event.ending);
      if (event.type === "turn.finished") end = event;
    },
    result(turnUsage) {
      const { outcome, reason, usage, failure } = end;
      const { messages, finalText, serverToolCalls: all } = snapshotTurn(turn);
      const texts = messages.filter(({ role }) => role === "assistant").map(joinMessageText);
      const nonEmptyTexts = texts.filter((text) => text !== "");
      return {
        outcome,
        reason,
        ...omitUndefined({ failure }),
        texts: nonEmptyTexts,
        text: nonEmptyTexts.join("\n\n"),
        finalText,
        toolCalls: all.flatMap((use) => toRunToolCalls(use, endings)),
        serverToolCalls: all.filter(({ toolCall }) => toolCall.runBy === "server"),
        usage,
        steps: turnUsage.invocations,
        sessionId,
      };
    },
  };
}

const NOT_STARTED = { outcome: "cancelled", reason: null, usage: null } as const;

function toRunToolCalls(
  { toolCall: call, result }: ServerToolCall,
  endings: ReadonlyMap<string, ToolEnding>,
): RunToolCall[] {
  const ending = endings.get(call.id);
  if (call.runBy === "server" || result === null || ending === undefined) return [];
  return [{ toolCall: call, result, ending }];
}

function joinMessageText({ blocks }: TurnMessage): string {
  return blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
}
