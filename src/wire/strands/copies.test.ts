import { describe, expect, it } from "vitest";
import {
  completed,
  converseEvent,
  ended,
  foldValues,
  plainTurn,
  saidText,
  started,
  textDelta,
} from "../../../test/fixtures/strands/fixtures.ts";
import { buildTurn } from "../../domain/provider/turn.ts";

function merged(text: string, cycle?: string): unknown {
  return {
    data: text,
    delta: { text },
    ...(cycle !== undefined && { event_loop_cycle_id: cycle }),
  };
}

function message(text: string, id?: string): unknown {
  const content = [{ text }];
  return { message: { role: "assistant", content, ...(id !== undefined && { tracking_id: id }) } };
}

const CALL = {
  message: {
    role: "assistant",
    content: [{ text: "Let me look." }, { toolUse: { toolUseId: "A", name: "look", input: {} } }],
  },
};
const RESULT = {
  message: {
    role: "user",
    content: [{ toolResult: { toolUseId: "A", status: "success", content: [{ text: "Sun" }] } }],
  },
};
const PROMPT = { message: { role: "user", content: [{ text: "How is the weather?" }] } };

const START = converseEvent("messageStart", { role: "assistant" });
const BLOCK_STOP = converseEvent("contentBlockStop", {});
const STOP = converseEvent("messageStop", { stopReason: "end_turn" });

describe("Copies of one text", () => {
  it.each([
    ["after its merged events", [merged("Hel"), "Hel", merged("lo"), "lo"]],
    ["before its merged events", ["Hel", merged("Hel"), "lo", merged("lo")]],
    ["in different pieces", ["Hel", merged("H"), merged("el"), "lo", merged("lo")]],
  ])("Text is emitted once if an app sends bare strings %s [AC-74]", (_, values) => {
    expect(foldValues(values)).toEqual(plainTurn(null, "Hel", "lo"));
  });

  it.each([
    ["the same", [START, "Hel", textDelta("Hel"), "lo", textDelta("lo"), BLOCK_STOP, STOP]],
    ["less", [START, "Hello", textDelta("Hel"), textDelta("lo"), BLOCK_STOP, STOP]],
    ["more", [START, "Hel", textDelta("Hello"), "lo", BLOCK_STOP, STOP]],
  ])(
    "Text is emitted once if a bare string precedes an event with %s text [AC-74]",
    (_, values) => {
      const turn = buildTurn(foldValues(values));
      expect([turn.text, turn.messages.length, turn.end?.outcome]).toEqual([
        "Hello",
        1,
        "completed",
      ]);
      expect(turn.diagnostics).toEqual([]);
    },
  );

  it("A full message with an id and its copy without an id are one message", () => {
    expect(foldValues([message("Hi"), message("Hi", "m-1")])).toEqual(plainTurn(null, "Hi"));
    expect(foldValues([message("Hi", "m-1"), message("Hi")])).toEqual(plainTurn(null, "Hi"));
  });

  it("A repetition of the whole conversation with the prompt at the end adds nothing", () => {
    const agentMessages = [CALL, RESULT, message("Sunny.")];
    const turn = buildTurn(foldValues([...agentMessages, PROMPT, ...agentMessages]));
    expect(turn).toEqual(buildTurn(foldValues(agentMessages)));
    expect(buildTurn(foldValues([...agentMessages, [PROMPT, ...agentMessages]]))).toEqual(turn);
  });
});

describe("A copy of the last message", () => {
  it.each([
    ["a result with a message", { result: { role: "assistant", content: [{ text: "Sunny." }] } }],
    ["a result as text", { result: "Sunny.\n" }],
    ["a full message", message("Sunny.")],
  ])("A copy of the last message keeps the bare strings before it: %s", (_, last) => {
    expect(foldValues(["Let me look. ", "Sunny.", last])).toEqual(
      plainTurn(null, "Let me look. ", "Sunny."),
    );
  });

  it("A result with the last message keeps the blocks forwarded by Strands TS", () => {
    const block = (text: string): unknown => ({
      type: "contentBlockEvent",
      contentBlock: { text },
    });
    const lastMessage = { role: "assistant", content: [{ text: "Sunny." }] };
    const result = { type: "agentResultEvent", result: { stopReason: "endTurn", lastMessage } };
    expect(buildTurn(foldValues([block("Let me look. "), block("Sunny."), result]))).toMatchObject({
      text: "Let me look. Sunny.",
      diagnostics: [],
      end: { outcome: "completed", reason: "end_turn" },
    });
  });
});

describe("A stream truncated after full messages", () => {
  it.each([
    ["merged events", [merged("Let me look."), CALL, RESULT, merged("Sun")]],
    [
      "merged events of named cycles",
      [merged("Let me look.", "1"), CALL, RESULT, merged("Sun", "2")],
    ],
    ["bare strings", ["Let me look.", CALL, RESULT, "Sun"]],
  ])(
    "A turn fails if its last %s have no full copy, unlike earlier messages [AC-45]",
    (_, values) => {
      expect(buildTurn(foldValues(values))).toMatchObject({
        text: "Let me look.Sun",
        end: { outcome: "failed", failure: { code: "incomplete_turn" } },
      });
    },
  );

  it("A turn completes with a bare string at the end if earlier text came in merged events", () => {
    expect(foldValues([merged("Hi"), message("Hi"), "Bye"])).toEqual([
      started(0),
      ...saidText({ message: 0, block: 0 }, "Hi"),
      ended(0, null),
      started(1),
      ...saidText({ message: 1, block: 1 }, "Bye"),
      ended(1, null),
      completed(null),
    ]);
  });
});
