import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runCodec } from "../../domain/codec.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { addToTurn, createTurnBuilder } from "../../domain/provider/turn-builder.ts";
import { snapshotTurn } from "../../domain/provider/turn.ts";
import { fuzz } from "../../../test/support/bytes/bytes.ts";
import { createConverseFold } from "./fold.ts";
import { parse, readUnionEvent } from "./parse.ts";
import { allowLongTests, runs } from "../../../test/support/test-depth.ts";

allowLongTests();

// The model below reads events without checks: it only ever sees what the generator makes.
// oxlint-disable-next-line typescript/no-explicit-any
type Event = { readonly [name: string]: any };

/**
 * The batch form as its documentation describes it, over a whole list: blocks by id in first-seen order, fragments
 * by the block last opened at their index, text of assistant messages in order, last stop reason, usage summed.
 */
function reference(events: readonly Event[]) {
  const uses = new Map<
    string,
    { name: string; json: string; server: boolean; answered: boolean }
  >();
  let active = new Map<unknown, string>();
  let role = "assistant";
  let text = "";
  let stopReason: string | null = null;
  let usage: [number, number] | null = null;
  for (const event of events) {
    if (event["messageStart"])
      [role, active, stopReason] = [event["messageStart"].role, new Map(), null];
    const start = event["contentBlockStart"];
    if (start?.start.toolUse) {
      const { toolUseId, name, type } = start.start.toolUse;
      const fresh = { name, json: "", server: type === "server_tool_use", answered: false };
      uses.set(toolUseId, Object.assign(uses.get(toolUseId) ?? {}, fresh));
      active.set(start.contentBlockIndex, toolUseId);
    }
    const answered = start?.start.toolResult && uses.get(start.start.toolResult.toolUseId);
    if (answered) answered.answered = true;
    const delta = event["contentBlockDelta"];
    if (delta?.delta.text && role === "assistant") text += delta.delta.text;
    const target = delta?.delta.toolUse && uses.get(active.get(delta.contentBlockIndex) ?? "");
    if (target) target.json += delta.delta.toolUse.input;
    if (event["contentBlockStop"]) active.delete(event["contentBlockStop"].contentBlockIndex);
    if (event["messageStop"]) stopReason = event["messageStop"].stopReason;
    const used = event["metadata"]?.usage;
    if (used) usage = [(usage?.[0] ?? 0) + used.inputTokens, (usage?.[1] ?? 0) + used.outputTokens];
  }
  // A turn that was limited or cut asks nobody to run anything.
  const waits = stopReason !== null && !["max_tokens", "tool_result"].includes(stopReason);
  const toolUses = [...uses]
    .filter(([, use]) => waits && !use.server && !use.answered)
    .map(([toolUseId, { name, json }]) => ({
      toolUseId,
      name,
      input: json === "" ? {} : JSON.parse(json),
    }));
  return { stopReason, toolUses, text, usage };
}

const index = fc.integer({ min: 0, max: 3 });
const ids = fc.constantFrom("A", "B", "C", "D", "E");

/** Streams as services send them, with indexes reused and interleaved at will; every fragment has an open block. */
const textBlock = fc
  .tuple(index, fc.array(fc.string({ unit: "grapheme" }), { maxLength: 4 }))
  .map(([at, parts]) => [
    ...parts.map((text) => ({ contentBlockDelta: { contentBlockIndex: at, delta: { text } } })),
    { contentBlockStop: { contentBlockIndex: at } },
  ]);
const callBlock = fc
  .tuple(
    index,
    ids,
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.nat(),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([at, toolUseId, value, cut, server, stopped]) => {
    const json = JSON.stringify(value);
    const start = {
      toolUseId,
      name: `tool_${toolUseId}`,
      ...(server && { type: "server_tool_use" }),
    };
    const fragments = [json.slice(0, cut % json.length), json.slice(cut % json.length)];
    return [
      { contentBlockStart: { contentBlockIndex: at, start: { toolUse: start } } },
      ...fragments.map((input) => ({
        contentBlockDelta: { contentBlockIndex: at, delta: { toolUse: { input } } },
      })),
      ...(stopped ? [{ contentBlockStop: { contentBlockIndex: at } }] : []),
    ];
  });
const resultBlock = fc.tuple(index, ids).map(([at, toolUseId]) => [
  {
    contentBlockStart: {
      contentBlockIndex: at,
      start: { toolResult: { toolUseId, status: "success" } },
    },
  },
  { contentBlockDelta: { contentBlockIndex: at, delta: { toolResult: [{ text: "ok" }] } } },
  { contentBlockStop: { contentBlockIndex: at } },
]);
const metadata = fc
  .tuple(fc.nat(1000), fc.nat(1000))
  .map(([inputTokens, outputTokens]) => [{ metadata: { usage: { inputTokens, outputTokens } } }]);
