import type { ToolEnding, TurnFinished } from "../domain/agent-event.ts";
import type { Envelope } from "../domain/envelope.ts";
import { addToTurn, initialTurn } from "../domain/turn-state.ts";
import { turnStream } from "../domain/turn-stream.ts";
import { snapshotTurn, type ServerCall, type TurnMessage } from "../domain/turn.ts";
import type { Spent } from "./guarded-provider.ts";
import type { RunCall, RunResult } from "./run-result.ts";

/** What a run came to so far. */
export interface RunRecord {
  /** The conversation on the provider's side. */
  readonly upstreamId: string | undefined;
  add(envelope: Envelope): void;
  result(spent: Spent): RunResult;
}

export function runRecord(sessionId: string): RunRecord {
  const stream = turnStream();
  const state = stream.initial();
  const turn = initialTurn();
  const endings = new Map<string, ToolEnding>();
  let upstreamId: string | undefined;
  let end: Pick<TurnFinished, "outcome" | "reason" | "usage" | "failure"> = NEVER_BEGUN;
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
    result(spent) {
      const { outcome, reason, usage, failure } = end;
      const { messages, finalText, serverCalls: all } = snapshotTurn(turn);
      const texts = messages.filter(({ role }) => role === "assistant").map(textOf);
      const said = texts.filter((text) => text !== "");
      return {
        outcome,
        reason,
        ...(failure !== undefined && { failure }),
        texts: said,
        text: said.join("\n\n"),
        finalText,
        calls: all.flatMap((use) => runCalls(use, endings)),
        serverCalls: all.filter(({ call }) => call.runBy === "server"),
        usage,
        steps: spent.calls,
        sessionId,
      };
    },
  };
}

const NEVER_BEGUN = { outcome: "cancelled", reason: null, usage: null } as const;

function runCalls(
  { call, result }: ServerCall,
  endings: ReadonlyMap<string, ToolEnding>,
): RunCall[] {
  const ending = endings.get(call.id);
  if (call.runBy === "server" || result === null || ending === undefined) return [];
  return [{ call, result, ending }];
}

function textOf({ blocks }: TurnMessage): string {
  return blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
}
