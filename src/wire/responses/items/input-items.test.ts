import { describe, expect, it } from "vitest";
import { logOf, SESSION } from "../../../../test/responses/any-turn.ts";
import { refused } from "../../../../test/responses/refused-requests.ts";
import { createToolSuccess } from "../../../domain/tools/tool-call.ts";
import { formatCallId } from "../response-ids.ts";
import { encodeInputItems, createListPage, readPageQuery } from "./input-items.ts";

describe("The input of a response", () => {
  it("The input is the content of the prompt [OR-6]", () => {
    const content = [
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ] as const;
    expect(encodeInputItems(logOf([{ type: "prompt.accepted", promptId: "p", content }]))).toEqual([
      {
        id: `msg_${SESSION}_7`,
        type: "message",
        status: "completed",
        role: "user",
        content: [
          { type: "input_text", text: "one" },
          { type: "input_text", text: "two" },
        ],
      },
    ]);
  });

  it("The input is the submitted results and the text sent with them", () => {
    const content = [{ type: "text", text: "so" }] as const;
    const inputItem = {
      type: "tool_results.submitted",
      promptId: "r",
      turnId: "turn_1",
      content,
    } as const;
    const items = encodeInputItems(
      logOf([
        { ...inputItem, toolCallIds: ["t"] },
        {
          type: "tool.finished",
          toolCallId: "t",
          ending: "succeeded",
          result: createToolSuccess("c", "1"),
        },
        {
          type: "tool.finished",
          toolCallId: "u",
          ending: "succeeded",
          result: createToolSuccess("d", "2"),
        },
      ]),
    );
    expect(items).toMatchObject([
      {
        type: "function_call_output",
        id: `fco_${SESSION}_8`,
        call_id: formatCallId(SESSION, "t"),
        output: "1",
      },
      { type: "message", content: [{ text: "so" }] },
    ]);
  });
});

describe("Pages of a list", () => {
  const items = ["a", "b", "c"].map((id) => ({ id }));

  it("A page continues after an item, in both orders", () => {
    const wish = readPageQuery(new Map([["limit", "2"]]));
    expect(createListPage(items, wish)).toEqual({
      object: "list",
      data: [{ id: "c" }, { id: "b" }],
      first_id: "c",
      last_id: "b",
      has_more: true,
    });
    expect(createListPage(items, { ...wish, after: "b" })).toMatchObject({
      data: [{ id: "a" }],
      has_more: false,
    });
    expect(createListPage(items, { limit: 9, order: "asc", after: null }).data).toEqual(items);
    expect(createListPage([], wish)).toMatchObject({ data: [], first_id: null, last_id: null });
  });

  it.each<[string, () => unknown, string]>([
    ["a limit of 0", () => readPageQuery(new Map([["limit", "0"]])), "invalid_message"],
    ["an invalid limit", () => readPageQuery(new Map([["limit", "x"]])), "invalid_message"],
    ["an invalid order", () => readPageQuery(new Map([["order", "up"]])), "invalid_message"],
    [
      "an unknown item",
      () => createListPage(items, { limit: 1, order: "asc", after: "z" }),
      "not_found",
    ],
  ])("A page with %s is refused", (_, read, kind) => {
    expect(refused(read)?.kind).toBe(kind);
  });
});