const message = fc
  .tuple(
    fc.constantFrom("assistant", "user"),
    fc.array(fc.oneof(textBlock, callBlock, resultBlock, metadata), { maxLength: 6 }),
    fc.constantFrom("end_turn", "tool_use", "max_tokens", "tool_result", "unheard_of"),
  )
  .map(([role, blocks, stopReason]): Event[] => [
    { messageStart: { role } },
    ...blocks.flat(),
    { messageStop: { stopReason } },
  ]);
const stream = fc.array(message, { maxLength: 5 }).map((messages) => messages.flat());

describe("the batch form", () => {
  it("equals its whole-list definition on any stream of well-formed events [RMA-P1-1]", () => {
    fc.assert(
      fc.property(stream, (events) => {
        const { stopReason, toolUses, text, usage } = parse(events);
        expect({
          stopReason,
          toolUses,
          text,
          usage: usage && [usage.inputTokens, usage.outputTokens],
        }).toEqual(reference(events));
      }),
      { numRuns: runs(5000) },
    );
  });

  it("equals the incremental fold at every point of a stream [RMA-P1-1]", () => {
    fc.assert(
      fc.property(stream, (events) => {
        const fold = createConverseFold();
        const state = fold.initial();
        const turn = createTurnBuilder();
        for (const [at, event] of events.entries()) {
          for (const one of readUnionEvent(event))
            fold.step(state, one, (out) => addToTurn(turn, out));
          const soFar = snapshotTurn(turn);
          const { turn: batch } = parse(events.slice(0, at + 1));
          expect(soFar.text).toBe(batch.text);
          expect(soFar.usage).toEqual(batch.usage);
        }
        fold.finish(state, (out) => addToTurn(turn, out));
        expect(snapshotTurn(turn)).toEqual(parse(events).turn);
      }),
      { numRuns: runs(150) },
    );
  });

  it("gives nothing for an empty list, and does not call it a success", () => {
    expect(parse([])).toMatchObject({
      stopReason: null,
      toolUses: [],
      text: "",
      usage: null,
      turn: { end: { outcome: "failed" } },
    });
  });

  it("reports events that are no objects", () => {
    const { turn } = parse([null, 7, "x", [], {}]);
    expect(turn.diagnostics.map((diagnostic) => diagnostic.code)).toEqual(
      Array.from({ length: 5 }, () => "malformed_event"),
    );
  });
});

describe("any events at all", () => {
  const names = [
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
    "hookEvent",
    "validationException",
    "novelty",
    "__proto__",
  ];
  const values = [
    null,
    undefined,
    true,
    -1,
    0,
    1.5,
    "",
    "x",
    "tool_use",
    "assistant",
    "A",
    [],
    {},
    [{}],
  ];
  const keys = [
    "contentBlockIndex",
    "start",
    "delta",
    "toolUse",
    "toolResult",
    "toolUseId",
    "name",
    "input",
    "text",
    "reasoningContent",
    "signature",
    "redactedContent",
    "role",
    "stopReason",
    "usage",
    "inputTokens",
    "toolResultMetadata",
    "metadata",
    "type",
    "constructor",
  ];

  function anything(random: (below: number) => number, depth: number): unknown {
    if (depth === 0 || random(3) === 0) return values[random(values.length)];
    if (random(6) === 0) return [anything(random, depth - 1)];
    return Object.fromEntries(
      Array.from({ length: random(4) }, () => [
        keys[random(keys.length)],
        anything(random, depth - 1),
      ]),
    );
  }

  it("fold without a throw to exactly one end, which is the last event", () => {
    fuzz(100_000, (random) => {
      const events = Array.from({ length: 1 + random(12) }, () => ({
        [names[random(names.length)] ?? ""]: anything(random, 4),
      }));
      const out: ProviderEvent[] = runCodec(createConverseFold(), events.flatMap(readUnionEvent));
      const ends = out.filter((event) => event.type === "end");
      if (ends.length !== 1 || out.at(-1) !== ends[0]) throw new Error("not exactly one end, last");
      const started = new Set(
        out.flatMap((event) => (event.type === "message.start" ? [event.message] : [])),
      );
      for (const event of out) {
        if ("message" in event && !started.has(event.message))
          throw new Error(`${event.type} outside a message`);
      }
      for (const [key, { ending }] of collected(out).blocks)
        if (ending === "open") throw new Error(`block ${key} never ends`);
      const { toolCalls, end } = snapshotTurn(collected(out));
      if (toolCalls.map((call) => call.id).join() !== end?.openToolCallIds.join())
        throw new Error("open calls disagree");
    });
  });

  function collected(events: readonly ProviderEvent[]) {
    const turn = createTurnBuilder();
    for (const event of events) addToTurn(turn, event);
    return turn;
  }
});
