import { gather } from "../../domain/kept-text.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import type { StreamMessage } from "../../domain/stream-message.ts";
import { converseFold } from "../converse/fold.ts";
import { nothingSaid } from "./repeated-text.ts";
import type { HeardBlock, HeardMessage, Out, StrandsState } from "./state.ts";

/** Tells the one fold about an event, and listens to what it makes of it. */
export function tell(state: StrandsState, name: string, payload: unknown, emit: Out): void {
  tellMessage(state, { type: "event", name, payload }, emit);
}

export function tellMessage(state: StrandsState, message: StreamMessage, emit: Out): void {
  converse.step(state.converse, message, (event) => {
    hear(state, event);
    emit(event);
  });
}

/** Limits are kept in the state, so one codec serves all. */
const converse = converseFold();

/** The message that content of any carrier belongs to now. */
export function currentMessage({ heard }: StrandsState): HeardMessage | null {
  return heard === null || heard.settled ? null : heard;
}

export function textOf(heard: HeardMessage): string {
  return heard.replacement ?? spokenText(heard);
}

/** The text of its blocks, whatever stands in place of it. */
export function spokenText(heard: HeardMessage): string {
  let text = "";
  for (const block of heard.blocks.values()) if (block.kind === "text") text += block.text;
  return text;
}

/** Whether a carrier says again how the text ends: one that knows of the last cycle only says no more than that. */
export function endsWithText(told: string, text: string): boolean {
  return told.trimEnd().endsWith(text.trimEnd());
}

/** Whether two carriers say the same. Strands ends every block with a line break when it turns a result into text. */
export function isSameText(told: string, text: string): boolean {
  // Lengths first: a long text is looked at only by what may be the same.
  const isNear = Math.abs(told.length - text.length) <= MOST_TRAILING_SPACE;
  return isNear && told.trimEnd() === text.trimEnd();
}

const MOST_TRAILING_SPACE = 64;

export function holds(heard: HeardMessage, kind: HeardBlock["kind"]): boolean {
  for (const block of heard.blocks.values()) if (block.kind === kind) return true;
  return false;
}

function hear(state: StrandsState, event: ProviderEvent): void {
  if ("message" in event) state.suspect = null;
  switch (event.type) {
    case "message.start":
      return hearStart(state, event.message, event.role === "assistant");
    case "message.end":
      if (state.heard?.number !== event.message) return;
      state.heard.open = false;
      state.heard.reason = event.reason;
      return;
    case "text.delta":
      return hearText(state, event, "text");
    case "reasoning.delta":
      return hearText(state, event, "reasoning");
    case "tool.start":
      if (state.heard === null) return;
      state.heard.calls += 1;
      state.heard.blocks.set(event.block, { kind: "call", text: event.callId, loose: 0 });
      return;
    case "reasoning.end":
      // Redacted reasoning has no deltas.
      if (event.redacted !== undefined) hearText(state, { ...event, text: "" }, "reasoning");
      return;
    case "unknown":
      if (state.heard !== null && CITATION_DELTAS.has(event.name)) state.heard.cited = true;
      return;
    default:
  }
}

/** What Strands in Python and in TypeScript call the delta that brings a citation. */
const CITATION_DELTAS: ReadonlySet<string> = new Set(["citation", "citationsDelta"]);

function hearStart(state: StrandsState, number: number, isAssistant: boolean): void {
  if (state.heard !== null) state.heard.settled = true;
  if (!isAssistant) return;
  state.done = null;
  state.heard = {
    number,
    carrier: null,
    open: true,
    settled: false,
    confirmed: false,
    id: null,
    merged: false,
    reason: null,
    blocks: new Map(),
    calls: 0,
    replacement: null,
    withdrawn: null,
    usageSeen: false,
    cited: false,
    dataBlock: null,
    cycle: null,
    said: nothingSaid(),
  };
}

function hearText(
  { heard }: StrandsState,
  event: { readonly message: number; readonly block: number; readonly text: string },
  kind: "text" | "reasoning",
): void {
  if (heard?.number !== event.message) return;
  const block = heard.blocks.get(event.block);
  if (block === undefined) heard.blocks.set(event.block, { kind, text: event.text, loose: 1 });
  else gather(block, event.text);
  if (kind !== "text") return;
  if (heard.replacement !== null) heard.replacement += event.text;
  heard.said.pieces.push(event.text);
}
